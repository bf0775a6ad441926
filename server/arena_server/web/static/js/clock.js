// The clock of a seat. The digits of one that runs stand on strips that the compositor moves: a text that changes ten
// times a second took 1.6 ms of the main thread each time.

import { clockText, el, POINT, setText } from "./dom.js";

/** The lengths that the bar has. */
const BAR_STEPS = 200;
/** A clock that is wrong by less is left to run, in ms. */
const CLOSE_MS = 40;
/** The text, for screen readers and scripts, is of the last such moment. */
const SAID_MS = 1000;

/** A strip of all numbers below `count`, from the greatest; its numbers are in no text of the page. */
function strip(count) {
  const width = String(count - 1).length;
  const numbers = Array.from({ length: count }, (_, i) => String(count - 1 - i).padStart(width, "0"));
  return el("i", { "data-shows": numbers.join("\n") });
}

/** Shows one number after the other. */
const rolled = (count) => ({ count, frames: [{ transform: "none" }, { transform: `translateY(${100 / count - 100}%)` }],
  easing: `steps(${count}, jump-none)` });

export class Clock {
  constructor() {
    this.text = el("span");
    this.minutes = el("i");
    this.seconds = strip(60);
    this.tenths = strip(10);
    this.element = el("span", { class: "clock" }, this.text, el("span", { class: "strips", "aria-hidden": "true" },
      this.minutes, el("span", {}, this.seconds), el("i", { "data-shows": POINT }), el("span", {}, this.tenths)));
    this.fill = el("span", { class: "bar-fill" });
    this.bar = el("span", { class: "bar" }, this.fill);
    this.animations = [];
    /** When a clock that runs comes to zero, by the time of animations; null of one that stands. */
    this.zero = null;
  }

  /** Stand at `ms` of `bank`, null without a clock: as `text`. */
  show(ms, bank, text = clockText(ms)) {
    this.zero = null;
    for (const animation of this.animations) animation.cancel();
    this.animations = [];
    this.element.classList.remove("runs");
    setText(this.text, text);
    const share = bank ? Math.min(1, Math.max(0, ms) / bank) : 0;
    // A bar that moves by less than a pixel is not drawn again.
    this.fill.style.transform = `scaleX(${Math.ceil(BAR_STEPS * share) / BAR_STEPS})`;
  }

  /** Run from `ms` of `bank`; call it again within a second after each whole minute. */
  run(ms, bank) {
    const now = document.timeline.currentTime;
    if (ms <= 0) return this.show(0, bank, clockText(0, 1));
    this.bank = bank;
    if (this.zero === null || Math.abs(this.zero - now - ms) > CLOSE_MS) this.#begin(now + ms, ms);
    const minutes = `${Math.floor(ms / 60_000)}:`;
    if (this.minutes.dataset.shows !== minutes) this.minutes.dataset.shows = minutes;
    const said = Math.floor(ms / SAID_MS);
    if (this.said === said) return undefined;
    this.said = said;
    return setText(this.text, clockText(ms, 1));
  }

  #begin(zero, ms) {
    for (const animation of this.animations) animation.cancel();
    this.zero = zero;
    this.said = null;
    const move = (element, { frames, easing }, duration, iterations) => {
      const animation = element.animate(frames, { duration, iterations, easing, fill: "both" });
      animation.startTime = zero - duration * iterations;
      return animation;
    };
    this.animations = [
      move(this.seconds, rolled(60), 60_000, Math.ceil(ms / 60_000)),
      move(this.tenths, rolled(10), 1000, Math.ceil(ms / 1000)),
      move(this.fill, { frames: [{ transform: "scaleX(1)" }, { transform: "scaleX(0)" }],
        easing: `steps(${BAR_STEPS})` }, Math.max(1, this.bank), 1)];
    this.element.classList.add("runs");
  }

  /** Stand where it has run to. */
  stop() {
    if (this.zero === null) return;
    const ms = this.zero - document.timeline.currentTime;
    this.show(ms, this.bank, clockText(ms, 1));
  }
}
