// Guess the move of a running game while its bot thinks. Guesses stay in this browser: a reload keeps them, no server
// learns them. A guess counts what it would have scored by the rules; without rules here a guess that was played
// counts a point.

import { bdi, cardTable, el, labelled, numberText } from "./dom.js";
import { GameError } from "./gameerror.js";
import { apart } from "./locale.js";
import { personName } from "./people.js";
import { t } from "./texts.js";

/** Games whose guesses are kept; the length of a name, in units of UTF-16, before `personName` looks at it. */
const KEPT = 50;
const LONGEST_TYPED = 160;
const STORED = "arena-guesses";
const OPEN = "arena-guessing";

/** What a move scores at `ply`; 0 for one that cannot be played there. */
function pointsOf(timeline, ply, move) {
  if (timeline.rules === null) return timeline.ply(ply).move === move ? 1 : 0;
  try {
    return timeline.rules.play(timeline.position(ply - 1), move).points;
  } catch (error) {
    if (error instanceof GameError) return 0;
    throw error;
  }
}

/**
 * The table of `guesses`, {name: {ply: move}}, as far as the game has come: {name, guesses, hits, points, played}, the
 * best first. `played` is what the moves that were played scored at the same plies.
 */
export function guessTable(timeline, guesses) {
  const rows = Object.entries(guesses).map(([name, own]) => {
    const plies = Object.entries(own).filter(([ply]) => Number(ply) <= timeline.length);
    const sum = (value) => plies.reduce((total, [ply, move]) => total + value(Number(ply), move), 0);
    return { name, guesses: plies.length, hits: sum((ply, move) => Number(timeline.ply(ply).move === move)),
      points: sum((ply, move) => pointsOf(timeline, ply, move)),
      played: sum((ply) => pointsOf(timeline, ply, timeline.ply(ply).move)) };
  });
  return rows.filter((row) => row.guesses).sort((a, b) => b.points - a.points || b.hits - a.hits);
}

/** The guesses of one game, by name and ply, in the `storage` of a browser. */
export class GuessBook {
  constructor(game, storage) {
    this.game = game;
    this.storage = storage;
  }

  #all() {
    try { return JSON.parse(this.storage.getItem(STORED)) ?? {}; } catch { return {}; }
  }

  get guesses() {
    return this.#all()[this.game] ?? {};
  }

  /** Keep the guess of `name` at `ply`; the oldest games go. */
  add(name, ply, move) {
    const { [this.game]: own = {}, ...others } = this.#all();
    const kept = Object.fromEntries(Object.entries(others).slice(1 - KEPT));
    kept[this.game] = { ...own, [name]: { ...own[name], [ply]: move } };
    try { this.storage.setItem(STORED, JSON.stringify(kept)); } catch { /* they last for no page */ }
  }
}

function table(timeline, book) {
  const rows = guessTable(timeline, book.guesses);
  if (!rows.length) return null;
  const counts = timeline.rules !== null;
  const heads = [t`Name`, t`Guesses`, t`Right`, ...(counts ? [t`Points`, t`The bots`] : [])];
  const number = (value) => el("td", { class: "num" }, numberText(value));
  return cardTable(heads, rows.map((row) => el("tr", {}, ...labelled(heads, [
    el("td", { class: "name-cell" }, bdi(row.name)), number(row.guesses), number(row.hits),
    ...(counts ? [number(row.points), number(row.played)] : [])]))),
  { kind: "guesses", isNumber: (place) => place > 0 });
}

const browserStorage = () => { try { return localStorage; } catch { return { getItem: () => null, setItem() {} }; } };

/** The table of a game that is over, null where nothing was guessed in this browser. */
export function guessResult(timeline, game) {
  const found = table(timeline, new GuessBook(game, browserStorage()));
  return found && el("section", { class: "panel" }, el("h2", {}, t`Guesses`), found);
}

/** The part of the page of a running game; `update` after each change of it. */
export class GuessPanel {
  constructor(view, game) {
    this.view = view;
    this.book = new GuessBook(game, browserStorage());
    const names = Object.keys(this.book.guesses);
    this.name = el("input", { type: "text", maxlength: LONGEST_TYPED, size: 10, dir: "auto" });
    this.name.value = names.at(-1) ?? t`You`;
    this.move = el("input", { type: "text", size: 5, autocomplete: "off", autocapitalize: "off", spellcheck: false });
    this.said = el("p", { class: "sub", role: "status" });
    this.result = el("div");
    this.element = el("details", { class: "moves-box guess", ontoggle: () => this.#opened() },
      el("summary", {}, t`Guess the move`), el("form", { class: "filters", onsubmit: (event) => {
        event.preventDefault();
        this.guess(this.move.value.trim());
      } },
      el("label", {}, t`Name`, this.name), el("label", {}, t`Your guess`, this.move),
      el("button", { type: "submit" }, t`Guess`)), this.said, this.result);
    view.board.onmove = (move) => { if (this.element.open) this.guess(move); };
    try { this.element.open = localStorage.getItem(OPEN) === "yes"; } catch { /* it begins folded */ }
    this.update();
  }

  #opened() {
    this.view.board.element.classList.toggle("playable", this.element.open);
    try { localStorage.setItem(OPEN, this.element.open ? "yes" : "no"); } catch { /* the choice lasts for no page */ }
  }

  /** Of the ply to come: one that is shown has been played. */
  guess(move) {
    const { timeline } = this.view;
    if (timeline.end !== null || !move) return;
    const name = personName(this.name.value);
    if (name === null) {
      this.said.textContent = t`A name has 1 to 32 characters, a letter or digit among them, all of which are seen.`;
      return;
    }
    if (timeline.rules !== null && !timeline.rules.moves(timeline.position(timeline.length)).includes(move)) {
      this.said.textContent = t`${move} is not a legal move here.`;
      return;
    }
    if (!this.view.following) this.view.follow();
    this.book.add(name, timeline.length + 1, move);
    this.move.value = "";
    this.update();
  }

  update() {
    const { timeline } = this.view;
    const next = timeline.length + 1;
    const open = Object.entries(this.book.guesses).filter(([, own]) => own[next] !== undefined);
    const guessed = new Set(open.map(([, own]) => own[next]));
    for (const node of this.view.board.element.querySelectorAll("[data-move]")) {
      node.classList.toggle("hint", guessed.has(node.dataset.move));
    }
    this.said.textContent = timeline.end !== null ? "" : open.length
      ? t`Ply ${next}: ${open.map(([name, own]) => `${apart(name)} ${own[next]}`).join(", ")}`
      : t`What is played at ply ${next}? Choose it on the board, or type it.`;
    this.result.replaceChildren(...[table(timeline, this.book)].filter(Boolean));
  }
}
