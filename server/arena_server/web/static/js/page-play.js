// A person's seat: the link is used up once, then the game is played on the board, by keys or by typing.
// Without a link: a form that starts a game, where the server has one.

import { API, get } from "./api.js";
import { casualPart, keptName, nameField, seatLink } from "./casual.js";
import { applyTheme, bdi, el, gameLink, inFrame, link, numberText, pageHeader, resultText, sentence } from "./dom.js";
import { GameView } from "./gameview.js";
import { hint } from "./hint.js";
import { LiveGame } from "./livegame.js";
import { isUnsure, makePlayable, markMove, nameMoves } from "./playable.js";
import { playOnPart, playOnWish } from "./playon.js";
import { loadGames } from "./rows.js";
import { said } from "./said.js";
import { faultText } from "./seats.js";
import { t } from "./texts.js";

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");
const key = location.hash.slice(1);
const stored = `arena-seat-${key}`;
const message = el("p", { class: "error-line", role: "alert" });
const text = el("p", { class: "turn", role: "status" });
const seat = { session: null, name: "", state: "connecting", turn: null, legal: [], contest: null, hints: true,
  alone: false, asked: null, refused: false, undo: false, rematch: null, called: {},
  view: null, live: null, next: null };

async function post(verb, body) {
  let response;
  try {
    response = await fetch(`${API}play/${verb}`, { method: "POST", body: JSON.stringify(body) });
  } catch {
    throw new Error(t`The server does not answer.`);
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    const problem = answer.error
      ?? (response.status === 404 ? t`this server has no seats for a browser` : response.statusText);
    throw Object.assign(new Error(`${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`),
      { status: response.status });
  }
  return answer;
}

async function order(verb, body = {}) {
  message.textContent = "";
  try {
    await post(verb, { session: seat.session, ...body });
    return true;
  } catch (error) {
    message.textContent = sentence(error.message);
    return false;
  }
}

/** What is wrong stands within the box whose form or buttons it is about, in sight of them; else below all. */
function page(...parts) {
  main.replaceChildren(...parts);
  (main.querySelector(".start-fields") ?? main.querySelector(".panel") ?? main).append(message);
}

async function explain() {
  const { start } = await get("site.json").catch(() => ({ start: false }));
  if (start) {
    // The first visitor waits until the server has listed its engines.
    page(el("h1", {}, t`Play`), el("p", { class: "empty" }, t`Loading the engines ...`));
    try {
      const wish = playOnWish(location.search);
      const part = wish === null ? casualPart({ onstart, take }) : playOnPart(wish, { onstart, take });
      return page(el("h1", {}, t`Play`), await part);
    } catch (error) {
      message.textContent = t`No game can be started here: ${error.message}.`;
    }
  }
  return page(el("h1", {}, t`Play`), el("div", { class: "panel" },
    el("p", {},
      t`This server starts no games ([server] play is 0). A seat in the browser comes with a link that works once; on your own machine this command prints one:`),
    el("pre", {}, el("code", {}, "arena play insertion --against greedy --web")),
    el("p", { class: "sub" },
      t`With --against person it prints two links, one for each of two people. In a contest, a [[bot]] table with person = true gives a link for that seat.`)));
}

async function onstart(wish) {
  message.textContent = "";
  try {
    return await post("start", wish);
  } catch (error) {
    message.textContent = sentence(error.message);
    return null;
  }
}

/** Use the link up; this browser keeps the seat, and its address shows it. */
async function take(secret, name = "") {
  message.textContent = "";
  try {
    const { session } = await post("take", { key: secret, name });
    localStorage.setItem(`arena-seat-${secret}`, session);
    if (secret === key) sit(session);
    else location.assign(seatLink(secret));
  } catch (error) {
    message.textContent = sentence(error.message);
  }
}

/**
 * Ask first: a link that is only looked at, by a preview for example, is not used up. An invited person chooses a name.
 */
