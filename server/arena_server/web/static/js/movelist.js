// The moves of a game as a list, a round of the seats in a row; of a long game those around the ply that is shown.

import { afterLayout, el, meanText, numberText, signedText } from "./dom.js";
import { named, t } from "./texts.js";

const SHOWN = 300;
/** Rows stand in blocks, whole lines of two and of three columns: a block out of sight is not laid out, nor drawn. */
const BLOCK = 12;

/** The numbers of the first and the last move in the list at `ply`; the first one begins a block. */
export function windowOf(ply, length) {
  const first = Math.max(1, Math.min(ply - SHOWN / 2, length - SHOWN + 1));
  const from = first - (first - 1) % BLOCK;
  return [from, Math.min(length, from + SHOWN + BLOCK - 1)];
}

export class MoveList {
  /** `onjump(ply)` is called for a move that is chosen. */
  constructor(timeline, onjump) {
    this.timeline = timeline;
    this.onjump = onjump;
    this.ply = 0;
    /** The plies after this one that are in sight, too. */
    this.room = 0;
    this.columns = timeline.info.names.length === 3 ? 3 : 2;
    this.list = el("div",
      { class: `moves by-${this.columns}`, role: "list", onkeydown: (event) => this.#key(event) });
    this.rows = [];
    /** The button of the ply that is shown: the one that the tab key reaches. */
    this.current = null;
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
    this.current.focus({ preventScroll: true });
  }

  show(ply) {
    const { timeline, list } = this;
    this.room -= ply > this.ply ? ply - this.ply : Infinity;
    const isInSight = this.room >= 0;
    this.ply = ply;
    const [from, to] = windowOf(ply, timeline.length);
    this.#fill(from, to);
    const before = this.current;
    before?.removeAttribute("aria-current");
    before?.setAttribute("tabindex", "-1");
    const row = this.rows[Math.max(0, ply - from)];
    this.current = row?.firstChild ?? null;
    this.current?.setAttribute("tabindex", "0");
    if (!ply || !row) return;
    this.current.setAttribute("aria-current", "step");
    if (before && document.activeElement === before) this.current.focus({ preventScroll: true });
    if (isInSight) return;
    // In a folded list it is never called. A row out of sight has no layout to wait for.
    afterLayout(list, () => {
      const box = list.getBoundingClientRect();
      const place = () => row.getBoundingClientRect();
      const { top, bottom, height } = place();
      if (top < box.top || bottom > box.bottom) list.scrollTop += top - box.top - box.height / 2;
      this.room = this.columns * Math.floor((box.bottom - place().bottom) / height);
    });
  }

  /** Of rows that are there already only those are drawn that come and go: a ply of a game that runs adds one. */
  #fill(from, to) {
    const { faults } = this.timeline;
    const [first, last, known] = this.shown ?? [];
    this.shown = [from, to, faults.length];
    if (known !== faults.length || from < first || from > last || to < last) {
      this.rows = [];
      this.list.replaceChildren();
      return this.#append(from, to);
    }
    for (const row of this.rows.splice(0, from - first)) if (!row.nextSibling) row.parentElement.remove();
    return this.#append(last + 1, to);
  }

  #append(from, to) {
    this.timeline.plies.slice(from - 1, to).forEach((move, i) => {
      const row = this.#row(from + i, move);
      this.rows.push(row);
      if ((from + i) % BLOCK === 1) this.list.append(el("ol", { role: "presentation" }));
      this.list.lastChild.append(row);
    });
  }

  #row(number, move) {
    const faults = this.timeline.faults.filter((fault) => fault.ply === number).map((fault) => named(fault.kind));
    const classes = `move s${move.seat}${move.zombie ? " zombie" : ""}`;
    const title = [t`${numberText(move.time_ms)} ms`, ...faults].join(", ");
    return el("li", { role: "listitem" }, el("button",
      { type: "button", class: classes, tabindex: -1, title, onclick: () => this.onjump(number) },
      el("span", { class: "n" }, String(number)), el("span", { class: "dot" }), el("span", { class: "m" }, move.move),
      move.points ? el("span", { class: "p" }, signedText(move.points)) : null,
      el("span", { class: faults.length ? "t cut" : "t" },
        faults.join(", ") || t`${meanText(move.time_ms / 1000)} s`)));
  }
}
