// A game on the page: board, seats, controls, graphs and moves, over a timeline that may still grow.

import { makeBoard } from "./boards.js";
import { el, inFrame, numberText, plural, setText, signedText, svg, versus } from "./dom.js";
import { Graphs } from "./graphs.js";
import { MoveList } from "./movelist.js";
import { LeaningBar, SeatCard, seatBox, ShareBar, showRunning } from "./seats.js";
import { overText, playText } from "./sentences.js";
import { named, t } from "./texts.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];
/** Plies a second at speed 1. */
const PACE = 1.25;
/** What a phase of an animation takes at speed 1, in ms. */
const PHASE_MS = 170;
/** The marks over and under the slider. */
const SIGNS = { fault: "!", cascade: "◆", decisive: "★", missed: "☆", disagreed: "≠", parted: "⇄" };
/** By which a browser keeps whether best lines are drawn. */
const LINES = "lines";
/** A ply is read out at most so often: of a quick game a reader would hear nothing else. */
const SAID_MS = 3000;
/** Of a quick game slider, marks and graphs are drawn so often: the newest ply is at the end of each. */
const WHOLE_MS = 5000;
/** Its list of moves so often, with a ply; LATE_MS after one without another. A row takes a fifth of the frame. */
const LISTED_MS = 1800;
const LATE_MS = 2000;
/** A sentence with a longer name may need two lines. */
const LONG_NAME = 16;

export class GameView {
  /** `botLink(name)` gives a bot's page, or null; `marks`, {kind, ply, text}, replace those of the game. */
  constructor(timeline, { botLink = () => null, live = false, marks = null } = {}) {
    this.timeline = timeline;
    this.given = marks;
    this.ply = live ? timeline.length : 0;
    this.following = live;
    this.speed = 1;
    this.timer = null;
    /** Whether lines are drawn on the board; null where the page does not ask for them. */
    this.lines = null;
    this.board = makeBoard(timeline.rules, timeline.info.layout);
    this.seats = timeline.info.names.map((name, i) => new SeatCard(i + 1, name, botLink(name)));
    this.status = el("p", { class: "status", role: "status" });
    [this.said, this.result] = [el("span"), el("strong")];
    this.graphs = new Graphs(timeline, (ply) => this.jump(ply));
    this.badge = el("p", { class: "badge" });
    this.shares = new ShareBar(timeline.info.names.length);
    this.leaning = new LeaningBar();
    this.decisive = el("details", { class: "moves-box", hidden: true });
    this.moves = new MoveList(timeline, (ply) => this.jump(ply));
    this.controls = this.#controls();
    const half = Math.ceil(this.seats.length / 2);
    const kinds = { decided: timeline.decided, few: this.seats.length === 2,
      "long-names": Math.max(...timeline.info.names.map((name) => name.length)) > LONG_NAME };
    this.element = el("div", { class: ["game", ...Object.keys(kinds).filter((kind) => kinds[kind])].join(" ") },
      // On a phone the first seats are above the board, and the others below it.
      el("div", { class: "left" }, seatBox(this.seats.slice(0, half), "first"),
        seatBox(this.seats.slice(half), "rest")), this.badge,
      el("div", { class: "stage" }, this.shares.element,
        el("div", { class: "board-row" }, this.leaning.element, this.board.element), this.board.extra ?? null,
        this.status),
      this.controls,
      el("div", { class: "side" }, this.decisive, this.moves.element, this.graphs.element));
    this.saidAt = -Infinity;
    this.listedAt = -Infinity;
    /** What the marks say that are drawn. */
    this.marked = null;
    this.board.show(timeline.position(this.ply), timeline.ply(this.ply));
    this.refresh();
  }

  /** The timeline has grown, or the game is over; with `animate` pieces fly. */
  grown(animate = true) {
    // The board asks where it stands: what changes before that would take a layout.
    if (this.following) this.go(this.timeline.length, { animate });
    else this.#showPly();
    this.#drawSoon();
  }

