// The most interesting running game on the whole screen; it goes on to the next one by itself.

import { get } from "./api.js";
import {
  applyTheme, bdi, el, gameLink, gamesText, heldText, inFrame, leftText, numberText, pageHeader, parameter, plural,
  rankingText, SEEN_MS, sentence, setParts, setText, someNames,
} from "./dom.js";
import { choose, interest, numberOf, plannedAfter, RECENT_MS } from "./interest.js";
import { gamePath, LiveGame } from "./livegame.js";
import { livePath, LiveStream } from "./livestream.js";
import { inRow } from "./locale.js";
import { playHighlights } from "./programme.js";
import { showRunning } from "./seats.js";
import { ring, soundButton } from "./sound.js";
import { named, t } from "./texts.js";
import { Screen } from "./tv-screen.js";

/** The result stays on the screen for so long. */
const RESULT_MS = 8000;
const main = document.getElementById("main");
/** The menu goes away when the pointer has not moved for so long. */
const IDLE_MS = 3000;
/** The windows in which the style sheet lays the menu over the page. */
const LOW = "(max-width: 800px) and (max-aspect-ratio: 1), (max-height: 700px) and (min-aspect-ratio: 1)";
/** Without a running game for so long the highlights are shown; at once when the contest is over. */
const PROGRAMME_MS = 10_000;
const state = { shown: null, live: null, gains: new Map(), totals: new Map(), games: [], until: 0, contest: null,
  pinned: false, document: null, schedule: new Map(), emptySince: null, programme: null };
const stage = el("div", { class: "tv-stage" });
const leaders = el("ol", { class: "tv-leaders" });
const title = el("b", {});
/** Which game of how many, and when the last one will be over. */
const progress = el("span", {});
const upcoming = el("span", { class: "sub" });
const open = el("a", { class: "button", hidden: true }, t`Open the game`);
const pin = el("button",
  { type: "button", "aria-pressed": "false", title: t`Stay with this game until it is over`,
    onclick: () => setPinned(!state.pinned) }, t`Pin`);
const waiting = el("p", { class: "empty" }, t`Waiting for the next game ...`);

function takeBoards(games) {
  const now = performance.now();
  state.games = games;
  for (const game of games) {
    const before = state.totals.get(game.game_id) ?? game.totals;
    const gained = game.totals.reduce((sum, total, i) => sum + Math.max(0, total - (before[i] ?? 0)), 0);
    const gains = (state.gains.get(game.game_id) ?? []).filter(([at]) => now - at < RECENT_MS);
    if (gained) gains.push([now, gained]);
    state.gains.set(game.game_id, gains);
    state.totals.set(game.game_id, game.totals);
  }
}

function setPinned(on) {
  state.pinned = on;
  pin.setAttribute("aria-pressed", String(on));
}

/** The rows of the schedule behind the game number `last`, of one chunk or two. */
async function scheduled(last) {
  const { id, schedule } = state.document;
  const chunk = Math.floor(last / schedule.chunk);
  if (last >= schedule.games) return [];
  if (!state.schedule.has(chunk)) state.schedule.set(chunk, get(`contests/${id}/schedule-${chunk}.json`));
  return state.schedule.get(chunk).catch(() => []);
}

/** What is likely to be shown after this game: the most interesting of the others, else the next of the schedule. */
async function showUpcoming(scores) {
  const [next] = [...scores].filter(([id]) => id !== state.shown?.id).sort((a, b) => b[1] - a[1]);
  const game = next && state.games.find((each) => each.game_id === next[0]);
  let names = game?.names;
  let id = game?.game_id;
  if (!game && state.document?.status === "running") {
    const known = state.games.map((each) => each.game_id);
    const row = plannedAfter(await scheduled(Math.max(0, ...known.map(numberOf))), known);
    [id, names] = row === null ? [] : [row[0], row[1].map((bot) => state.document.bots[bot])];
  }
  setText(upcoming, names?.every(Boolean) ? t`Next: ${inRow(names, " – ")} (${id})` : "");
}

/** Which game of how many is shown, and how long the contest will take. */
function showProgress() {
  const { document: contest, shown } = state;
  const number = shown && numberOf(shown.id);
  const { games: all = null, games_played: played = 0, pace = null } = contest ?? {};
  const which = number !== null && all !== null && number <= all
    ? t`Game ${numberText(number)} of ${numberText(all)}` : gamesText(played, all);
  setText(progress, contest === null ? "" : `${which}${leftText(pace)}`);
}

function turn() {
  const now = performance.now();
  const running = state.games.filter((game) => !game.end);
  const scores =
    new Map(running.map((game) => [game.game_id,
      interest(game, state.gains.get(game.game_id) ?? [], now, Number(game.options?.plies) || 0)]));
  showUpcoming(scores);
  showProgress();
  state.emptySince = running.length ? null : state.emptySince ?? now;
  if (state.shown === null) showProgramme(now);
  if (now < state.until || (state.pinned && running.some((game) => game.game_id === state.shown?.id))) return;
  setPinned(false);
  const wanted = choose(state.shown, scores, now);
  if (wanted === (state.shown?.id ?? null)) return;
  state.live?.close();
  state.shown = wanted === null ? null : { id: wanted, since: now };
  state.live = wanted === null ? null : watch(wanted);
  open.hidden = pin.disabled = wanted === null;
  if (wanted !== null && state.contest !== null) open.href = gameLink(state.contest, wanted);
  if (wanted === null) showWaiting();
}

