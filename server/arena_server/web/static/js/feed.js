// One connection that carries streams of events, and comes back by itself. It runs in a shared worker, for all pages
// of a browser, or in a page; so it says nothing to the reader.

/** The events of all streams; `of` says whose the next ones are, and `refused` why a stream has none. */
const EVENTS = ["snapshot", "started", "played", "zombie", "info", "over", "boards", "contest", "seat", "sync",
  "refused"];
/** The server sends a sign of life every 10 s: after this long without one the connection is dead. */
const SILENCE_MS = 22_000;
const RETRY_MS = [500, 1000, 2000, 5000, 10_000];
const MOMENT_MS = 20;
/** The server takes no more in one connection. */
const MOST = 100;

/** A stream's address that goes on after the event `last`. */
const after = (address, last) =>
  (last === null ? address : `${address}${address.includes("?") ? "&" : "?"}last_event_id=${encodeURIComponent(last)}`);

export class Feed {
  /** The connection at `url` carries the streams of its parameters `stream`. */
  constructor(url) {
    this.url = url;
    /** By address: {listeners, failures}. A listener is {last, send}, with the id of the last event that it got. */
    this.streams = new Map();
    this.source = null;
    this.failures = 0;
    this.lastEvent = -Infinity;
  }

  /** `listener.send` gets {name, data, id} of each event, and {state, text, wait}: "lost", or "refused" for a while. */
  add(address, listener) {
    const stream = this.streams.get(address) ?? { listeners: new Set(), failures: 0 };
    stream.listeners.add(listener);
    this.streams.set(address, stream);
    this.#open(MOMENT_MS);
  }

  remove(address, listener) {
    const stream = this.streams.get(address);
    if (!stream?.listeners.delete(listener) || stream.listeners.size) return;
    this.streams.delete(address);
    this.#open(MOMENT_MS);
  }

  /** A page came back from sleep, or the network: does the connection still live? */
  check() {
    if (this.streams.size && performance.now() - this.lastEvent > SILENCE_MS / 2) this.#lose(0);
  }

  /** What is asked for in one moment is one connection. */
  #open(delay) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#connect(), delay);
  }

  #connect() {
    this.source?.close();
    this.source = null;
    clearTimeout(this.watchdog);
    if (!this.streams.size) return;
    const addresses = [...this.streams.keys()].slice(-MOST);
    const streams = addresses.map((address) => `stream=${encodeURIComponent(after(address, this.#lastOf(address)))}`);
    const url = `${this.url}?${streams.join("&")}`;
    const source = new EventSource(url);
    this.source = source;
    let now = null;
    source.addEventListener("of", ({ data }) => { now = addresses[JSON.parse(data).stream]; });
    for (const name of EVENTS) {
      source.addEventListener(name, ({ data, lastEventId }) => this.#deliver(now, name, data, lastEventId));
    }
    source.onerror = () => {
      if (source !== this.source) return;
      if (source.readyState === EventSource.CLOSED) this.#refused(url);
      else this.#lose(this.#retry());
    };
    this.#watch();
  }

  #retry() {
    return RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)];
  }

  /** Where the stream goes on: pages that have not seen the same get a snapshot. */
  #lastOf(address) {
    const seen = new Set([...this.streams.get(address).listeners].map((listener) => listener.last));
    return seen.size === 1 ? [...seen][0] : null;
  }

  #deliver(address, name, data, id) {
    this.#watch();
    this.failures = 0;
    const stream = this.streams.get(address);
    if (stream === undefined) return;
    if (name === "refused") {
      for (const listener of stream.listeners) listener.send({ state: "lost" });
      this.#open(RETRY_MS[Math.min(stream.failures++, RETRY_MS.length - 1)]);
      return;
    }
    stream.failures = 0;
    for (const listener of stream.listeners) {
      // A snapshot for another page: this one has all of it, and only sets its clocks right.
      const known = name === "snapshot" && id !== "" && id === listener.last;
      if (id) listener.last = id;
      listener.send({ name: known ? "sync" : name, data, id });
    }
  }

  #watch() {
    this.lastEvent = performance.now();
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => this.#lose(0), SILENCE_MS);
  }

  #tell(message) {
    for (const { listeners } of this.streams.values()) for (const listener of listeners) listener.send(message);
  }

  #lose(delay) {
    this.source?.close();
    this.source = null;
    clearTimeout(this.watchdog);
    this.#tell({ state: "lost" });
    this.#open(delay);
  }

  /** An EventSource does not tell why it was refused: ask once more. */
  async #refused(url) {
    clearTimeout(this.watchdog);
    const { source } = this;
    const check = new AbortController();
    let wait = NaN;
    try {
      const response = await fetch(url, { signal: check.signal });
      wait = response.ok ? NaN : Number(response.headers.get("Retry-After") ?? NaN);
      if (Number.isFinite(wait) && source === this.source) {
        const { error = response.statusText } = await response.json().catch(() => ({}));
        wait = Math.max(1, wait);
        this.#tell({ state: "refused", text: error, wait });
      }
    } catch { /* the server does not answer */ } finally {
      check.abort();
    }
    if (source !== this.source) return;
    // Not all pages of a class in the same moment.
    if (Number.isFinite(wait)) this.#open(1000 * (wait + Math.random()));
    else this.#lose(this.#retry());
  }
}

/**
 * The two connections of a browser: one carries what all may watch (live/ADDRESS), the other the seats that
 * persons have here (seat/SESSION).
 */
export class Feeds {
  constructor(base) {
    this.feeds = { live: new Feed(`${base}live`), seat: new Feed(`${base}play/events`) };
  }

  #of(path) {
    const cut = path.indexOf("/");
    return [this.feeds[path.slice(0, cut)], path.slice(cut + 1)];
  }

  add(path, listener) {
    const [feed, address] = this.#of(path);
    feed.add(address, listener);
  }

  remove(path, listener) {
    const [feed, address] = this.#of(path);
    feed.remove(address, listener);
  }

  check() {
    for (const feed of Object.values(this.feeds)) feed.check();
  }
}
