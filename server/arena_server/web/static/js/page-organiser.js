// The organiser's page: state of the contest, and orders.

import {
  applyTheme, bdi, dateText, el, gamesText, heldText, link, numberText, pageHeader, plural,
  sentence,
} from "./dom.js";
import { apart } from "./locale.js";
import { ask, contest, forgetToken, hasToken, keepToken, request, useToken } from "./organiser/port.js";
import {
  applicantsTable, botsTable, gamesTable, invitationsTable, momentText, ordersTable, workersTable,
} from "./organiser/tables.js";
import { said } from "./said.js";
import { named, t } from "./texts.js";

const REFRESH_MS = 2000;
/** The name of the organiser, kept for the next visit. */
const NAME = "arena-organiser";
/** What is asked before an order is given, by its verb. */
const CONFIRM = {
  drain: () => t`Stop the contest once no game runs?`,
  abort: () => t`End the contest for good, now? Running games become void, and the table stays as it is.`,
  start: () => t`Begin the contest now? It waits for no bot, and for no moment.`,
  archive: () => t`Archive the contest for good? It is shown, and served no more.`,
  extend: (target) => t`Extend the contest by ${target}?`,
  shorten: (target) => t`Shorten the contest by ${target}?`,
  pair: (target) => t`Pair a round as ${target}? It replaces one of which no game has begun.`,
  kick: (target) => t`Kick ${target}? Its game becomes void.`,
  void: (target) => t`Break off ${target} for good?`,
  replay: (target) => t`Play ${target} again?`,
  "void-worker": (target) => t`Play all games of the worker ${target} again, without it?`,
  reject: (target) => t`Reject ${target}? It has to register again.`,
  forfeit: (target) => t`Forfeit ${target}? The bot has lost this game then.`,
  correct: (target) => t`Correct ${target}?`,
  disqualify: (target) => t`Disqualify ${target}? The bot is withdrawn.`,
  penalty: (target) => t`Penalty points for ${target}?`,
  undo: () => t`Undo the last order?`,
  remove: (target) => t`Withdraw ${target}? Its running games become void, and no other is played.`,
  token: (target) => t`Make a new token for ${target}? The old one and its connections are dead at once.`,
};
/** What the form for a new bot asks for: the key, its title, how long it may be, and the width of its field. */
const ABOUT = [
  ["name", t`Name`, 32, 14], ["owner", t`Owner`, 32, 14], ["author", t`Author`, 60, 14],
  ["language", t`Language`, 60, 14], ["url", "URL", 200, 28],
];

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");
const message = el("p", { class: "error-line", role: "alert" });
const done = el("p", { class: "sub", role: "status" });
let timer = null;
/** The elements that change, once there is a contest to show. */
const parts = {};

// -- logging in

function askForToken(problem = "") {
  clearTimeout(timer);
  forgetToken();
  const input = el("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const logIn = (event) => {
    event.preventDefault();
    const given = input.value.trim();
    if (!/^[\x21-\x7e]+$/.test(given)) {
      message.textContent = t`A token has no blanks and ASCII characters only.`;
      return;
    }
    useToken(given);
    begin();
  };
  const form = el("form", { class: "panel token", onsubmit: logIn },
    el("label", { for: "token" }, t`The organiser's token`), input,
    el("button", { type: "submit", class: "primary" }, t`Log in`),
    el("p", { class: "sub" }, t`It is in the file next to the database that ends in .admin, or in ARENA_ADMIN_TOKEN.`));
  message.textContent = problem;
  main.replaceChildren(el("h1", {}, t`Organiser`), form, message);
  input.focus();
}

async function begin() {
  try {
    draw(await request("status"));
    keepToken();
    await look();
    again();
  } catch (error) {
    if (error.contests) return askForContest(error.contests);
    askForToken(error.status === 401 ? t`This token is wrong.` : sentence(error.message));
  }
}

/** A link to each of the contests of the server; not to the one that is shown. */
const contestLinks = (names) => names.filter((name) => name !== parts.shown)
  .map((name) => el("a", { href: link("organiser.html", { contest: name }) }, bdi(name)));

function askForContest(names) {
  keepToken();
  message.textContent = contest === null ? "" : t`There is no contest ${contest} here.`;
  main.replaceChildren(el("h1", {}, t`Organiser`),
    panel(t`Contests`, el("ul", {}, ...contestLinks(names).map((each) => el("li", {}, each)))), message);
}

// -- looking after the contest

function again() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    try {
      await look();
      if (message.dataset.from === "status") message.textContent = "";
    } catch (error) {
      if (error.status === 401) return askForToken(t`This token is wrong.`);
      message.dataset.from = "status";
      message.textContent = error.message === "Failed to fetch" ? t`The server does not answer.`
        : sentence(error.message);
    }
    again();
    return undefined;
  }, REFRESH_MS);
}

