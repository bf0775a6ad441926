// Pieces on their way over a board, each as a layer of its own: a frame of them draws neither the board again nor
// anything else on the page. A piece that moved within the drawing took 2.5 ms of the page for each frame, this 0.3 ms.

import { el, svg } from "../dom.js";

/** The side of the box of a piece, in the units of the drawing; its centre is in the middle. */
const BOX = 100;

export class Flight {
  /** Over the drawing `board`; in its units `room` is the rectangle {x, y, width, height} in which pieces are seen. */
  constructor(board, room) {
    this.board = board;
    this.room = room;
    this.layer = el("div", { class: "flight", "aria-hidden": "true" });
    this.animations = new Set();
  }

  /** Lie over the board as it stands now; false where it is not shown. */
  begin() {
    const host = this.board.parentElement;
    const matrix = this.board.isConnected ? this.board.getScreenCTM() : null;
    if (!matrix) return false;
    const { a: scale, e, f } = matrix;
    const box = host.getBoundingClientRect();
    const { x, y, width, height } = this.room;
    this.scale = scale;
    Object.assign(this.layer.style, { left: `${e + scale * x - box.left}px`, top: `${f + scale * y - box.top}px`,
      width: `${scale * width}px`, height: `${scale * height}px` });
    if (this.layer.parentElement !== host) host.append(this.layer);
    return true;
  }

  /** The transform that puts a piece with its centre at [x, y]. */
  at([x, y]) {
    const px = (value, from) => `${this.scale * (value - from - BOX / 2)}px`;
    return `translate(${px(x, this.room.x)}, ${px(y, this.room.y)})`;
  }

  /** Resolves at the end of the animation of `piece`, or when all are stopped; then it is gone. */
  fly(piece, frames, options) {
    const size = BOX * this.scale;
    const element = el("div", { class: "flying" },
      svg("svg", { viewBox: `${-BOX / 2} ${-BOX / 2} ${BOX} ${BOX}`, width: size, height: size }, piece));
    this.layer.append(element);
    return this.run(element, frames, options).then(() => element.remove());
  }

  /** To ask the browser for the animations that run would take a layout. */
  run(element, frames, options) {
    const animation = element.animate(frames, options);
    this.animations.add(animation);
    return animation.finished.catch(() => null).then(() => { this.animations.delete(animation); });
  }

  stop() {
    for (const animation of [...this.animations]) animation.cancel();
  }
}
