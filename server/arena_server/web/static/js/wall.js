// Small boards of running games, kept up to date by one stream.

import { makeBoard } from "./boards.js";
import { bdi, clockText, el, gameLink, numberText, resultText, setText, svg } from "./dom.js";
import { livePath, LiveStream } from "./livestream.js";
import { arranged, FEW, isWanted, starred } from "./places.js";
import { makeGame, RULES } from "./rules.js";
import { ring, soundButton } from "./sound.js";
import { t } from "./texts.js";

/** With fewer games there is nothing to look for. */
const SEARCHED = 5;

/** A position to show, from the summary of a game. */
export function summaryPosition(rules, game) {
  if (rules === null) return game.scene;
  const position = rules.start({ board: game.state, sequence: "" });
  return "played" in position ? { ...position, sequence: game.visible, totals: game.totals } : position;
}

class Card {
  constructor(contest, game) {
    this.rules = RULES.has(game.game) ? makeGame(game.game, game.options, game.names.length) : null;
    this.board = makeBoard(this.rules, game.layout);
    this.board.compact();
    this.rows = game.names.map((name, i) => {
      const points = el("b", {});
      const mark = el("span", { class: "mark" });
      return { points, mark,
        element: el("span", { class: `row s${i + 1}` },
          el("span", { class: "key" }, el("span", { class: "dot" }), bdi(name)), el("span", {}, points, " ", mark)) };
    });
    this.foot = el("span", { class: "sub" });
    this.element = el("a", { class: game.decided ? "card decided" : "card", href: gameLink(contest, game.game_id) },
      this.board.element, ...this.rows.map((row) => row.element), this.foot);
    this.update(game);
  }

  update(game) {
    this.game = game;
    try {
      this.board.show(summaryPosition(this.rules, game), game.last);
    } catch { /* a state that these rules refuse: the points are shown all the same */ }
    this.rows.forEach((row, i) => {
      setText(row.points, numberText(game.totals[i] ?? 0));
      const zombie = game.zombies.includes(i + 1);
      const moving = game.to_move === i + 1;
      const won = game.end !== null && game.end !== "void"
        && game.totals.every((total, other) => other === i || total < game.totals[i]);
      row.element.classList.toggle("zombie", zombie);
      row.element.classList.toggle("moving", moving);
      row.element.classList.toggle("won", won);
      // The clock, where there is one to watch: with an arrow if it runs.
      const clock = game.clock ? clockText(game.clock[i]) : "";
      const words = [won ? t`wins` : "", zombie ? t`zombie` : ""].filter(Boolean).join(", ");
      const mark = `${moving} ${words || clock}`;
      if (row.marked !== mark) {
        row.mark.replaceChildren(...(moving ? [el("span", { class: "visually-hidden" }, t`to move `), "▸ "] : []),
          words || clock);
      }
      row.marked = mark;
      row.element.title = [game.names[i], words].filter(Boolean).join(", ");
    });
    this.element.classList.toggle("over", game.end !== null);
    const result = game.end ? resultText(game.names, game.totals, game.end, !game.decided) : "";
    const over = result ? t`. Over: ${result.replaceAll(" : ", "\u00a0:\u00a0")}` : "";
    setText(this.foot, `${game.game_id}, ${t`ply ${game.ply}`}${over}`);
  }
}

/** The place of a game that begins later: as large as its card, so that then nothing moves. */
const vacant = () => el("div", { class: "vacant" }, svg("svg", { class: "board" }),
  ...["row", "row", "sub"].map((name) => el("span", { class: name }, "\u00a0")));