async function look() {
  update(await request("status"));
  parts.orders.replaceChildren(ordersTable((await request("orders")).orders));
}

async function order(verb, target = "", more = {}) {
  const question = more.confirmed ? null : CONFIRM[verb];
  if (question && !confirm(question(target))) return false;
  message.textContent = "";
  try {
    const by = parts.by.value.trim();
    localStorage.setItem(NAME, by);
    const { name: _, ...about } = more;
    const reason = parts.reason.value.trim();
    const answer = await request("orders", { verb, target, reason, ...(by ? { by } : {}), ...about });
    const once = (text, secret) => parts.token.replaceChildren(text, el("code", {}, secret));
    if (answer.link) {
      const all = verb === "registration" && !target.includes(" ");
      once(all ? t`The link for all authors, good until ${momentText(answer.until)}: `
        : verb === "registration" ? t`The link for ${target.split(" ")[1]}, good until ${momentText(answer.until)}: `
        : t`The link for ${target}, good once until ${momentText(answer.until)}: `, answer.link);
    }
    if (answer.token) once(t`The token of ${target}, shown only now: `, answer.token);
    parts.reason.value = "";
    done.textContent = t`Done: ${named(verb)} ${target}`;
    await look();
    return true;
  } catch (error) {
    // What seems to be a slip is asked once more.
    if (error.confirm && confirm(error.message)) return order(verb, target, { ...more, confirmed: "yes" });
    showProblem(error.message);
    return false;
  }
}

/** Of an order, not of the connection: it stays until the next order. */
function showProblem(text) {
  message.dataset.from = "order";
  message.textContent = sentence(text);
  done.textContent = "";
}

function action(title, verb, target = "") {
  const label = target ? `${title} ${apart(target)}` : title;
  return el("button", { type: "button", "aria-label": label, onclick: () => order(verb, target) }, title);
}

/** The log comes with the organiser's token in a header, so it is no link. */
function logButton(name) {
  const fetchLog = async () => {
    message.textContent = "";
    const response = await ask(`logs/${encodeURIComponent(name)}`);
    if (!response.ok) {
      const answer = await response.json().catch(() => ({}));
      return showProblem(answer.error ?? response.statusText);
    }
    const file = el("a", { href: URL.createObjectURL(await response.blob()), download: `${name}.log` });
    file.click();
    URL.revokeObjectURL(file.href);
    return undefined;
  };
  return el("button", { type: "button", "aria-label": t`Log of ${name}`, onclick: fetchLog }, t`Log`);
}

// -- what is shown

const panel = (title, ...content) => el("section", { class: "panel" }, el("h2", {}, title), ...content);

/** A table that may be wider than the page: the keyboard can scroll it. */
const scrolled = (title) => el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": title });