async function offer() {
  const { named = false, status = 200 } = await post("link", { key }).catch((error) => error);
  if (status === 401) {
    return page(el("h1", {}, t`Play`), el("div", { class: "panel" },
      el("p", {}, t`This link has been used already, has expired, or is not complete.`),
      el("p", { class: "sub" },
        t`A seat stays with the browser that has taken it. Copy the whole link, or ask for a new one.`),
      el("p", {}, el("a", { href: "play.html", class: "button" }, t`A game of your own`))));
  }
  const name = nameField();
  return page(el("h1", {}, t`Play`), el("form", { class: "panel", onsubmit: (event) => {
    event.preventDefault();
    take(key, named ? keptName(name) : "");
  } },
    el("p", {}, t`This link is a seat in a game. It works once: from then on this browser has the seat.`),
    named ? el("div", { class: "filters" }, el("label", {}, t`Your name`, name)) : null,
    el("button", { type: "submit", class: "primary" }, t`Take the seat`)));
}

const TEXTS = {
  connecting: t`Connecting to the referee ...`, waiting: t`Waiting for a game: the other players are not there yet.`,
  invited: t`A game waits for you. The clock starts when all are ready.`,
  ready: t`Waiting for the other players to be ready ...`,
  playing: "", over: t`The game is over. If the contest has another one for you, it will appear here.`,
  finished: t`The contest is over.`,
};

/** A visitor's game is alone in its contest. */
const CASUAL_TEXTS = { connecting: t`Starting the game ...`, waiting: t`Waiting for the other players.`,
  over: t`The game is over.`, finished: t`The game is over.` };

const start = el("button", { type: "button", class: "primary", onclick: () => order("ready") }, t`Ready`);
const goOn = el("button", { type: "button", class: "primary" }, t`Next game`);
const choices = el("datalist", { id: "moves" });
const field = el("input",
  { type: "text", id: "move", list: "moves", size: 6, autocomplete: "off", autocapitalize: "off", spellcheck: false });
const advise = el("button", { type: "button", onclick: showHint }, t`Hint`);
const back = el("button",
  { type: "button", title: t`The game is played again on the same deal, up to your last move`,
    onclick: () => order("undo") }, t`Take back`);
const leave = el("button", { type: "button", onclick: () => {
  const question = seat.contest
    ? t`Give up? The server plays your moves to the end.` : t`Give up? You leave this contest for good.`;
  if (confirm(question)) order("quit");
} }, t`Give up`);
const form = el("form", { class: "turn-form", onsubmit: (event) => {
  event.preventDefault();
  play(field.value.trim());
} },
  el("label", { for: "move" }, t`Your move`), field, choices, el("button", { type: "submit" }, t`Play`), advise, back);
const result = el("p", {});
/** Why the game ended before its last ply, or who did not play it to the end. */
const why = el("p", { class: "sub why" });
const again = el("a", { href: "play.html", class: "button" }, t`Another game`);
const revenge = el("button", { type: "button", class: "primary", onclick: rematch }, t`Rematch`);

/** The same players and settings, each on the next seat. */
async function rematch() {
  message.textContent = "";
  try {
    await take(seat.rematch ?? (await post("rematch", { session: seat.session })).key);
  } catch (error) {
    message.textContent = sentence(error.message);
  }
}

