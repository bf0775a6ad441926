// One game: the replay of its record, or the running game until there is one.

import { API, fileAddress, get } from "./api.js";
import {
  allContests, applyTheme, bdi, el, errorBox, gameLink, inFrame, inReport, inTime, link, pageHeader, parameter,
  resultText, SEEN_MS,
} from "./dom.js";
import { loadRecord, recordPath } from "./gamerecord.js";
import { gameHead, GameView } from "./gameview.js";
import { GuessPanel, guessResult } from "./guess.js";
import { gamePath, LiveGame } from "./livegame.js";
import { livePath, LiveStream } from "./livestream.js";
import { loadedAfter } from "./loading.js";
import { inRow } from "./locale.js";
import { calledNames } from "./people.js";
import { loadPairs, pairLink } from "./pairs.js";
import { showRecord } from "./replay.js";
import { findGame, gameAt, loadChain } from "./rows.js";
import { ring, soundButton } from "./sound.js";
import { gameName, t } from "./texts.js";
import { isAnonymous } from "./timeline.js";

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");
main.classList.add("wide");
/**
 * In a frame of another page: board, seats and controls, and the way to the whole page; no other page of ours shows
 * itself there.
 */
const embedded = parameter("embed") !== null;
document.body.classList.toggle("embedded", embedded);
const contest = parameter("contest");
const game = parameter("game");
const botLink = (name) => (embedded ? null : link("bot.html", { contest, bot: name }));

let site = null;
const WITHHELD = t`Its record is shown when all games on the same deal have a result.`;

function fail(message) {
  main.replaceChildren(errorBox(t`This game cannot be shown`, message,
    contest ? el("a", { href: link("contest.html", { id: contest }) }, t`Back to the contest`) : allContests()));
}

function showTitle(names) {
  document.title = `${inRow(names, " – ")}, ${game}`;
}

async function replay() {
  const { record, bytes } = await loadRecord(contest, game);
  const { proof, ways, notes, called, title } = await proofOf(bytes);
  showTitle(calledNames(record.names, called));
  const view = showRecord(main, record, {
    download: fileAddress(`${recordPath(contest, game)}.record`, bytes), botLink, proof, back: back(), ways, notes,
    called, title,
    share: !embedded,
    embed: site?.embed ? { contest } : null, address,
    card: site?.pictures ? card : null,
  });
  const guessed = view && !embedded ? guessResult(view.timeline, `${contest} ${game}`) : null;
  if (guessed) main.append(guessed);
  // An address without a ply shows the newest one, of a running game as of one that has just ended.
  const asked = /^\d{1,6}$/.exec(parameter("ply"))?.[0] ?? Infinity;
  if (!location.hash) view?.go(Math.min(Number(asked), view.timeline.length));
  // From here on the ply stands behind `#` alone.
  const url = new URL(location.href);
  url.searchParams.delete("ply");
  if (!inReport()) history.replaceState(history.state, "", url);
  return view;
}

/** The link to a ply: a server that shows it elsewhere does not get what stands behind `#`. */
function address(ply) {
  const page = site?.pages ? `game-${game}.html#ply=${ply}` : link("game.html", { contest, game, ply }, `ply=${ply}`);
  return inReport() ? location.href : new URL(page, location.href).href;
}

const card = (ply) => `${API}contests/${encodeURIComponent(contest)}/pictures/${encodeURIComponent(game)}-${ply}.png`;

/** What the contest says of this game, to check the record by, and the `ways` to the games before and after it. */
async function proofOf(bytes) {
  const document = await get(`contests/${encodeURIComponent(contest)}.json`);
  const { row, place, near } = await findGame(document, game) ?? { row: null, place: null };
  // The list has what players are called, the record their names in the protocol.
  const recorded = Object.fromEntries(Object.entries(document.called ?? {}).map((pair) => pair.reverse()));
  const listed = row === null ? { game_id: null } : {
    contest: document.name, game_id: row.id, names: calledNames(row.seats.map((bot) => document.bots[bot]), recorded),
    plies: row.plies, faults: row.faults,
    // The record stays as it was played.
    ...(row.id in (document.ruled ?? {}) ? {} : { totals: row.totals, end: row.end }),
  };
  const head = document.status === "running" || row === null ? null : document.head;
  const proof = { bytes, listed, place, games: document.list.games, head, digests: () => loadChain(document) };
  const ways = row === null || embedded ? [] : await waysOn(document, row, place, near);
  const runs = document.status === "running" && site?.live;
  const more = embedded ? [] : [runs ? nextRunning() : null, site?.start ? playOn() : null].filter(Boolean);
  const notes = row === null ? [] : decisionNotes(document, row);
  return { proof, ways: [...ways, ...more], called: document.called, title: document.game_title, notes };
}

