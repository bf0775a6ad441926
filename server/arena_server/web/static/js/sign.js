// A small picture made of a shown name, by which a bot or a contest is found again on other pages.

import { bdi, el, svg } from "./dom.js";

const SIDE = 5;
const HUES = 12;

/** 32 bits of a text (FNV-1a, with a last round of mixing): names that differ in one digit look different. */
export function bitsOf(text) {
  let bits = 0x811c9dc5;
  for (const each of new TextEncoder().encode(text)) bits = Math.imul(bits ^ each, 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** The squares of `name` as the data of a path, its left half mirrored to the right, and its hue in degrees. */
export function signOf(name) {
  const bits = bitsOf(name);
  const half = Math.ceil(SIDE / 2);
  let path = "";
  for (let place = 0; place < half * SIDE; place += 1) {
    const [x, y] = [place % half, Math.floor(place / half)];
    // The square in the middle is always filled: no name has an empty picture.
    const middle = x === half - 1 && y === half - 1;
    if (!middle && !((bits >>> place) & 1)) continue;
    for (const column of new Set([x, SIDE - 1 - x])) path += `M${column} ${y}h1v1h-1z`;
  }
  return { path, hue: 360 / HUES * ((bits >>> 16) % HUES) };
}

/** The first word of a text; one that no line has room for may be broken anywhere. */
const WORD = /^\S{0,24}(?!\S)/u;

/** The picture of `name` before `text`, on the line where the text begins; it says nothing that the name does not. */
export function marked(name, text = name) {
  const { path, hue } = signOf(name);
  const sign = svg("svg", { class: "sign", viewBox: `0 0 ${SIDE} ${SIDE}`, "aria-hidden": "true" },
    svg("path", { d: path, fill: `hsl(${hue} 60% 48%)` }));
  const [first = ""] = WORD.exec(text) ?? [];
  // Between a picture and a word the line could break, and a picture out of the line is another line when it is copied.
  return el("span", { class: "marked" },
    bdi([el("span", { class: "nowrap" }, sign, first), text.slice(first.length)]));
}
