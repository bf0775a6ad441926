// Who plays, beside and over a board: the cards of the seats, the bar of the points and that of the evaluations.

import { Clock } from "./clock.js";
import { bdi, clockText, el, NO_CLOCK_MS, numberText, setText, shortText, signedText } from "./dom.js";
import { named, t } from "./texts.js";

/** The least part of the bar that a seat has, so that its points can be read. */
const LEAST_SHARE = 0.09;

/**
 * Whom the bots see ahead in a game of two: a bar that is filled from below for the first seat, hidden without
 * evaluations.
 */
export class LeaningBar {
  constructor() {
    this.fill = el("i");
    this.label = el("b");
    this.element = el("div", { class: "leaning", role: "img", hidden: true }, this.fill, this.label);
  }

  /** Show what they have noted about the plies up to `until`. */
  show(timeline, until) {
    const value = timeline.evaluation(until);
    const isHidden = timeline.info.names.length !== 2
      || !timeline.notes.some((note) => Number.isFinite(note.eval));
    if (this.element.hidden !== isHidden) this.element.hidden = isHidden;
    this.fill.style.transform = `scaleY(${(1 + (value ?? 0)) / 2})`;
    setText(this.label, value === null ? "" : signedText(Math.round(100 * value)));
    // In the colour of the seat that is ahead.
    this.label.classList.toggle("second", value !== null && value < 0);
    const words = value === null ? t`The bots have noted no evaluation yet`
      : t`The bots see ${timeline.info.names[value < 0 ? 1 : 0]} ahead by ${Math.round(100 * Math.abs(value))} of 100, each by its own evaluations`;
    if (this.element.title === words) return;
    this.element.title = words;
    this.element.setAttribute("aria-label", words);
  }
}

/** Who has how much of all points. Its colours are one ground: a layer that moves takes more of each frame. */
export class ShareBar {
  constructor(seats) {
    this.labels = Array.from({ length: seats }, () => el("b"));
    this.element = el("div", { class: "shares", "aria-hidden": "true" }, ...this.labels);
  }

  show(points) {
    const sum = points.reduce((a, b) => a + b, 0);
    const shares = points.map((value) => Math.max(LEAST_SHARE, sum ? value / sum : 1 / points.length));
    const whole = shares.reduce((a, b) => a + b, 0);
    let end = 0;
    const parts = points.map((value, i) => {
      // Moved, not made wider: what moves others on the page is counted against it.
      if (i && i < points.length - 1) this.labels[i].style.transform = `translateX(${100 * end}%)`;
      end += shares[i] / whole;
      setText(this.labels[i], numberText(value));
      const place = `${Math.round(1000 * end) / 10}%`;
      const colour = `var(--s${i + 1}) 0`;
      return i === points.length - 1 ? colour : `${colour} calc(${place} - 2px), var(--panel) 0 ${place}`;
    });
    const ground = `linear-gradient(90deg, ${parts.join(", ")} 100%)`;
    if (this.ground !== ground) this.element.style.backgroundImage = ground;
    this.ground = ground;
  }
}

export class SeatCard {
  constructor(seat, name, address) {
    this.points = el("span", { class: "points" });
    this.gained = el("span", { class: "gained" });
    this.clock = new Clock();
    this.state = el("span", { class: "state" });
    this.note = el("div", { class: "note" });
    this.element = el("section", { class: `seat s${seat}`, "aria-label": t`Seat ${seat}: ${name}` },
      el("h2", {}, el("span", { class: "dot" }), address ? el("a", { href: address }, bdi(name)) : bdi(name)),
      el("p", { class: "score" }, this.points, el("span", { class: "unit" }, t` points `), this.gained),
      el("p", { class: "time" }, this.clock.element, this.clock.bar), this.state, this.note);
  }

  show({ points, clock, bank, moving, gained, fault, won = false }) {
    setText(this.points, numberText(points));
    setText(this.gained, gained ? signedText(gained) : "");
    this.showClock(clock, bank);
    this.element.classList.toggle("moving", moving);
    this.element.classList.toggle("won", won);
    this.element.classList.toggle("zombie", fault !== null);
    const state = fault !== null ? faultText(fault) : won ? t`wins` : moving ? t`to move` : "";
    setText(this.state, state);
    // A long one is cut off.
    if (this.state.title !== state) this.state.title = state;
  }

  /** `ms` is what the clock charged for the ply of the note, if it is played. */
  showNote(note, ms) {
    const shown = JSON.stringify([note, ms]);
    if (this.noted === shown) return;
    this.noted = shown;
    this.note.replaceChildren(...(note === null ? [] : noteParts(note, ms)));
    const words = (part) =>
      [...part.querySelectorAll("div")].map((each) => each.textContent).join(", ") || part.textContent;
    this.note.title = [...this.note.children].map(words).join("\n");
  }

  /** A clock that `runs` goes on by itself. */
  showClock(ms, bank, runs = false) {
    const timed = bank < NO_CLOCK_MS;
    if (runs && timed) this.clock.run(ms, bank);
    else this.clock.show(ms, bank, timed ? clockText(ms) : t`no clock`);
    this.clock.bar.hidden = !timed;
    this.element.classList.toggle("low", ms < bank / 10);
  }
}

/** The box of some cards, which the style sheet lays out by what it stands in and by its `kind`. */
export const seatBox = (cards, kind = "") =>
  el("div", { class: `seats ${kind}`.trim() }, ...cards.map((card) => card.element));

/** The clock that runs now, {seat, ms} of a LiveGame or null, on its card; those of the others stand. */
export function showRunning(cards, running, bank) {
  cards.forEach((card, i) => {
    if (running?.seat === i + 1) card.showClock(running.ms, bank, true);
    else card.clock.stop();
  });
}

/** The numbers of a note with their labels, as far as it has them: score, depth, nodes, and nodes a second. */
export function noteNumbers(note, ms) {
  const all = [[t`score`, note.eval, signedText], [t`depth`, note.depth, numberText], [t`nodes`, note.nodes, shortText],
    [t`nodes/s`, ms > 0 && note.nodes ? Math.round(1000 * note.nodes / ms) : null, shortText]];
  return all.filter(([, value]) => value !== undefined && value !== null)
    .map(([label, value, text]) => [label, text(value)]);
}

/** A note of a bot: its numbers, its best line and its text, as far as it has them. */
function noteParts(note, ms) {
  const numbers = noteNumbers(note, ms);
  return [
    el("span", {}, t`Note about ply ${note.ply}`),
    numbers.length ? el("dl", { class: "numbers" },
      ...numbers.map(([label, text]) => el("div", {}, el("dt", {}, label), " ", el("dd", {}, text)))) : null,
    "line" in note ? el("span", {}, t`best line `, el("b", {}, note.line.replaceAll(",", " "))) : null,
    "text" in note ? el("span", {}, "“", bdi(note.text), "”") : null,
  ].filter(Boolean);
}

/** Since when a seat is at fault, and by what. */
export const faultText = ({ ply, kind, line }) => t`zombie since ply ${ply}: ${named(kind)}${lineText(line)}`;

/** The offending line of a fault, from hexadecimal, as printable ASCII. */
function lineText(line) {
  const text = (line?.match(/../g) ?? []).map((pair) => parseInt(pair, 16))
    .map((byte) => byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·").join("");
  return text ? t` (it sent “${text.length > 60 ? `${text.slice(0, 60)}…` : text}”)` : "";
}
