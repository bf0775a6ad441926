// The board of any game, drawn from its scenes. `games/scene.py` says what a layout and a scene are.
//
//   layout   {width, height, form, cells | a grid, moves, labels, styles}: the same in every position of a game
//   scene    {pieces, marks, text, bar, turn, coming, words}: one position; what is absent is empty

import { el, stillMotion, svg } from "../dom.js";
import { Belt } from "./belt.js";
import { piece, planMarks } from "./pieces.js";
import { said } from "../said.js";
import { t } from "../texts.js";

const CELL = 60;
/** How far labels and arrows stand from the edge, and the room that they take. */
const LABEL = { near: 18, room: 36 };
const ARROW = { near: 30, room: 56 };
const TURNS = { up: 0, right: 90, down: 180, left: 270 };
/** The sizes of a button and of a wheel are in `cli/arena_cli/picture.py` too. */
const BUTTON = { width: 2.2 * CELL, height: 0.72 * CELL };
const WHEEL = { outer: 120, inner: 40, name: 82 };
/** The width of a text without a board, less what its letters are narrower than high. */
const TEXT_WIDTH = 600;

export class SceneBoard {
  onmove = null;

  constructor(layout) {
    this.layout = layout;
    this.moves = layout.moves ?? [];
    this.cells = layout.cells
      ?? Array.from({ length: layout.width * layout.height },
        (_, i) => [i % layout.width, Math.floor(i / layout.width)]);
    this.labels = (layout.labels ?? []).map((label) => this.#label(label));
    this.nodes =
      this.cells.map((cell, place) => (layout.form === "wheel" ? this.#sector(place) : this.#square(cell, place)));
    this.wheel = svg("g", { class: "wheel" }, ...this.nodes);
    this.text = svg("text", { class: "sum" });
    this.element = svg("svg", { class: `board scene ${layout.form}`, role: "img" },
      ...(layout.form === "wheel" ? this.#wheelParts() : [...this.nodes, this.text]),
      ...this.labels.map((label) => label.node));
    this.plans = svg("g", { class: "plans" });
    this.element.append(this.plans);
    this.#frame(this.labels.map(({ label: [x, y, , , style] }) => [x, y, style]));
    this.belt = new Belt((sign, x) =>
      svg("g", {}, svg("g", { transform: `translate(${x})` }, piece(sign, layout.styles[sign]))));
    this.extra = el("div", { class: "belt-box", hidden: true }, this.belt.element);
    this.turn = 0;
    /** The cells that have a mark, with its style. */
    this.marked = [];
  }

  compact() {
    for (const { node } of this.labels) node.remove();
    this.#frame([]);
  }

  plan(moves, seat) {
    this.planned ??= this.#places();
    this.plans.replaceChildren(...planMarks(moves, seat, this.planned, 11));
  }

  /** Where the mark of each move stands: in a corner of its cell, or at its label. */
  #places() {
    const { form } = this.layout;
    const cells = form === "wheel" ? [] : this.moves.map((move, place) =>
      [move, [CELL * (this.cells[place][0] + 0.5) + 17, CELL * (this.cells[place][1] + 0.5) - 17]]);
    const sectors = form !== "wheel" ? [] : this.moves.map((move, place) => {
      const angle = 2 * Math.PI * place / this.cells.length;
      return [move, [WHEEL.outer * Math.sin(angle), -WHEEL.outer * Math.cos(angle)]];
    });
    const labels = this.labels.filter(({ move }) => move).map(({ move, at: [x, y] }) => [move, [x + 20, y - 16]]);
    return new Map([...labels, ...cells, ...sectors]);
  }

  /** The part of the drawing that is seen: the cells, and the labels at [x, y]. */
  #frame(labels) {
    const { width, height, form } = this.layout;
    if (form === "wheel") return this.element.setAttribute("viewBox", "-150 -150 300 340");
    if (!this.cells.length) return this.element.setAttribute("viewBox", "-200 -60 400 120");
    const room = (wanted) => Math.max(6,
      ...labels.filter(wanted)
        .map(([, , style]) => (style in TURNS ? ARROW.room : style === "button" ? CELL : LABEL.room)));
    const [left, top] = [room(([x]) => x < 0), room(([, y]) => y < 0)];
    const [right, bottom] = [room(([x]) => x >= width), room(([, y]) => y >= height)];
    return this.element.setAttribute("viewBox",
      `${-left} ${-top} ${CELL * width + left + right} ${CELL * height + top + bottom}`);
  }

  #playing(tag, attributes, move, ...children) {
    const click = move ? { "data-move": move, onclick: (event) => this.onmove?.(move, event) } : {};
    return svg(tag, { ...attributes, ...click }, ...children);
  }

  #square([x, y], place) {
    const background = this.layout.form === "square"
      ? [svg("rect", { class: "cell", x: -28, y: -28, width: CELL - 4, height: CELL - 4, rx: 6 })] : [];
    const spot = svg("g", { class: "spot", transform: "scale(0.6)" });
    return this.#playing("g", { class: "cell-group", transform: `translate(${CELL * (x + 0.5)} ${CELL * (y + 0.5)})` },
      this.moves[place], ...background, spot);
  }

  #sector(place) {
    const half = Math.PI / this.cells.length;
    const middle = 2 * half * place;
    const point = (angle, r) => `${(r * Math.sin(angle)).toFixed(1)} ${(-r * Math.cos(angle)).toFixed(1)}`;
    const { outer, inner } = WHEEL;
    const [left, right] = [middle - half, middle + half];
    const path = `M${point(left, inner)} L${point(left, outer)} A${outer} ${outer} 0 0 1 ${point(right, outer)} `
      + `L${point(right, inner)} A${inner} ${inner} 0 0 0 ${point(left, inner)} Z`;
    return this.#playing("g", { class: "segment" }, this.moves[place],
      svg("path", { d: path }),
      svg("text", { x: WHEEL.name * Math.sin(middle), y: -WHEEL.name * Math.cos(middle) + 9 }));
  }

  #wheelParts() {
    this.text.setAttribute("y", 12);
    this.bar = svg("rect", { class: "fill", x: -120, y: 146, width: 0, height: 14, rx: 7 });
    this.barText = svg("text", { class: "name", y: 182 });
    return [svg("path", { class: "pointer", d: "M0 -124 l-11 -18 h22 Z" }), this.wheel, this.text,
      svg("rect", { class: "track", x: -120, y: 146, width: 240, height: 14, rx: 7 }), this.bar, this.barText];
  }

  #label(label) {
    const [x, y, plain, move, style] = label;
    const text = said(plain);
    const { width, height } = this.layout;
    if (style === "button") {
      const node = this.#playing("g", { class: "take", transform: `translate(${CELL * x} ${CELL * y})` }, move,
        svg("rect", { width: BUTTON.width, height: BUTTON.height, rx: 8 }),
        svg("text", { x: BUTTON.width / 2, y: BUTTON.height / 2 + 6 }, text));
      return { label, node, move, at: [CELL * x + BUTTON.width - 20, CELL * y + 16] };
    }
    const { near } = style in TURNS ? ARROW : LABEL;
    const along = (value, size) => (value < 0 ? -near : value >= size ? CELL * size + near : CELL * (value + 0.5));
    const [left, top] = [along(x, width), along(y, height)];
    if (!(style in TURNS)) {
      const node = this.#playing("text", { class: "name", x: left, y: top + 6 }, move, text);
      return { label, move, at: [left, top], node };
    }
    const node = this.#playing("g", { class: "rim", transform: `translate(${left} ${top})` }, move,
      svg("rect", { class: "hit", x: -28, y: -28, width: 56, height: 56, rx: 10 }),
      svg("path", { class: "arrow", d: "M-20 17 L0 -22 L20 17 Z", transform: `rotate(${TURNS[style]})` }),
      svg("text", { y: 7 }, text));
    return { label, move, at: [left, top], node };
  }

  describe({ words, text, pieces = "" }) {
    if (words || text || this.layout.form !== "square") return said(words ?? text ?? pieces);
    const { width, height, labels = [] } = this.layout;
    const below = new Map(labels.filter(([, y]) => y >= height).map(([x, , name]) => [x, name]));
    const beside = new Map(labels.filter(([x]) => x < 0).map(([, y, name]) => [y, name]));
    const name = ([x, y]) => `${below.get(x) ?? t`column ${x + 1} row `}${beside.get(y) ?? height - y}`;
    const signs = [...new Set([...pieces].filter((sign) => sign !== "."))].sort().reverse();
    const places = (sign) => this.cells.filter((_, place) => pieces[place] === sign).map(name).join(" ");
    const taken = signs.map((sign) => `${sign.toUpperCase()}: ${places(sign)}.`).join(" ");
    return t`Board of ${width} by ${height}. ${taken || t`It is empty.`}`;
  }

  show(scene, last) {
    const { pieces = "", marks = {}, text = "" } = scene;
    for (const [node, style] of this.marked) node.classList.remove(style);
    this.marked = Object.entries(marks).flatMap(([style, places]) => places.map((place) => [this.nodes[place], style]))
      .filter(([node]) => node);
    for (const [node, style] of this.marked) node.classList.add(style);
    this.nodes.forEach((node, place) => this.#put(node, pieces[place] ?? "."));
    for (const { node, move } of this.labels) node.classList.toggle("last", Boolean(move) && last?.move === move);
    this.text.textContent = text;
    // In the place of a board a text may be long.
    if (!this.cells.length) this.text.style.fontSize = `${Math.min(40, TEXT_WIDTH / text.length)}px`;
    if (this.layout.form === "wheel") this.#showWheel(scene);
    this.#showComing(scene.coming ?? "");
    this.element.setAttribute("aria-label", this.describe(scene));
  }

  #put(node, sign) {
    if (node.dataset.sign === sign) return;
    node.dataset.sign = sign;
    if (this.layout.form === "wheel") node.lastChild.textContent = sign;
    else node.lastChild.replaceChildren(...[piece(sign, this.layout.styles[sign])].filter(Boolean));
  }

  #showWheel({ turn = 0, bar }) {
    // The nearest angle that has the cell on top: the wheel never turns around.
    const wanted = -turn * 360 / this.cells.length;
    this.turn = wanted + 360 * Math.round((this.turn - wanted) / 360);
    this.wheel.style.transition = stillMotion() ? "none" : "";
    this.wheel.style.transform = `rotate(${this.turn}deg)`;
    for (const { lastChild } of this.nodes) {
      lastChild.setAttribute("transform",
        `rotate(${-this.turn} ${lastChild.getAttribute("x")} ${lastChild.getAttribute("y") - 9})`);
    }
    this.bar.setAttribute("width", bar ? 240 * Math.min(1, bar[0] / bar[1]) : 0);
    this.barText.textContent = bar ? t`${bar[0]} of ${bar[1]}` : "";
  }

  #showComing(coming) {
    this.extra.hidden = !coming;
    this.belt.show(coming, t`Next: ${[...coming].join(" ")}`);
  }

  animate(step, last) {
    this.show(step.position, last);
  }
}