/** The result that the jury has given to a game in the place of that of its record, and why. */
function decisionNotes(document, row) {
  const decision = (document.jury ?? []).find((each) => each.number === document.ruled?.[row.id]);
  if (!decision) return [];
  const names = row.seats.map((bot) => document.bots[bot]);
  return [el("p", { class: "jury" }, el("b", {}, t`By the jury: `),
    resultText(names, row.totals, row.end, !document.decided), " – ", bdi(decision.reason))];
}

/** A link to a game of one's own from the ply that is shown. */
function playOn() {
  const anchor = el("a", { class: "button same", title: t`Play on from this ply against an engine` }, t`Play on`);
  const update = () => {
    const ply = /^#ply=(\d{1,6})$/.exec(location.hash)?.[1] ?? 0;
    anchor.href = link("play.html", { contest, game, ply });
  };
  for (const kind of ["pointerenter", "focus", "click"]) anchor.addEventListener(kind, update);
  update();
  return anchor;
}

/** A button that opens the running game that stands behind this one on the wall. */
function nextRunning() {
  const title = t`Next running game`;
  const word = el("span", { class: "long" }, title);
  const button = el("button", { type: "button", class: "onward", title, "aria-label": title, onclick: () => {
    button.disabled = true;
    const stream = new LiveStream(livePath("boards", contest), { boards: ({ changed, shown }) => {
      stream.close();
      const running = new Set(changed.filter((each) => each.end === null).map((each) => each.game_id));
      const wall = shown.filter((id) => running.has(id) || id === game);
      const next = wall[(wall.indexOf(game) + 1) % wall.length] ?? game;
      if (next !== game) location.href = gameLink(contest, next);
      else {
        button.removeAttribute("aria-label");
        button.title = t`No other game is running`;
        button.replaceChildren(button.title);
      }
    } });
  } }, word);
  return button;
}

/** Links to the games whose results came before and after that of `row`, and to all games of the same bots. */
async function waysOn(document, row, place, near) {
  const step = async (to, sign, label, rel) => {
    const other = await gameAt(document, to, near);
    if (other === null) return null;
    const players = inRow(other.seats.map((bot) => document.bots[bot]), " – ");
    return el("a",
      { class: "button step", rel, href: gameLink(contest, other.id), title: players,
        "aria-label": `${label}: ${other.id}, ${players}` }, sign);
  };
  const [bot, against] = row.seats.map((seat) => document.bots[seat]);
  const same = el("a", { class: "button same", href: link("contest.html", { id: contest, bot, against }, "games") },
    t`Same bots`);
  return [await step(place - 1, "‹", t`Previous game`, "prev"), await step(place + 1, "›", t`Next game`, "next"),
    row.seats.length === 2 ? same : null, await sameDeal(document, place)].filter(Boolean);
}

/** The way to the other games on the deal of this one. */
async function sameDeal(document, place) {
  const others = (await loadPairs(document, place)).get(game);
  if (!others?.length) return null;
  return el("a", { class: "button same", href: pairLink(contest, game, others[0]) }, t`Same deal`);
}

function back() {
  if (embedded) return el("a", { href: gameLink(contest, game), target: "_blank" }, t`Open the page`);
  return el("a", { href: link("contest.html", { id: contest }) }, "← ", el("span", { class: "long" }, t`The contest`));
}

const LIVE = t`● live`;
/** A piece flies where the ply before is so old: in a quicker game flights take most of the time of the page. */
const FLY_MS = 3000;