function sit(session) {
  seat.session = session;
  const board = el("div");
  const title = el("h1", {}, t`Play`);
  // The form or the button that had the focus is gone: it goes on where the game does.
  const panel = el("div", { class: "panel turn-panel", tabindex: -1 },
    text, why, goOn, start, form, leave, result, revenge, again);
  page(el("div", { class: "title" }, title), panel, board);
  panel.focus({ preventScroll: true });
  const begin = (timeline) => {
    seat.next = null;
    timeline.call(seat.called);
    seat.view = new GameView(timeline, { live: true });
    seat.view.onply = () => { seat.live.tick(); nameMoves(seat.view); };
    makePlayable(seat.view, pressed, play);
    board.replaceChildren(seat.view.element);
    result.replaceChildren();
  };
  goOn.onclick = () => { begin(seat.next); show(); };
  const grow = inFrame(() => seat.view.grown());
  seat.live = new LiveGame(`seat/${session}`, {
    keep: true,
    handlers: { seat: (document) => {
      Object.assign(seat, document);
      title.textContent = t`You play as ${seat.name}`;
      show();
      readyAtOnce();
      if (seat.state === "finished" && seat.contest) learnEnd(0);
    } },
    onbegin: (timeline) => {
      const shown = seat.view?.timeline;
      // The end of a game stays on the page until the person goes on.
      seat.next = shown && shown.end !== null && shown.info.game_id !== timeline.info.game_id ? timeline : null;
      if (seat.next === null) begin(timeline);
      show();
    },
    ongrow: () => { if (seat.next === null) grow(); show(); },
    onover: () => {
      if (seat.next === null) grow();
      show();
      panel.scrollIntoView({ block: "nearest" });
      showResult(seat.view.timeline.info.game_id);
    },
    onstate: (state) => {
      if (seat.state === "finished" && state === "lost") return seat.live.close(); // it is kept for a rematch
      board.classList.toggle("stale", state !== "live");
      if (state !== "live") {
        text.textContent = t`The connection is lost. Connecting again ...`;
        checkSession();
      } else show();
      return undefined;
    },
    onclock: (running) => { if (seat.next === null) seat.view?.showClock(running); },
  });
  show();
}

/** Who has started a game against engines is ready: no other person can be late. If this fails there is the button. */
async function readyAtOnce() {
  if (seat.state !== "invited" || !seat.alone || seat.asked === seat.game) return;
  seat.asked = seat.game;
  seat.refused = !await order("ready");
  show();
}

/** A server that has started again knows no session of before: its links are new. */
async function checkSession() {
  try {
    await post("check", { session: seat.session });
  } catch (error) {
    if (error.status !== 401 && error.status !== 404) return;
    seat.live.close();
    localStorage.removeItem(stored);
    text.textContent = t`This seat is lost: the server has started again. Ask for a new link.`;
    for (const control of [start, form, leave, goOn]) control.hidden = true;
  }
}

function show() {
  const mine = seat.turn !== null && seat.turn !== undefined;
  const ended = seat.next !== null;
  const shown = seat.view?.timeline;
  const outcome = shown && shown.end !== null ? `: ${outcomeText(shown)}` : "";
  const words = ended ? t`The game is over, and another one waits for you.` : mine ? t`It is your turn.`
    : seat.state === "playing" ? t`The others move.`
    : (seat.contest
      ? CASUAL_TEXTS[seat.alone && !seat.refused && ["invited", "ready"].includes(seat.state) ? "connecting"
        : seat.state] : null) ?? TEXTS[seat.state] ?? "";
  const sentence = words.replace(t`The game is over`, t`The game is over${outcome}`);
  why.replaceChildren(...(outcome ? faultsOf(shown) : []));
  text.classList.toggle("over", shown !== undefined && shown.end !== null);
  text.classList.toggle("won",
    shown !== undefined && shown.end !== null && shown.winner(shown.length) === place(shown));
  text.textContent = seat.problem ? `${sentence} (${said(seat.problem)})` : sentence;
  goOn.hidden = !ended;
  start.hidden = ended || seat.state !== "invited" || (seat.alone && !seat.refused);
  form.hidden = ended || !["playing", "ready"].includes(seat.state);
  advise.hidden = !seat.hints || shown === undefined || shown.rules === null;
  // It keeps its place: with it the board would move as the turn comes.
  back.hidden = !seat.takes_back;
  leave.hidden = !["invited", "ready", "playing", "waiting"].includes(seat.state);
  for (const control of form.querySelectorAll("button")) control.disabled = !mine;
  back.disabled = !seat.undo;
  again.hidden = revenge.hidden = !(seat.contest && seat.state === "finished");
  if (seat.rematch) revenge.textContent = t`Rematch: the others wait`;
  // The other player of a visitor's game may want another one.
  if (seat.state === "finished" && !seat.contest) seat.live?.close();
  if (seat.view) showMoves(mine && !ended);
}

/** The faults by which seats lost their game, from time to a broken connection: who, when and which. */
function faultsOf(shown) {
  return shown.info.names.flatMap((name, i) => {
    const fault = shown.fault(i + 1, shown.length);
    if (fault === null) return [];
    return [el("span", {}, bdi(name), `: ${faultText(fault)}`)];
  });
}

