// One contest: standings, running games, cross-table, list of games. A running contest is kept up to date.

import { get, LiveStream } from "./api.js";
import { applyTheme, clockText, el, link, numberText, pageHeader, parameter, plural } from "./dom.js";
import { GameList, loadGames, resultFor } from "./gamelist.js";
import { gameLink } from "./gameview.js";
import { Wall } from "./wall.js";

const MOST_CROSSED = 40;

applyTheme();
const main = document.getElementById("main");
const number = parameter("id");

export function standingsTable(contest, rows) {
  const heads = ["Rank", "Bot", "Points", "Games", "Mean", "Wins", "Faults"];
  const body = rows.map((row) => el("tr", {},
    el("td", { class: "num" }, String(row.rank)),
    el("td", { class: "name-cell" }, el("a", { href: link("bot.html", { contest: contest.id, bot: row.bot }) }, row.bot)),
    el("td", { class: "num" }, el("b", {}, numberText(row.points))),
    el("td", { class: "num" }, numberText(row.games)),
    el("td", { class: "num" }, row.mean.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })),
    el("td", { class: "num" }, numberText(row.wins)),
    el("td", { class: "faults" }, Object.entries(row.faults).map(([kind, count]) => `${kind} ${count}`).join(", "))));
  return el("table", { class: "standings" }, el("thead", {}, el("tr", {}, ...heads.map((text, i) => el("th", { scope: "col", class: i === 1 || i === 6 ? null : "num" }, text)))), el("tbody", {}, ...body));
}

function crossTable(contest, rows, list) {
  const ranked = contest.standings.map((row) => contest.bots.indexOf(row.bot));
  const two = rows.filter((row) => row.seats.length === 2);
  if (!two.length || ranked.length > MOST_CROSSED) return null;
  const cells = new Map();
  for (const row of two) {
    row.seats.forEach((bot, seat) => {
      const key = `${bot},${row.seats[1 - seat]}`;
      if (!cells.has(key)) cells.set(key, []);
      cells.get(key).push({ row, points: row.totals[seat], bot });
    });
  }
  const cell = (bot, other) => {
    const games = cells.get(`${bot},${other}`) ?? [];
    if (bot === other) return el("td", { class: "self" });
    if (games.length <= 3) return el("td", {}, games.flatMap(({ row, points }, i) => [i ? " " : "", el("a", { href: gameLink(contest.id, row.id, row.plies), title: `${row.id}: ${resultFor(row, bot)}` }, row.end === "void" ? "void" : numberText(points))]));
    const sum = games.reduce((total, { row, points }) => total + (row.end === "void" ? 0 : points), 0);
    return el("td", {}, el("a", { href: "#games", title: `${games.length} games`, onclick: () => list.choose(bot, other) }, numberText(sum)));
  };
  return el("section", { class: "panel" }, el("h2", {}, "Cross-table"), el("p", { class: "sub" }, "Points of the bot in the row against the bot in the column."),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Cross-table" }, el("table", { class: "cross" },
      el("thead", {}, el("tr", {}, el("td"), ...ranked.map((bot) => el("th", { scope: "col" }, contest.bots[bot])))),
      el("tbody", {}, ...ranked.map((bot) => el("tr", {}, el("th", { scope: "row" }, contest.bots[bot]), ...ranked.map((other) => cell(bot, other))))))));
}

function summary(contest) {
  const games = `${numberText(contest.games_played)} of ${plural(contest.games, "game")} played${contest.games_void ? `, ${contest.games_void} void` : ""}`;
  const clock = `${clockText(contest.clock_ms)} per seat${contest.increment_ms ? ` + ${contest.increment_ms / 1000} s per move` : ""}`;
  return `${contest.game}, ${contest.format}, scored by ${contest.scoring}; ${clock}; ${games}`;
}

async function begin() {
  const site = await get("site.json");
  document.body.prepend(pageHeader());
  if (!number) throw new Error("the address names no contest");
  let contest = await get(`contests/${encodeURIComponent(number)}.json`);
  document.title = contest.name;
  const live = site.live && String(site.contest) === number && contest.status === "running";
  const banner = el("p", { class: "banner", role: "status" });
  const status = el("span", { class: "tag" });
  const sub = el("span", {});
  const table = el("div", { class: "scroll" });
  const cross = el("div");
  const list = new GameList(contest);
  const refresh = (shown) => {
    status.textContent = shown.status;
    status.classList.toggle("live", shown.status === "running");
    sub.textContent = ` ${summary(shown)}`;
    table.replaceChildren(shown.standings.some((row) => row.games) || shown.standings.length ? standingsTable(shown, shown.standings) : el("p", { class: "empty" }, "No bot has entered."));
  };
  const showGames = async () => {
    const rows = await loadGames(contest, (some) => list.setRows(some));
    list.setRows(rows);
    cross.replaceChildren(...[crossTable(contest, rows, list)].filter(Boolean));
  };
  refresh(contest);
  const running = live ? el("section", { class: "panel" }, el("h2", {}, "Running games"), new Wall(contest.id, { filter: (game) => !game.end }).element) : null;
  main.replaceChildren(...[banner,
    el("div", { class: "title" }, el("h1", {}, contest.name), el("p", { class: "sub" }, status, sub),
      contest.head ? el("p", { class: "sub head" }, "Head of the record chain: ", el("code", {}, contest.head)) : null),
    running,
    el("section", { class: "panel" }, el("h2", {}, "Standings"), table), cross,
    el("section", { class: "panel", id: "games" }, el("h2", {}, "Games"), list.element)].filter(Boolean));
  await showGames();
  if (!live) return;
  let busy = false;
  const stream = new LiveStream("live/contest", {
    contest: async (event) => {
      if (event.contest === null) return;
      const played = event.contest.games_played + event.contest.games_void;
      refresh({ ...event.contest, standings: event.standings });
      if (busy || (played === contest.list.games && event.contest.status === contest.status)) return;
      busy = true;
      try {
        contest = await get(`contests/${contest.id}.json`);
        refresh(contest);
        await showGames();
        if (contest.status !== "running") { stream.close(); running.remove(); }
      } finally {
        busy = false;
      }
    },
  }, (state) => { banner.textContent = state === "lost" ? "The connection is lost; the standings may be older. Connecting again ..." : ""; });
}

begin().catch((error) => {
  if (!document.querySelector(".site")) document.body.prepend(pageHeader());
  main.replaceChildren(el("div", { class: "error", role: "alert" }, el("h1", {}, "This contest cannot be shown"), el("p", {}, error.message), el("p", {}, el("a", { href: "index.html" }, "All contests"))));
});
