// The rounds of a Swiss as columns of its standings: whom each bot met, by its place in the table, and how it ended.

import { el, explained, gameLink, link } from "./dom.js";
import { pairLink } from "./pairs.js";
import { said } from "./said.js";
import { t } from "./texts.js";

/**
 * What a round was to a bot by `field`, the text of its card (`player_cards.py`): [sign, sentence], with the number of
 * the opponent, its name, and the title of the round.
 */
export function roundTexts(field, number, other, title) {
  if (field === "bye") return ["(+)", t`${title}: a bye`];
  const result = /^\d+[wb](.*)$/.exec(field)?.[1];
  return {
    1: [`+${number}`, t`${title}: won against ${other}`],
    0: [`-${number}`, t`${title}: lost to ${other}`],
    "1/2": [`=${number}`, t`${title}: tied with ${other}`],
    "*": [`▸${number}`, t`${title}: not over, against ${other}`],
    "+": [`(+${number})`, t`${title}: won by walkover against ${other}`],
    "-": [`(-${number})`, t`${title}: lost by walkover against ${other}`],
  }[result] ?? ["·", t`${title}: not paired`];
}

/** Where the games of a pairing are: one, two of one deal, or all that the bots have with each other. */
function addressOf(contest, { names, state, games: [game, second, ...more] }, bot) {
  if (game === undefined && state !== "open") return null;
  if (game !== undefined && second === undefined) return gameLink(contest.id, `g${game}`);
  if (contest.paired && second !== undefined && !more.length) return pairLink(contest.id, `g${game}`, `g${second}`);
  return link("contest.html", { id: contest.id, bot, against: names.find((name) => name !== bot) }, "games");
}

/** The columns for `rows` of the standings, as `columnsOf` has them; none of a format without cards of its players. */
export function roundColumns(contest, rows, { rounds, cards = [] }) {
  // The table may be newer than the cards, and of a large field it has the first rows alone.
  const numbers = new Map(cards.map(({ bot, no }) => [bot, no]));
  rows.forEach(({ bot }, place) => numbers.set(bot, place + 1));
  const fields = new Map(cards.map((card) => [card.bot, card.rounds]));
  return (cards.length ? rounds : []).map((round, column) => {
    const matches = new Map(round.matches.flatMap((match) => match.names.map((name) => [name, match])));
    const title = said(round.title);
    const cell = ({ bot }) => {
      const match = matches.get(bot);
      const other = match?.names.find((name) => name !== bot) ?? null;
      const [sign, sentence] = roundTexts(fields.get(bot)?.[column] ?? "-", numbers.get(other), other, title);
      const href = other === null ? null : addressOf(contest, match, bot);
      return href ? el("a", { href, title: sentence, "aria-label": `${sign}, ${sentence}` }, sign)
        : [el("span", { title: sentence, "aria-hidden": "true" }, sign),
          el("span", { class: "visually-hidden" }, sentence)];
    };
    return { head: String(column + 1), title, kind: "round", cell };
  });
}

/** The signs of the columns in words; null of a format without them. */
export function swissLegend({ cards = [] }) {
  if (!cards.length) return null;
  return explained(t`What do +12, -3 and =7 mean?`, [
    ["+12", t`won against the bot at place 12 of this table`], ["-3", t`lost to the bot at place 3`],
    ["=7", t`tied with the bot at place 7`], ["▸5", t`games against the bot at place 5 are not over`],
    ["(+4) (-4)", t`won or lost by walkover: the other bot, or this one, was absent`],
    ["(+)", t`a bye: a round without an opponent, which gives points`],
    ["·", t`a round in which the bot was not paired`],
  ]);
}
