// Last coin loses: the coins that are left; those just taken are shown hollow.

import { svg } from "../dom.js";

const COLUMNS = 10;

export class CoinsBoard {
  onmove = null;

  constructor(rules) {
    this.rules = rules;
    const count = Math.min(rules.coins, 200);
    const columns = Math.min(count, COLUMNS);
    this.coins = Array.from({ length: count }, (_, i) => svg("g", { class: "coin", transform: `translate(${50 * (i % columns) + 30} ${50 * Math.floor(i / columns) + 30})` },
      svg("circle", { r: 20 }), svg("circle", { class: "inner", r: 13 })));
    const height = 50 * Math.ceil(count / columns) + 10;
    this.takes = ["1", "2"].map((take, i) => svg("g", { class: "take", "data-move": take, transform: `translate(${30 + 130 * i} ${height + 10})`, onclick: () => this.onmove?.(take) },
      svg("rect", { x: -20, y: 0, width: 110, height: 36, rx: 8 }), svg("text", { x: 35, y: 24 }, `take ${take}`)));
    this.element = svg("svg", { viewBox: `0 0 ${Math.max(50 * columns + 10, 270)} ${height + 60}`, class: "board coins", role: "img" }, ...this.coins, ...this.takes);
  }

  describe(position) {
    return `${position.coins} of ${this.rules.coins} coins are left; the last one loses.`;
  }

  show(position, last) {
    const taken = last ? Number(last.move) : 0;
    this.coins.forEach((coin, i) => {
      coin.classList.toggle("taken", i >= position.coins);
      coin.classList.toggle("last", i >= position.coins && i < position.coins + taken);
    });
    this.takes.forEach((take, i) => take.classList.toggle("last", last?.move === String(i + 1)));
    this.element.setAttribute("aria-label", this.describe(position));
  }

  animate(step, last) {
    this.show(step.position, last);
  }

  stop() {}
}