/** The seat of this person, 0 before GAME. */
const place = (shown) => shown.info.names.indexOf(seat.name) + 1;

/** How the game ended for this person, as a sentence. */
function outcomeText(shown) {
  const { names } = shown.info;
  const totals = shown.points(shown.length);
  const mine = place(shown);
  const winner = shown.winner(shown.length);
  if (shown.end === "void" || winner === null || !mine) return resultText(names, totals, shown.end, !shown.decided);
  const points = [totals[winner - 1], ...totals.filter((_, i) => i !== winner - 1)];
  const score = shown.decided ? "" : ` ${points.map(numberText).join(" : ")}`;
  const how = shown.end === "forfeit" ? t` by forfeit` : "";
  return `${winner === mine ? t`you win` : t`${names[winner - 1]} wins`}${score}${how}`;
}

function showMoves(mine) {
  const { view } = seat;
  const legal = mine && view.timeline.end === null ? seat.legal : [];
  choices.replaceChildren(...legal.map((move) => el("option", { value: move })));
  view.board.element.classList.toggle("playable", mine);
  for (const node of view.board.element.querySelectorAll("[data-move]")) {
    const can = legal.includes(node.dataset.move);
    node.classList.toggle("can", can);
    node.classList.remove("hint", "chosen");
    if (node.hasAttribute("role")) node.setAttribute("aria-disabled", String(!can));
  }
}

/** A cell that a finger may have missed is chosen by the first touch, and played by the second one. */
function pressed(move, click) {
  if (!isUnsure(click) || field.value === move || !seat.legal.includes(move)) return play(move);
  choose("chosen", move);
  text.textContent = t`${move} is chosen: touch it again to play it.`;
  return undefined;
}

/** The move stands in the field, and the board shows it. */
function choose(kind, move) {
  field.value = move;
  message.textContent = "";
  markMove(seat.view, kind, move);
}

async function play(move) {
  const { view } = seat;
  if (seat.turn === null || !view) return;
  if (!seat.legal.includes(move)) {
    message.textContent = move ? t`${move} is not a legal move here.` : t`Type a move, or choose one on the board.`;
    return;
  }
  if (!view.following) view.follow();
  const ply = seat.turn;
  if (await order("move", { ply, move })) field.value = "";
}

function showHint() {
  const { view } = seat;
  view.follow();
  const { timeline } = view;
  const move = hint(timeline.rules, timeline.position(timeline.length));
  if (move !== null) choose("hint", move);
}

async function showResult(game) {
  const { contest } = seat.contest ? seat : await get("site.json").catch(() => ({ contest: null }));
  if (contest !== null && seat.view.timeline.info.game_id === game) {
    result.replaceChildren(el("a", { href: gameLink(contest, game) }, t`The record of game ${game}`),
      ...(seat.contest ? [] : [" · ", el("a", { href: link("contest.html", { id: contest }) }, t`The contest`)]));
  }
}

/** Who has given up gets no line of the game any more: the end is that of its result. */
async function learnEnd(attempt) {
  const { timeline } = seat.view ?? { timeline: null };
  if (timeline === null || timeline.end !== null) return;
  const contest = await get(`contests/${encodeURIComponent(seat.contest)}.json`).catch(() => null);
  const rows = contest === null ? [] : await loadGames(contest).catch(() => []);
  const row = rows.find(({ id }) => id === timeline.info.game_id);
  if (row === undefined) {
    if (attempt < 6) setTimeout(() => learnEnd(attempt + 1), 250 * 2 ** attempt);
    return;
  }
  timeline.end = row.end;
  timeline.totals = row.totals;
  timeline.faults = row.faults.map(([faulty, ply, kind]) => ({ seat: faulty, ply, kind }));
  seat.view.grown();
  show();
  showResult(row.id);
}

document.addEventListener("keydown", (event) => seat.view?.key(event));
addEventListener("hashchange", () => location.reload());
if (!/^[0-9a-f]{32}$/.test(key)) explain();
else if (localStorage.getItem(stored)) sit(localStorage.getItem(stored));
else offer();