function draw(status) {
  message.textContent = "";
  const field = (id, size, attributes) => el("input", { type: "text", id, size, ...attributes });
  Object.assign(parts, {
    shown: status.contest,
    title: el("h1"), sub: el("p", { class: "sub" }), waiting: el("p", { class: "sub" }),
    gate: el("p", { class: "tools" }), length: el("p", { class: "sub" }),
    games: scrolled(t`Running games`), bots: scrolled(t`Bots`),
    workers: scrolled(t`Workers`), orders: scrolled(t`Orders`),
    applicants: scrolled(t`Waiting for approval`), invitations: scrolled(t`Invitations`),
    registration: el("p", { class: "sub" }),
    undo: el("p", { class: "tools" }),
    token: el("output", { class: "token" }),
    by: field("by", 16, { maxlength: 60, autocomplete: "name", value: localStorage.getItem(NAME) ?? "" }),
    reason: field("reason", 32, { maxlength: 300, autocomplete: "off" }),
  });
  const about = el("p", { class: "filters" }, el("label", { for: "by" }, t`Your name`, parts.by),
    el("label", { for: "reason" }, t`Reason of the next order`, parts.reason));
  const plies = { size: 4, inputmode: "numeric", pattern: "[0-9]+" };
  const games = [
    oneField("replay", t`Play again`, t`Play a void game again`, { size: 8, pattern: "g[0-9]+" }),
    oneField("extend", t`Extend`, t`More games a pair, or rounds`, plies),
    oneField("shorten", t`Shorten`, t`Fewer games a pair, or rounds`, plies),
  ];
  const jury = [
    oneField("forfeit", t`Forfeit`, t`A game and the bot that loses it`, { size: 16, pattern: "g[0-9]+ [^ ]+" }),
    oneField("correct", t`Correct`, t`A game and its points, seat by seat`,
      { size: 16, pattern: "g[0-9]+ [0-9:\\-]+", placeholder: "g7 2-0" }),
    oneField("disqualify", t`Disqualify`,
      t`A bot, and leave or lost: its games do not count, or it has lost them`,
      { size: 16, pattern: "[^ ]+ (leave|lost)" }),
    oneField("penalty", t`Penalty`, t`A bot and points that are taken from its score`,
      { size: 16, pattern: "[^ ]+ [0-9.]+" }),
  ];
  const rounds = { size: 24, maxlength: 3000 };
  const pairs = status.length?.unit !== "rounds" ? [] : [ // a Swiss
    oneField("pair", t`Pair`, t`A round by hand, as ann:bob,cid:dan,eve`, rounds),
    oneField("forbid", t`Forbid`, t`Two that do not meet, as ann:bob`, { size: 14 }),
    oneField("allow", t`Allow`, t`Two that may meet, as ann:bob`, { size: 14 }),
  ];
  const add = addForm();
  parts.ofWorkers = panel(t`Workers`, parts.workers);
  parts.ofApplicants = panel(t`Waiting for approval`, parts.applicants);
  parts.ofInvitations = panel(t`Invitations`, parts.invitations);
  // A contest that is over takes no orders.
  parts.ofJury = panel(t`Jury`, el("div", { class: "facts" }, ...jury),
    el("p", { class: "sub" }, t`Each decision needs a reason, which is public.`));
  parts.forms = [...games, ...pairs, parts.ofJury, add];
  parts.about = about;
  const others = contestLinks(status.contests);
  const leave = () => { useToken(null); askForToken(); };
  main.replaceChildren(
    el("div", { class: "title" }, parts.title,
      others.length ? el("p", { class: "sub facts" }, t`Other contests: `, ...others) : null,
      parts.sub, parts.waiting, parts.gate, about),
    // In sight of each button on the page.
    el("div", { class: "outcome" }, done, message),
    panel(t`Running games`, parts.games, parts.length, el("div", { class: "facts" }, ...games, ...pairs)),
    parts.ofApplicants, panel(t`Bots`, parts.bots), parts.ofJury, parts.ofWorkers, add,
    parts.ofInvitations,
    panel(t`Orders`, parts.undo, parts.orders), contestForm(),
    el("p", {}, el("button", { type: "button", onclick: leave }, t`Log out`)));
  update(status);
}

function update(status) {
  parts.title.replaceChildren(bdi(status.contest));
  parts.sub.textContent = stateText(status);
  parts.waiting.textContent = heldText(status);
  const over = status.ended !== null;
  for (const form of parts.forms) form.hidden = over;
  parts.about.hidden = over && status.phase !== "over"; // one that is over can be archived
  parts.gate.replaceChildren(...gates(status));
  parts.undo.replaceChildren(...(over ? [] : [action(t`Undo the last one`, "undo")]));
  parts.length.textContent = lengthText(status);
  parts.games.replaceChildren(gamesTable(status, action));
  parts.bots.replaceChildren(botsTable(status, over, action, logButton));
  const workers = workersTable(status, over, action);
  parts.ofWorkers.hidden = workers === null;
  parts.workers.replaceChildren(...[workers].filter(Boolean));
  parts.registration.textContent = registrationText(status);
  parts.ofApplicants.hidden = !status.applicants.length;
  parts.applicants.replaceChildren(applicantsTable(status, over, action));
  parts.ofInvitations.hidden = !status.invitations.length;
  parts.invitations.replaceChildren(invitationsTable(status));
}

/** What authors may do by the link for all of them. */
function registrationText({ registration, registrations }) {
  const texts = registrations.map(({ owner, quota, until }) =>
    t`Registration of ${owner} is open until ${momentText(until)}, up to ${numberText(quota)}.`);
  if (registration === null) return [...(texts.length ? texts : [t`Registration is closed.`])].join(" ");
  const { quota, until, approves } = registration;
  const text = t`Registration is open until ${momentText(until)}, up to ${numberText(quota)} for each author.`;
  return [text, ...(approves ? [t`You approve each.`] : []), ...texts].join(" ");
}