export class Wall {
  /**
   * `onchange(games)` gets the summaries of all games shown; `filter(game)` leaves some out. It shows at most `most`
   * boards. `alone` it has a heading, beside it the button of the sound, and a field for names if there are many games.
   */
  constructor(contest, { onchange = () => {}, filter = () => true, alone = true, most = Infinity } = {}) {
    this.contest = contest;
    this.most = most;
    this.cards = new Map();
    this.games = new Map();
    this.places = [];
    this.vacant = [];
    /** It has at least this many places: as many as it has had boards, or more by `reserve`. */
    this.least = 1;
    this.text = "";
    this.starred = false;
    this.grid = el("div", { class: "wall" });
    this.empty = el("p", { class: "empty" });
    this.tools = alone && most === Infinity ? this.searchTools() : null;
    this.title = el("h2", {}, t`Running games`);
    this.element = el("div", { class: "wall-box" }, alone
      ? el("div", { class: "wall-head" }, this.title, this.tools, soundButton()) : null,
    this.grid);
    this.show();
    /** Resolved once the running games are known. */
    this.ready = new Promise((done) => { this.known = done; });
    this.stream = new LiveStream(livePath("boards", contest), {
      boards: ({ changed, shown, live }) => {
        // Of the games that were seen running.
        if (changed.some((game) => game.end && this.games.get(game.game_id)?.end === null)) ring();
        const kept = new Map([...this.games].filter(([id]) => this.places.includes(id)));
        for (const game of changed) this.games.set(game.game_id, game);
        for (const id of this.games.keys()) if (!shown.includes(id) && !kept.has(id)) this.games.delete(id);
        const wanted = shown.map((id) => this.games.get(id)).filter((game) => game?.names && filter(game));
        const [running, over] = [true, false].map((runs) =>
          wanted.filter((game) => (game.end === null) === runs).map((game) => game.game_id));
        this.places = arranged(this.places.filter((id) => this.games.has(id)), running, over, this.most);
        this.show(changed);
        this.empty.textContent = live ? t`Running games cannot be shown now: ${live}. Trying again ...`
          : t`No game is running; the next one appears here by itself.`;
        this.known();
        onchange(wanted);
      },
    }, (state) => this.element.classList.toggle("stale", state !== "live"));
  }

  /** The games of `places` that are looked for; those of `changed` are drawn again. */
  show(changed = []) {
    const stars = starred();
    const found = this.places.map((id) => this.games.get(id))
      .filter((game) => isWanted(game.names, this.text, stars, this.starred));
    for (const [id, card] of this.cards) {
      if (!found.some((game) => game.game_id === id)) { card.element.remove(); this.cards.delete(id); }
    }
    found.forEach((game, place) => {
      let card = this.cards.get(game.game_id);
      if (!card) {
        card = new Card(this.contest, game);
        this.cards.set(game.game_id, card);
      } else if (changed.includes(game)) card.update(game);
      card.element.classList.toggle("starred", game.names.some((name) => stars.includes(name)));
      if (this.grid.children[place] !== card.element) {
        this.grid.insertBefore(card.element, this.grid.children[place] ?? null);
      }
    });
    const searched = this.text || this.starred;
    if (this.tools) this.tools.hidden = this.places.length < SEARCHED && !searched;
    if (!searched) this.least = Math.max(this.least, found.length);
    // For good: where games end and begin, boards would change their size with each.
    if (this.least > FEW) this.grid.classList.add("many");
    const free = Math.max(searched ? 0 : this.least - found.length, found.length ? 0 : 1);
    // The first one makes room for a board, and the others stay where they are.
    while (this.vacant.length > free) this.vacant.shift().remove();
    while (this.vacant.length < free) {
      this.vacant.unshift(vacant());
      this.grid.insertBefore(this.vacant[0], this.vacant[1] ?? null);
    }
    this.empty.hidden = found.length > 0;
    this.vacant[0]?.append(this.empty);
    if (this.places.length && !found.length) this.empty.textContent = t`No game shown here is of such a bot.`;
  }

  /** Keep places for `games` at once, as far down as the window reaches; once the wall is in the page. */
  reserve(games) {
    const most = Math.min(games, this.most);
    if (most > FEW) this.grid.classList.add("many");
    while (this.least < most && this.grid.lastElementChild.getBoundingClientRect().top < innerHeight) {
      this.least++;
      this.show();
    }
  }

  /** The contest is over: its last boards stay where they are, so that nothing below them moves. */
  finish() {
    this.stream.close();
    this.title.textContent = t`The contest is over.`;
    for (const place of this.vacant) place.style.visibility = "hidden";
  }

  searchTools() {
    const only = el("button", { type: "button", "aria-pressed": "false", title: t`Games of bots with a star`,
      onclick: () => {
        this.starred = !this.starred;
        only.setAttribute("aria-pressed", String(this.starred));
        this.show();
      } }, "★");
    return el("div", { class: "search", hidden: true },
      el("input", { type: "text", "aria-label": t`Find bots on the wall`, placeholder: t`Find bots on the wall`,
        oninput: ({ target }) => { this.text = target.value; this.show(); } }), only);
  }
}
