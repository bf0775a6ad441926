// The streams of a page. All pages of this browser share the connections of the feeds; a page that is not shown has no
// stream but that of its seat.

import { API, sayBusy } from "./api.js";
import { Feeds } from "./feed.js";

/** After this long without an event nothing that depends on the time is shown as running: the tab may have slept. */
const FRESH_MS = 13_000;

/** The path of a stream about a contest by its number; null: the first contest of the server. */
export function livePath(path, contest) {
  return contest === null ? `live/${path}` : `live/${path}?contest=${encodeURIComponent(contest)}`;
}

/** A shared worker that says nothing for so long is dead: it would say, too, that a connection is lost. */
const MUTE_MS = 45_000;

/** Feeds in the shared worker of this browser, or in this page where there is none. */
class SharedFeed {
  constructor() {
    this.listeners = new Map();
    this.next = 0;
    this.own = null;
    try {
      this.worker = new SharedWorker(document.documentElement.dataset.feed);
      this.worker.onerror = () => this.#fall();
      this.worker.port.onmessage = ({ data }) => {
        this.#watch();
        this.listeners.get(data.of)?.listener.send(data);
      };
    } catch {
      this.#fall();
    }
  }

  /** No shared worker starts here: the streams that were asked for go on in this page. */
  #fall() {
    if (this.own) return;
    this.own = new Feeds(API);
    for (const { address, listener } of this.listeners.values()) this.own.add(address, listener);
  }

  #watch() {
    clearTimeout(this.watchdog);
    if (!this.own && this.listeners.size) this.watchdog = setTimeout(() => this.#fall(), MUTE_MS);
  }

  add(address, listener) {
    this.#watch();
    const number = this.next++;
    this.listeners.set(number, { address, listener });
    if (this.own) this.own.add(address, listener);
    else this.worker.port.postMessage({ add: number, address, last: listener.last });
  }

  remove(address, listener) {
    for (const [number, each] of this.listeners) {
      if (each.listener !== listener) continue;
      this.listeners.delete(number);
      if (this.own) this.own.remove(address, listener);
      else this.worker.port.postMessage({ remove: number });
    }
    this.#watch();
  }

  check() {
    if (this.own) this.own.check();
    else this.worker.port.postMessage({ check: true });
  }
}

let shared = null;

const isShown = () => document.visibilityState === "visible";

/**
 * A stream of events. `handlers` are functions by the name of an event; `onstate` gets "live", "lost", "refused" by a
 * server that is busy, which the page says by itself, or "paused" while the page is not shown. Unless it is live
 * nothing that depends on the time may be shown as running.
 */
export class LiveStream {
  constructor(path, handlers, onstate = () => {}) {
    this.handlers = handlers;
    this.onstate = onstate;
    this.state = null;
    this.joined = false;
    this.lastEvent = -Infinity;
    this.busy = null;
    this.listener = { last: null, send: (message) => this.#take(message) };
    this.address = path;
    // A seat is given up when its page is gone: its stream stays open in a hidden page.
    this.isSeat = path.startsWith("seat/");
    this.feed = shared ??= new SharedFeed();
    this.changed = () => this.#follow();
    this.woken = () => { if (this.joined) this.feed.check(); };
    this.left = () => this.#leave();
    document.addEventListener("visibilitychange", this.changed);
    addEventListener("online", this.woken);
    addEventListener("pagehide", this.left);
    addEventListener("pageshow", this.changed);
    this.#follow();
  }

  /** Whether the last event is so young that the clocks of the page go with those of the server. */
  get fresh() {
    return this.state === "live" && performance.now() - this.lastEvent < FRESH_MS;
  }

  #follow() {
    if (this.closed) return;
    if (!this.isSeat && !isShown()) {
      this.#leave();
      this.#enter("paused");
    } else if (!this.joined) {
      this.joined = true;
      this.feed.add(this.address, this.listener);
    } else this.feed.check();
  }

  #leave() {
    if (!this.joined) return;
    this.joined = false;
    this.feed.remove(this.address, this.listener);
  }

  #take({ name, data, id, state, text, wait }) {
    if (!this.joined) return;
    if (state !== undefined) {
      this.#enter(state);
      if (state === "refused") {
        this.#calm();
        this.busy = sayBusy(text, wait);
      }
      return;
    }
    this.lastEvent = performance.now();
    if (id) this.listener.last = id;
    this.#enter("live");
    this.handlers[name]?.(JSON.parse(data));
  }

  #calm() {
    this.busy?.();
    this.busy = null;
  }

  #enter(state) {
    if (this.state === state) return;
    this.#calm();
    this.state = state;
    this.onstate(state);
  }

  close() {
    if (this.closed) return;
    this.#leave();
    this.#calm();
    this.closed = true;
    document.removeEventListener("visibilitychange", this.changed);
    removeEventListener("online", this.woken);
    removeEventListener("pagehide", this.left);
    removeEventListener("pageshow", this.changed);
  }
}
