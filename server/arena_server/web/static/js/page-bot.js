// One bot in one contest: its row of the standings, its opponents, its games.

import { get, livePath, LiveStream, spaced } from "./api.js";
import { faultsPanel, loadFaults, rangesPanel } from "./details.js";
import { applyTheme, el, inReport, inTime, labelled, link, numberText, pageHeader, parameter, plural } from "./dom.js";
import { GameList, filterGames, idsOf, loadGames, loadSchedule, openGames, resultFor, runningRows, withLeaving } from "./gamelist.js";
import { gameLink } from "./gameview.js";
import { botRating, loadRatings } from "./ratings.js";
import { t } from "./texts.js";

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");
const number = parameter("contest");
const name = parameter("bot");
/** Other contests that are looked at for this bot. */
const MOST_CONTESTS = 8;

function opponents(contest, place, rows) {
  const against = new Map();
  for (const row of rows) {
    const seat = row.seats.indexOf(place);
    for (const other of row.seats) {
      if (other === place || row.end === "void") continue;
      const sums = against.get(other) ?? { games: 0, points: 0, lost: 0, win: 0, draw: 0, loss: 0, best: null };
      sums.games++;
      sums.points += row.totals[seat];
      sums.lost += row.totals[row.seats.indexOf(other)];
      sums[resultFor(row, place)]++;
      if (sums.best === null || row.totals[seat] > sums.best.totals[sums.best.seats.indexOf(place)]) sums.best = row;
      against.set(other, sums);
    }
  }
  const heads = [t`Against`, t`Games`, t`Points`, t`Theirs`, t`Won`, t`Drawn`, t`Lost`, t`Best game`];
  return el("table", {}, el("thead", {}, el("tr", {}, ...heads.map((text, i) => el("th", { scope: "col", class: i && i < 7 ? "num" : null }, text)))),
    el("tbody", {}, ...[...against].sort((a, b) => b[1].points - a[1].points).map(([other, sums]) => el("tr", {},
      el("td", { class: "name-cell" }, el("a", { href: link("bot.html", { contest: number, bot: contest.bots[other] }) }, contest.bots[other])),
      ...["games", "points", "lost", "win", "draw", "loss"].map((key) => el("td", { class: "num" }, numberText(sums[key]))),
      el("td", {}, el("a", { href: gameLink(number, sums.best.id) }, sums.best.id))))));
}

/** The rows of this bot in the newest other contests of the database, with their documents. */
async function elsewhere(contest) {
  if (inReport()) return [];
  const { contests } = await get("contests.json").catch(() => ({ contests: [] }));
  const others = contests.filter((each) => each.id !== contest.id).slice(0, MOST_CONTESTS);
  const found = await Promise.all(others.map((each) => get(`contests/${encodeURIComponent(each.id)}.json`).catch(() => null)));
  return found.map((other) => ({ other, row: other?.standings.find((each) => each.bot === name) })).filter(({ row }) => row?.games);
}

function elsewherePanel(found) {
  if (!found.length) return null;
  const heads = [t`Contest`, t`Game`, t`Rank`, t`Points`, t`Games`, t`Mean`, t`Wins`];
  return el("section", { class: "panel" }, el("h2", {}, t`Other contests`), el("div", { class: "scroll" }, el("table", { class: "cards" },
    el("thead", {}, el("tr", {}, ...heads.map((text, i) => el("th", { scope: "col", class: i > 1 ? "num" : null }, text)))),
    el("tbody", {}, ...found.map(({ other, row }) => el("tr", {}, ...labelled(heads, [
      el("td", { class: "name-cell" }, el("a", { href: link("bot.html", { contest: other.id, bot: name }) }, other.name)), el("td", {}, other.game),
      el("td", { class: "num" }, t`${row.rank} of ${other.standings.length}`),
      ...[row.points, row.games, row.mean, row.wins].map((value) => el("td", { class: "num" }, numberText(value)))])))))));
}

async function begin() {
  const site = await get("site.json");
  if (!number || name === null) throw new Error(t`the address names no bot`);
  let contest = await get(`contests/${encodeURIComponent(number)}.json`);
  const place = contest.bots.indexOf(name);
  if (place < 0) throw new Error(t`no bot of this name in ${contest.name}`);
  const row = contest.standings.find((each) => each.bot === name);
  document.title = `${name}, ${contest.name}`;
  const list = new GameList(contest, place);
  const table = el("div", { class: "scroll" });
  const rating = el("div");
  const more = el("div");
  // Of this bot alone: what the page of the contest shows of all.
  const own = { ...contest, standings: [row] };
  const showMore = async () => {
    const said = await loadFaults(number);
    const mine = said && { faults: said.faults.filter(([, bot]) => bot === place) };
    more.replaceChildren(...[rangesPanel(own, filterGames(all, { bot: place })), faultsPanel(own, mine), elsewherePanel(await elsewhere(contest))].filter(Boolean));
  };
  const faults = Object.entries(row.faults).map(([kind, count]) => `${kind} ${count}`).join(", ");
  let all = [];
  const showGames = async () => {
    all = await loadGames(contest, all);
    const rows = filterGames(all, { bot: place });
    list.setRows(rows);
    table.replaceChildren(rows.some((each) => each.end !== "void") ? opponents(contest, place, rows) : el("p", { class: "empty" }, t`No game has ended yet.`));
  };
  const loading = showGames().then(async () => rating.replaceChildren(...[botRating(number, await loadRatings(number), name)].filter(Boolean))).then(showMore);
  await inTime(loading);
  main.replaceChildren(
    el("p", { class: "crumbs" }, el("a", { href: link("contest.html", { id: number }) }, `← ${contest.name}`)),
    el("div", { class: "title" }, el("h1", {}, name),
      el("p", { class: "sub" }, `${row.rank === null ? t`No rank before the first result` : t`Rank ${row.rank} of ${contest.standings.length}: ${numberText(row.points)} points in ${plural(row.games, "game")}, ${row.wins} won`}${faults ? t`; faults: ` : ""}`, faults ? el("span", { class: "faults" }, faults) : null)),
    rating,
    el("section", { class: "panel" }, el("h2", {}, t`Opponents`), table),
    more,
    el("section", { class: "panel" }, el("h2", {}, t`Games`), list.element));
  await loading;
  const schedule = await loadSchedule(contest);
  const showOpen = (running) => list.setOpen(filterGames(openGames(contest, all, schedule, running), { bot: place }));
  showOpen([]);
  if (!site.live || !(site.running ?? []).map(String).includes(number) || contest.status !== "running") return;
  const games = new Map();
  let running = [];
  const catchUp = spaced(async () => {
    contest = await get(`contests/${contest.id}.json`);
    await showGames();
    showOpen(running);
  });
  new LiveStream(livePath("boards", contest.id), {
    boards: ({ changed, shown }) => {
      for (const game of changed) games.set(game.game_id, game);
      const now = shown.map((id) => games.get(id)).filter((game) => game && !game.end);
      const same = idsOf(now) === idsOf(running);
      running = withLeaving(now, running, all);
      if (same) return list.update(runningRows(contest, all, running));
      showOpen(running);
      return catchUp();
    },
  });
}

begin().catch((error) => {
  main.replaceChildren(el("div", { class: "error", role: "alert" }, el("h1", {}, t`This bot cannot be shown`), el("p", {}, error.message), el("p", {}, el("a", { href: "index.html" }, t`All contests`))));
});
