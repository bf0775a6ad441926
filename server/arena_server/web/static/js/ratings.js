// Ratings of a contest, of bots and of their versions, with 95 % intervals.

import { get } from "./api.js";
import { bdi, cardTable, el, labelled, link, meanText, numberText, plural, signedText, someNames } from "./dom.js";
import { ratingChart } from "./history.js";
import { marked } from "./sign.js";
import { t } from "./texts.js";

/** The words of REASONS in Python. */
const REASONS = {
  unbeaten: t`no game was won or drawn against it by a rated player or one below`,
  winless: t`it has won or drawn no game against a rated player or one above`,
  unconnected: t`no results in both directions connect it with other players`,
};

/**
 * The document, or null where there is none: a contest of practice games, no server with numpy, or no site that was
 * written with it.
 */
export async function loadRatings(contest, number) {
  if (contest.rated === false) return null;
  try {
    return await get(`contests/${encodeURIComponent(number)}/ratings.json`);
  } catch {
    return null;
  }
}

function ranksText([best, worst]) {
  return best === worst ? String(best) : `${best}–${worst}`;
}

/** The table of one fit; `bar` has lowest and highest bound of all intervals. */
export function ratingTable(contest, rows, versions, unrated = {}) {
  const low = Math.min(...rows.map((row) => row.interval[0]));
  const high = Math.max(...rows.map((row) => row.interval[1]));
  const percent = (value) => `${(100 * (value - low)) / (high - low || 1)}%`;
  const heads = [t`Bot`, ...(versions ? [t`Version`] : []), t`Rating`, "95 %", "", t`Ranks`, t`Games`, t`Score`];
  // No rated bot has beaten one of these: all of them rank before it.
  const above = Object.keys(unrated).filter((name) => unrated[name] === "unbeaten");
  const body = rows.map((row) => {
    const range = el("div", { class: "interval", "aria-hidden": "true" }, el("i"), el("b"));
    range.firstChild.style.left = percent(row.interval[0]);
    range.firstChild.style.right = `calc(100% - ${percent(row.interval[1])})`;
    range.lastChild.style.left = percent(row.rating);
    return el("tr", { class: "row" }, ...labelled(heads, [
      el("td", { class: "name-cell" },
        el("a", { class: "whole", href: link("bot.html", { contest, bot: row.bot }) }, marked(row.bot))),
      ...(versions ? [el("td", {}, bdi(row.version ?? "–"))] : []),
      el("td", { class: "num" }, el("b", {}, numberText(Math.round(row.rating)))),
      el("td", { class: "num" }, `±${numberText(Math.round((row.interval[1] - row.interval[0]) / 2))}`),
      el("td", { class: "range" }, range),
      el("td", { class: "num" }, ranksText(row.ranks.map((rank) => rank + above.length))),
      el("td", { class: "num" }, numberText(row.games)),
      el("td", { class: "num" }, `${meanText(100 * row.score)} %`)]));
  });
  // Without their rows the table would begin in the middle of the standings: a Swiss has winners of all games.
  const beside = (names, text, ranks) => names.map((bot) =>
    el("tr", { class: "row" }, ...labelled(heads, [
      el("td", { class: "name-cell" },
        el("a", { class: "whole", href: link("bot.html", { contest, bot }) }, marked(bot))),
      ...(versions ? [el("td")] : []),
      el("td", { class: "num" }, text), el("td"), el("td"), el("td", { class: "num" }, ranks), el("td"), el("td")])));
  const others = Object.keys(unrated).filter((name) => !above.includes(name));
  body.unshift(...beside(above, t`above the others`, ranksText([1, above.length])));
  body.push(...beside(others, t`no rating`, ""));
  return el("div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": versions ? t`Ratings of versions` : t`Ratings` },
    cardTable(heads, body, { kind: "ratings", isNumber: (place) => place > (versions ? 1 : 0) }));
}

function unratedText(unrated) {
  const byReason = new Map();
  for (const [name, reason] of Object.entries(unrated)) byReason.set(reason, [...byReason.get(reason) ?? [], name]);
  return [...byReason].map(([reason, names]) => t`Not rated: ${someNames(names, 5)} (${REASONS[reason] ?? reason}).`)
    .join(" ");
}

/** The panel of a contest, or null if no bot can be rated yet. */
export function ratingPanel(contest, document) {
  if (!document?.ratings.length) return null;
  const seats =
    document.seats.map((value, i) =>
      t`Seat ${i + 2} is worth ${signedText(Math.round(value))} against seat 1.`).join(" ");
  return el("section", { class: "panel" }, el("h2", {}, t`Ratings`),
    el("p", { class: "sub" },
      t`Fitted to ${plural(document.games, "result")}; a difference of 100 is a score of 64 %. ${seats} ${unratedText(document.unrated)}`),
    ratingTable(contest, document.ratings, false, document.unrated),
    document.versions?.ratings.length ? el("h3", {}, t`Versions`) : null,
    document.versions?.ratings.length ? ratingTable(contest, document.versions.ratings, true) : null);
}

/** The document of the history of the bot at place `bot`, or null where there is none. */
export async function loadHistory(contest, number, bot) {
  if (contest.rated === false) return null;
  try {
    return await get(`contests/${encodeURIComponent(number)}/history-${bot}.json`);
  } catch {
    return null;
  }
}

/** What a bot's page says of it: null without a rating. */
export function botRating(contest, document, history, name) {
  const row = document?.ratings.find((each) => each.bot === name);
  const versions = document?.versions?.ratings.filter((each) => each.bot === name) ?? [];
  if (!row && !versions.length) return null;
  const [low, high] = row?.interval ?? [];
  // A single point is no history.
  const parts = [...(history?.points.length > 1 ? [[name, history.points]] : [])];
  const apart = (history?.versions ?? []).filter(([, points]) => points.length > 1)
    .map(([version, points]) => [version ?? "–", points]);
  return el("section", { class: "panel" }, el("h2", {}, t`Rating`),
    row ? el("p", {}, el("b", {}, numberText(Math.round(row.rating))),
      t` (95 %: ${Math.round(low)} to ${Math.round(high)}), rank ${ranksText(row.ranks)} of ${document.ratings.length}`)
      : null,
    parts.length ? ratingChart(parts, t`Rating as results landed`)
      // It has its place before its points are there.
      : history?.whole === false ? el("div", { class: "pending" }) : null,
    versions.length ? ratingTable(contest, versions, true) : null,
    apart.length > 1 ? ratingChart(apart, t`Its newest versions`) : null);
}
