// The moves of a game as a list, a round of the seats in a row; of a long game those around the ply that is shown.

import { afterLayout, el, meanText, numberText, signedText } from "./dom.js";
import { named, t } from "./texts.js";

const SHOWN = 300;

/** The numbers of the first and the last move in the list at `ply`; the first one begins a row of `columns`. */
export function windowOf(ply, length, columns) {
  const first = Math.max(1, Math.min(ply - SHOWN / 2, length - SHOWN + 1));
  const from = first - (first - 1) % columns;
  return [from, Math.min(length, from + SHOWN + columns - 1)];
}

export class MoveList {
  /** `onjump(ply)` is called for a move that is chosen. */
  constructor(timeline, onjump) {
    this.timeline = timeline;
    this.onjump = onjump;
    this.ply = 0;
    this.columns = timeline.info.names.length === 3 ? 3 : 2;
    this.list = el("ol", { class: `moves by-${this.columns}`, onkeydown: (event) => this.#key(event) });
    this.element = el("details",
      { class: "moves-box", open: matchMedia("(min-width: 800px)").matches, ontoggle: () => this.show(this.ply) },
      el("summary", {}, t`Moves`), this.list);
  }

  /** One stop of the tab key: with the focus on a move, up and down go to the one before and after it. */
  #key(event) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.onjump(Math.max(1, this.ply + step));
    this.list.querySelector("[tabindex='0']").focus({ preventScroll: true });
  }

  show(ply) {
    const { timeline, list } = this;
    this.ply = ply;
    const [from, to] = windowOf(ply, timeline.length, this.columns);
    this.#fill(from, to);
    const current = list.querySelector("[aria-current]");
    current?.removeAttribute("aria-current");
    list.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    const row = list.children[Math.max(0, ply - from)];
    row?.firstChild.setAttribute("tabindex", "0");
    if (!ply || !row) return;
    row.firstChild.setAttribute("aria-current", "step");
    if (current !== null && document.activeElement === current) row.firstChild.focus({ preventScroll: true });
    // In a folded list it is never called.
    afterLayout(row, () => {
      const box = list.getBoundingClientRect();
      const place = row.getBoundingClientRect();
      if (place.top < box.top || place.bottom > box.bottom) list.scrollTop += place.top - box.top - box.height / 2;
    });
  }

  /** Of rows that are there already only those are drawn that come and go: a ply of a game that runs adds one. */
  #fill(from, to) {
    const { timeline, list } = this;
    const { faults } = timeline;
    const rows = (first) => timeline.plies.slice(first - 1, to).map((move, i) => this.#row(first + i, move));
    const [first, last, known] = this.shown ?? [];
    this.shown = [from, to, faults.length];
    if (known !== faults.length || from < first || from > last || to < last) return list.replaceChildren(...rows(from));
    for (let number = first; number < from; number++) list.firstChild.remove();
    return list.append(...rows(last + 1));
  }

  #row(number, move) {
    const faults = this.timeline.faults.filter((fault) => fault.ply === number).map((fault) => named(fault.kind));
    const classes = `move s${move.seat}${move.zombie ? " zombie" : ""}`;
    const title = [t`${numberText(move.time_ms)} ms`, ...faults].join(", ");
    return el("li", {}, el("button",
      { type: "button", class: classes, tabindex: -1, title, onclick: () => this.onjump(number) },
      el("span", { class: "n" }, String(number)), el("span", { class: "dot" }), el("span", { class: "m" }, move.move),
      el("span", { class: "p" }, move.points ? signedText(move.points) : ""),
      el("span", { class: "t" }, faults.join(", ") || t`${meanText(move.time_ms / 1000)} s`)));
  }
}
