// The cross-table of many bots: a sign a cell, and the pair in words by pointer, focus or touch. Arrow keys lead from
// cell to cell.

import { bdi, el, gameLink, link, numberText, plural } from "./dom.js";
import { apart } from "./locale.js";
import { OVER, PLANNED, RUNNING } from "./rows.js";
import { t } from "./texts.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** What a cell shows of the games of two bots; `share` is what the first has of those that are over. */
export function pairSign(rows, share) {
  if (rows.some((row) => row.state === OVER && row.end !== "void")) {
    return share === null || share === 0.5 ? "=" : share > 0.5 ? "+" : "-";
  }
  return rows.some((row) => row.state === RUNNING) ? "▸" : "";
}

/** The same in words, with `sums`, what both have of the games. */
export function pairWords([bot, other], rows, sums) {
  const [over, running, planned] = [OVER, RUNNING, PLANNED].map((state) =>
    rows.filter((row) => row.state === state && row.end !== "void").length);
  const [own, others] = sums.map(numberText);
  const parts = [over ? t`${own} : ${others} in ${plural(over, "game")}` : null,
    running ? t`${numberText(running)} running` : null, planned ? t`${numberText(planned)} planned` : null];
  return t`${bot} against ${other}: ${parts.filter(Boolean).join(", ") || t`no game`}`;
}

export class CrossGrid {
  constructor() {
    /** The cell that the key Tab leads to. */
    this.at = [0, 1];
    this.said = el("p", { class: "sub pair-said" });
    /** The link whose words a touch has shown: the next one follows it. */
    this.touched = null;
  }

  /** The table of the bots at the places `ranked`; `cellOf(bot, other)` gives {rows, share, sums}. */
  table(contest, ranked, cellOf) {
    const names = ranked.map((bot) => contest.bots[bot]);
    const cell = (i, j) => {
      if (i === j) return el("td", { class: "self" });
      const { rows, share, sums } = cellOf(ranked[i], ranked[j]);
      const words = pairWords([names[i], names[j]], rows, sums);
      const [game, more] = rows.filter((row) => row.state !== PLANNED);
      const href = game && !more ? gameLink(contest.id, game.id, game.state === OVER ? game.plies : null)
        : link("contest.html", { id: contest.id, bot: names[i], against: names[j] }, "games");
      return el("td", { class: share === null ? null : `share-${Math.round(8 * share)}` },
        el("a", { href, title: words, "aria-label": words, "data-focus": `${i},${j}`, tabindex: -1 },
          pairSign(rows, share)));
    };
    const table = el("table", { class: "cross small" },
      el("thead", {}, el("tr", {}, el("td"), ...names.map((name, i) =>
        el("th", { scope: "col", title: name, "aria-label": `${i + 1} ${apart(name)}` }, String(i + 1))))),
      el("tbody", {}, ...names.map((name, i) => el("tr", {},
        el("th", { scope: "row", title: name }, el("span", { class: "rank" }, `${i + 1} `), bdi(name)),
        ...names.map((_, j) => cell(i, j))))));
    this.#listen(table);
    this.linkAt(table, this.at)?.setAttribute("tabindex", "0");
    return table;
  }

  linkAt(table, [row, column]) {
    return table.querySelector(`[data-focus="${row},${column}"]`);
  }

  #listen(table) {
    const show = (target) => {
      const chosen = target.closest("a");
      if (!chosen) return;
      this.said.replaceChildren(el("a", { href: chosen.getAttribute("href") }, chosen.title));
    };
    table.addEventListener("pointerover", (event) => show(event.target));
    table.addEventListener("focusin", (event) => {
      show(event.target);
      this.linkAt(table, this.at)?.setAttribute("tabindex", "-1");
      this.at = event.target.dataset.focus.split(",").map(Number);
      event.target.setAttribute("tabindex", "0");
    });
    table.addEventListener("click", (event) => {
      const chosen = event.target.closest("a");
      // A touch has no pointer that rests: the first one tells, the second one follows.
      if (event.pointerType !== "touch" || !chosen || this.touched === chosen) return;
      this.touched = chosen;
      show(chosen);
      event.preventDefault();
    });
    table.addEventListener("keydown", (event) => {
      const [down, right] = STEPS[event.key] ?? [];
      if (down === undefined) return;
      event.preventDefault();
      const [row, column] = this.at;
      // The diagonal has no cell of a pair.
      const over = row + down === column + right ? 2 : 1;
      this.linkAt(table, [row + over * down, column + over * right])?.focus();
    });
  }
}
