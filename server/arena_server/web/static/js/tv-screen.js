// A game on the whole screen, ply by ply: its board between the cards of the seats.

import { makeBoard } from "./boards.js";
import { el, setText } from "./dom.js";
import { LeaningBar, SeatCard, seatBox, ShareBar } from "./seats.js";
import { overText, playText } from "./sentences.js";
import { t } from "./texts.js";

const PHASE_MS = 170;

export class Screen {
  /** `address` is that of the game's page, or null; `caption` stands over the board. */
  constructor(timeline, { address = null, caption = null, announced = true } = {}) {
    const { names, layout } = timeline.info;
    this.timeline = timeline;
    this.ply = null;
    this.board = makeBoard(timeline.rules, layout);
    this.cards = names.map((name, i) => new SeatCard(i + 1, name, null));
    this.shares = new ShareBar(names.length);
    this.leaning = new LeaningBar();
    this.status = el("p", { class: "status", role: announced ? "status" : null });
    const half = Math.ceil(names.length / 2);
    const board = address === null ? this.board.element
      : el("a", { class: "tv-open", href: address, title: t`Open the game` }, this.board.element);
    this.parts = [seatBox(this.cards.slice(0, half), "tv-seats"),
      el("div", { class: "tv-board" }, caption, this.shares.element,
        el("div", { class: "board-row" }, this.leaning.element, board), this.board.extra ?? null, this.status),
      seatBox(this.cards.slice(half), "tv-seats")];
  }

  /** Show the position after ply `ply`; the one after that which is shown by its animation. */
  show(ply) {
    const { timeline } = this;
    const last = timeline.ply(ply);
    if (this.ply !== null && ply === this.ply + 1) this.board.animate(timeline.steps[ply], last, PHASE_MS);
    else if (this.ply !== ply) this.board.show(timeline.position(ply), last);
    this.ply = ply;
    const points = timeline.points(ply);
    const winner = timeline.winner(ply);
    this.shares.show(points);
    this.cards.forEach((card, i) =>
      card.show({ won: winner === i + 1, points: points[i], clock: timeline.clocks(ply)[i],
        bank: timeline.info.clock_ms, moving: timeline.toMove(ply) === i + 1,
        gained: last?.seat === i + 1 ? last.points : 0, fault: timeline.fault(i + 1, ply) }));
    this.showNotes();
    const over = overText(timeline, ply);
    const sentence = `${ply} ${over}`;
    if (this.said === sentence) return;
    this.said = sentence;
    this.status.replaceChildren(el("span", { class: "sub" }, t`Game ${timeline.info.game_id}, ply ${ply}`),
      over !== null ? `: ${over}` : ply ? `: ${playText(timeline, ply)}` : "");
  }

  /** A sentence in the place of that about the game. */
  tell(text) {
    this.said = text;
    setText(this.status, text);
  }

  /** What the bots note, of a running game also about the ply to come. */
  showNotes() {
    const { timeline, ply } = this;
    const until = timeline.end === null && ply === timeline.length ? ply + 1 : ply;
    this.leaning.show(timeline, until);
    this.cards.forEach((card, i) => {
      const note = timeline.note(i + 1, until);
      card.showNote(note, note === null ? null : timeline.ply(note.ply)?.time_ms);
    });
  }
}
