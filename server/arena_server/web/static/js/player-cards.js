// The cards of the players of a Swiss: a line a bot, a field a round, as the server has made them (`player_cards.py`).

import { el, gameLink, link, numberText } from "./dom.js";
import { foldable } from "./rounds.js";
import { said } from "./said.js";
import { marked } from "./sign.js";
import { named, t } from "./texts.js";

/** The place of the box among the rounds that were opened or closed. */
const PLACE = "cards";

/** The panel; null of a format without cards, and of a site that an earlier version has written. */
export function cardsPanel(contest, { rounds, cards = [] }, opened) {
  if (!cards.length || !rounds.length) return null;
  const fill = () => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t`Player cards` },
    table(contest, rounds, cards));
  return el("section", { class: "panel rounds-panel" }, el("h2", {}, t`Player cards`),
    el("p", { class: "sub" },
      t`12w1 is a win with the first seat (b: the second) against number 12 of the table.`, " ",
      t`0: lost, 1/2: tied, + and -: by walkover, *: not over.`),
    // On a screen the standings have the same; on paper they have not, and a box of rounds is open there.
    foldable(opened, PLACE, false, t`${numberText(cards.length)} bots`, fill));
}

function table(contest, rounds, cards) {
  const matches = rounds.map((round) => new Map(round.matches.flatMap((match) =>
    match.names.map((name) => [name, match]))));
  const field = (card, text, place) => {
    const match = matches[place].get(card.bot);
    const other = match?.names.find((name) => name !== card.bot) ?? null;
    const shown = text === "bye" ? named("bye") : text === "-" ? "–" : text;
    return el("td", { title: other }, match?.games.length
      ? el("a", { href: gameLink(contest.id, `g${match.games[0]}`) }, shown) : shown);
  };
  const line = (card) => el("tr", {},
    el("th", { scope: "row", title: card.bot }, el("span", { class: "rank" }, `${card.no} `),
      el("a", { href: link("bot.html", { contest: contest.id, bot: card.bot }) }, marked(card.bot))),
    ...card.rounds.map((text, place) => field(card, text, place)),
    el("td", {}, el("b", {}, numberText(card.score))));
  return el("table", { class: "cross" },
    el("thead", {}, el("tr", {}, el("td"), ...rounds.map((round, place) =>
      el("th", { scope: "col", title: said(round.title) }, String(place + 1))), el("th", { scope: "col" }, t`Score`))),
    el("tbody", {}, ...cards.map(line)));
}
