// The board of insertion: 25 tiles in a frame with the 15 numbered moves of the rim, and the belt of pictures.

import { el, stillMotion, svg } from "../dom.js";
import { SIDE } from "../games/insertion.js";
import { Belt } from "./belt.js";
import { Flight } from "./flight.js";
import { planMarks, TILE, tile, TilePatterns } from "./pieces.js";
import { t } from "../texts.js";

const CELL = TILE;
const NAMES = ["", t`circle`, t`square`, t`triangle`, t`diamond`, t`star`, t`hexagon`, t`cross`];

/** The centre of cell [x, y], y from the bottom, in the units of the drawing. */
function centre([x, y]) {
  return [CELL * x + CELL / 2, CELL * (SIDE - 1 - y) + CELL / 2];
}

const isOutside = (cell) => cell.some((value) => value < 0 || value >= SIDE);

/** The number of a cell in a position. */
const placeOf = ([x, y]) => SIDE * x + y;

/** Pictures [colour, cell] as one piece, with the centre of the first one in its middle. */
function together(pictures) {
  const [left, top] = centre(pictures[0][1]);
  return svg("g", {}, ...pictures.map(([colour, cell]) => {
    const [x, y] = centre(cell);
    return tile(colour, x - left, y - top);
  }));
}

/** Where the rim has move number `move`, and the way into the board as [x, y]. */
function rimPlace(move) {
  if (move <= 5) return [-38, CELL * (5 - move) + CELL / 2, [1, 0]];
  if (move <= 10) return [CELL * (move - 6) + CELL / 2, -38, [0, 1]];
  return [CELL * SIDE + 38, CELL * (move - 11) + CELL / 2, [-1, 0]];
}

/** The corners of an arrow, [along its way, beside it]. */
const ARROW = [[-20, -24], [26, 0], [-20, 24]];

/** Where the mark of an expected move stands: on a shoulder of its arrow. */
const PLANNED = new Map(Array.from({ length: 15 }, (_, i) => {
  const [x, y, [, down]] = rimPlace(i + 1);
  return [String(i + 1), down ? [x + 32, y - 12] : [x - Math.sign(x) * 14, y - 32]];
}));

/** For each picture that is cleared. */
const POINTS = 10;

/** Pictures on their way are seen above the frame, and not beside it or below. */
const ROOM = { x: -6, y: -CELL, width: 512, height: 606 };

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

export class InsertionBoard {
  onmove = null;

  constructor(rules) {
    this.rules = rules;
    this.patterns = new TilePatterns();
    /** The tile of each cell, as a position has them: {node, colour}, of which 0 is none. */
    this.tiles = [];
    /** The position that is drawn as a whole; null during an animation, and after one that was cut off. */
    this.whole = null;
    this.rim = new Map();
    const cells = [];
    for (let x = 0; x < SIDE; x++) {
      for (let y = 0; y < SIDE; y++) {
        const [left, top] = [CELL * x, CELL * (SIDE - 1 - y)];
        cells.push(svg("rect",
          { class: "cell", x: left + 3, y: top + 3, width: CELL - 6, height: CELL - 6, rx: 14 }));
        const node = svg("rect", { class: "tile", x: left, y: top, width: CELL, height: CELL, fill: "none" });
        this.tiles.push({ node, colour: 0 });
      }
    }
    for (let move = 1; move <= 15; move++) this.rim.set(String(move), this.#rimMark(move));
    this.element = svg("svg", { viewBox: "-72 -72 644 582", class: "board insertion", role: "img" },
      svg("rect", { class: "frame", x: -6, y: -6, width: 512, height: 512, rx: 20 }),
      this.patterns.element, ...cells, svg("g", { class: "tiles" }, ...this.tiles.map(({ node }) => node)),
      ...this.rim.values());
    this.plans = svg("g", { class: "plans" });
    this.element.append(this.plans);
    this.flight = new Flight(this.element, ROOM);
    // Its digits are larger: it has patterns of its own.
    const patterns = new TilePatterns();
    this.belt = new Belt((sign, x) => svg("rect",
      { x: x - TILE / 2, y: -TILE / 2, width: TILE, height: TILE, fill: patterns.fill(sign) }), patterns.element);
    this.extra = el("div", { class: "belt-box" }, this.belt.element);
  }

  compact() {
    this.element.setAttribute("viewBox", "-8 -8 516 516");
    for (const mark of this.rim.values()) mark.remove();
    this.extra = null;
  }

  plan(moves, seat) {
    this.plans.replaceChildren(...planMarks(moves, seat, PLANNED, 17));
  }

  #rimMark(move) {
    const [x, y, [right, down]] = rimPlace(move);
    const points = ARROW.map(([along, beside]) =>
      `${x + along * right - beside * down},${y + along * down + beside * right}`);
    return svg("g", { class: "rim", "data-move": move, onclick: (event) => this.onmove?.(String(move), event) },
      svg("rect", { class: "hit", x: x - 34, y: y - 34, width: 68, height: 68, rx: 12 }),
      svg("polygon", { class: "arrow", points: points.join(" ") }),
      svg("text", { x, y: y + 8 }, String(move)));
  }

  describe(position) {
    const rows = this.rules.state(position).split("/");
    const word = (cell) => cell === "." ? t`empty` : `${cell} ${NAMES[cell]}`;
    return t`Board, rows from the top: ${rows.map((row) => [...row].map(word).join(", ")).join("; ")}`;
  }

