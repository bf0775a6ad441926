// What the server and the boards say, in the language of the page. The sentences of errors stay English: who meets one
// can search for it, and finds it in the log.

import { catalogue } from "./language.js";

const escaped = (text) => text.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
/** What is quoted is not of the server, and not looked into. */
const VALUE = String.raw`((?:"(?:[^"\\]|\\.)*"|[^"])+?)`;

/** Patterns and translations of a catalogue, made once. */
const known = new WeakMap();

function patterns(sentences) {
  // Of two that fit one without values, then the one with more of them, then with more words of its own.
  const weight = (key) => (key.includes("{}") ? 0 : 1e6) + 1000 * key.split("{}").length + key.replaceAll("{}", "")
    .length;
  return Object.entries(sentences).filter(([, translation]) => translation)
    .sort(([a], [b]) => weight(b) - weight(a))
    .map(([key, translation]) => [new RegExp(`^${escaped(key).replaceAll("{}", VALUE)}$`), translation]);
}

/** A sentence in the language of the page; one that is not in the catalogue stays as it is. */
export function said(text) {
  const { sentences } = catalogue();
  if (!sentences) return text;
  if (!known.has(sentences)) known.set(sentences, patterns(sentences));
  for (const [pattern, translation] of known.get(sentences)) {
    const found = pattern.exec(text);
    if (found === null) continue;
    let next = 1;
    // A value may be a sentence, too; a name has no blank, and may be like a word of the catalogue.
    return translation.replaceAll("{}", () => {
      const value = found[next++];
      return value.includes(" ") ? said(value) : value;
    });
  }
  return text;
}
