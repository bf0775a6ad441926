// What the server, the boards and the check of a record say, in the language of the page.

import { catalogue, language } from "./texts.js";

const escaped = (text) => text.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
/** What is quoted is not of the server, and not looked into. */
const VALUE = String.raw`((?:"(?:[^"\\]|\\.)*"|[^"])+?)`;

/** By the speaker, which has a catalogue of its own: a bot may be called like a word of another one. */
const patterns = {};

/**
 * A text of the SERVER, a BOARD or a CHECK in the language of the page; one that is not in its catalogue stays as it
 * is.
 */
export function said(text, speaker = "SERVER") {
  return language === "bg" ? inBulgarian(text, speaker) : text;
}

export function inBulgarian(text, speaker = "SERVER") {
  // Of two that fit one without values, then the one with more of them, then with more words of its own.
  const weight = (key) => (key.includes("{}") ? 0 : 1e6) + 1000 * key.split("{}").length + key.replaceAll("{}", "")
    .length;
  patterns[speaker] ??= Object.entries(catalogue()[speaker] ?? {}).sort(([a], [b]) => weight(b) - weight(a))
    .map(([key, translation]) => [new RegExp(`^${escaped(key).replaceAll("{}", VALUE)}$`), translation]);
  for (const [pattern, translation] of patterns[speaker]) {
    const found = pattern.exec(text);
    if (found === null) continue;
    let next = 1;
    return translation.replaceAll("{}", () => inBulgarian(found[next++], speaker));
  }
  // Of a text about something the rest may be known; that of the server is about an address or a name.
  const [about, ...rest] = text.split(": ");
  return rest.length
    ? `${speaker === "SERVER" ? about : inBulgarian(about, speaker)}: ${inBulgarian(rest.join(": "), speaker)}` : text;
}
