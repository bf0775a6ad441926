// One contest: standings, running games, cross-table, list of games. A running contest is kept up to date.

import { feedLinks, get, spaced } from "./api.js";
import {
  aboutSite, allContests, applyTheme, bdi, clockText, el, errorBox, explained, heldText, inFrame, inReport,
  instantText, inTime, keepPlace, NO_CLOCK_MS, numberText, pageHeader, parameter, plural, setParts, setText, unequal,
} from "./dom.js";
import { CrossTable } from "./crosstable.js";
import { faultsPanel, juryPanel, loadFaults, rangesPanel } from "./details.js";
import { GameList } from "./gamelist.js";
import { highlightsPanel, loadHighlights } from "./highlights.js";
import { loadedAfter } from "./loading.js";
import { livePath, LiveStream } from "./livestream.js";
import { inRow } from "./locale.js";
import { cardsPanel } from "./player-cards.js";
import { loadRatings, ratingPanel } from "./ratings.js";
import { noticeButton } from "./notices.js";
import { mostAtOnce } from "./places.js";
import { latest, progress, showLeader, showStatus, standing } from "./progress.js";
import { loadRounds, roundsPanel } from "./rounds.js";
import { idsOf, loadGames, loadSchedule, openGames, runningRows, withLeaving } from "./rows.js";
import { marked } from "./sign.js";
import { slide } from "./slide.js";
import { entrantsText } from "./stages.js";
import { standingsTable, teamsTable } from "./standings.js";
import { swissLegend } from "./swiss.js";
import { Tabs } from "./tabs.js";
import { Wall } from "./wall.js";
import { said } from "./said.js";
import { formatName, gameName, t } from "./texts.js";

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");
const number = parameter("id");
/** How long the first view waits for ratings and highlights where many games are still to come. */
const SOON_MS = 100;
/** After how long the rest of the highlights is asked for. */
const AGAIN_MS = 5000;
/** So often at most the tables show another running game. */
const OPEN_MS = 2000;

/** A format may rank by a score of its own; while the bots have different numbers of games others rank by the mean. */
function rankedBy(contest) {
  if (contest.ranked_by) return t`ranked by score: ${said(contest.ranked_by)}`;
  const each = unequal(contest.standings) ? t` a game, because the numbers of games differ` : "";
  const by = { wins: t`scored by wins`, points: t`scored by points` };
  return `${by[contest.scoring] ?? t`scored by ${contest.scoring} for a win, a draw and a loss`}${each}`;
}

function earlyText({ games, names }) {
  const played = plural(games, "game");
  return names.length === 1 ? t`Ended early: after ${played} ${names[0]} is separated from all others at 95 %.`
    : t`Ended early: after ${played} ${inRow(names)} are separated from all others at 95 %.`;
}

/** What the organiser says of a contest: when, where and who, a text, links. */
function aboutContest(name, about, sources) {
  const when = [about.title ? name : null, about.date, about.place, about.organiser].filter(Boolean);
  const links = Object.entries(about.links ?? {})
    .flatMap(([text, href], i) => [i ? " · " : "", el("a", { href }, bdi(text))]);
  const words = when.flatMap((text, i) => [i ? ", " : "", bdi(text)]);
  return [words.length ? el("p", { class: "sub when" }, words) : null,
    sources ? el("p", { class: "sub" }, t`Entrants: ${entrantsText(sources)}`) : null,
    about.text ? el("p", { class: "about", dir: "auto" }, about.text) : null,
    links.length ? el("p", { class: "sub" }, ...links) : null].filter(Boolean);
}

function summary(contest) {
  const frozen = contest.frozen_at
    ? t`; the table stands still since ${instantText(contest.frozen_at)}, until the contest is over` : "";
  const anonymous = contest.anonymous ? t`; anonymous: names and results are shown when it is over` : "";
  const increment = contest.increment_ms ? t` + ${contest.increment_ms / 1000} s per move` : "";
  const clock = contest.clock_ms < NO_CLOCK_MS ? t`${clockText(contest.clock_ms)} per seat${increment}` : t`no clock`;
  const practice = contest.rated === false ? t`; practice, not rated` : "";
  return [gameName(contest), formatName(contest), `${rankedBy(contest)}; ${clock}${practice}${anonymous}${frozen}`]
    .join(", ");
}

