// One contest: standings, running games, cross-table, list of games. A running contest is kept up to date.

import { get, livePath, LiveStream, spaced } from "./api.js";
import { applyTheme, clockText, el, gamesText, link, numberText, pageHeader, paceText, parameter, waitingText } from "./dom.js";
import { CrossTable } from "./crosstable.js";
import { faultsPanel, loadFaults, rangesPanel } from "./details.js";
import { GameList, loadGames, idsOf, loadSchedule, openGames, runningRows, withLeaving } from "./gamelist.js";
import { loadRatings, ratingPanel } from "./ratings.js";
import { loadRounds, roundsPanel } from "./rounds.js";
import { Wall } from "./wall.js";

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");
const number = parameter("id");

/** "sonneborn-berger" as the head of a column. */
function titleOf(tieBreak) {
  return (tieBreak[0].toUpperCase() + tieBreak.slice(1)).replaceAll("-", " ");
}

export function standingsTable(contest, rows) {
  // Points and wins may break ties, too: they have their columns already.
  const tieBreaks = Object.keys(rows[0]?.tie_breaks ?? {}).filter((name) => !["points", "wins"].includes(name));
  const scored = rows.some((row) => "score" in row);
  const heads = ["Rank", "Bot", ...(scored ? ["Score"] : []), "Points", "Games", "Mean", "Wins", ...tieBreaks.map(titleOf), "Faults"];
  const body = rows.map((row) => el("tr", {},
    el("td", { class: "num" }, row.rank === null ? "–" : String(row.rank)),
    el("td", { class: "name-cell" }, el("a", { href: link("bot.html", { contest: contest.id, bot: row.bot }) }, row.bot)),
    ...(scored ? [el("td", { class: "num" }, el("b", {}, numberText(row.score)))] : []),
    el("td", { class: "num" }, scored ? numberText(row.points) : el("b", {}, numberText(row.points))),
    el("td", { class: "num" }, numberText(row.games)),
    el("td", { class: "num" }, row.mean.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })),
    el("td", { class: "num" }, numberText(row.wins)),
    ...tieBreaks.map((name) => el("td", { class: "num" }, numberText(row.tie_breaks[name]))),
    el("td", { class: "faults" }, Object.entries(row.faults).map(([kind, count]) => `${kind} ${count}`).join(", "))));
  return el("table", { class: "standings" }, el("thead", {}, el("tr", {}, ...heads.map((text, i) => el("th", { scope: "col", class: i === 1 || i === heads.length - 1 ? null : "num" }, text)))), el("tbody", {}, ...body));
}

/** A format may rank by a score of its own; while the bots have different numbers of games others rank by the mean. */
function rankedBy(contest) {
  if (contest.ranked_by) return `ranked by score: ${contest.ranked_by}`;
  const differ = new Set(contest.standings.map((row) => row.games)).size > 1;
  return `scored by ${contest.scoring}${differ ? " a game, because the numbers of games differ" : ""}`;
}

function summary(contest) {
  const games = `${gamesText(contest.games_played, contest.games)} played${contest.games_void ? `, ${contest.games_void} void` : ""}`;
  const frozen = contest.frozen_at ? `; the table stands still since ${contest.frozen_at.slice(0, 16).replace("T", " ")} UTC, until the contest is over` : "";
  const clock = `${clockText(contest.clock_ms)} per seat${contest.increment_ms ? ` + ${contest.increment_ms / 1000} s per move` : ""}`;
  return `${contest.game}, ${contest.format}, ${rankedBy(contest)}; ${clock}; ${games}${paceText(contest.pace)}${frozen}`;
}

