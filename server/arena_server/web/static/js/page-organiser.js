// The organiser's page: state of the contest, and orders. The token is sent in a header of each request, so no other
// site can give orders through this browser; it is kept for this tab only.

import { applyTheme, el, gamesText, labelled, link, numberText, pageHeader, plural, waitingText } from "./dom.js";
import { said } from "./said.js";
import { named, t } from "./texts.js";

const REFRESH_MS = 2000;
/** The latest orders that the page shows; `arena admin orders` has all. */
const SHOWN_ORDERS = 100;
/** What is asked before an order is given, by its verb. */
const CONFIRM = {
  drain: () => t`Stop the contest once no game runs?`, abort: () => t`End the contest for good, now? Running games become void, and the table stays as it is.`,
  extend: (target) => t`Extend the contest by ${target}?`, kick: (target) => t`Kick ${target}? Its game becomes void.`, void: (target) => t`Break off ${target} for good?`, replay: (target) => t`Play ${target} again?`,
  "void-worker": (target) => t`Play all games of the worker ${target} again, without it?`,
  remove: (target) => t`Withdraw ${target}? Its running games become void, and no other is played.`, token: (target) => t`Make a new token for ${target}? The old one and its connections are dead at once.`,
};
/** What the form for a new bot asks for: the key, its title, and how long it may be. */
const ABOUT = [["name", t`Name`, 32], ["owner", t`Owner`, 32], ["author", t`Author`, 60], ["language", t`Language`, 60], ["url", "URL", 200]];

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");
const message = el("p", { class: "error-line", role: "alert" });
const done = el("p", { class: "sub", role: "status" });
let token = sessionStorage.getItem("arena-token");
let timer = null;
/** Which one, where the server has several contests. */
const contest = new URLSearchParams(location.search).get("contest");

/** What the organiser's port answers to a GET of `path`. */
const ask = (path) => fetch(link(path, { contest }), { headers: { Authorization: `Bearer ${token}` } });

async function request(path, body = null) {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await (body === null ? ask(path) : fetch(path, { method: "POST", headers, body: JSON.stringify({ ...body, ...(contest === null ? {} : { contest }) }) }));
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw Object.assign(new Error(said(answer.error ?? "") || (response.status === 404 ? t`orders are taken on the admin port (--admin-port)` : response.statusText)), { status: response.status, contests: answer.contests });
}

function askForToken(problem = "") {
  clearTimeout(timer);
  sessionStorage.removeItem("arena-token");
  const input = el("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const form = el("form", { class: "panel token", onsubmit: (event) => {
    event.preventDefault();
    token = input.value.trim();
    if (!/^[\x21-\x7e]+$/.test(token)) { message.textContent = t`A token has no blanks and ASCII characters only.`; return; }
    begin();
  } }, el("label", { for: "token" }, t`The organiser's token`), input, el("button", { type: "submit", class: "primary" }, t`Log in`),
    el("p", { class: "sub" }, t`It is in the file next to the database that ends in .admin, or in ARENA_ADMIN_TOKEN.`));
  message.textContent = problem;
  main.replaceChildren(el("h1", {}, t`Organiser`), form, message);
  input.focus();
}

async function begin() {
  try {
    draw(await request("status"));
    sessionStorage.setItem("arena-token", token);
    await look();
    again();
  } catch (error) {
    if (error.contests) return askForContest(error.contests);
    askForToken(error.status === 401 ? t`This token is wrong.` : error.message);
  }
}

/** A link to each of the contests of the server; not to the one that is shown. */
const contestLinks = (names) => names.filter((name) => name !== parts.shown).map((name) => el("a", { href: link("organiser.html", { contest: name }) }, name));

function askForContest(names) {
  sessionStorage.setItem("arena-token", token);
  message.textContent = contest === null ? "" : t`There is no contest ${contest} here.`;
  main.replaceChildren(el("h1", {}, t`Organiser`), el("section", { class: "panel" }, el("h2", {}, t`Contests`), el("ul", {}, ...contestLinks(names).map((each) => el("li", {}, each)))), message);
}

function again() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    try {
      await look();
      if (message.dataset.from === "status") message.textContent = "";
    } catch (error) {
      if (error.status === 401) return askForToken(t`This token is wrong.`);
      message.dataset.from = "status";
      message.textContent = error.message === "Failed to fetch" ? t`The server does not answer.` : error.message;
    }
    again();
    return undefined;
  }, REFRESH_MS);
}

async function look() {
  update(await request("status"));
  showOrders((await request("orders")).orders);
}