/** A form that opens or closes the registration by a link for all authors. */
function registrationForm() {
  const approval = el("input", { type: "checkbox", id: "approval" });
  const owner = el("input", { type: "text", id: "registration-owner", autocomplete: "off", maxlength: 32 });
  const quota = el("input", { type: "text", id: "registration", autocomplete: "off", required: true,
    size: 4, inputmode: "numeric", pattern: "[0-9]+" });
  const give = (event) => {
    event.preventDefault();
    const target = `${quota.value.trim()} ${owner.value.trim()}`.trim();
    order("registration", target, approval.checked ? { approval: "yes" } : {});
  };
  return el("form", { class: "filters", onsubmit: give },
    el("label", { for: "registration" }, t`Or one link for all: bots of each author, 0 closes it`, quota),
    el("label", { for: "registration-owner" }, t`Of this author alone (else the link is for all)`, owner),
    el("label", { for: "approval", class: "check" }, approval, t`Each waits for approval`),
    el("button", { type: "submit" }, t`Set`));
}

/** The buttons for orders about the whole contest. */
function gates({ phase, state, ended }) {
  if (phase === "over" && ended !== null) return [action(t`Archive`, "archive")];
  if (ended !== null) return [];
  const gate = state === "paused" ? action(t`Resume`, "resume") : action(t`Pause`, "pause");
  const begin = phase === "planned" ? [action(t`Begin now`, "start")] : [];
  return [...begin, gate, action(t`Drain`, "drain"), action(t`Abort`, "abort")];
}

function stateText(status) {
  const { done: over, total, running, void: broken } = status.games;
  const word = named(status.state) + (status.phase === "archived" ? `, ${named(status.phase)}` : "");
  const [state, hours] = [word, hoursText(status) + (status.reason ? ` (${said(status.reason)})` : "")];
  const [plies, connections] = [plural(status.plies, "ply"), plural(status.connections, "connection")];
  return t`${state}${hours}; ${gamesText(over, total)}, ${running} running, ${broken} void; ${plies}; ${connections}`;
}

/** Until when a contest with hours is open or closed. */
function hoursText({ state, until }) {
  if (until === null || !["open", "closed", "planned"].includes(state)) return "";
  return t` until ${dateText(until / 1000)}`;
}

/** How long the contest is, and how long the orders may make it. */
function lengthText({ length }) {
  if (length === null) return "";
  const { now, least, step, unit } = length;
  const [text, from, to] = [now, least, Math.max(now, length.most)].map(numberText);
  return t`Length: ${text} ${named(unit)}; ${from} to ${to} are possible, in steps of ${numberText(step)}`;
}

/** A form for an order with one value. */
function oneField(verb, title, label, attributes) {
  const input = el("input", { type: "text", id: verb, autocomplete: "off", required: true, ...attributes });
  const give = (event) => {
    event.preventDefault();
    order(verb, input.value.trim());
  };
  return el("form", { class: "filters", onsubmit: give },
    el("label", { for: verb }, label, input), el("button", { type: "submit" }, title));
}

/** A form that adds a bot, and where the token is shown that the server has made for it: the only time. */
function addForm() {
  const fields = ABOUT.map(([key, title, maxlength, size]) => {
    const required = key === "name";
    return [key, el("input", { type: "text", id: `add-${key}`, size, maxlength, autocomplete: "off", required }),
      title];
  });
  const add = async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(fields.map(([key, input]) => [key, input.value.trim()]));
    if (await order("add", given.name, given)) for (const [, input] of fields) input.value = "";
  };
  return panel(t`Add a bot`,
    el("p", { class: "sub" },
      t`It plays from now on. The server makes its token, shows it once, and keeps its digest.`),
    el("form", { class: "filters", onsubmit: add },
      ...fields.map(([key, input, title]) => el("label", { for: `add-${key}` }, title, input)),
      el("button", { type: "submit" }, t`Add`)),
    oneField("invite", t`Invite`, t`Or a link for an author to register a bot`, { size: 14, maxlength: 32 }),
    el("p", { class: "sub" }, t`Links for a whole class, on cards to print with QR codes: `,
      el("code", {}, "arena admin invite --file names.csv --cards cards.html")),
    registrationForm(), parts.registration,
    parts.token);
}

/** A form that adds a contest by its file, and leads to its page. */
function contestForm() {
  const input = el("input", { type: "file", id: "contest-file", accept: ".toml", required: true });
  const add = async (event) => {
    event.preventDefault();
    message.textContent = "";
    const [file] = input.files;
    const by = parts.by.value.trim();
    try {
      const answer = await request("contests", { file: file.name, text: await file.text(), ...(by ? { by } : {}) });
      location.assign(link("organiser.html", { contest: answer.contest }));
    } catch (error) {
      showProblem(error.message);
    }
  };
  return panel(t`Add a contest`,
    el("p", { class: "sub" }, t`The server plays it beside the others, also after a restart.`),
    el("form", { class: "filters", onsubmit: add },
      el("label", { for: "contest-file" }, t`Its file`, input), el("button", { type: "submit" }, t`Add it`)));
}

if (hasToken()) begin();
else askForToken();
