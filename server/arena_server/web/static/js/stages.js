// The stages of a season: where the entrants of a contest come from, and the table of the first page.

import { bdi, cardTable, el, labelled, link } from "./dom.js";
import { inRow } from "./locale.js";
import { named, t } from "./texts.js";

/** Who comes from other contests, in words; `sources` as the API has them. */
export function entrantsText(sources) {
  return sources.map(sourceText).join(", ");
}

function sourceText({ stages, first, after, by }) {
  const names = inRow(stages);
  const of = stages.length > 1 ? t`each of ${names}` : names;
  const rating = by === "ratings" ? t` by ratings` : "";
  if (first === null) return `${after ? t`all of ${of} behind the first ${after}` : t`all of ${of}`}${rating}`;
  return `${after ? t`${first} of ${of} behind the first ${after}` : t`the first ${first} of ${of}`}${rating}`;
}

/**
 * A section for each season of `site.json`; `contests` are all, and those that run here are `site.running`. A stage
 * that another server has played has the number of its contest.
 */
export function seasonSections({ stages = [], running = [] }, contests, level) {
  const ids = [...running, ...stages.map(({ id }) => id)];
  const here = new Map(contests.filter(({ id }) => ids.includes(id)).map((contest) => [contest.name, contest]));
  return [...new Set(stages.map(({ season }) => season))].map((season) =>
    el("section", { class: "season" }, el(level, {}, t`Season ${season}`),
      seasonTable(stages.filter((stage) => stage.season === season), here)));
}

function seasonTable(stages, here) {
  const heads = [t`Stage`, t`Entrants`, t`Status`];
  const rows = stages.map(({ stage, contest, from }) => {
    const begun = here.get(contest);
    const name = begun ? el("a", { href: link("contest.html", { id: begun.id }) }, bdi(stage)) : bdi(stage);
    const status = begun ? named(begun.status) : t`not begun`;
    return el("tr", {}, ...labelled(["", heads[1], ""], [
      el("td", { class: "name-cell" }, name),
      el("td", {}, entrantsText(from)),
      el("td", {}, el("span", { class: begun?.status === "running" ? "tag live" : "tag" }, status)),
    ]));
  });
  return el("div", { class: "panel scroll" }, cardTable(heads, rows));
}
