// The read-only API: documents, and streams of events that come back by themselves.

import { inReport, notice } from "./dom.js";
import { said } from "./said.js";
import { t } from "./texts.js";

export const API = "api/v1/";
/** The server sends a sign of life every 10 s: after this long without one the connection is dead. */
const SILENCE_MS = 22_000;
/** And after this long nothing that depends on the time is shown as running: the tab may have slept. */
const FRESH_MS = 13_000;
const RETRY_MS = [500, 1000, 2000, 5000, 10_000];

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** A document of the API. Throws ApiError with one line. */
export async function get(path) {
  return (await fetched(path)).json();
}

/** The bytes of a file of the API. Throws ApiError with one line. */
export async function getBytes(path) {
  return new Uint8Array(await (await fetched(path)).arrayBuffer());
}

/** If the server is busy, the page says so and asks again. */
async function fetched(path) {
  for (;;) {
    const response = await ask(path);
    if (response.ok) return response;
    const [text, wait] = await refusal(response);
    if (wait === null) throw new ApiError(text, response.status);
    await pause(text, wait);
  }
}

async function ask(path, options = {}) {
  if (inReport()) return embedded(path);
  try {
    return await fetch(API + path, options);
  } catch {
    throw new ApiError(t`the server does not answer`, 0);
  }
}

/** A document that this file holds: compressed, in a script element of its own. */
function embedded(path) {
  const holder = document.querySelector(`script[data-path="${CSS.escape(path)}"]`);
  if (holder === null) return new Response("{}", { status: 404, statusText: "not in this file" });
  const packed = new Blob([Uint8Array.from(atob(holder.textContent), (char) => char.charCodeAt(0))]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip")));
}

/** The address under which a browser stores the file of the API that has these bytes. */
export function fileAddress(path, bytes) {
  return inReport() ? URL.createObjectURL(new Blob([bytes])) : API + path;
}

/** Why a request was refused, and after how many seconds it may be repeated (null: never). */
async function refusal(response) {
  let text = response.statusText;
  try { text = (await response.json()).error ?? text; } catch { /* no JSON: the status has to do */ }
  const wait = Number(response.headers.get("Retry-After") ?? NaN);
  return [said(text || `status ${response.status}`), Number.isFinite(wait) ? Math.max(1, wait) : null];
}

/**
 * `work` as a function that may be called at any time: it runs at most every `ms`, one at a time, and once more for
 * calls in between. What the server cannot answer is left to the next call.
 */
export function spaced(work, ms = 5000) {
  let wanted = false;
  let running = false;
  let last = -Infinity;
  return async () => {
    wanted = true;
    if (running) return;
    running = true;
    while (wanted) {
      await new Promise((done) => { setTimeout(done, last + ms - performance.now()); });
      wanted = false;
      last = performance.now();
      try {
        await work();
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
      }
    }
    running = false;
  };
}

/** How many requests wait for a server that is busy. */
let waiting = 0;

async function pause(text, seconds) {
  waiting++;
  notice(t`${text.charAt(0).toUpperCase()}${text.slice(1)}. This page asks again in ${seconds} s ...`);
  // Not all pages of a class in the same moment.
  await new Promise((done) => { setTimeout(done, 1000 * (seconds + Math.random())); });
  if (!--waiting) notice("");
}

/** The path of a stream about a contest by its number; null: the first contest of the server. */
export function livePath(path, contest) {
  return contest === null ? `live/${path}` : `live/${path}?contest=${encodeURIComponent(contest)}`;
}

/**
 * A stream of events. `handlers` are functions by the name of an event; `onstate` gets "live", "lost", or "refused"
 * by a server that is busy, which the page says by itself. Unless it is live nothing that depends on the time may be
 * shown as running.
 */
export class LiveStream {
  constructor(path, handlers, onstate = () => {}) {
    this.path = path;
    this.handlers = handlers;
    this.onstate = onstate;
    this.state = null;
    this.lastId = null;
    this.failures = 0;
    this.lastEvent = performance.now();
    this.woken = () => {
      if (document.visibilityState === "visible" && performance.now() - this.lastEvent > SILENCE_MS / 2) {
        this.#reopen(0);
      }
    };
    document.addEventListener("visibilitychange", this.woken);
    addEventListener("online", this.woken);
    this.#open();
  }

  /** Whether the last event is so young that the clocks of the page go with those of the server. */
  get fresh() {
    return this.state === "live" && performance.now() - this.lastEvent < FRESH_MS;
  }

  #open() {
    const last = this.lastId === null ? ""
      : `${this.path.includes("?") ? "&" : "?"}last_event_id=${encodeURIComponent(this.lastId)}`;
    this.source = new EventSource(`${API}${this.path}${last}`);
    for (const [name, handler] of Object.entries({ sync: () => {}, ...this.handlers })) {
      this.source.addEventListener(name, (event) => {
        this.lastEvent = performance.now();
        this.failures = 0;
        if (event.lastEventId) this.lastId = event.lastEventId;
        this.#watch();
        this.#enter("live");
        handler(JSON.parse(event.data));
      });
    }
    this.source.onerror = () => (this.source.readyState === EventSource.CLOSED ? this.#refused() : this.#retry());
    this.#watch();
  }

  #retry() {
    this.#reopen(RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)]);
  }

  /** An EventSource does not tell why it was refused: ask once more. */
  async #refused() {
    clearTimeout(this.watchdog);
    const check = new AbortController();
    try {
      const response = await ask(this.path, { signal: check.signal });
      const [text, wait] = response.ok ? ["", null] : await refusal(response);
      if (wait !== null && !this.closed) {
        this.#enter("refused");
        await pause(text, wait);
        if (!this.closed && this.state === "refused") this.#open();
        return;
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    } finally {
      check.abort();
    }
    this.#retry();
  }

  #watch() {
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => this.#reopen(0), SILENCE_MS);
  }

  #reopen(delay) {
    if (this.closed) return;
    this.source.close();
    this.#enter("lost");
    clearTimeout(this.watchdog);
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.#open(), delay);
  }

  #enter(state) {
    if (this.state === state) return;
    this.state = state;
    this.onstate(state);
  }

  close() {
    this.closed = true;
    this.source.close();
    clearTimeout(this.watchdog);
    clearTimeout(this.retry);
    document.removeEventListener("visibilitychange", this.woken);
    removeEventListener("online", this.woken);
  }
}
