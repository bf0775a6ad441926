// The texts of the pages. A text stands in the code in English, t`ply ${ply} of ${all}`; a catalogue has its
// translation under "ply {} of {}".

import { catalogue } from "./language.js";
import { apart, locale } from "./locale.js";

/** One of a thing and several: 1 ply, 2 plies. */
export const COUNTED = {
  game: ["game", "games"], ply: ["ply", "plies"], point: ["point", "points"], win: ["win", "wins"],
  fault: ["fault", "faults"],
  result: ["result", "results"], match: ["match", "matches"], day: ["day", "days"], hour: ["hour", "hours"],
  minute: ["minute", "minutes"],
  connection: ["connection", "connections"],
};

/**
 * A text in the language of the page: t`ply ${ply}`. One that is not in the catalogue stays English. Names and other
 * foreign texts may stand in it: each is set apart. Numbers are written as the language writes them.
 */
export function t(parts, ...values) {
  const text = catalogue().texts?.[parts.join("{}")];
  const kept = values.map((value) => (typeof value === "string" ? apart(value)
    : typeof value === "number" ? locale.number(value) : value));
  return text ? placed(text, kept) : parts.reduce((all, part, i) => `${all}${kept[i - 1]}${part}`);
}

/**
 * `values` in the places of a translation, which may number them, {1} {0}, and ask for another form of a counted word:
 * {0:genitive} is "game:genitive" of the catalogue where value 0 counts games.
 */
export function placed(text, values) {
  let next = 0;
  return text.replace(/\{(\d?)(?::(\w+))?\}/g, (_, place, form) => {
    const value = values[place === "" ? next++ : Number(place)];
    return form && value instanceof Counted ? value.as(form) : value;
  });
}

/** "games" or "game" for `count` of them. */
export function counted(count, word) {
  const forms = catalogue().counted?.[word];
  if (forms) return forms[locale.plural(count)] ?? forms.other;
  const [one, other] = COUNTED[word];
  return count === 1 ? one : other;
}

/** A number with what it counts, "12 games". */
export class Counted extends String {
  constructor(count, word) {
    super(`${locale.number(count)} ${counted(count, word)}`);
    this.count = count;
    this.word = word;
  }

  /** In another form, which only the catalogue knows. */
  as(form) {
    const word = `${this.word}:${form}`;
    return catalogue().counted?.[word] ? `${locale.number(this.count)} ${counted(this.count, word)}` : `${this}`;
  }
}

/** A word of the protocol or the API, such as the end of a game; `english` is what English calls it. */
export function named(word, english = word) {
  return catalogue().words?.[word] || english;
}

/** What the game of a contest, or of a running game, is called. */
export const gameName = ({ game_title: title, game }) => named(title ?? game);

/** What the format of a contest is called. */
export const formatName = ({ format, format_title: title }) => named(format, title);
