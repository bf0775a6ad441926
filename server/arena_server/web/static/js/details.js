// What a contest's page says beside the tables: points and time of each bot's games, and the faults with their lines.

import { get } from "./api.js";
import { bdi, cardTable, el, gameLink, labelled, link, numberText, plural } from "./dom.js";
import { locale } from "./locale.js";
import { said } from "./said.js";
import { marked } from "./sign.js";
import { named, t } from "./texts.js";

/** The value below which the share `q` of the sorted `values` lies; between two of them it is interpolated. */
export function quantile(values, q) {
  const place = q * (values.length - 1);
  const low = Math.floor(place);
  return values[low] + (place - low) * (values[Math.min(low + 1, values.length - 1)] - values[low]);
}

/** By the place of a bot: the sorted values of its games with a result; `pick(row, seat)` gives one, or undefined. */
export function valuesByBot(contest, rows, pick) {
  const found = contest.bots.map(() => []);
  for (const row of rows) {
    if (row.end === "void") continue;
    row.seats.forEach((bot, seat) => {
      const value = pick(row, seat);
      if (value !== undefined) found[bot].push(value);
    });
  }
  for (const values of found) values.sort((a, b) => a - b);
  return found;
}

/** A line from the least to the greatest value, a box with the middle half, and a dot for the median. */
function box(values, low, high) {
  const percent = (value) => `${(100 * (value - low)) / (high - low || 1)}%`;
  const range = el("div", { class: "interval", "aria-hidden": "true" }, el("i"), el("s"), el("b"));
  const [line, half, dot] = range.children;
  for (const [element, from, to] of [[line, 0, 1], [half, 0.25, 0.75]]) {
    element.style.left = percent(quantile(values, from));
    element.style.right = `calc(100% - ${percent(quantile(values, to))})`;
  }
  dot.style.left = percent(quantile(values, 0.5));
  return range;
}

function rangeTable(contest, title, found, text) {
  const bots = contest.standings.map((row) => contest.bots.indexOf(row.bot)).filter((bot) => found[bot].length);
  const low = Math.min(0, ...bots.map((bot) => found[bot][0]));
  const high = Math.max(...bots.map((bot) => found[bot].at(-1)));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const heads = [t`Bot`, t`Least`, t`Median`, t`Mean`, t`Most`, ""];
  const body = bots.map((bot) => el("tr", { class: "row" }, ...labelled(heads, [
    el("td", { class: "name-cell" },
      el("a", { class: "whole", href: link("bot.html", { contest: contest.id, bot: contest.bots[bot] }) },
        marked(contest.bots[bot]))),
    ...[text(found[bot][0]), text(quantile(found[bot], 0.5)), text(mean(found[bot]), 1), text(found[bot].at(-1))]
      .map((value) => el("td", { class: "num" }, value)),
    el("td", { class: "range" }, box(found[bot], low, high))])));
  return el("div", {}, el("h3", {}, title),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title },
      cardTable(heads, body, { kind: "ratings", isNumber: Boolean })));
}

const rounded = (value, digits = 0) => locale.number(value,
  { minimumFractionDigits: digits, maximumFractionDigits: 1 });
/** Short times in milliseconds: a fast bot would have used 0.00 s. */
const duration = (ms) => (ms < 1000 ? t`${numberText(Math.round(ms))} ms`
  : t`${locale.number(ms / 1000, { minimumFractionDigits: 2, maximumFractionDigits: 2 })} s`);

/** What the jury has decided, with its reasons; null without a decision. */
export function juryPanel({ id, jury = [] }) {
  if (!jury.length) return null;
  const game = (target) => /^g[0-9]+/.exec(target)?.[0];
  const targetOf = (target) => (game(target)
    ? [el("a", { href: gameLink(id, game(target)) }, game(target)), bdi(target.slice(game(target).length))]
    : [bdi(target)]);
  return el("section", { class: "panel" }, el("h2", {}, t`Decisions of the jury`),
    el("ul", {}, ...jury.map(({ verb, target, reason }) => el("li", {},
      named(verb), " ", ...targetOf(target), " – ", bdi(reason)))));
}

/** Points, unless games are only won or lost, and time of the games of each bot; null before the first result. */
export function rangesPanel(contest, rows) {
  const points = valuesByBot(contest, rows, (row, seat) => row.totals[seat]);
  const times = valuesByBot(contest, rows, (row, seat) => row.used[seat]);
  const shown = [
    contest.decided ? null : rangeTable(contest, t`Points`, points, rounded),
    times.some((values) => values.length) ? rangeTable(contest, t`Time that its clock charged`, times, duration) : null,
  ].filter(Boolean);
  if (points.every((values) => !values.length) || !shown.length) return null;
  return el("section", { class: "panel" }, el("h2", {}, t`Per game`),
    el("p", { class: "sub" },
      t`Over all games of a bot with a result: the line is from the least to the most, the box has the middle half, the dot is the median.`),
    ...shown);
}

/** The document, or null where there is none: a site that an earlier version has written. */
export async function loadFaults(contest) {
  try {
    return await get(`contests/${encodeURIComponent(contest)}/faults.json`);
  } catch {
    return null;
  }
}

/** The faults of a contest with their lines, or null without one. */
export function faultsPanel(contest, document) {
  if (!document?.faults.length) return null;
  const { faults } = document;
  const all = contest.standings.reduce((sum, row) => sum + Object.values(row.faults).reduce((a, b) => a + b, 0), 0);
  const left = all > faults.length ? t`The newest ${numberText(faults.length)} of ${plural(all, "fault")}.` : "";
  const row = ([game, bot, ply, , text]) => el("tr", {},
    el("td", {}, el("a", { href: gameLink(contest.id, game, ply) }, game)),
    el("td", { class: "name-cell" }, marked(contest.bots[bot])),
    el("td", { class: "text" }, said(text)));
  return el("section", { class: "panel" }, el("h2", {}, t`Faults`),
    left ? el("p", { class: "sub" }, left) : null,
    el("div", { class: "scroll fault-list", tabindex: 0, role: "region", "aria-label": t`Faults` },
      cardTable([t`Game`, t`Bot`, t`What happened`], faults.map(row))));
}
