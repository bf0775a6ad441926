// The cross-table: a cell has the games of the bot in its row against the bot in its column, each a link.

import { CrossGrid } from "./crossgrid.js";
import { el, explained, gameLink, numberText, pliesText, plural } from "./dom.js";
import { apart } from "./locale.js";
import { OVER, PLANNED, resultFor, RUNNING, scoreFor, valuesOf } from "./rows.js";
import { marked } from "./sign.js";
import { named, t } from "./texts.js";

const MOST_CROSSED = 40;
/** With more bots than this a cell is a sign: then 32 are in one window of 1280 x 800. */
const MOST_WRITTEN = 16;
const MOST_DOTS = 30;
/** Cells with more games are opened to show their links. */
const SHOWN = 3;

export class CrossTable {
  constructor() {
    this.element = el("div");
    /** The cells that are open, as "BOT,OTHER". */
    this.opened = new Set();
    /** By the id of a running game: the functions that set its links to a newer ply. */
    this.live = new Map();
    this.scrolled = 0;
    this.grid = new CrossGrid();
  }

  /** Running games have moved on: their links change in place, so that no click is lost. */
  update(running) {
    for (const row of running) for (const change of this.live.get(row.id) ?? []) change(row);
  }

  /** Draw `rows`, all games of the contest that are over or open; nothing for games of more than two seats. */
  show(contest, rows) {
    this.live.clear();
    const ranked = contest.standings.map((row) => contest.bots.indexOf(row.bot));
    const two = rows.filter((row) => row.seats.length === 2);
    if (!two.some((row) => row.state !== PLANNED) || ranked.length > MOST_CROSSED) {
      return this.element.replaceChildren();
    }
    const cells = new Map();
    for (const row of two) {
      row.seats.forEach((bot, seat) => {
        const key = `${bot},${row.seats[1 - seat]}`;
        if (!cells.has(key)) cells.set(key, []);
        cells.get(key).push(row);
      });
    }
    // A link or a cell that has the focus keeps it when a result comes.
    const focused = this.element.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    const rowsOf = (bot, other) => cells.get(`${bot},${other}`) ?? [];
    this.element.replaceChildren(el("section", { class: "panel" }, el("h2", {}, t`Cross-table`),
      ...(ranked.length > MOST_WRITTEN ? this.#small(contest, ranked, rowsOf)
        : this.#written(contest, ranked, rowsOf, rows.some((row) => row.state === PLANNED)))));
    const scroll = this.element.querySelector(".scroll");
    // Noted as it happens: to ask for it takes a layout of the page.
    if (this.scrolled) scroll.scrollLeft = this.scrolled;
    scroll.addEventListener("scroll", () => { this.scrolled = scroll.scrollLeft; });
    if (focused) this.element.querySelector(`[data-focus="${focused}"]`)?.focus();
    return undefined;
  }

  #small(contest, ranked, rowsOf) {
    const table = this.grid.table(contest, ranked, (bot, other) => {
      const rows = rowsOf(bot, other);
      const counted = rows.filter((row) => row.state === OVER && row.end !== "void");
      return { rows, share: shareOf(contest, rows, bot), sums: [bot, other].map((each) =>
        counted.reduce((total, row) => total + worthOf(contest, row, each), 0)) };
    });
    return [explained(t`What do the signs mean?`, [
      ["+",
        t`the bot in the row has more of the games than the bot in the column, by their ranks; the greener the more`],
      ["-", t`it has less; the redder the less`],
      ["=", t`both have as much`],
      ["▸", t`no game is over, one is running`],
    ]), this.grid.said, box(table)];
  }

  #written(contest, ranked, rowsOf, hasPlanned) {
    const cell = (bot, other) => (bot === other ? el("td", { class: "self" })
      : this.#cell(contest, bot, other, rowsOf(bot, other)));
    const names = ranked.map((bot) => contest.bots[bot]);
    const head = (name, i) => el("th",
      { scope: "col", title: name, "aria-label": `${i + 1} ${apart(name)}` }, String(i + 1));
    const line = (bot, i) => el("tr", {},
      el("th", { scope: "row", title: names[i] }, el("span", { class: "rank" }, `${i + 1} `), marked(names[i])),
      ...ranked.map((other) => cell(bot, other)));
    const meaning = valuesOf(contest)
      ? t`What the bot in the row has scored against the bot in the column, by their ranks: ${contest.scoring}.`
      : contest.decided
      ? t`Games that the bot in the row has won against the bot in the column, by their ranks; a draw is a half.`
      : t`Points of the bot in the row against the bot in the column, by their ranks.`;
    return [el("p", { class: "sub" }, meaning, " ",
      t`A dot is a game won, drawn or lost. A sum opens to its games.`,
      hasPlanned ? ` ${t`An empty cell stands for games that are planned.`}` : ""),
    box(el("table", { class: "cross" },
      el("thead", {}, el("tr", {}, el("td"), ...names.map(head))),
      el("tbody", {}, ...ranked.map(line))))];
  }

  #cell(contest, bot, other, rows) {
    const games = rows.filter((row) => row.state !== PLANNED);
    const planned = rows.length - games.length;
    const links = () => games.flatMap((row) => [this.#link(contest, row, bot), " "]);
    const share = shareOf(contest, games, bot);
    // Nine steps, so that a style sheet has the colours.
    const tint = share === null ? null : `share-${Math.round(8 * share)}`;
    if (games.length <= SHOWN) {
      return el("td", { class: tint }, links());
    }
    const key = `${bot},${other}`;
    const counted = games.filter((row) => row.state === OVER && row.end !== "void");
    const sum = counted.reduce((total, row) => total + worthOf(contest, row, bot), 0);
    const list = el("div", { class: "cell-games" });
    const fill = () => {
      if (!list.childElementCount) {
        list.append(...links(), ...(planned ? [el("span", { class: "sub" }, t`${numberText(planned)} planned`)] : []));
      }
    };
    const title = t`${contest.bots[bot]} against ${contest.bots[other]}: ${plural(games.length, "game")}`;
    const details = el("details", {
      open: this.opened.has(key),
      ontoggle: () => {
        if (!details.open) return this.opened.delete(key);
        fill();
        return this.opened.add(key);
      },
    }, el("summary", { title, "data-focus": key }, numberText(sum)), list);
    if (details.open) fill();
    return el("td", { class: tint }, details, dots(games, bot));
  }

  /** A game as a link to its last ply: the points of `bot`, with a mark while it runs. */
  #link(contest, game, bot) {
    const link = el("a", { "data-focus": `${game.id}-${bot}` });
    // While a game runs it has points, and neither a winner nor a value.
    const isCounted = !contest.decided && !valuesOf(contest);
    const show = (row) => {
      const over = row.state === OVER;
      const text = row.end === "void" ? named("void")
        : `${over ? "" : "▸"}${over || isCounted ? numberText(worthOf(contest, row, bot)) : ""}`;
      const state = over ? named(resultFor(row, bot)) : t`running, ${pliesText(row.plies)}`;
      link.textContent = text;
      link.href = gameLink(contest.id, row.id, row.plies);
      link.title = `${row.id}: ${state}`;
      link.setAttribute("aria-label", t`${text}, game ${row.id}, ${state}`);
    };
    show(game);
    if (game.state === RUNNING) this.live.set(game.id, [...this.live.get(game.id) ?? [], show]);
    return link;
  }
}

const box = (table) =>
  el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t`Cross-table` }, table);

/** The share of what there was to win for `bot` in games of two that are over, from 0 to 1; null without a point. */
function shareOf(contest, games, bot) {
  const over = games.filter((row) => row.state === OVER && row.end !== "void");
  const sum = (of) => over.reduce((all, row) => all + of(row), 0);
  const all = sum((row) => worthOf(contest, row, row.seats[0]) + worthOf(contest, row, row.seats[1]));
  return all > 0 ? sum((row) => worthOf(contest, row, bot)) / all : null;
}

/** What a game adds to the score of `bot`. */
function worthOf(contest, row, bot) {
  const values = valuesOf(contest);
  return values ? values[resultFor(row, bot)] ?? 0 : scoreFor(contest, row, bot);
}

/** A dot for each of the newest games: won, drawn or lost. The links say the same. */
function dots(games, bot) {
  const shown = games.filter((row) => row.state === OVER).slice(-MOST_DOTS);
  return el("div", { class: "dots", "aria-hidden": "true" },
    ...shown.map((row) => el("i", { class: resultFor(row, bot) })));
}
