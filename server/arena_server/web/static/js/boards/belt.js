// The pieces to come in one drawing, of which the first is larger. A ply moves the others by one attribute: as pictures
// of their own they took a style, a layout and a layer of paint each.

import { el, svg } from "../dom.js";

/** Of the pieces to come as many are shown. */
const MOST = 40;
/** From one piece to the next one, each 100 units wide; the first is FIRST times as wide, and has AFTER behind it. */
const STRIDE = 108;
const FIRST = 1.5;
const AFTER = 41;

export class Belt {
  /** `make(sign, x)` gives the piece of a sign with its centre at x; `defs` is what pieces are filled by. */
  constructor(make, defs = null) {
    this.make = make;
    this.signs = "";
    /** How many have gone since the drawing began: the place of the first one. */
    this.gone = 0;
    this.rest = svg("g");
    this.strip = svg("svg", {}, defs, this.rest);
    this.element = el("div", { class: "belt", role: "img" }, this.strip);
  }

  /** Show the pieces of `signs`, with `words` for screen readers. */
  show(signs, words) {
    const { rest } = this;
    const coming = signs.slice(0, MOST);
    this.element.setAttribute("aria-label", words);
    if (this.signs === coming) return;
    const goesOn = this.signs && coming.startsWith(this.signs.slice(1));
    this.gone = goesOn ? this.gone + 1 : 0;
    if (goesOn) rest.firstChild.remove();
    else rest.replaceChildren();
    for (const sign of coming.slice(rest.childElementCount)) {
      rest.append(this.make(sign, STRIDE * (this.gone + rest.childElementCount)));
    }
    const moved = STRIDE * this.gone - AFTER;
    rest.style.transform = `translateX(${-moved}px)`;
    // From its own place, which becomes greater, too.
    const larger = `translate(${moved - FIRST * STRIDE * this.gone}) scale(${FIRST})`;
    rest.firstChild?.setAttribute("transform", larger);
    if (coming.length !== this.signs.length) {
      this.strip.setAttribute("viewBox", `-75 -75 ${17 + AFTER + STRIDE * coming.length} 150`);
    }
    this.signs = coming;
  }
}
