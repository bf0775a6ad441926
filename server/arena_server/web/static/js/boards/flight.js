// Pieces on their way over a board, each as a layer of its own: a frame of them draws neither the board again nor
// anything else on the page. A piece that moved within the drawing took 2.5 ms of the page for each frame, this 0.3 ms.
// A piece that has arrived stays as it is until the next one begins: to draw it into the board takes a frame of 3.5 ms.

import { el, svg } from "../dom.js";

/** The side of the box of a piece, in the units of the drawing; its centre is in the middle. */
const BOX = 100;

/** An animation does not end by itself: in the last 40 ms of one Chromium has frames of the page. */
const HELD_MS = 3_600_000;

export class Flight {
  /** Over the drawing `board`; in its units `room` is the rectangle {x, y, width, height} in which pieces are seen. */
  constructor(board, room) {
    this.board = board;
    this.room = room;
    this.layer = el("div", { class: "flight", "aria-hidden": "true" });
    /** Those that run, or have arrived: {over, end}. */
    this.flights = new Set();
    // A drawing that moves leaves behind what lies over it.
    this.moved = new ResizeObserver(() => { this.measured = false; this.settle(); });
  }

  /** Lie over the board as it stands now; false where it is not shown. To ask for its place takes a style pass. */
  begin() {
    const host = this.board.parentElement;
    if (this.measured && this.board.isConnected && this.layer.parentElement === host) return true;
    const matrix = this.board.isConnected ? this.board.getScreenCTM() : null;
    if (!matrix) return false;
    const { a: scale, e, f } = matrix;
    const box = host.getBoundingClientRect();
    const { x, y, width, height } = this.room;
    this.scale = scale;
    Object.assign(this.layer.style, { left: `${e + scale * x - box.left}px`, top: `${f + scale * y - box.top}px`,
      width: `${scale * width}px`, height: `${scale * height}px` });
    if (this.layer.parentElement !== host) {
      for (const each of [host, ...host.children]) this.moved.observe(each);
      host.append(this.layer);
    }
    this.measured = true;
    return true;
  }

  /** The transform that puts a piece with its centre at [x, y]. */
  at([x, y]) {
    const px = (value, from) => `${this.scale * (value - from - BOX / 2)}px`;
    return `translate(${px(x, this.room.x)}, ${px(y, this.room.y)})`;
  }

  /** Resolves when `piece` has arrived, or all are stopped; `onend` is called when it goes, by `settle` or `stop`. */
  fly(piece, frames, options, onend) {
    const size = BOX * this.scale;
    const element = el("div", { class: "flying" },
      svg("svg", { viewBox: `${-BOX / 2} ${-BOX / 2} ${BOX} ${BOX}`, width: size, height: size }, piece));
    this.layer.append(element);
    return this.run(element, frames, options, () => { element.remove(); onend?.(); });
  }

  /** The same of an `element` that stays. Without offsets frames have equal distances. */
  run(element, frames, { duration, easing = "linear" }, onend = () => {}) {
    const whole = duration + HELD_MS;
    const held = frames.map((frame, i) =>
      ({ ...frame, easing, offset: (frame.offset ?? i / (frames.length - 1)) * duration / whole }));
    held.push({ ...frames.at(-1), offset: 1 });
    const animation = element.animate(held, { duration: whole, fill: "forwards" });
    // Known at once, it needs no frame of the page for its start.
    animation.startTime = document.timeline.currentTime;
    return new Promise((done) => {
      const flight = { over: false, end: () => {
        this.flights.delete(flight);
        animation.cancel();
        onend();
        done();
      } };
      this.flights.add(flight);
      setTimeout(() => { flight.over = true; done(); }, duration);
    });
  }

  /** What has arrived is from now on drawn on the board. */
  settle() {
    for (const flight of [...this.flights]) if (flight.over) flight.end();
  }

  stop() {
    for (const flight of [...this.flights]) flight.end();
  }
}
