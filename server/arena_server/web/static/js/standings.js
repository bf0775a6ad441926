// The tables of a contest: its standings, of a Swiss with a column a round, and those of its teams.

import { bdi, cardTable, el, labelled, link, meanText, numberText, unequal } from "./dom.js";
import { inRow } from "./locale.js";
import { marked } from "./sign.js";
import { roundColumns } from "./swiss.js";
import { named, t } from "./texts.js";

/** The rounds that fit beside the other columns from 1280 px on: the head of such a table stays in sight. */
const MOST_FITTING = 11;

/** A tie-break as the head of a column: "head-to-head" is "Head to head". */
function titleOf(tieBreak) {
  const name = named(tieBreak) === tieBreak
    ? tieBreak.replace("sonneborn-berger", "Sonneborn–Berger").replace("-buchholz", " Buchholz").replaceAll("-", " ")
    : named(tieBreak);
  return name[0].toUpperCase() + name.slice(1);
}

/**
 * The columns of the table as {head, kind, cell}: `cell(row, place)` is what a cell has, and `kind` its class. Those
 * that are `spare` make room for the rounds of a Swiss on a screen.
 */
function columnsOf(contest, rows, drawn) {
  // Points and wins may break ties, too: they have their columns already.
  const tieBreaks = Object.keys(rows[0]?.tie_breaks ?? {}).filter((name) => !["points", "wins"].includes(name));
  const scored = rows.some((row) => "score" in row);
  // Where games are only won or lost the points say what the wins do, and the mean is that of these.
  const won = contest.decided && contest.scoring === "wins";
  const ranking = scored ? "score" : unequal(contest.standings) && (won || contest.scoring === "points") ? "mean"
    : contest.scoring;
  const rounds = roundColumns(contest, rows, drawn);
  const numbers = (key, head, textOf) => ({ head, kind: rounds.length && key !== ranking ? "num spare" : "num",
    cell: (row) => (key === ranking ? el("b", {}, textOf(row)) : textOf(row)) });
  return [
    // Rounds name a bot by its place, which a rank that is shared does not say.
    rounds.length && rows.some((row, place) => row.rank !== place + 1)
      ? { head: t`No.`, kind: "num", cell: (_, place) => String(place + 1) } : null,
    { head: t`Rank`, kind: "num", cell: ({ rank }) => (rank === null ? "–" : String(rank)) },
    { head: t`Bot`, kind: "name-cell", cell: (row) =>
      el("a", { href: link("bot.html", { contest: contest.id, bot: row.bot }) }, marked(row.bot)) },
    scored ? numbers("score", t`Score`, (row) => numberText(row.score)) : null,
    rows.some((row) => row.penalty)
      ? { head: t`Penalty`, kind: "num", cell: (row) => (row.penalty ? numberText(-row.penalty) : "") } : null,
    ...rounds,
    won ? null : numbers("points", t`Points`, (row) => numberText(row.points)),
    numbers("games", t`Games`, (row) => numberText(row.games)),
    numbers("mean", t`Mean`, (row) => (won ? meanText(row.games ? row.wins / row.games : 0, 2) : meanText(row.mean))),
    numbers("wins", t`Wins`, (row) => numberText(row.wins)),
    ...tieBreaks.map((name) =>
      ({ head: titleOf(name), kind: "num", cell: (row) => numberText(row.tie_breaks[name]) })),
    { head: t`Faults`, kind: "faults", cell: (row) =>
      Object.entries(row.faults).map(([kind, count]) => `${named(kind)} ${count}`).join(", ") },
  ].filter(Boolean);
}

/** The table of `rows`, the first ones of the standings; `drawn` is the document of the rounds: `loadRounds`. */
export function standingsTable(contest, rows, drawn) {
  const columns = columnsOf(contest, rows, drawn);
  const heads = columns.map(({ head }) => head);
  const rounds = columns.filter(({ kind }) => kind === "round").length;
  const kind = rounds ? `standings swiss${rounds > MOST_FITTING ? " long" : ""}` : "standings cards";
  return el("table", { class: kind },
    el("thead", {}, el("tr", {}, ...columns.map((column) => el("th", { scope: "col", title: column.title,
      "aria-label": column.title, class: column.kind === "faults" ? null : column.kind }, column.head)))),
    el("tbody", {}, ...rows.map((row, place) => el("tr", { "data-of": row.bot }, ...labelled(heads,
      columns.map((column) => el("td", { class: column.kind }, column.cell(row, place))))))));
}

/** The bots of an owner are a team: the sum of its best. */
export function teamsTable({ teams }) {
  const heads = [t`Rank`, t`Team`, t`Score`, t`Bots`, t`Counted`];
  const body = teams.rows.map((row) => el("tr", {}, ...labelled(heads, [
    el("td", { class: "num" }, row.rank === null ? "–" : String(row.rank)),
    el("td", { class: "name-cell" }, bdi(row.team)),
    el("td", { class: "num" }, el("b", {}, numberText(row.score))),
    el("td", { class: "num" }, numberText(row.bots)),
    el("td", {}, inRow(row.counted))])));
  const best = teams.best > 1 ? t`The best ${numberText(teams.best)} bots of each team count.`
    : t`The best bot of each team counts.`;
  return el("section", { class: "panel", id: "teams" }, el("h2", {}, t`Teams`), el("p", { class: "sub" }, best),
    el("div", { class: "scroll" },
      cardTable(heads, body, { kind: "standings", isNumber: (place) => [0, 2, 3].includes(place) })));
}
