// The games of a contest that are worth a look: upsets, comebacks, cascades, the game of a day, the first fault.

import { get } from "./api.js";
import { el, gameLink, numberText, plural, resultText, versus } from "./dom.js";
import { apart, inRow, locale } from "./locale.js";
import { calledNames } from "./people.js";
import { named, t } from "./texts.js";

/** How many are shown at once; the others are folded. */
const SHOWN = 6;

/** The document, or null where there is none: a site that an earlier version has written. */
export async function loadHighlights(contest) {
  try {
    return await get(`contests/${encodeURIComponent(contest)}/highlights.json`);
  } catch {
    return null;
  }
}

/** A day of UTC, as the server counts them. */
const dayText = (date) => locale.date(new Date(`${date}T00:00Z`), { dateStyle: "medium", timeZone: "UTC" });

/** Its kind and what has happened, in words. */
export function highlightTexts({ kind, names, seat, value, ply, text }) {
  const name = names[seat - 1];
  const others = inRow(names.filter((_, place) => place !== seat - 1));
  switch (kind) {
    case "upset": return [t`Upset`, t`${name} wins against ${others}, rated ${plural(value, "point")} higher`];
    case "swing": return [t`Comeback`, t`${name} wins after being ${plural(value, "point")} behind at ply ${ply}`];
    case "cascade": return [t`Cascade`, t`${name}: ${numberText(value)} waves by one move, ply ${ply}`];
    case "fault": return [t`First fault`, `${apart(name)}: ${named(text)}`];
    default: return [t`Game of the day, ${dayText(text)}`, value === 1 ? t`the lead changes once`
      : value ? t`the lead changes ${numberText(value)} times` : t`the longest one`];
  }
}

function card(contest, found) {
  const [title, text] = highlightTexts(found);
  const result = contest.decided ? resultText(found.names, found.totals, found.end, false)
    : found.totals.map(numberText).join("\u00a0:\u00a0");
  return el("li", { class: `highlight row ${found.kind}` },
    el("a", { class: "whole", href: gameLink(contest.id, found.game, found.ply) }, el("b", {}, title)),
    el("span", {}, text), el("span", { class: "sub" }, `${found.game}: `, versus(found.names), `, ${result}`));
}

/** Null without any. */
export function highlightsPanel(contest, document) {
  if (!document?.highlights.length) return null;
  const cards = document.highlights.map((found) =>
    card(contest, { ...found, names: calledNames(found.names, contest.called) }));
  const list = (items) => el("ul", { class: "highlights" }, ...items);
  const more = cards.slice(SHOWN);
  return el("section", { class: "panel" }, el("h2", {}, t`Highlights`), list(cards.slice(0, SHOWN)),
    more.length ? el("details", { class: "fold" }, el("summary", {}, t`${numberText(more.length)} more`), list(more))
      : null);
}
