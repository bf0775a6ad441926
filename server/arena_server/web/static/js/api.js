// The read-only API: documents, and streams of events that come back by themselves.

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
  let response;
  try {
    response = await fetch(API + path);
  } catch {
    throw new ApiError("the server does not answer", 0);
  }
  if (response.ok) return response.json();
  let text = response.statusText;
  try { text = (await response.json()).error ?? text; } catch { /* no JSON: the status has to do */ }
  throw new ApiError(text || `status ${response.status}`, response.status);
}

/**
 * A stream of events. `handlers` are functions by the name of an event; `onstate` gets "live" or "lost".
 * After `lost` nothing that depends on the time may be shown as running.
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
    this.woken = () => { if (document.visibilityState === "visible" && performance.now() - this.lastEvent > SILENCE_MS / 2) this.#reopen(0); };
    document.addEventListener("visibilitychange", this.woken);
    addEventListener("online", this.woken);
    this.#open();
  }

  /** Whether the last event is so young that the clocks of the page go with those of the server. */
  get fresh() {
    return this.state === "live" && performance.now() - this.lastEvent < FRESH_MS;
  }

  #open() {
    const query = this.lastId === null ? "" : `?last_event_id=${encodeURIComponent(this.lastId)}`;
    this.source = new EventSource(`${API}${this.path}${query}`);
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
    this.source.onerror = () => this.#reopen(RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)]);
    this.#watch();
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
