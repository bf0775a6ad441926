// One bot in one contest: its row of the standings, its opponents, its games.

import { feedLinks, get, spaced } from "./api.js";
import { faultsPanel, loadFaults, rangesPanel } from "./details.js";
import {
  allContests, applyTheme, bdi, cardTable, dateText, el, errorBox, gameLink, inReport, inTime, keepPlace, labelled,
  link, meanText, numberText, pageHeader, parameter, plural,
} from "./dom.js";
import { GameList } from "./gamelist.js";
import { loadedAfter } from "./loading.js";
import { filterGames, idsOf, loadGames, loadSchedule, openGames, resultFor, runningRows, withLeaving } from "./rows.js";
import { marked } from "./sign.js";
import { livePath, LiveStream } from "./livestream.js";
import { apart, locale } from "./locale.js";
import { starred, toggleStar } from "./places.js";
import { botRating, loadHistory, loadRatings } from "./ratings.js";
import { gameName, named, t } from "./texts.js";

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");
const number = parameter("contest");
let name = parameter("bot");
/** When a history that is not whole is asked for again. */
const AGAIN_MS = 1500;
/** How long the first view waits for what is said of the bot where many games are still to come. */
const SOON_MS = 100;

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
  const heads = [t`Against`, t`Games`, ...(contest.decided ? [] : [t`Points`, t`Theirs`]), t`Won`, t`Drawn`, t`Lost`,
    t`Best game`];
  const keys = ["games", ...(contest.decided ? [] : ["points", "lost"]), "win", "draw", "loss"];
  const row = ([other, sums]) => el("tr", { class: "row" }, ...labelled(heads, [
    el("td", { class: "name-cell" },
      el("a", { class: "whole", href: link("bot.html", { contest: number, bot: contest.bots[other] }) },
        marked(contest.bots[other]))),
    ...keys.map((key) => el("td", { class: "num" }, numberText(sums[key]))),
    el("td", {}, el("a", { href: gameLink(number, sums.best.id) }, sums.best.id)),
  ]));
  const most = [...against].sort((a, b) => b[1].points - a[1].points).map(row);
  return cardTable(heads, most, { isNumber: (place) => place > 0 && place < heads.length - 1 });
}

/** A document of the API, or null where there is none: a site that an earlier version has written. */
const maybe = (path) => get(path).catch(() => null);

/** The rows of this bot in all contests of the database, this one too; written pages have this one alone. */
async function everywhere(site, contest, row) {
  const own = [{ ...contest, of: contest.standings.length, row }];
  if (inReport() || site.pages) return own;
  const found = await maybe(`bots/${encodeURIComponent(name)}.json`);
  return found?.contests.filter((each) => each.row.games || each.id === contest.id) ?? own;
}

function resultsPanel(found) {
  const heads = [t`Contest`, t`Kind of game`, t`Rank`, t`Points`, t`Games`, t`Mean`, t`Wins`, t`Started`];
  const attributes = (id) => ({ class: "row", "aria-current": String(id) === number ? "true" : null });
  const body = found.map((contest) => {
    const { id, name: title, started_at: at, of, row, decided } = contest;
    const numbers = [
      decided ? "" : numberText(row.points), numberText(row.games), decided ? "" : meanText(row.mean),
      numberText(row.wins),
    ];
    return el("tr", attributes(id), ...labelled(heads, [
      el("td", { class: "name-cell" },
        el("a", { class: "whole", href: link("bot.html", { contest: id, bot: name }) }, bdi(title))),
      el("td", {}, gameName(contest)),
      el("td", { class: "num" }, row.rank === null ? "–" : t`${row.rank} of ${of}`),
      ...numbers.map((text) => el("td", { class: "num" }, text)),
      el("td", { class: "nowrap" }, dateText(Date.parse(at) / 1000)),
    ]));
  });
  return el("section", { class: "panel" }, el("h2", {}, t`All contests of this bot`),
    el("div", { class: "scroll" }, cardTable(heads, body, { isNumber: (place) => place > 1 && place < 7 })));
}

const millis = (ms) => (ms < 1000 ? t`${numberText(Math.round(ms))} ms`
  : t`${locale.number(ms / 1000, { maximumFractionDigits: 2 })} s`);

/** What a library of this project calls itself for a bot that says nothing. */
const LIBRARY = /^arena-(client|bridge)\b/;

