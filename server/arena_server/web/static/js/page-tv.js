// The most interesting running game on the whole screen; it goes on to the next one by itself.

import { get } from "./api.js";
import { makeBoard } from "./boards.js";
import { applyTheme, el, numberText, pageHeader, parameter, rankingText, resultText, heldText } from "./dom.js";
import { gameLink } from "./gameview.js";
import { choose, interest, RECENT_MS } from "./interest.js";
import { gamePath, LiveGame } from "./livegame.js";
import { livePath, LiveStream } from "./livestream.js";
import { LeaningBar, SeatCard, ShareBar } from "./seats.js";
import { ring, soundButton } from "./sound.js";
import { said } from "./said.js";
import { named, t } from "./texts.js";

/** The result stays on the screen for so long. */
const RESULT_MS = 8000;
const PHASE_MS = 170;

const main = document.getElementById("main");
/** The menu goes away when the pointer has not moved for so long. */
const IDLE_MS = 3000;
const state = { shown: null, live: null, gains: new Map(), totals: new Map(), games: [], until: 0, contest: null,
  pinned: false };
const stage = el("div", { class: "tv-stage" });
const leaders = el("ol", { class: "tv-leaders" });
const title = el("b", {});
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

/** What is likely to be shown after this game: of the others the most interesting one. */
function showUpcoming(scores) {
  const [next] = [...scores].filter(([id]) => id !== state.shown?.id).sort((a, b) => b[1] - a[1]);
  const game = next && state.games.find((each) => each.game_id === next[0]);
  upcoming.textContent = game ? t`Next: ${game.names.join(" – ")} (${game.game_id})` : "";
}

function turn() {
  const now = performance.now();
  const running = state.games.filter((game) => !game.end);
  const scores =
    new Map(running.map((game) => [game.game_id,
      interest(game, state.gains.get(game.game_id) ?? [], now, Number(game.options?.plies) || 0)]));
  showUpcoming(scores);
  if (now < state.until || (state.pinned && running.some((game) => game.game_id === state.shown?.id))) return;
  setPinned(false);
  const wanted = choose(state.shown, scores, now);
  if (wanted === (state.shown?.id ?? null)) return;
  state.live?.close();
  state.shown = wanted === null ? null : { id: wanted, since: now };
  state.live = wanted === null ? null : watch(wanted);
  open.hidden = pin.disabled = wanted === null;
  if (wanted !== null && state.contest !== null) open.href = gameLink(state.contest, wanted);
  if (wanted === null) stage.replaceChildren(waiting);
}

function watch(id) {
  let board = null;
  let cards = [];
  let shares = null;
  const leaning = new LeaningBar();
  const status = el("p", { class: "status", role: "status" });
  let shown = null;
  const show = (timeline) => {
    const ply = timeline.length;
    const last = timeline.ply(ply);
    if (shown === null) board.show(timeline.position(ply), last);
    else if (shown !== ply) board.animate(timeline.steps[ply], last, PHASE_MS);
    shown = ply;
    const winner = timeline.winner(ply);
    shares.show(timeline.points(ply));
    leaning.show(timeline, timeline.end === null ? ply + 1 : ply);
    cards.forEach((card, i) =>
      card.show({ won: winner === i + 1, points: timeline.points(ply)[i], clock: timeline.clocks(ply)[i],
        bank: timeline.info.clock_ms, moving: timeline.toMove(ply) === i + 1,
        gained: last?.seat === i + 1 ? last.points : 0, fault: timeline.fault(i + 1, ply) }));
    status.textContent = timeline.end !== null
      ? `${resultText(timeline.info.names, timeline.points(ply), timeline.end, !timeline.decided)}.`
      : t`Game ${id}, ply ${ply}`;
  };
  const live = new LiveGame(gamePath(id, parameter("contest")), {
    onbegin: (timeline) => {
      stage.classList.toggle("decided", timeline.decided);
      board = makeBoard(timeline.rules, timeline.info.layout);
      cards = timeline.info.names.map((name, i) => new SeatCard(i + 1, name, null));
      shares = new ShareBar(cards.length);
      const half = Math.ceil(cards.length / 2);
      stage.replaceChildren(
        el("div", { class: "tv-seats" }, ...cards.slice(0, half).map((card) => card.element)),
        el("div", { class: "tv-board" }, shares.element, el("div", { class: "board-row" }, leaning.element,
          state.contest === null ? board.element
            : el("a", { class: "tv-open", href: gameLink(state.contest, id), title: t`Open the game` }, board.element)),
            board.extra ?? null, status),
        el("div", { class: "tv-seats" }, ...cards.slice(half).map((card) => card.element)));
      shown = null;
      show(timeline);
    },
    ongrow: () => show(live.timeline),
    onnote: () => leaning.show(live.timeline, live.timeline.length + 1),
    onover: () => { ring(); state.until = performance.now() + RESULT_MS; },
    onstate: (connection) => {
      stage.classList.toggle("stale", connection !== "live");
      if (live.timeline === null) return;
      if (connection === "live") show(live.timeline);
      else if (connection === "lost")
        status.textContent = t`The connection is lost; the game may be further on. Connecting again ...`;
    },
  });
  live.tick = () => {
    const running = live.running();
    if (running && cards.length) cards[running.seat - 1].showClock(running.ms, live.timeline.info.clock_ms);
  };
  return live;
}