async function order(verb, target = "", more = {}) {
  const question = CONFIRM[verb];
  if (question && !confirm(question(target))) return false;
  message.textContent = "";
  try {
    const by = parts.by.value.trim();
    localStorage.setItem("arena-organiser", by);
    const { name: _, ...about } = more;
    const answer = await request("orders", { verb, target, reason: parts.reason.value.trim(), ...(by ? { by } : {}), ...about });
    if (answer.link) parts.token.replaceChildren(t`The link for ${target}, good once until ${answer.until}: `, el("code", {}, answer.link));
    if (answer.token) parts.token.replaceChildren(t`The token of ${target}, shown only now: `, el("code", {}, answer.token));
    parts.reason.value = "";
    done.textContent = t`Done: ${named(verb)} ${target}`;
    await look();
    return true;
  } catch (error) {
    message.dataset.from = "order";
    message.textContent = error.message;
    return false;
  }
}

const parts = {};

function draw(status) {
  message.textContent = "";
  Object.assign(parts, { shown: status.contest, title: el("h1"), sub: el("p", { class: "sub" }), waiting: el("p", { class: "sub" }), games: scrolled(t`Running games`), bots: scrolled(t`Bots`), workers: scrolled(t`Workers`), gate: el("p", { class: "tools" }), orders: scrolled(t`Orders`), token: el("output", { class: "token" }),
    by: el("input", { type: "text", id: "by", size: 16, maxlength: 60, autocomplete: "name", value: localStorage.getItem("arena-organiser") ?? "" }),
    reason: el("input", { type: "text", id: "reason", size: 32, maxlength: 300, autocomplete: "off" }) });
  const games = [
    oneField("replay", t`Play again`, t`Play a void game again`, { size: 8, pattern: "g[0-9]+" }),
    oneField("extend", t`Extend`, t`More games a pair, or rounds`, { size: 4, inputmode: "numeric", pattern: "[0-9]+" }),
  ];
  const add = addForm();
  parts.ofWorkers = el("section", { class: "panel", hidden: true }, el("h2", {}, t`Workers`), parts.workers);
  // A contest that is over takes no orders.
  parts.forms = [...games, add];
  const others = contestLinks(status.contests);
  main.replaceChildren(el("div", { class: "title" }, parts.title, others.length ? el("p", { class: "latest" }, t`Other contests: `, ...others) : null, parts.sub, parts.waiting, parts.gate,
      el("p", { class: "filters" }, el("label", { for: "by" }, t`Your name`, parts.by), el("label", { for: "reason" }, t`Reason of the next order`, parts.reason)), done, message),
    el("section", { class: "panel" }, el("h2", {}, t`Running games`), parts.games, ...games),
    el("section", { class: "panel" }, el("h2", {}, t`Bots`), parts.bots), parts.ofWorkers, add,
    el("section", { class: "panel" }, el("h2", {}, t`Orders`), parts.orders),
    el("p", {}, el("button", { type: "button", onclick: () => { token = null; askForToken(); } }, t`Log out`)));
  update(status);
}

function update(status) {
  parts.title.textContent = status.contest;
  const { games } = status;
  parts.sub.textContent = t`${named(status.state)}${hoursText(status)}; ${gamesText(games.done, games.total)}, ${games.running} running, ${games.void} void; ${plural(status.plies, "ply")}; ${plural(status.connections, "connection")}`;
  parts.waiting.textContent = waitingText(status.waiting);
  const over = ["finished", "stopped", "incomplete", "aborted"].includes(status.state);
  for (const form of parts.forms) form.hidden = over;
  parts.gate.replaceChildren(...(over ? [] : [
    status.state === "paused" ? action(t`Resume`, "resume") : action(t`Pause`, "pause"), action(t`Drain`, "drain"), action(t`Abort`, "abort"),
  ]));
  parts.games.replaceChildren(status.running.length ? table([t`Game`, t`Bots`, t`Plies`, t`Orders`], status.running.map((game) => [
    game.game_id, game.names.join(" – "), numberText(game.plies), [action(t`Break off`, "void", game.game_id), action(t`Play again`, "replay", game.game_id)],
  ])) : el("p", { class: "empty" }, t`No game is running.`));
  parts.bots.replaceChildren(table([t`Bot`, t`Author`, t`State`, t`Points`, t`Games`, t`Mean move`, t`Faulty games`, t`Orders`], status.bots.map((bot) => [
    bot.name, authorText(bot), stateText(bot), numberText(bot.points), numberText(bot.games), moveText(bot.move_ms), numberText(bot.faulty_games), [...(over ? [] : botOrders(bot)), logButton(bot.name)],
  ])));
  showWorkers(status, over);
}

/** The workers that play the games (--on): how fast they are, and which is unlike the others. */
function showWorkers({ workers, benches }, over) {
  const names = [...new Set([...benches, ...workers].map((each) => each.worker))];
  parts.ofWorkers.hidden = names.length === 0;
  parts.workers.replaceChildren(table([t`Worker`, t`Plies/s before its first game`, t`Stands out`, t`Orders`], names.map((name) => {
    const bench = benches.find((each) => each.worker === name);
    return [name, bench ? numberText(bench.bench) : "", el("div", {}, ...oddities(bench, workers.filter((each) => each.worker === name)).map((text) => el("div", {}, text))),
      over ? "" : [action(t`Play its games again`, "void-worker", name)]];
  })));
}

