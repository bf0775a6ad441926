// The rating of a bot, or of its versions, after ever more games: a line each, with its 95 % interval as a band.

import { bdi, dateText, el, numberText, plural, svg } from "./dom.js";
import { apart } from "./locale.js";
import { t } from "./texts.js";

const HEIGHT = 150;
const LEFT = 46;
const RIGHT = 8;
const BOTTOM = 20;
/** As many lines as there are styles of seats. */
const LINES = 4;

/** `series` is a list of [name, points], a point is [games, seconds since 1970, rating, half of its interval]. */
export function ratingChart(series, title) {
  const shown = series.slice(-LINES);
  const all = shown.flatMap(([, points]) => points);
  const first = Math.min(...all.map(([games]) => games));
  const last = Math.max(...all.map(([games]) => games));
  const low = Math.min(...all.map(([, , rating, margin]) => rating - margin));
  const high = Math.max(...all.map(([, , rating, margin]) => rating + margin));
  const y = (value) => 6 + (HEIGHT - BOTTOM - 12) * (high - value) / (high - low || 1);
  const text = (x, at, value, end) => svg("text", { x, y: at, class: end ? "end" : null }, value);
  const ratings = ([name, points]) =>
    `${apart(name)} ${points.map(([, , rating]) => numberText(Math.round(rating))).join(", ")}`;
  const label = `${title}: ${shown.map(ratings).join("; ")}`;
  const picture = svg("svg", { height: HEIGHT, class: "chart history", role: "img", "aria-label": label });
  const draw = (width) => {
    const x = (games) => LEFT + (width - LEFT - RIGHT) * (games - first) / (last - first || 1);
    const place = (games, value) => `${x(games).toFixed(1)},${y(value).toFixed(1)}`;
    const line = ([, points], i) => svg("g", { class: `s${i + 1}` },
      svg("polygon",
        { class: "band",
          points: [...points.map(([games, , rating, margin]) => place(games, rating + margin)),
            ...[...points].reverse().map(([games, , rating, margin]) => place(games, rating - margin))].join(" ") }),
      svg("polyline",
        { class: `line s${i + 1}`, points: points.map(([games, , rating]) => place(games, rating)).join(" ") }),
      points.map(([games, at, rating, margin]) => svg("circle", { cx: x(games), cy: y(rating), r: 3, class: "spot" },
        svg("title", {}, t`${plural(games, "game")}, ${dateText(at)}: ${Math.round(rating)} ±${Math.round(margin)}`))));
    picture.replaceChildren(
      svg("g", { class: "axis" },
        ...[low, high].flatMap((value) => [svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
          text(LEFT - 6, y(value) + 4, numberText(Math.round(value)), true)]),
        text(LEFT, HEIGHT - 3, t`after ${plural(first, "game")} of the contest`),
        text(width - RIGHT, HEIGHT - 3, numberText(last), true)),
      ...shown.map(line));
  };
  new ResizeObserver(([entry]) => draw(Math.max(160, entry.contentRect.width))).observe(picture);
  const legend = el("span", { class: "legend" },
    shown.map(([name], i) => el("span", { class: `key s${i + 1}` },
      svg("svg", { width: 26, height: 10, "aria-hidden": "true" },
        svg("line", { class: `line s${i + 1}`, x1: 1, x2: 25, y1: 5, y2: 5 })), bdi(name))));
  return el("figure", { class: "history-figure" }, el("figcaption", {}, title, shown.length > 1 ? legend : null),
    picture);
}
