// A running game: the events of its stream become a timeline that grows, and clocks that run.

import { CLOSE_MS } from "./clock.js";
import { livePath, LiveStream } from "./livestream.js";
import { Timeline } from "./timeline.js";

/** The stream of a running game of a contest. */
export const gamePath = (id, contest) => livePath(`games/${encodeURIComponent(id)}`, contest);

/** So old may the text of a clock be; a ply before that sets it, in a frame that there is anyway. */
const AGAIN_MS = 2000;

/**
 * `onbegin(timeline)` is called for every snapshot, `ongrow()` after each change of the timeline, `onnote()` after
 * a note of a bot, `onover()` at the end, `onstate(state)` is that of a LiveStream; `onclock(running)` gets the clock
 * that runs, or null, at each change and every second. `path` is the stream, with more `handlers` of its own; a stream
 * with `keep` has game after game.
 */
export class LiveGame {
  constructor(path, {
    onbegin, ongrow = () => {}, onnote = () => {}, onover = () => {}, onstate = () => {}, onclock = () => {},
    handlers = {}, keep = false,
  }) {
    this.keep = keep;
    this.onclock = onclock;
    this.timeline = null;
    this.started = false;
    this.since = 0;
    const change = (apply) => (data) => {
      if (this.timeline === null) return;
      apply(data);
      ongrow();
      this.tick();
    };
    // These alone start a clock.
    const turn = (apply) => change((data) => { apply(data); this.since = performance.now(); });
    this.stream = new LiveStream(path, {
      ...handlers,
      snapshot: (data) => {
        this.#begin(data);
        onbegin(this.timeline);
        if (data.over) this.#over(onover);
        this.tick();
      },
      started: turn(() => { this.started = true; }),
      played: turn((ply) => { this.timeline.add(ply, ply.reveal); }),
      zombie: change((fault) => { this.timeline.faults.push(fault); }),
      info: (note) => { this.timeline?.notes.push(note); onnote(); },
      over: change((over) => { this.#end(over); this.#over(onover); }),
      sync: ({ since_ms }) => {
        const since = performance.now() - since_ms;
        // One that runs as it should takes no frame of the page.
        if (this.isRunning && Math.abs(since - this.since) < CLOSE_MS) return;
        this.since = since;
        this.tick();
      },
    }, (state) => { onstate(state); this.tick(); });
  }

  #begin(data) {
    const timeline = new Timeline(data.game);
    for (const ply of data.plies) timeline.add(ply, ply.reveal);
    timeline.faults = data.faults;
    timeline.notes = data.infos;
    this.timeline = timeline;
    this.started = data.started;
    if (data.over) this.#end(data.over);
    this.since = performance.now() - data.since_ms;
  }

  #end({ end, totals }) {
    this.timeline.end = end;
    this.timeline.totals = totals;
  }

  #over(onover) {
    if (!this.keep) this.close();
    onover();
  }

  /**
   * Show the clock that runs now, and again a second after the last change of the page, or at its whole minute; the
   * next event wakes one that stands.
   */
  tick() {
    clearTimeout(this.timer);
    const running = this.running();
    this.isRunning = running !== null;
    this.onclock(running);
    if (running?.ms > 0) {
      this.timer = setTimeout(() => this.tick(), Math.min(AGAIN_MS, running.ms % 60_000 + 1));
    }
  }

  /** The clock that runs now: {seat, ms}, or null. */
  running() {
    const { timeline } = this;
    if (!this.stream?.fresh || !this.started || timeline === null || timeline.end !== null) return null;
    const seat = timeline.toMove(timeline.length);
    // After the last ply no clock runs, also before the end is announced.
    if (seat === null || timeline.fault(seat, timeline.length) !== null) return null;
    const ms = Math.max(0, timeline.clocks(timeline.length)[seat - 1] - (performance.now() - this.since));
    return { seat, ms };
  }

  close() {
    clearTimeout(this.timer);
    this.stream.close();
  }
}