async function begin() {
  const site = await get("site.json");
  if (!number) throw new Error("the address names no contest");
  let contest = await get(`contests/${encodeURIComponent(number)}.json`);
  document.title = contest.name;
  const live = site.live && (site.running ?? []).map(String).includes(number) && contest.status === "running";
  const banner = el("p", { class: "banner", role: "status" });
  const status = el("span", { class: "tag" });
  const early = el("p", { class: "sub" });
  const sub = el("span", {});
  const waiting = el("p", { class: "sub" });
  const table = el("div", { class: "scroll" });
  const cross = new CrossTable();
  const list = new GameList(contest);
  const ratings = el("div");
  const ranges = el("div");
  const rounds = el("div");
  const openedRounds = new Set();
  const showRounds = async () => {
    const panel = roundsPanel(contest, await loadRounds(contest), openedRounds);
    const scrolled = rounds.querySelector(".bracket")?.scrollLeft ?? 0;
    rounds.replaceChildren(...[panel].filter(Boolean));
    rounds.querySelector(".bracket")?.scrollTo(scrolled, 0);
  };
  const faults = el("div");
  let rows = [];
  const showDetails = spaced(async () => {
    ranges.replaceChildren(...[rangesPanel(contest, rows)].filter(Boolean));
    ratings.replaceChildren(...[ratingPanel(number, await loadRatings(number))].filter(Boolean));
    faults.replaceChildren(...[faultsPanel(contest, await loadFaults(number))].filter(Boolean));
  });
  let schedule = [];
  let running = [];
  const showOpen = () => {
    const open = openGames(contest, rows, schedule, running);
    list.setOpen(open);
    cross.show(contest, [...rows, ...open]);
  };
  /** The ids decide whether the tables are drawn again; points and plies change in place. */
  const showRunning = (games) => {
    const same = idsOf(games) === idsOf(running);
    running = withLeaving(games, running, rows);
    if (!same) return showOpen();
    const now = runningRows(contest, rows, running);
    list.update(now);
    return cross.update(now);
  };
  const refresh = (shown) => {
    status.textContent = shown.status;
    status.classList.toggle("live", shown.status === "running");
    sub.textContent = ` ${summary(shown)}`;
    early.textContent = shown.separated ? `Ended early: after ${shown.separated.games} games ${shown.separated.names.join(", ")} ${shown.separated.names.length === 1 ? "is" : "are"} separated from all others at 95 %.` : "";
    table.replaceChildren(shown.standings.some((row) => row.games) || shown.standings.length ? standingsTable(shown, shown.standings) : el("p", { class: "empty" }, "No bot has entered."));
  };
  const showGames = async () => {
    await showRounds();
    rows = await loadGames(contest, rows, (some) => { if (!rows.length) list.setRows(some); });
    list.setRows(rows);
    showOpen();
  };
  refresh(contest);
  const wall = live ? new Wall(contest.id, { filter: (game) => !game.end, onchange: showRunning }) : null;
  const boards = live ? el("section", { class: "panel" }, el("h2", {}, "Running games"), wall.element) : null;
  main.replaceChildren(...[banner,
    el("div", { class: "title" }, el("h1", {}, contest.name), el("p", { class: "sub" }, status, sub), waiting,
      site.written_at ? el("p", { class: "sub" }, `As of ${site.written_at.slice(0, 16).replace("T", " ")} UTC`) : null,
      early,
      contest.head ? el("p", { class: "sub head" }, "Head of the record chain: ", el("code", {}, contest.head)) : null),
    boards,
    el("section", { class: "panel" }, el("h2", {}, "Standings"), table), rounds, ratings, cross.element, ranges, faults,
    el("section", { class: "panel", id: "games" }, el("h2", {}, "Games"), list.element)].filter(Boolean));
  await showGames();
  showDetails();
  // Once: it depends on the configuration alone.
  schedule = await loadSchedule(contest);
  showOpen();
  if (!live) return;
  const catchUp = spaced(async () => {
    contest = await get(`contests/${contest.id}.json`);
    refresh(contest);
    await showGames();
    showDetails();
    if (contest.status !== "running") { stream.close(); boards.remove(); running = []; showOpen(); }
  });
  const said = { lost: false, live: null };
  const say = () => {
    banner.textContent = said.lost ? "The connection is lost; the standings may be older. Connecting again ..."
      : said.live ? `Running games cannot be shown now: ${said.live}. Trying again ...` : "";
  };
  const stream = new LiveStream(livePath("contest", contest.id), {
    contest: (event) => {
      waiting.textContent = waitingText(event.waiting);
      said.live = event.live;
      say();
      if (event.contest === null) return;
      const played = event.contest.games_played + event.contest.games_void;
      refresh({ ...event.contest, standings: event.standings });
      if (played !== contest.list.games || event.contest.status !== contest.status) catchUp();
    },
  }, (state) => { said.lost = state === "lost"; say(); });
}

begin().catch((error) => {
  main.replaceChildren(el("div", { class: "error", role: "alert" }, el("h1", {}, "This contest cannot be shown"), el("p", {}, error.message), el("p", {}, el("a", { href: "index.html" }, "All contests"))));
});