/** Who wrote it, in what, where it is at home, and what it calls itself. */
function aboutLine(about) {
  if (!about) return null;
  const { author, language: written, url, versions } = about;
  const program = versions.map(([agent]) => agent).find((agent) => !LIBRARY.test(agent));
  const parts = [author ? t`by ${author}` : null, written || null,
    /^https?:[/][/]/i.test(url)
      ? el("a", { href: url, rel: "external nofollow noopener" }, url.replace(/^https?:\/\/(www\.)?/i, ""))
      : null,
    program ? t`program ${program}` : null].filter(Boolean);
  return parts.length ? el("p", { class: "sub about-bot" }, parts.flatMap((part, i) =>
    [i ? " · " : "", bdi(part)])) : null;
}

/** Its time a move and its first moves, over the newest games whose records may be shown. */
function habitsPanel(about) {
  if (!about?.time.moves) return null;
  const { time, first_moves: first, records } = about;
  const fact = (head, text) => el("div", {}, el("dt", {}, head), el("dd", {}, text));
  const most = Math.max(...first.map(([, count]) => count));
  return el("section", { class: "panel" }, el("h2", {}, t`Time and first moves`),
    el("p", { class: "sub" }, t`In the newest ${plural(records, "game")} whose records may be shown.`),
    el("dl", { class: "facts" }, fact(t`Mean time a move`, millis(time.mean_ms)),
      fact(t`Longest move`, millis(time.most_ms)),
      fact(t`Share of its clock`, `${locale.number(100 * time.share, { maximumFractionDigits: 1 })} %`)),
    el("table", { class: "first-moves" },
      el("thead", {},
        el("tr", {}, el("th", { scope: "col" }, t`First move`), el("th", { scope: "col", class: "num" }, t`Games`),
          el("th", { scope: "col", class: "num" }, t`Won`), el("td"))),
      el("tbody", {}, ...first.map(([move, count, won]) => {
        const bar = el("i");
        bar.style.width = `${100 * count / most}%`;
        return el("tr", {}, el("td", {}, el("b", {}, move)), el("td", { class: "num" }, numberText(count)),
          el("td", { class: "num" }, numberText(won)), el("td", { class: "amount", "aria-hidden": "true" }, bar));
      }))));
}

function placeText(contest, row) {
  const of = contest.standings.length;
  if (contest.decided) return t`Rank ${row.rank} of ${of}: ${numberText(row.wins)} won of ${plural(row.games, "game")}`;
  return t`Rank ${row.rank} of ${of}: ${plural(row.points, "point")} in ${plural(row.games, "game")}, ${row.wins} won`;
}

/** Games of bots with a star stand out on the walls of this browser. */
function starButton() {
  const button = el("button", { type: "button", class: "star", onclick: () => show(toggleStar(name)) });
  const show = (has) => {
    button.textContent = has ? "★" : "☆";
    button.setAttribute("aria-pressed", String(has));
  };
  button.title = t`Mark the games of this bot on the wall`;
  button.setAttribute("aria-label", button.title);
  show(starred().includes(name));
  return button;
}

