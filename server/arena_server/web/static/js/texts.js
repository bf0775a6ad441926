// The language of the page. A text stands in the code in English, t`ply ${ply} of ${all}`; `bulgarian.js` has its
// translation, and is given to `useCatalogue` before any other module runs.

/** One of a thing and several: 1 ply, 2 plies. */
export const COUNTED = {
  game: ["game", "games"], ply: ["ply", "plies"], point: ["point", "points"], win: ["win", "wins"],
  fault: ["fault", "faults"],
  result: ["result", "results"], match: ["match", "matches"], day: ["day", "days"], hour: ["hour", "hours"],
  minute: ["minute", "minutes"],
  connection: ["connection", "connections"],
};

export const languages = [["en", "English"], ["bg", "Български"]];

/** The chosen language, else that of the browser; English where there is neither. */
function ownLanguage() {
  let chosen = null;
  try { chosen = globalThis.localStorage?.getItem("language"); } catch { /* storage may be forbidden */ }
  const wanted = chosen ?? (globalThis.document ? navigator.language.slice(0, 2) : "en");
  return languages.some(([code]) => code === wanted) ? wanted : "en";
}

export const language = ownLanguage();

let found = {};

/** `all` are the translations: {TEXTS, COUNTED, NAMED, SERVER, BOARD, CHECK}. */
export function useCatalogue(all) {
  found = all;
}

export const catalogue = () => found;

/** The language of this browser from the next page on. */
export function chooseLanguage(code) {
  try { localStorage.setItem("language", code); } catch { /* the choice lasts for no page */ }
}

/** A text in the language of the page: t`ply ${ply}`. */
export function t(parts, ...values) {
  return language === "en" ? plain(parts, values) : translated(parts, values);
}

const plain = (parts, values) => parts.reduce((text, part, i) => `${text}${values[i - 1]}${part}`);

/** `parts` with `values` between them in the other language; a text that is not in the catalogue stays English. */
export function translated(parts, values) {
  const text = found.TEXTS?.[parts.join("{}")];
  if (text === undefined) return plain(parts, values);
  let next = 0;
  return text.replace(/\{(\d?)\}/g, (_, place) => values[place === "" ? next++ : Number(place)]);
}

/** "games" or "game" for `count` of them. */
export function counted(count, word) {
  const [one, many] = (language === "en" ? COUNTED : found.COUNTED ?? COUNTED)[word];
  return count === 1 ? one : many;
}

/** A word of the protocol or the API, such as the end of a game. */
export function named(word) {
  return language === "bg" ? found.NAMED?.[word] ?? word : word;
}
