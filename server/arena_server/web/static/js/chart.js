// A line chart over the plies of a game, one line per seat, with a cursor; a click chooses a ply.

import { svg } from "./dom.js";
import { t } from "./texts.js";

const HEIGHT = 112;
const LEFT = 46;
const BOTTOM = 18;

export class Chart {
  /** `series(timeline)` gives a list of points [ply, value] per seat; `format` prints a value. */
  constructor(title, series, format, onpick) {
    this.title = title;
    this.series = series;
    this.format = format;
    this.lines = svg("g");
    this.axis = svg("g", { class: "axis" });
    this.cursor = svg("line", { class: "cursor", y1: 4, y2: HEIGHT - BOTTOM });
    this.element = svg("svg", { height: HEIGHT, class: "chart", role: "img", "aria-label": title,
      onclick: (event) => {
        const x = event.clientX - this.element.getBoundingClientRect().left;
        onpick(Math.round((x - LEFT) / (this.width - LEFT - 6) * this.length));
      } }, this.axis, this.lines, this.cursor);
    this.length = 1;
    this.ply = 0;
    this.width = 600;
    new ResizeObserver(([entry]) => {
      // One that is not shown yet.
      if (!this.timeline) return;
      this.width = Math.max(100, entry.contentRect.width);
      this.update(this.timeline);
    }).observe(this.element);
  }

  #x(ply) {
    return LEFT + (this.width - LEFT - 6) * Math.min(ply, this.length) / this.length;
  }

  update(timeline) {
    this.timeline = timeline;
    this.length = Math.max(1, timeline.length);
    const all = this.series(timeline);
    const values = all.flat().map(([, value]) => value);
    const low = Math.min(0, ...values);
    const high = Math.max(low + 1, ...values);
    const y = (value) => 6 + (HEIGHT - BOTTOM - 12) * (high - value) / (high - low);
    while (this.lines.childElementCount < all.length) this.lines.append(svg("polyline"));
    all.forEach((points, seat) => {
      const line = this.lines.children[seat];
      line.setAttribute("class", `line s${seat + 1}${points.length === 1 ? " alone" : ""}`);
      // A line of a single point would not be drawn.
      line.setAttribute("points", thinned(points.length === 1 ? [points[0], points[0]] : points)
        .map(([ply, value]) => `${this.#x(ply).toFixed(1)},${y(value).toFixed(1)}`).join(" "));
    });
    const text = (value, at) => svg("text", { x: LEFT - 6, y: at + 4, class: "end" }, this.format(value));
    this.axis.replaceChildren(
      svg("line", { x1: LEFT, x2: this.width - 6, y1: y(low), y2: y(low) }), text(low, y(low)),
      svg("line", { x1: LEFT, x2: this.width - 6, y1: y(high), y2: y(high) }), text(high, y(high)),
      low < 0 && high > 1 ? svg("line", { class: "zero", x1: LEFT, x2: this.width - 6, y1: y(0), y2: y(0) }) : "",
      svg("text", { x: LEFT, y: HEIGHT - 3 }, t`ply 0`),
      svg("text", { x: this.width - 6, y: HEIGHT - 3, class: "end" }, String(timeline.length)));
    this.point(this.ply);
  }

  point(ply) {
    this.ply = ply;
    const x = this.#x(ply);
    // The newest ply of a game that runs stays at the edge.
    if (Number(this.cursor.getAttribute("x1")) === x) return;
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
  }
}

/** At most about a thousand points: first, least, greatest and last of each group. */
function thinned(points) {
  const size = Math.ceil(points.length / 300);
  if (size < 4) return points;
  const kept = [];
  for (let i = 0; i < points.length; i += size) {
    const group = points.slice(i, i + size);
    const least = group.reduce((a, b) => b[1] < a[1] ? b : a);
    const greatest = group.reduce((a, b) => b[1] > a[1] ? b : a);
    kept.push(group[0], ...[least, greatest].sort((a, b) => a[0] - b[0]), group.at(-1));
  }
  return kept;
}