  show(position, last) {
    this.#stop();
    this.#draw(position, last);
  }

  #draw(position, last) {
    // What flies there stays hidden until it is settled: to show it takes a frame.
    position.board.forEach((colour, place) => {
      if (this.tiles[place].colour !== colour) this.#put(place, colour);
    });
    this.#mark(last);
    this.#showBelt(position);
    this.element.setAttribute("aria-label", this.describe(position));
    this.whole = position;
  }

  #put(place, colour, isHidden = false) {
    const { node } = this.tiles[place];
    this.tiles[place].colour = colour;
    node.setAttribute("fill", this.patterns.fill(isHidden ? 0 : colour));
    node.dataset.colour = colour || "";
  }

  #mark(last) {
    for (const [move, node] of this.rim) node.classList.toggle("last", last !== null && last?.move === move);
  }

  /** The next pictures move up by one place, all as one layer. */
  #slideBelt(position, ms) {
    this.#showBelt(position);
    this.flight.run(this.belt.strip, [{ transform: "translateX(calc(0.72 * var(--first)))" }, { transform: "none" }],
      { duration: ms, easing: "ease-out" });
  }

  #showBelt(position) {
    if (this.extra === null) return;
    const visible = this.rules.visible(position);
    this.belt.show(visible, visible ? t`Next pictures: ${[...visible].join(" ")}` : t`No pictures left`);
  }

  /** Play the phases of `step`; `ms` for a phase that moves pictures by one cell. */
  async animate(step, last, ms) {
    // It looks where the board stands before anything changes.
    const flies = !stillMotion() && ms >= 20 && this.flight.begin();
    this.#stop();
    if (!flies) return this.show(step.position, last);
    // Of a ply that was skipped or cut off the tiles are not where this one finds them.
    if (this.whole !== step.before) this.#draw(step.before, null);
    this.whole = null;
    const run = {};
    this.running = run;
    this.#mark(last);
    this.#slideBelt(step.position, ms);
    for (const phase of step.phases) {
      // A moment to see what will go, before each wave of a cascade.
      if (phase.kind === "clear" && step.waves > 1) await pause(ms);
      if (this.running !== run) return undefined;
      this.flight.settle();
      await (phase.kind === "clear" ? this.#clear(phase.cells, ms) : this.#move(phase.paths, ms));
      if (this.running !== run) return undefined;
    }
    return this.#draw(step.position, last);
  }

  #stop() {
    this.running = null;
    this.flight.stop();
  }

  #move(paths, ms) {
    for (const { cells } of paths) if (!isOutside(cells[0])) this.#put(placeOf(cells[0]), 0);
    const alike = new Map();
    for (const each of paths) {
      const [[x, y]] = each.cells;
      const key = String([isOutside(each.cells.at(-1)), ...each.cells.map(([toX, toY]) => [toX - x, toY - y])]);
      alike.set(key, [...alike.get(key) ?? [], each]);
    }
    return Promise.all([...alike.values()].map((group) => this.#fly(group, ms)));
  }

  /** Pictures that move alike fly as one layer. */
  #fly(group, ms) {
    const arrived = group.filter(({ cells }) => !isOutside(cells.at(-1)));
    for (const { colour, cells } of arrived) this.#put(placeOf(cells.at(-1)), colour, true);
    const [{ cells }] = group;
    const points = cells.map(centre);
    let total = 0;
    const lengths =
      points.map(([x, y], i) => (total += i ? Math.sqrt(Math.hypot(x - points[i - 1][0], y - points[i - 1][1])) : 0));
    const frames =
      points.map((point, i) => ({ transform: this.flight.at(point), offset: total ? lengths[i] / total : i }));
    const leaves = isOutside(cells.at(-1));
    if (leaves) frames.at(-1).opacity = 0;
    const tiles = together(group.map((each) => [each.colour, each.cells[0]]));
    return this.flight.fly(tiles, frames, { duration: ms * Math.max(1, total / 10), easing: "ease-in-out" }, () => {
      for (const { colour, cells } of arrived) this.#put(placeOf(cells.at(-1)), colour);
    });
  }

  /** The points of a wave rise from the middle of its cells. */
  #rise(cells, ms) {
    const places = cells.map((cell) => centre([Math.floor(cell / SIDE), cell % SIDE]));
    const middle = (axis) => places.reduce((sum, place) => sum + place[axis], 0) / places.length;
    const text = svg("text", { class: "rising", y: 16 }, `+${POINTS * cells.length}`);
    const [from, to] = [0, 70].map((up) => this.flight.at([middle(0), middle(1) - up]));
    this.flight.fly(text, [{ transform: from, opacity: 1 }, { transform: to, opacity: 0 }],
      { duration: 4 * ms, easing: "ease-out" });
  }

  #clear(cells, ms) {
    const gone = cells.map((place) => [this.tiles[place].colour, [Math.floor(place / SIDE), place % SIDE]]);
    for (const place of cells) this.#put(place, 0);
    this.#rise(cells, ms);
    const tiles = together(gone);
    for (const each of tiles.children) each.classList.add("gone");
    const transform = this.flight.at(centre(gone[0][1]));
    return this.flight.fly(tiles, [1, 0.25, 1, 0].map((opacity) => ({ transform, opacity })), { duration: 1.6 * ms });
  }
}