/** Why no game is shown, until the highlights are. */
function showWaiting() {
  stage.classList.remove("decided", "stale");
  stage.replaceChildren(waiting);
}

/** The best moments of the contest, while no game runs. */
function showProgramme(now) {
  const isOver = state.document !== null && state.document.status !== "running";
  if (state.programme !== null || state.contest === null || state.emptySince === null
    || (!isOver && now - state.emptySince < PROGRAMME_MS)) {
    return;
  }
  const programme = {};
  state.programme = programme;
  const show = (screen) => {
    stage.classList.toggle("decided", screen.timeline.decided);
    stage.replaceChildren(waiting, ...screen.parts);
  };
  playHighlights(state.contest, show, () => state.programme === programme);
}

function watch(id) {
  let screen = null;
  state.programme = null;
  const live = new LiveGame(gamePath(id, parameter("contest")), {
    onbegin: (timeline) => {
      stage.classList.toggle("decided", timeline.decided);
      screen = new Screen(timeline, { address: state.contest === null ? null : gameLink(state.contest, id) });
      stage.replaceChildren(...screen.parts);
      screen.show(timeline.length);
    },
    ongrow: inFrame(() => { screen.show(live.timeline.length); live.tick(); }, SEEN_MS),
    onnote: inFrame(() => screen.showNotes()),
    onover: () => { ring(); state.until = performance.now() + RESULT_MS; },
    onstate: (connection) => {
      stage.classList.toggle("stale", connection !== "live");
      if (screen === null) return;
      if (connection === "live") screen.show(live.timeline.length);
      else if (connection === "lost")
        screen.tell(t`The connection is lost; the game may be further on. Connecting again ...`);
    },
    onclock: (running) => { if (screen) showRunning(screen.cards, running, live.timeline.info.clock_ms); },
  });
  return live;
}

function overText(contest, standings) {
  const first = standings.filter((row) => row.rank === 1).map((row) => row.bot);
  const leader = first.length ? t`, first: ${someNames(first)}` : "";
  const title = contest.about?.title ?? contest.name;
  return t`${title} is ${named(contest.status)}, ${plural(contest.games_played, "game")} played${leader}.`;
}

/**
 * The menu is there while the pointer moves or a key is pressed, and at first, unless it lies over the game: on a phone
 * or in a low window.
 */
function hideMenu() {
  let timer = null;
  const wake = () => {
    document.body.classList.remove("idle");
    clearTimeout(timer);
    timer = setTimeout(() => document.body.classList.add("idle"), IDLE_MS);
  };
  for (const event of ["pointermove", "pointerdown", "keydown"]) addEventListener(event, wake);
  if (matchMedia(LOW).matches) document.body.classList.add("idle");
  else wake();
}

async function begin() {
  applyTheme();
  document.body.prepend(pageHeader());
  const full = el("button",
    { type: "button", class: "full", onclick: () => document.documentElement.requestFullscreen?.() }, t`Full screen`);
  main.classList.add("tv");
  main.replaceChildren(el("h1", { class: "visually-hidden" }, t`Running game`), stage, leaders,
    el("div", { class: "tv-foot" }, title, progress, upcoming,
      el("span", { class: "tools" }, open, pin, soundButton(), full)));
  pin.disabled = true;
  hideMenu();
  showWaiting();
  const site = await get("site.json").catch(() => ({ live: false }));
  if (!site.live) { waiting.textContent = t`This server shows no running games.`; return; }
  state.contest = parameter("contest") ?? site.contest;
  const boards = new Map();
  const leader = (contest, standings, row) => el("li", {},
    el("span", { class: "rank" }, row.rank === null ? "–" : String(row.rank)), " ",
    el("b", { title: row.bot }, bdi(row.bot)), " ", el("span", { class: "num" }, rankingText(contest, standings, row)));
  const showContest = ({ contest, standings, waiting: bots, holds, live }) => {
    setText(title, contest?.about?.title ?? contest?.name ?? "");
    state.document = contest;
    const over = contest !== null && contest.status !== "running" ? overText(contest, standings) : "";
    setText(waiting, live ? t`Running games cannot be shown now: ${live}. Trying again ...`
      : over || heldText({ holds, waiting: bots }) || t`Waiting for the next game ...`);
    const shown = contest === null ? [] : standings.slice(0, 8);
    setParts(leaders, ...shown.map((row) => leader(contest, standings, row)));
  };
  setInterval(turn, 1000);
  if (state.contest !== null && !(site.running ?? []).map(String).includes(String(state.contest))) {
    // One that this server does not run has no streams: its table, and the highlights.
    await get(`contests/${encodeURIComponent(state.contest)}.json`).then(
      (contest) => showContest({ contest, standings: contest.standings }),
      (error) => { waiting.textContent = sentence(error.message); });
    return;
  }
  new LiveStream(livePath("boards", parameter("contest")), { boards: ({ changed, shown }) => {
    for (const game of changed) boards.set(game.game_id, game);
    takeBoards(shown.map((id) => boards.get(id)).filter((game) => game?.names));
    turn();
  } });
  new LiveStream(livePath("contest", parameter("contest")), { contest: showContest });
}

begin();
