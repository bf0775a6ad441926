// The board of tic-tac-toe and XO: X and O on a square grid; the last mark and a winning line are highlighted.

import { svg } from "../dom.js";

const CELL = 60;

export class MarksBoard {
  onmove = null;

  constructor(rules) {
    this.rules = rules;
    const { size } = rules;
    const side = CELL * size;
    this.cells = Array.from({ length: size * size }, (_, index) => {
      const x = CELL * (index % size);
      const y = side - CELL * (Math.floor(index / size) + 1);
      return svg("g", { class: "cell-group", transform: `translate(${x} ${y})`, "data-move": rules.cellName(index), onclick: () => this.onmove?.(rules.cellName(index)) },
        svg("rect", { class: "cell", x: 2, y: 2, width: CELL - 4, height: CELL - 4, rx: 6 }));
    });
    const letters = Array.from({ length: size }, (_, i) => svg("text", { class: "name", x: CELL * i + CELL / 2, y: side + 24 }, String.fromCharCode(97 + i)));
    const numbers = Array.from({ length: size }, (_, i) => svg("text", { class: "name", x: -18, y: side - CELL * i - CELL / 2 + 6 }, String(i + 1)));
    this.element = svg("svg", { viewBox: `-36 -6 ${side + 42} ${side + 42}`, class: "board marks", role: "img" }, ...this.cells, ...letters, ...numbers);
  }

  describe(position) {
    const marks = (mark) => position.cells.flatMap((cell, index) => cell === mark ? [this.rules.cellName(index)] : []).join(" ") || "none";
    return `Board of ${this.rules.size} by ${this.rules.size}. X: ${marks("x")}. O: ${marks("o")}.`;
  }

  show(position, last) {
    const line = new Set([...this.rules.line(position, "x"), ...this.rules.line(position, "o")]);
    this.cells.forEach((group, index) => {
      const mark = position.cells[index];
      group.replaceChildren(group.firstChild, ...(mark === "x"
        ? [svg("path", { class: "mark x", d: "M16 16 L44 44 M44 16 L16 44" })]
        : mark === "o" ? [svg("circle", { class: "mark o", cx: 30, cy: 30, r: 16 })] : []));
      group.classList.toggle("last", last?.move === this.rules.cellName(index));
      group.classList.toggle("line", line.has(index));
      group.classList.toggle("free", mark === ".");
    });
    this.element.setAttribute("aria-label", this.describe(position));
  }

  animate(step, last) {
    this.show(step.position, last);
  }

  stop() {}
}
