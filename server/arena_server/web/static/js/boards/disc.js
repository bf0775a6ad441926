// The disc game: six segments, the one on top highlighted, and a bar for the sum.

import { stillMotion, svg } from "../dom.js";

const CENTRE = 150;

function segmentPath(index) {
  const point = (angle, r) => `${(r * Math.sin(angle)).toFixed(1)} ${(-r * Math.cos(angle)).toFixed(1)}`;
  const half = Math.PI / 6;
  const middle = index * Math.PI / 3;
  return `M${point(middle - half, 40)} L${point(middle - half, 120)} A120 120 0 0 1 ${point(middle + half, 120)} L${point(middle + half, 40)} A40 40 0 0 0 ${point(middle - half, 40)} Z`;
}

export class DiscBoard {
  onmove = null;

  constructor(rules) {
    this.rules = rules;
    this.segments = Array.from({ length: 6 }, (_, index) => {
      const angle = index * Math.PI / 3;
      const segment = String(index + 1);
      return svg("g", { class: "segment", "data-move": segment, onclick: () => this.onmove?.(segment) },
        svg("path", { d: segmentPath(index) }),
        svg("text", { x: 82 * Math.sin(angle), y: -82 * Math.cos(angle) + 9 }, segment));
    });
    this.wheel = svg("g", { class: "wheel" }, ...this.segments);
    this.sum = svg("text", { class: "sum", x: CENTRE, y: CENTRE + 12 });
    this.bar = svg("rect", { class: "fill", x: 30, y: 296, width: 0, height: 14, rx: 7 });
    this.barText = svg("text", { class: "name", x: CENTRE, y: 332 });
    this.element = svg("svg", { viewBox: "0 0 300 340", class: "board disc", role: "img" },
      svg("path", { class: "pointer", d: `M${CENTRE} 26 l-11 -18 h22 Z` }),
      svg("g", { transform: `translate(${CENTRE} ${CENTRE})` }, this.wheel),
      this.sum, svg("rect", { class: "track", x: 30, y: 296, width: 240, height: 14, rx: 7 }), this.bar, this.barText);
    this.turn = 0;
  }

  describe(position) {
    return `Disc: ${position.top} on top, sum ${position.total}, ${this.rules.m} wins.`;
  }

  show(position, last) {
    // The nearest angle that has the segment on top: the disc turns by one segment, never around.
    const wanted = -(position.top - 1) * 60;
    this.turn = wanted + 360 * Math.round((this.turn - wanted) / 360);
    this.wheel.style.transition = stillMotion() ? "none" : "";
    this.wheel.style.transform = `rotate(${this.turn}deg)`;
    this.segments.forEach((segment, index) => {
      segment.classList.toggle("top", index + 1 === position.top);
      segment.classList.toggle("last", last?.move === String(index + 1));
      segment.lastChild.setAttribute("transform", `rotate(${-this.turn} ${segment.lastChild.getAttribute("x")} ${segment.lastChild.getAttribute("y") - 9})`);
    });
    this.sum.textContent = position.total;
    this.bar.setAttribute("width", 240 * Math.min(1, position.total / this.rules.m));
    this.barText.textContent = `${position.total} of ${this.rules.m}`;
    this.element.setAttribute("aria-label", this.describe(position));
  }

  animate(step, last) {
    this.show(step.position, last);
  }

  stop() {}
}
