// What a format has drawn: a bracket as columns of matches, rounds and groups as tables. Each match links to its games.

import { get } from "./api.js";
import { cardTable, el, gameLink, link, numberText, plural } from "./dom.js";
import { inRow } from "./locale.js";
import { said } from "./said.js";
import { marked } from "./sign.js";
import { named, t } from "./texts.js";

/** Rounds of more matches than this are closed until they are opened. */
const MOST_OPEN = 16;
/** On paper two rounds stand beside each other where names have no more characters, and matches no more games. */
const SHORT = 20;
const FEW = 2;

/**
 * What a contest has drawn; no rounds of a format that draws nothing, nor where an earlier version has written the
 * site.
 */
export async function loadRounds(contest) {
  if (!contest.ranked_by) return { rounds: [] };
  try {
    return await get(`contests/${encodeURIComponent(contest.id)}/rounds.json`);
  } catch {
    return { rounds: [] };
  }
}

/** What fills the table of each round that is folded up. */
const fills = new WeakMap();

/** On paper all rounds are open; those that were not are closed again. */
addEventListener("beforeprint", () => {
  const closed = [...document.querySelectorAll(".rounds-panel > details:not([open])")];
  for (const box of closed) {
    fills.get(box)();
    box.open = true;
  }
  addEventListener("afterprint", () => { for (const box of closed) box.open = false; }, { once: true });
});

/** The panel, or null for a format without rounds. Opened rounds stay open: see `foldable`. */
export function roundsPanel(contest, rounds, opened = new Map()) {
  if (!rounds.length) {
    return contest.ranked_by && contest.status === "running" ? el("section", { class: "panel" },
      el("h2", {}, t`Rounds`), el("p", { class: "empty" }, t`No round has been drawn yet.`)) : null;
  }
  const parts = [];
  let levels = [];
  const flush = () => { if (levels.length) parts.push(bracket(contest, levels)); levels = []; };
  rounds.forEach((round, place) => {
    if (round.kind === "level") return levels.push(round);
    flush();
    return parts.push(roundBox(contest, rounds, place, opened));
  });
  flush();
  const isNarrow = contest.bots.every((name) => name.length <= SHORT) && rounds.every((round) =>
    round.kind !== "level" && round.matches.every((match) => match.games.length <= FEW));
  const flat = isNarrow ? " flat" : "";
  return el("section", { class: `panel rounds-panel${flat}` },
    el("h2", {}, rounds.every((round) => round.kind === "level") ? t`Bracket` : t`Rounds`), ...parts);
}

function bracket(contest, levels) {
  const all = levels.map((level) => el("section", { class: "level" }, el("h3", {}, said(level.title)),
    el("ol", { class: "matches" }, ...level.matches.map((match) => el("li", {}, matchCard(contest, match))))));
  return el("div", { class: "scroll bracket", tabindex: 0, role: "region", "aria-label": t`Bracket` }, ...all);
}

/** A place is empty, or its player is not known yet. */
function nameOf(contest, match, seat) {
  const name = match.names[seat];
  const href = link("bot.html", { contest: contest.id, bot: name });
  if (name !== null) return el("a", { href }, marked(name));
  return el("span", { class: "sub" }, { bye: named("bye"), vacant: "–" }[match.state] ?? "?");
}

/** Games won, with what decided a tie: the points, or words; by walkover, or with no game yet, in words. */
function scoreOf(match, seat) {
  if (match.games.length && match.state !== "walkover") {
    const score = numberText(match.scores[seat]);
    if (match.decided_by === "points") return `${score} (${numberText(match.points[seat])})`;
    if (match.names[seat] !== match.winner) return score;
    const decided = { seed: t`${score} by seed`, "extra games": t`${score} in extra games`,
      "sudden death": t`${score} in sudden death` };
    return decided[match.decided_by] ?? score;
  }
  return match.state === "walkover" && match.names[seat] === match.winner ? "w/o" : "";
}

function gamesOf(contest, match) {
  return match.games.flatMap((game, i) => [i ? " " : "",
    el("a", { href: gameLink(contest.id, `g${game}`) }, `g${game}`)]);
}

function matchCard(contest, match) {
  const player = (seat) => el("div",
    { class: match.winner !== null && match.names[seat] === match.winner ? "player won" : "player" },
    el("span", { class: "seed" }, match.seeds[seat] === null ? "" : String(match.seeds[seat])),
    el("span", { class: "who" }, nameOf(contest, match, seat)),
    el("span", { class: "score" }, scoreOf(match, seat)));
  return el("div", { class: `match ${match.state.replace(" ", "-")}`, title: named(match.state) }, player(0), player(1),
    match.games.length ? el("div", { class: "cell-games" }, gamesOf(contest, match)) : null);
}

function roundBox(contest, rounds, place, opened) {
  const round = rounds[place];
  // The last round, and groups until they are over: then the bracket counts.
  const now = place === rounds.length - 1 || (round.kind === "group" && !rounds.some((each) => each.kind === "level"));
  return foldable(opened, place, now && round.matches.length <= MOST_OPEN,
    `${said(round.title)}, ${plural(round.matches.length, "match")}`, () => matchTable(contest, round),
    round.by_hand === undefined ? null : el("p", { class: "sub" }, t`Paired by hand: ${round.by_hand}`),
    round.ranking ? el("p", { class: "sub" }, t`Order: ${inRow(round.ranking)}`) : null);
}

/**
 * A box that is made full by `make` when it is opened first; `opened` has the places of those that a reader has
 * opened (true) or closed (false), `isOpen` says how the others are.
 */
export function foldable(opened, place, isOpen, title, make, ...notes) {
  const open = opened.get(place) ?? isOpen;
  const body = el("div", {});
  const fill = () => { if (!body.childElementCount) body.append(make()); };
  const box = el("details", { open, ontoggle: () => {
    if (box.open) fill();
    if (box.open !== (opened.get(place) ?? isOpen)) opened.set(place, box.open);
  } }, el("summary", {}, title), ...notes, body);
  fills.set(box, fill);
  if (open) fill();
  return box;
}

function matchTable(contest, round) {
  const row = (match, i) => el("tr", {},
    el("td", { class: "num" }, String(i + 1)),
    el("td", { class: "name-cell" }, nameOf(contest, match, 0)),
    el("td", { class: "num" }, scoreOf(match, 0)),
    el("td", { class: "num" }, scoreOf(match, 1)),
    el("td", { class: "name-cell" }, nameOf(contest, match, 1)),
    el("td", { class: "rest" }, named(match.state)),
    el("td", { class: "rest" }, gamesOf(contest, match)));
  const heads = [t`Match`, t`First seat`, t`Score`, t`Score`, t`Second seat`, t`State`, t`Games`];
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": said(round.title) },
    cardTable(heads, round.matches.map(row), { kind: "rounds", isNumber: (place) => [0, 2, 3].includes(place) }));
}
