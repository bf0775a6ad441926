// The clock of a seat. The digits of one that runs stand on a strip that the compositor moves: a text that changes ten
// times a second took 1.6 ms of the main thread each time. The text, for readers and scripts, is of the last call.

import { clockText, el, POINT, setText } from "./dom.js";

/** The lengths that the bar has. */
const BAR_STEPS = 200;
/** A clock that is wrong by less is left to run, in ms. */
export const CLOSE_MS = 40;
/** The tenths of a minute. */
const ROWS = 600;

/** All seconds with tenths of two minutes, from the greatest; they are in no text of the page. */
const numbers = () => Array.from({ length: 2 * ROWS }, (_, i) => {
  const tenths = ROWS - 1 - i % ROWS;
  return `${String(Math.floor(tenths / 10)).padStart(2, "0")}${POINT}${tenths % 10}`;
}).join("\n");

export class Clock {
  constructor() {
    this.text = el("span", { class: "stands" });
    this.minutes = el("i");
    this.rows = el("i");
    this.strip = el("i", {}, this.rows);
    this.place = el("i", {}, this.strip);
    this.element = el("span", { class: "clock" }, this.text,
      el("span", { class: "strips", "aria-hidden": "true" }, this.minutes, el("span", {}, this.place)));
    this.fill = el("span", { class: "bar-fill" });
    this.bar = el("span", { class: "bar" }, this.fill);
    /** When a clock that runs comes to zero, by the time of animations; null of one that stands. */
    this.zero = null;
  }

  /** Stand at `ms` of `bank`, null without a clock: as `text`. */
  show(ms, bank, text = clockText(ms)) {
    this.zero = null;
    this.element.classList.remove("runs");
    setText(this.text, text);
    this.#fill(ms, bank);
  }

  #fill(ms, bank) {
    const share = bank ? Math.min(1, Math.max(0, ms) / bank) : 0;
    // A bar that moves by less than a pixel is not drawn again.
    this.fill.style.transform = `scaleX(${Math.ceil(BAR_STEPS * share) / BAR_STEPS})`;
  }

  /** Run from `ms` of `bank`; call it again within a second after each whole minute. */
  run(ms, bank) {
    const zero = document.timeline.currentTime + ms;
    if (ms <= 0) return this.show(0, bank, clockText(0, 1));
    this.bank = bank;
    this.#fill(ms, bank);
    if (this.zero === null || Math.abs(this.zero - zero) > CLOSE_MS) this.#begin(zero);
    const minutes = `${Math.floor(ms / 60_000)}:`;
    if (this.minutes.dataset.shows !== minutes) this.minutes.dataset.shows = minutes;
    return setText(this.text, clockText(ms, 1));
  }

  /** One animation for years, and the place of its strip: to begin another takes two more frames of the page. */
  #begin(zero) {
    this.zero = zero;
    if (!this.rows.dataset.shows) {
      this.rows.dataset.shows = numbers();
      this.strip.animate([{ transform: "none" }, { transform: "translateY(-50%)" }],
        { duration: 100 * ROWS, iterations: 1e6, easing: `steps(${ROWS})` }).startTime = 0;
    }
    this.place.style.transform = `translateY(${50 * (Math.round(zero / 100) % ROWS / ROWS - 1)}%)`;
    this.element.classList.add("runs");
  }

  /** Stand where it has run to. */
  stop() {
    if (this.zero === null) return;
    const ms = this.zero - document.timeline.currentTime;
    this.show(ms, this.bank, clockText(ms, 1));
  }
}