async function watch() {
  const banner = el("p", { class: "banner", role: "status" });
  const tag = el("span", { class: "tag" });
  const showTag = (text) => { tag.textContent = text; tag.classList.toggle("live", text === LIVE); };
  let view = null;
  let guess = null;
  let grownAt = -Infinity;
  /** Not before it is known that the contest allows it; nor in a frame. */
  const mayGuess = embedded ? Promise.resolve(false)
    : get(`contests/${encodeURIComponent(contest)}.json`).then(({ guesses = true }) => guesses, () => false);
  const showGuess = async (shown) => {
    if (!await mayGuess || view !== shown) return;
    guess = new GuessPanel(shown, `${contest} ${game}`);
    shown.element.querySelector(".side").prepend(guess.element);
  };
  /** The game may have ended while this page was not shown, or asleep. */
  const isOver = async () => {
    const { state } = await get(`contests/${encodeURIComponent(contest)}/state/${encodeURIComponent(game)}.json`)
      .catch(() => ({ state: null }));
    return state === "over" || state === "withheld";
  };
  const ended = () => { live.close(); showTag("over"); untilRecord(0); };
  // The moves and graphs stand below it: where it comes later, they move.
  await inTime(mayGuess);
  const live = new LiveGame(gamePath(game, contest), {
    onbegin: (timeline) => {
      const followed = view === null || view.following;
      const ply = view?.ply ?? 0;
      const links = isAnonymous(timeline.info.names) ? {} : { botLink };
      view = new GameView(timeline, { ...links, live: true });
      view.drawLines();
      // A ply sets the clocks to what the referee charged.
      view.onply = () => live.tick();
      if (!followed) { view.following = false; view.go(Math.min(ply, timeline.length)); }
      showTitle(timeline.info.names);
      main.replaceChildren(gameHead(timeline.info.names, [tag, t` game ${game}: ${gameName(timeline.info)}`],
        { back: back(),
          tools: embedded ? []
            : [soundButton(), nextRunning(),
              el("a", { class: "button", href: link("tv.html", { contest }) }, t`TV`)] }), banner, view.element);
      keys.view = view;
      guess = null;
      showGuess(view);
    },
    ongrow: inFrame(() => {
      const now = performance.now();
      view.grown(now - grownAt >= FLY_MS);
      grownAt = now;
      guess?.update();
    }, SEEN_MS),
    onnote: () => view.noted(),
    onover: () => { ring(); ended(); },
    onstate: async (state) => {
      banner.textContent = state === "lost"
        ? t`The connection is lost; the game may be further on. Connecting again ...` : "";
      view?.element.classList.toggle("stale", state !== "live");
      showTag(state === "live" ? LIVE : t`○ not live`);
      if (state === "lost" && await isOver() && live.stream.state === "lost") ended();
    },
    onclock: (running) => view?.showClock(running),
  });
}

/** The keys go to the view that is shown, whichever snapshot it came with. */
const keys = { view: null };
document.addEventListener("keydown", (event) => keys.view?.key(event));

/** The record is published a moment after the end. */
async function untilRecord(attempt) {
  const { state } = await get(`contests/${encodeURIComponent(contest)}/state/${encodeURIComponent(game)}.json`)
    .catch(() => ({ state: null }));
  if (state === "over") {
    keys.view = null;
    await replay();
  } else if (state === "withheld") {
    document.querySelector(".banner").textContent = t`The game is over. ${WITHHELD}`;
  } else if (attempt < 8) setTimeout(() => untilRecord(attempt + 1), 500 * 2 ** attempt);
}

async function begin() {
  if (!contest || !game) return fail(t`The address names no game.`);
  try {
    site = await get("site.json");
    const state = site.state
      ? (await get(`contests/${encodeURIComponent(contest)}/state/${encodeURIComponent(game)}.json`)).state : "over";
    if (state === "running") watch();
    else if (state === "over") await replay();
    else if (state === "withheld") fail(t`Game ${game} is over. ${WITHHELD}`);
    else fail(t`Contest ${contest} has no game ${game} that can be shown; it may not have begun yet.`);
  } catch (error) {
    // A file server has no state of a game, and its 404 no reason; a report knows which games it left out.
    const left = site?.left_out?.includes(game);
    if (left) fail(t`Game ${game} was left out of this file for its size: “arena replay ${game}” shows it.`);
    else fail(error.status === 404 && !site?.state ? t`There is no record of game ${game} here. ${WITHHELD}`
      : error.message);
  }
  return undefined;
}

loadedAfter(begin());