async function begin() {
  const site = await get("site.json");
  if (!number) throw new Error(t`the address names no contest`);
  let contest = await get(`contests/${encodeURIComponent(number)}.json`);
  const about = contest.about ?? {};
  document.title = about.title ?? contest.name;
  const live = site.live && (site.running ?? []).map(String).includes(number) && contest.status === "running";
  const banner = el("p", { class: "banner", role: "status" });
  const status = el("span", { class: "tag" });
  const early = el("p", { class: "sub" });
  const jury = el("div");
  const sub = el("p", { class: "sub" });
  const waiting = el("p", { class: "sub waiting" });
  const viewers = el("p", { class: "sub" });
  const leader = el("p", { class: "leader" });
  const played = el("p", { class: "progress" });
  const newest = el("p", { class: "sub latest" });
  const table = el("div", { class: "scroll" });
  const teams = el("div");
  const cross = new CrossTable();
  const list = new GameList(contest);
  const ratings = el("div");
  const ranges = el("div");
  const rounds = el("div");
  const legend = el("div");
  const openedRounds = new Map();
  let drawn = { rounds: [] };
  let stands = null;
  let shown = contest;
  const showTable = () => {
    slide(table, shown.standings.map(({ bot }) => bot), () => table.replaceChildren(shown.standings.length
      ? standingsTable(shown, shown.standings, drawn) : el("p", { class: "empty" },
        t`No bot has entered. One enters by the table [[bot]] of the contest's file, or by an invitation.`)));
    if (!legend.childElementCount) legend.append(...[swissLegend(drawn)].filter(Boolean));
  };
  const showRounds = async () => {
    drawn = await loadRounds(contest);
    showTable();
    const panels = [cardsPanel(contest, drawn, openedRounds), roundsPanel(contest, drawn.rounds, openedRounds)];
    const wide = () => rounds.querySelectorAll(".bracket, .cross");
    const scrolled = [...wide()].map((each) => each.closest(".scroll").scrollLeft);
    rounds.replaceChildren(...panels.filter(Boolean));
    [...wide()].forEach((each, place) => each.closest(".scroll").scrollTo(scrolled[place] ?? 0, 0));
  };
  const faults = el("div");
  const highlights = el("div");
  let rows = [];
  const showHighlights = spaced(async () => {
    const found = await loadHighlights(number);
    const opened = highlights.querySelector("details")?.open;
    highlights.replaceChildren(...[highlightsPanel(contest, found)].filter(Boolean));
    highlights.querySelector("details")?.toggleAttribute("open", Boolean(opened));
    // Of a long contest the server has read a part of the records.
    if (found?.whole === false) setTimeout(showHighlights, AGAIN_MS);
  });
  const showRanges = () => ranges.replaceChildren(...[rangesPanel(contest, rows)].filter(Boolean));
  const loadDetails = () => Promise.all([
    loadRatings(contest, number).then((found) =>
      ratings.replaceChildren(...[ratingPanel(number, found)].filter(Boolean))),
    loadFaults(number).then((found) => faults.replaceChildren(...[faultsPanel(contest, found)].filter(Boolean))),
    showHighlights(),
  ]);
  const showDetails = spaced(() => { showRanges(); return loadDetails(); });
  let schedule = [];
  let running = [];
  const showOpen = () => {
    const open = openGames(contest, rows, schedule, running, live ? Date.now() / 1000 : null);
    list.setOpen(open);
    cross.show(contest, [...rows, ...open]);
  };
  /** Of quick games many come and go between two results: tables of them could not be read. */
  const showOpenSoon = inFrame(showOpen, OPEN_MS);
  /** The ids decide whether the tables are drawn again; points and plies change in place. */
  const showRunning = (games) => {
    const same = idsOf(games) === idsOf(running);
    running = withLeaving(games, running, rows);
    if (!same) return showOpenSoon();
    const now = runningRows(contest, rows, running);
    list.update(now);
    return cross.update(now);
  };
  const showState = () => {
    showStatus(status, shown, stands);
    setParts(played, ...progress(shown, stands));
  };
  let refreshed = "";
  const refresh = (now) => {
    shown = now;
    showState();
    // The server tells it every two seconds: mostly the pace alone has changed.
    const all = JSON.stringify({ ...now, pace: null });
    if (refreshed === all) return;
    refreshed = all;
    sub.textContent = summary(shown);
    showLeader(leader, shown);
    early.textContent = shown.separated ? earlyText(shown.separated)
      : shown.reason ? t`Ended early: ${said(shown.reason)}.` : "";
    jury.replaceChildren(...[juryPanel(shown)].filter(Boolean));
    showTable();
    teams.replaceChildren(...(shown.teams?.rows.length ? [teamsTable(shown)] : []));
  };
  const showLatest = (some) => newest.replaceChildren(...(some.length ? [t`Latest:`, ...latest(contest, some)] : []));
  const showGames = async (onnewest = () => {}) => {
    await showRounds();
    rows = await loadGames(contest, rows, onnewest);
    list.setRows(rows, true);
    showLatest(rows);
    showOpen();
  };
  refresh(contest);
  const wall = live ? new Wall(contest.id, { filter: (game) => !game.end, onchange: showRunning }) : null;
  const boards = live ? el("section", { class: "panel" }, wall.element) : null;
  let paint;
  const painted = new Promise((done) => { paint = done; });
  let onnewest;
  // Of many games the newest are enough for the first view, and the others leave server and browser to it.
  const begun = new Promise((done) => {
    onnewest = (some) => {
      list.setRows(some);
      showLatest(some);
      done();
      return painted;
    };
  });
  const details = loadDetails();
  const loading = Promise.all([showGames(onnewest).then(showRanges), details]);
  await inTime(Promise.race([loading, begun.then(() => inTime(details, SOON_MS))]));
  const standings = el("section", { class: "panel", id: "standings" }, el("h2", {}, t`Standings`), legend, table);
  const games = el("section", { class: "panel", id: "games" }, el("h2", {}, t`Games`), explained(
    t`What are a ply, a void game and a zombie?`, [
      [t`Ply`, t`one move of one seat`],
      [t`Void`, t`a game that does not count; it is played again, unless the contest ends before`],
      [t`Zombie`, t`a seat at fault: the server plays for it to the end of the game`],
    ]), list.element);
  const tabs = new Tabs(t`Parts of this page`, t`Whole page`, [
    { name: "standings", title: t`Standings`, elements: [standings, boards, teams, jury, highlights] },
    { name: "rounds", title: t`Rounds`, elements: [rounds] },
    { name: "games", title: t`Games`, elements: [games] },
    { name: "bots", title: t`Bots`, elements: [ratings, cross.element] },
    { name: "stats", title: t`Statistics`, elements: [ranges, faults] },
  ]);
  // A report has no page before this one.
  const { text } = inReport() ? aboutSite() : {};
  main.replaceChildren(...[banner, text ? el("p", { class: "about", dir: "auto" }, text) : null,
    el("div", { class: "title contest-title" },
      el("h1", {}, marked(contest.name, about.title ?? contest.name), " ", status),
      ...aboutContest(contest.name, about, contest.entrants_from),
      el("div", { class: "happens" }, leader, played, early,
        el("div", { class: live ? "news also" : "news" }, newest, waiting, viewers)),
      el("div", { class: "terms" }, sub,
        site.written_at ? el("p", { class: "sub" }, t`As of ${instantText(site.written_at)}`) : null,
        site.feeds || live ? el("div", { class: "tools" },
          site.feeds ? feedLinks(`contests/${contest.id}/feed.atom`, `contests/${contest.id}/contest.ics`) : null,
          live ? noticeButton(contest, about.title ?? contest.name, loadRounds) : null) : null,
        contest.head ? el("p", { class: "sub head" }, t`Head of the record chain: `, el("code", {}, contest.head))
          : null,
        contest.head ? explained(t`What is the chain?`, [[t`Chain`,
          t`a number made of all records in their order: who has kept it can prove that no result has changed since`]])
          : null)),
    tabs.element, standings, boards, teams, jury, highlights, rounds, ratings, cross.element, ranges, faults,
    games].filter(Boolean));
  if (live) {
    wall.reserve(mostAtOnce(contest));
    // What the first results bring comes below the window.
    if (boards.offsetTop) boards.style.minHeight = `${innerHeight - boards.offsetTop}px`;
  }
  paint();
  await loading;
  tabs.update();
  // Once: it depends on the configuration alone.
  schedule = await loadSchedule(contest);
  showOpen();
  keepPlace();
  if (!live) return;
  const catchUp = spaced(async () => {
    const { changes } = contest;
    contest = await get(`contests/${contest.id}.json`);
    list.contest = contest;
    if (contest.changes !== changes) rows = []; // results that were loaded have changed
    refresh(contest);
    await showGames();
    tabs.update();
    showDetails();
    if (contest.status === "running") return;
    stream.close();
    wall.finish();
    running = [];
    schedule = await loadSchedule(contest);
    showOpen();
  });
  const told = { lost: false, live: null };
  const say = () => {
    setText(banner, told.lost ? t`The connection is lost; the standings may be older. Connecting again ...`
      : told.live ? t`Running games cannot be shown now: ${told.live}. Trying again ...` : "");
  };
  const stream = new LiveStream(livePath("contest", contest.id), {
    contest: (event) => {
      setText(waiting, heldText(event));
      stands = standing(event);
      showState();
      setText(viewers, event.viewers > 1 ? t`${numberText(event.viewers)} are watching` : "");
      told.live = event.live;
      say();
      if (event.contest === null) return;
      const played = event.contest.games_played + event.contest.games_void;
      refresh({ ...event.contest, standings: event.standings });
      const { changes, status: now } = event.contest;
      if (played !== contest.list.games || now !== contest.status || changes !== contest.changes) catchUp();
    },
  }, (state) => { told.lost = state === "lost"; say(); });
}

loadedAfter(begin().catch((error) => {
  main.replaceChildren(errorBox(t`This contest cannot be shown`, error.message, allContests()));
}));