function overText(contest, standings) {
  const first = standings.filter((row) => row.rank === 1).map((row) => row.bot);
  const leader = first.length ? t`, first: ${first.join(", ")}` : "";
  return t`${contest.name} is ${named(contest.status)}, ${numberText(contest.games_played)} games were played${leader}.`;
}

/** The menu is there while the pointer moves or a key is pressed. */
function hideMenu() {
  let timer = null;
  const wake = () => {
    document.body.classList.remove("idle");
    clearTimeout(timer);
    timer = setTimeout(() => document.body.classList.add("idle"), IDLE_MS);
  };
  for (const event of ["pointermove", "pointerdown", "keydown"]) addEventListener(event, wake);
  wake();
}

async function begin() {
  applyTheme();
  document.body.prepend(pageHeader());
  const full = el("button",
    { type: "button", class: "full", onclick: () => document.documentElement.requestFullscreen?.() }, t`Full screen`);
  main.classList.add("tv");
  main.replaceChildren(el("h1", { class: "visually-hidden" }, t`Running game`), stage, leaders,
    el("div", { class: "tv-foot" }, title, upcoming, el("span", { class: "tools" }, open, pin, soundButton(), full)));
  pin.disabled = true;
  hideMenu();
  stage.replaceChildren(waiting);
  const site = await get("site.json").catch(() => ({ live: false }));
  if (!site.live) { waiting.textContent = t`This server shows no running games.`; return; }
  state.contest = parameter("contest") ?? site.contest;
  const boards = new Map();
  new LiveStream(livePath("boards", parameter("contest")), { boards: ({ changed, shown }) => {
    for (const game of changed) boards.set(game.game_id, game);
    takeBoards(shown.map((id) => boards.get(id)).filter((game) => game?.names));
    turn();
  } });
  const leader = (contest, standings, row) => el("li", {},
    el("b", {}, row.rank === null ? row.bot : `${row.rank}. ${row.bot}`),
    ` ${rankingText(contest, standings, row)}`);
  const showContest = ({ contest, standings, waiting: bots, holds, live }) => {
    title.textContent = contest?.name ?? "";
    const over = contest !== null && contest.status !== "running" ? overText(contest, standings) : "";
    waiting.textContent = live ? t`Running games cannot be shown now: ${said(live)}. Trying again ...`
      : over || heldText({ holds, waiting: bots }) || t`Waiting for the next game ...`;
    const shown = contest === null ? [] : standings.slice(0, 8);
    leaders.replaceChildren(...shown.map((row) => leader(contest, standings, row)));
  };
  new LiveStream(livePath("contest", parameter("contest")), { contest: showContest });
  setInterval(turn, 1000);
  setInterval(() => state.live?.tick?.(), 100);
}

begin();