  /** A bot has sent a note: only what shows notes is drawn again. */
  noted = inFrame(() => {
    this.#drawSoon();
    this.#showNotes();
    if (this.lines !== null) this.drawLines();
  });

  /** Draw on the board what a bot expects to be played from here, where its notes say it; a button switches it off. */
  drawLines() {
    const shown = () => { try { return localStorage.getItem(LINES) !== "no"; } catch { return true; } };
    this.lines = shown();
    this.linesButton.hidden = !this.timeline.notes.some((note) => note.line);
    this.linesButton.setAttribute("aria-pressed", String(this.lines));
    this.#showLine();
  }

  #switchLines() {
    try { localStorage.setItem(LINES, this.lines ? "no" : "yes"); } catch { /* the choice lasts for no page */ }
    this.drawLines();
  }

  #showLine() {
    if (this.lines === null) return;
    const found = this.lines ? this.timeline.expected(this.ply) : null;
    this.board.plan(found?.moves ?? [], found?.seat ?? null);
  }

  // -- moving through the game

  /** Show the position after ply `ply`, with `animate` the next one by its animation. */
  go(ply, { animate = false } = {}) {
    const target = Math.max(0, Math.min(this.timeline.length, ply));
    const last = this.timeline.ply(target);
    let done = null;
    if (animate && target === this.ply + 1) {
      done = this.board.animate(this.timeline.steps[target], last, PHASE_MS / this.speed);
    }
    // An animation that leads there goes on, also when the end of the game is announced.
    else if (target !== this.ply) this.board.show(this.timeline.position(target), last);
    this.ply = target;
    this.#showPly();
    return done;
  }

  /** A person moved through the game: stop playing and following, then go. */
  jump(ply, options) {
    this.pause();
    this.#drawWhole();
    this.following = this.following && ply >= this.timeline.length;
    // What a person asks for is read out, and listed.
    this.saidAt = -Infinity;
    this.listedAt = -Infinity;
    this.go(ply, options);
    this.onjump?.(this.ply);
  }

  play() {
    if (this.ply >= this.timeline.length) this.go(0);
    this.playing = true;
    this.#showPlaying();
    this.#next();
  }

  pause() {
    this.playing = false;
    clearTimeout(this.timer);
    this.#showPlaying();
  }

  async #next() {
    if (!this.playing) return;
    if (this.ply >= this.timeline.length) return void (this.timeline.end === null ? this.follow() : this.pause());
    const began = performance.now();
    await this.go(this.ply + 1, { animate: true });
    if (!this.playing) return;
    const wait = Math.max(0, 1000 / PACE / this.speed - (performance.now() - began));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#next(), wait);
  }

  /** Show the newest ply, and each one that comes. */
  follow() {
    this.pause();
    this.following = true;
    this.listedAt = -Infinity;
    this.go(this.timeline.length);
  }

  /** The next (or previous) fault, cascade or decisive ply. */
  mark(direction, kinds = Object.keys(SIGNS)) {
    const plies = this.#marks().filter((mark) => kinds.includes(mark.kind)).map((mark) => mark.ply)
      .sort((a, b) => a - b);
    const found = direction > 0 ? plies.find((ply) => ply > this.ply) : plies.findLast((ply) => ply < this.ply);
    if (found !== undefined) this.jump(found);
  }

  #marks() {
    if (this.given !== null) return this.given;
    const { faults, cascades, length, steps } = this.timeline;
    return [
      ...faults.map((fault) =>
        ({ kind: "fault", ply: Math.min(length, fault.ply),
          text: t`${this.#name(fault.seat)}: ${named(fault.kind)} at ply ${fault.ply}` })),
      ...cascades.map((ply) => ({ kind: "cascade", ply, text: t`cascade of ${steps[ply].waves} waves at ply ${ply}` })),
      ...this.timeline.decisive()
        .map((found) => ({ kind: "decisive", ply: found.ply, text: this.#decisiveText(found) })),
      ...this.#disagreement(),
      ...this.timeline.missed().map((found) => ({ kind: "missed", ply: found.ply, text: this.#missedText(found) })),
    ];
  }

  /** Where two bots disagree for the first time; of a running game the ply may not be played yet. */
  #disagreement() {
    const found = this.timeline.disagreement();
    if (found === null || found.ply > this.timeline.length) return [];
    const [first, second] = this.timeline.info.names;
    const [here, there] = found.values.map(signedText);
    const text =
      t`ply ${found.ply}: the bots disagree for the first time: ${first} sees itself at ${here}, ${second} at ${there}`;
    return [{ kind: "disagreed", ply: found.ply, text }];
  }

  #missedText({ ply, seat, move, points, best, most }) {
    return t`ply ${ply}: ${this.#name(seat)} plays ${move} for ${numberText(points)}; ${best} was there for ${numberText(most)}`;
  }

  #decisiveText({ ply, seat, move, points, leads, wins = null, seen = null }) {
    if (wins !== null) return t`ply ${ply}: ${this.#name(seat)} plays ${move}, and ${this.#name(wins)} wins`;
    if (seen !== null) {
      return t`ply ${ply}: ${this.#name(seat)} plays ${move}; from here the bots see ${this.#name(seen)} ahead`;
    }
    const gained = points ? t` for ${plural(points, "point")}` : "";
    const lead = leads === null ? "" : t`; from here ${this.#name(leads)} leads to the end`;
    return `${t`ply ${ply}: ${this.#name(seat)} plays ${move}`}${gained}${lead}`;
  }

  /** The decisive plies as a list; there is none before the end. */
  #showDecisive(marks) {
    const list = (kind) => marks.filter((mark) => mark.kind === kind).map(({ ply, text }) =>
      el("li", {}, el("button", { type: "button", onclick: () => this.jump(ply) }, `${SIGNS[kind]} ${text}`)));
    const [found, missed, disagreed] = ["decisive", "missed", "disagreed"].map(list);
    this.decisive.hidden = !found.length && !missed.length;
    this.decisive.replaceChildren(el("summary", {}, t`Decisive plies`),
      el("ul", { class: "decisive" }, ...found, ...disagreed),
      ...(missed.length ? [el("h3", {}, t`More was there`), el("ul", { class: "decisive" }, ...missed)] : []));
  }

  #name(seat) {
    return seat ? this.timeline.info.names[seat - 1] : t`the server`;
  }

  // -- what is shown

  /** Draw everything that depends on the whole game. */
  refresh() {
    this.#drawWhole();
    this.#showPly();
  }

  #drawSoon() {
    clearTimeout(this.late);
    if (this.timeline.end !== null || performance.now() - this.drawnAt >= WHOLE_MS) this.#drawWhole();
    else this.late = setTimeout(() => this.#drawWhole(), WHOLE_MS);
  }

  #drawWhole() {
    const { timeline } = this;
    clearTimeout(this.late);
    this.drawnAt = performance.now();
    this.slider.max = timeline.length;
    this.slider.value = this.ply;
    this.graphs.update(timeline);
    const marks = this.#marks();
    const marked = JSON.stringify(marks);
    if (this.marked !== marked) this.#drawMarks(marks);
    this.marked = marked;
    marks.forEach(({ ply }, i) => {
      this.ticks.children[i].style.left = `${timeline.length ? 100 * ply / timeline.length : 0}%`;
    });
    this.element.classList.toggle("running", timeline.end === null);
  }

  #drawMarks(marks) {
    this.#showDecisive(marks);
    this.ticks.replaceChildren(...marks.map(({ kind, ply, text }) => el("button",
      { type: "button", class: `tick ${kind}`, title: text, "aria-label": text, tabindex: -1,
        onclick: () => this.jump(ply) }, SIGNS[kind])));
    for (const kind of ["fault", "cascade"]) this.jumps[kind].hidden = !marks.some((mark) => mark.kind === kind);
  }

  /** The clock that runs now, of a LiveGame, where the page shows the newest ply. */
  showClock(running) {
    const { length, info } = this.timeline;
    if (this.ply === length) showRunning(this.seats, running, info.clock_ms);
  }

  #showPly() {
    const { timeline, ply } = this;
    this.slider.value = ply;
    this.slider.setAttribute("aria-valuetext", t`ply ${ply} of ${timeline.length}`);
    setText(this.counter, t`ply ${ply} of ${timeline.length}`);
    const clocks = timeline.clocks(ply);
    const points = timeline.points(ply);
    const mover = timeline.toMove(ply);
    const last = timeline.ply(ply);
    const over = timeline.end !== null && ply === timeline.length;
    const winner = timeline.winner(ply);
    this.shares.show(points);
    this.seats.forEach((card, i) => card.show({ won: winner === i + 1,
      points: points[i], clock: clocks[i], bank: timeline.info.clock_ms, moving: mover === i + 1,
      gained: last?.seat === i + 1 ? last.points : 0, fault: timeline.fault(i + 1, ply),
    }));
    this.#showNotes();
    this.#showLine();
    this.graphs.point(ply);
    const now = performance.now();
    const isSaid = over || ((!this.playing || this.speed <= 1) && now - this.saidAt >= SAID_MS);
    if (isSaid) this.saidAt = now;
    const live = isSaid ? "polite" : "off";
    if (this.status.getAttribute("aria-live") !== live) this.status.setAttribute("aria-live", live);
    const sentence = over ? this.result : this.said;
    setText(sentence, this.#sentence(ply));
    if (sentence.parentElement !== this.status) this.status.replaceChildren(sentence);
    const isQuick = this.following && timeline.end === null && now - this.listedAt < LISTED_MS;
    clearTimeout(this.listing);
    if (isQuick) this.listing = setTimeout(() => this.#showMoves(), LATE_MS);
    else this.#showMoves();
    this.onply?.(ply);
  }

  #showMoves() {
    this.listedAt = performance.now();
    this.moves.show(this.ply);
  }

  /** Clocks are left alone: a note of the mover does not stop its own. */
  #showNotes() {
    const { timeline, ply } = this;
    // Of a running game also what is thought about the ply to come.
    const until = timeline.end === null && ply === timeline.length ? ply + 1 : ply;
    this.seats.forEach((card, i) => {
      const note = timeline.note(i + 1, until);
      card.showNote(note, note === null ? null : timeline.ply(note.ply)?.time_ms);
    });
    this.element.classList.toggle("noted", timeline.notes.length > 0);
    this.leaning.show(timeline, until);
  }

  #sentence(ply) {
    return overText(this.timeline, ply)
      ?? (ply ? t`Ply ${ply}: ${playText(this.timeline, ply)}.` : t`The start.`);
  }

  #controls() {
    const button = (label, content, onclick) => el("button",
      { type: "button", "aria-label": label, title: label, onclick }, content);
    this.slider = el("input",
      { type: "range", min: 0, max: 0, value: 0, "aria-label": t`Ply`,
        oninput: () => {
          const { value, max } = this.slider;
          this.jump(value === max ? this.timeline.length : Number(value));
        } });
    this.ticks = el("div", { class: "ticks" });
    this.counter = el("span", { class: "counter" });
    this.playButton = button(t`Play (space)`, icon("play"), () => (this.playing ? this.pause() : this.play()));
    this.speedSelect = el("select", { class: "speed", "aria-label": t`Speed`, onchange: () => {
      this.speed = Number(this.speedSelect.value);
    } },
      ...SPEEDS.map((speed) => el("option", { value: speed, selected: speed === 1 }, `${numberText(speed)}×`)));
    this.followButton = el("button", { type: "button", class: "follow", onclick: () => this.follow() }, t`Live`);
    this.linesButton = el("button",
      { type: "button", class: "lines", hidden: true, title: t`Draw the best line of the bot on the board`,
        onclick: () => this.#switchLines() }, t`Line`);
    this.jumps = {
      fault: el("span", { class: "group" }, button(t`Previous fault`, "‹ !", () => this.mark(-1, ["fault"])),
        button(t`Next fault`, "! ›", () => this.mark(1, ["fault"]))),
      cascade: el("span", { class: "group" }, button(t`Previous cascade`, "‹ ◆", () => this.mark(-1, ["cascade"])),
        button(t`Next cascade`, "◆ ›", () => this.mark(1, ["cascade"]))),
    };
    return el("div", { class: "controls", role: "group", "aria-label": t`Replay` },
      el("div", { class: "slider-row" }, el("div", { class: "slider" }, this.slider, this.ticks), this.counter),
      el("div", { class: "buttons" },
        el("span", { class: "group" }, button(t`Start (Home)`, icon("start"), () => this.jump(0)),
          button(t`Back (left arrow)`, icon("back"), () => this.jump(this.ply - 1)), this.playButton,
          button(t`Forward (right arrow)`, icon("forward"), () => this.jump(this.ply + 1, { animate: true })),
          button(t`End (End)`, icon("end"), () => this.jump(this.timeline.length))),
        this.speedSelect, this.jumps.fault, this.jumps.cascade, this.linesButton,
        this.followButton));
  }

  #showPlaying() {
    this.playButton.replaceChildren(icon(this.playing ? "pause" : "play"));
    this.playButton.setAttribute("aria-label", this.playing ? t`Pause (space)` : t`Play (space)`);
    this.playButton.title = this.playButton.getAttribute("aria-label");
  }

  /** Act on a key, wherever on the page it was pressed. */
  key(event) {
    const keys = {
      " ": () => (this.playing ? this.pause() : this.play()),
      ArrowLeft: () => this.jump(this.ply - 1), ArrowRight: () => this.jump(this.ply + 1, { animate: true }),
      PageUp: () => this.jump(this.ply - 10), PageDown: () => this.jump(this.ply + 10),
      Home: () => this.jump(0), End: () => this.jump(this.timeline.length),
      n: () => this.mark(1), p: () => this.mark(-1),
      "+": () => this.#faster(1), "-": () => this.#faster(-1),
    };
    if (event.ctrlKey || event.metaKey || event.altKey
      || event.target.closest?.("input:not([type=range]), select, textarea, [contenteditable]")) {
      return;
    }
    if (event.key === " " && event.target.closest?.("button, a, summary")) return;
    const action = keys[event.key];
    if (action) { event.preventDefault(); action(); }
  }

  #faster(direction) {
    const place = Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(this.speed) + direction));
    this.speed = SPEEDS[place];
    this.speedSelect.value = this.speed;
  }

  /**
   * Show whether the record is true: `problem` is undefined while the check runs, null if it is. `text` says what was
   * checked, `more` is a function that checks more, or null.
   */
  showVerdict(problem, { text = "", more = null } = {}) {
    this.badge.className = `badge ${problem === undefined ? "checking" : problem === null ? "true" : "false"}`;
    this.badge.textContent = problem === undefined ? t`Checking the record ...`
      : problem === null ? t`✓ Verified here: ${text}` : t`✗ This record does not verify. ${problem}`;
    if (problem === null && more) {
      this.badge.append(" ", el("button", { type: "button", onclick: more }, t`Check it against the head`));
    }
  }
}

const ICONS = {
  start: "M3 3h2.5v14H3z M17 3v14L6.5 10z", back: "M14 3v14L4 10z", play: "M5 2l12 8-12 8z",
  pause: "M4 3h4v14H4z M12 3h4v14h-4z",
  forward: "M6 3v14l10-7z", end: "M14.5 3H17v14h-2.5z M3 3v14l10.5-7z",
};

function icon(name) {
  return svg("svg", { viewBox: "0 0 20 20", width: 16, height: 16, "aria-hidden": "true", class: "icon" },
    svg("path", { d: ICONS[name] }));
}

/** The line above a game: the way `back`, who plays, its `state` and the `tools`. */
export function gameHead(names, state, { back = null, tools = [] } = {}) {
  return el("div", { class: "game-head" }, back,
    el("h1", {}, versus(names)), el("p", { class: "sub" }, state), el("div", { class: "tools" }, ...tools));
}