function oddities(bench, found) {
  return [...(bench?.slow ? [t`it is slow: the others make ${numberText(bench.others)}`] : []), ...found.map(({ what, games, chance }) =>
    t`${said(what)} (of equal workers a chance of at most ${chance.toExponential(1)} in ${plural(games, "game")})`)];
}

/** Where a bot is, and below that from where it is connected and what it calls its program. */
function stateText({ where, address, agent }) {
  const from = [address, agent].filter(Boolean).join(" ");
  return el("div", {}, named(where), from ? el("div", { class: "sub" }, from) : "");
}

const moveText = (ms) => ms === null ? "" : ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;

/** The log comes with the organiser's token in a header, so it is no link. */
function logButton(name) {
  return el("button", { type: "button", "aria-label": t`Log of ${name}`, onclick: async () => {
    message.textContent = "";
    const response = await ask(`logs/${encodeURIComponent(name)}`);
    if (!response.ok) {
      message.dataset.from = "order";
      message.textContent = said((await response.json().catch(() => ({}))).error ?? response.statusText);
      return;
    }
    const file = el("a", { href: URL.createObjectURL(await response.blob()), download: `${name}.log` });
    file.click();
    URL.revokeObjectURL(file.href);
  } }, t`Log`);
}

/** Until when a contest with hours is open or closed. */
function hoursText({ state, until }) {
  return until === null || !["open", "closed"].includes(state) ? "" : t` until ${new Date(until).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function botOrders({ name, where }) {
  if (where === "withdrawn") return [action(t`Add`, "add", name)];
  return [action(t`Kick`, "kick", name), ...(["kicked", "probation", "validation"].includes(where) ? [action(t`Lift`, "lift", name)] : []), ...(["probation", "validation"].includes(where) ? [action(t`Validate`, "validate", name)] : []), action(t`Withdraw`, "remove", name), action(t`Token`, "token", name)];
}

/** Who wrote a bot, in which language, whose it is, and where it is described. */
function authorText({ author, language, owner, url }) {
  const text = [author || owner, language && `(${language})`, author && owner && author !== owner ? t`for ${owner}` : ""].filter(Boolean).join(" ");
  return /^https?:[/][/]/.test(url) ? el("a", { href: url, rel: "noreferrer" }, text || url) : text;
}

function showOrders(orders) {
  parts.orders.replaceChildren(orders.length ? table([t`Order`, t`At`, t`Who`, t`What`, t`Why`], orders.toReversed().slice(0, SHOWN_ORDERS).map((each) => [
    String(each.number), each.at.replace("T", " ").replace("Z", " UTC"), each.who.replace(/^organiser\b/, named("organiser")), `${named(each.verb)} ${each.target}`, each.reason,
  ])) : el("p", { class: "empty" }, t`No order was given.`));
}

/** A table that may be wider than the page: the keyboard can scroll it. */
const scrolled = (title) => el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": title });

function action(title, verb, target = "") {
  return el("button", { type: "button", "aria-label": target ? `${title} ${target}` : title, onclick: () => order(verb, target) }, title);
}

/** On a phone each row is a card, so that its buttons are in view. */
function table(heads, rows) {
  const labels = heads.map((head) => head === t`Orders` ? "" : head);
  return el("table", { class: "cards" }, el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...labelled(labels, cells.map((cell, i) => el("td", { class: i === 0 ? "name-cell" : Array.isArray(cell) ? "order-cell" : null }, Array.isArray(cell) ? el("div", { class: "orders" }, cell) : cell)))))));
}

/** A form for an order with one value. */
function oneField(verb, title, label, attributes) {
  const input = el("input", { type: "text", id: verb, autocomplete: "off", required: true, ...attributes });
  return el("form", { class: "filters", onsubmit: (event) => { event.preventDefault(); order(verb, input.value.trim()); } }, el("label", { for: verb }, label, input), el("button", { type: "submit" }, title));
}

/** A form that adds a bot, and where the token is shown that the server has made for it: the only time. */
function addForm() {
  const fields = ABOUT.map(([key, title, most]) => [key, el("input", { type: "text", id: `add-${key}`, size: key === "url" ? 28 : 14, maxlength: most, autocomplete: "off", required: key === "name" }), title]);
  return el("section", { class: "panel" }, el("h2", {}, t`Add a bot`),
    el("p", { class: "sub" }, t`It plays from now on. The server makes its token, shows it once, and keeps its digest.`),
    el("form", { class: "filters", onsubmit: async (event) => {
      event.preventDefault();
      const given = Object.fromEntries(fields.map(([key, input]) => [key, input.value.trim()]));
      if (await order("add", given.name, given)) for (const [, input] of fields) input.value = "";
    } }, ...fields.map(([key, input, title]) => el("label", { for: `add-${key}` }, title, input)), el("button", { type: "submit" }, t`Add`)),
    oneField("invite", t`Invite`, t`Or a link for an author to register a bot`, { size: 14, maxlength: 32 }), parts.token);
}

if (token) begin();
else askForToken();