async function begin() {
  if (!number || name === null) throw new Error(t`the address names no bot`);
  const [site, first] = await Promise.all([get("site.json"), get(`contests/${encodeURIComponent(number)}.json`)]);
  let contest = first;
  name = first.called?.[name] ?? name;
  const place = contest.bots.indexOf(name);
  if (place < 0) throw new Error(t`no bot of this name in ${contest.name}`);
  const rowOf = () => contest.standings.find((each) => each.bot === name);
  document.title = `${apart(name)}, ${apart(contest.name)}`;
  // The address that says in a chat what it shows.
  if (site.pages && /\/bot\.html$/.test(location.pathname)) {
    history.replaceState(null, "", `bot-${name}.html${location.hash}`);
  }
  const list = new GameList(contest, place);
  const table = el("div", { class: "scroll" });
  const rating = el("div");
  const more = el("div");
  // Of this bot alone: what the page of the contest shows of all.
  const showMore = async () => {
    const own = { ...contest, standings: [rowOf()] };
    const known = await loadFaults(number);
    const mine = known && { faults: known.faults.filter(([, bot]) => bot === place) };
    more.replaceChildren(...[habitsPanel(said), rangesPanel(own, filterGames(all, { bot: place })),
      faultsPanel(own, mine)].filter(Boolean));
  };
  let all = [];
  let known = contest.changes;
  const showGames = async (onnewest = () => {}) => {
    all = await loadGames(contest, known === contest.changes ? all : [], onnewest);
    known = contest.changes;
    const rows = filterGames(all, { bot: place });
    list.setRows(rows, true);
    table.replaceChildren(rows.some((each) => each.end !== "void") ? opponents(contest, place, rows)
      : el("p", { class: "empty" }, t`No game has ended yet. Running games are on the page of the contest.`));
  };
  const results = el("div");
  const standing = el("p", { class: "sub" });
  /** Where it stands, here and in other contests. */
  const showRow = async () => {
    const row = rowOf();
    const faults = Object.entries(row.faults).map(([kind, count]) => `${named(kind)} ${count}`).join(", ");
    standing.replaceChildren(row.rank === null ? t`No rank before the first result` : placeText(contest, row),
      ...(faults ? [t`; faults: `, el("span", { class: "faults" }, faults)] : []));
    results.replaceChildren(resultsPanel(await everywhere(site, contest, row)));
  };
  const against = el("section", { class: "panel" }, el("h2", {}, t`Opponents`), table);
  const about = el("div", { class: "about-place" });
  let said = null;
  const showRating = async () => {
    const [document, history] = await Promise.all([loadRatings(contest, number), loadHistory(contest, number, place)]);
    rating.replaceChildren(...[botRating(number, document, history, name)].filter(Boolean));
    // A long contest is counted while the page is shown.
    if (history && !history.whole) setTimeout(showRating, AGAIN_MS);
  };
  // Of many games the newest are enough for the first view, and the others leave server and browser to it.
  let paint;
  const painted = new Promise((done) => { paint = done; });
  let onnewest;
  const begun = new Promise((done) => {
    onnewest = (some) => {
      list.setRows(filterGames(some, { bot: place }));
      done();
      return painted;
    };
  });
  const details = Promise.all([
    maybe(`contests/${encodeURIComponent(number)}/bots/${place}.json`).then((found) => {
      said = found;
      about.replaceChildren(...[aboutLine(said)].filter(Boolean));
    }),
    showRating(), showRow(),
  ]);
  const loading = Promise.all([details, showGames(onnewest)]).then(showMore);
  await inTime(Promise.race([loading, begun.then(() => inTime(details, SOON_MS))]));
  main.replaceChildren(
    el("p", { class: "crumbs" }, el("a", { href: link("contest.html", { id: number }) }, "← ", bdi(contest.name))),
    el("div", { class: "title" }, el("h1", {}, marked(name), " ", starButton()),
      standing, about,
      site.feeds ? feedLinks(`contests/${contest.id}/bots/${place}.atom`, `contests/${contest.id}/bots/${place}.ics`)
        : null),
    rating, results,
    against,
    more,
    el("section", { class: "panel" }, el("h2", {}, t`Games`), list.element));
  // What is late moves nothing that is read: it comes at the end.
  main.append(...[[rating, rating], [results, results], [against, table],
    [more, more]].filter(([, filled]) => !filled.childElementCount).map(([part]) => part));
  paint();
  await loading;
  const schedule = await loadSchedule(contest);
  const live = site.live && (site.running ?? []).map(String).includes(number) && contest.status === "running";
  const showOpen = (running) => list.setOpen(filterGames(
    openGames(contest, all, schedule, running, live ? Date.now() / 1000 : null), { bot: place }));
  showOpen([]);
  keepPlace();
  if (!live) return;
  const games = new Map();
  let running = [];
  const catchUp = spaced(async () => {
    contest = await get(`contests/${contest.id}.json`);
    list.contest = contest;
    await Promise.all([showRow(), showGames()]);
    showOpen(running);
  });
  // A board is over a moment before its result is there.
  new LiveStream(livePath("contest", contest.id), { contest: ({ contest: now }) => {
    if (now === null) return;
    const same = now.games_played + now.games_void === contest.list.games && now.changes === contest.changes;
    if (!same || now.status !== contest.status) catchUp();
  } });
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

loadedAfter(begin().catch((error) => {
  main.replaceChildren(errorBox(t`This bot cannot be shown`, error.message, allContests()));
}));
