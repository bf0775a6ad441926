// Pieces by their styles, which `games/scene.py` lists; each is 100 units wide, its centre at 0,0.

import { svg } from "../dom.js";

function polygon(points) {
  return (x, y, r) => svg("polygon", { points: points.map(([px, py]) => `${x + px * r},${y + py * r}`).join(" ") });
}

function regular(corners, inner = 1, turn = 0) {
  const count = inner === 1 ? corners : 2 * corners;
  return Array.from({ length: count }, (_, i) => {
    const angle = 2 * Math.PI * i / count - Math.PI / 2 + turn;
    const r = i % 2 && inner !== 1 ? inner : 1;
    return [r * Math.cos(angle), r * Math.sin(angle)].map((value) => Math.round(value * 1000) / 1000);
  });
}

/** A shape for each colour, so that pictures differ by more than their hue alone. */
const SHAPES = [
  null,
  (x, y, r) => svg("circle", { cx: x, cy: y, r: 0.88 * r }),
  (x, y, r) => svg("rect", { x: x - 0.78 * r, y: y - 0.78 * r, width: 1.56 * r, height: 1.56 * r }),
  polygon(regular(3).map(([x, y]) => [1.12 * x, 1.12 * y + 0.16])),
  polygon([[0, -1.08], [0.92, 0], [0, 1.08], [-0.92, 0]]),
  polygon(regular(5, 0.5).map(([x, y]) => [1.15 * x, 1.15 * y + 0.04])),
  polygon(regular(6, 1, Math.PI / 6)),
  polygon([[-0.38, -1], [0.38, -1], [0.38, -0.38], [1, -0.38], [1, 0.38], [0.38, 0.38], [0.38, 1], [-0.38, 1],
    [-0.38, 0.38], [-1, 0.38], [-1, -0.38], [-0.38, -0.38]]),
];

/**
 * A picture of insertion with its centre at x, y. The place is in the numbers of its parts: each `transform` of a
 * drawing is a step of its own in every frame, and those of board and belt took a third of it.
 */
export function tile(colour, x = 0, y = 0) {
  const shape = SHAPES[colour](x, y, 32);
  shape.setAttribute("class", "shape");
  return svg("g", { class: "tile" },
    svg("rect", { class: `c${colour}`, x: x - 46, y: y - 46, width: 92, height: 92, rx: 14 }), shape,
    svg("text", { class: "digit", x, y: y + 10 }, String(colour)));
}

/** How wide and high a tile is with the room around it. */
export const TILE = 100;
/** How many sets of patterns the page has: each has names of its own. */
let sets = 0;

/**
 * Tiles as patterns: a rectangle of TILE by TILE that is filled by one is a tile. It becomes another one by an
 * attribute; parts of its own would each take a style, a layout and a step of paint.
 */
export class TilePatterns {
  constructor() {
    this.element = svg("defs");
    this.name = `tile-${sets++}`;
    this.made = new Set();
  }

  /** How a rectangle is filled: colour 0 is no tile. */
  fill(colour) {
    if (!Number(colour)) return "none";
    const id = `${this.name}-${colour}`;
    if (!this.made.has(id)) {
      this.made.add(id);
      this.element.append(svg("pattern", { id, width: 1, height: 1 }, tile(colour, TILE / 2, TILE / 2)));
    }
    return `url(#${id})`;
  }
}

/** The holes of discs, so that seats differ by more than their hue; `cli/arena_cli/picture.py` has the same. */
const HOLES = [0, 0, 14, 22, 28];

/** Styles with a shape here; a file may have others. */
const STYLE = /^(cross|ring|tile-[1-7]|disc-[1-4]|coin|coin-gone)$/;

/** The piece of a sign; a sign without a style is a letter. Null for a cell without a piece. */
export function piece(sign, style = "") {
  const [kind, number] = STYLE.test(style) ? style.split("-") : [];
  switch (kind) {
    case "tile": return tile(number);
    case "cross": return svg("path", { class: "mark x", d: "M-24 -24 L24 24 M24 -24 L-24 24" });
    case "ring": return svg("circle", { class: "mark o", r: 27 });
    case "disc": return svg("g", { class: `disc s${number}` }, svg("circle", { r: 38 }),
      number > 1 ? svg("circle", { class: "hole", r: HOLES[number] }) : null);
    case "coin": return svg("g", { class: number === "gone" ? "coin taken" : "coin" }, svg("circle", { r: 40 }),
      svg("circle", { class: "inner", r: 26 }));
    default: return sign === "." ? null : svg("text", { class: "letter", y: 15 }, sign);
  }
}

/**
 * Marks of the moves that `seat` expects, one for each move with the numbers of its turns ("1·3"), at the places
 * [x, y] of `places`, a map by move; a move that has none is not shown. `radius` is in units of the board.
 */
export function planMarks(moves, seat, places, radius) {
  return [...new Set(moves)].filter((move) => places.has(move)).map((move) => {
    const [x, y] = places.get(move);
    const text = moves.flatMap((other, i) => (other === move ? [i + 1] : [])).join("·");
    const width = 2 * radius + 0.9 * radius * (text.length - 1);
    return svg("g", { class: `plan s${seat}`, transform: `translate(${x} ${y})` },
      svg("rect", { x: -width / 2, y: -radius, width, height: 2 * radius, rx: radius }),
      svg("text", { y: 0.38 * radius, "font-size": 1.25 * radius }, text));
  });
}
