// The documents of the read-only API.

import { el, inReport, notice } from "./dom.js";
import { t } from "./texts.js";
import { unpacked } from "./unpacked.js";

export const API = "api/v1/";

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

async function ask(path) {
  if (inReport()) return embedded(path);
  try {
    return await fetch(API + path);
  } catch {
    throw new ApiError(t`the server does not answer`, 0);
  }
}

/** A document that this file holds: compressed, in a script element of its own. */
function embedded(path) {
  const holder = document.querySelector(`script[data-path="${CSS.escape(path)}"]`);
  if (holder === null) return new Response("{}", { status: 404, statusText: "not in this file" });
  return unpacked(holder);
}

/** The address under which a browser stores the file of the API that has these bytes. */
export function fileAddress(path, bytes) {
  return inReport() ? URL.createObjectURL(new Blob([bytes])) : API + path;
}

/** The paths of a feed and a calendar as links. */
export function feedLinks(feed, calendar) {
  return el("p", { class: "sub" }, el("a", { href: API + feed }, t`Results as a feed (Atom)`), " · ",
    el("a", { href: API + calendar }, t`In a calendar (ICS)`));
}

/** Why a request was refused, and after how many seconds it may be repeated (null: never). */
async function refusal(response) {
  let text = response.statusText;
  try { text = (await response.json()).error ?? text; } catch { /* no JSON: the status has to do */ }
  const wait = Number(response.headers.get("Retry-After") ?? NaN);
  return [text || `status ${response.status}`, Number.isFinite(wait) ? Math.max(1, wait) : null];
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

/** Say that the server is busy, until the function that this gives is called. */
export function sayBusy(text, seconds) {
  waiting++;
  notice(t`${text.charAt(0).toUpperCase()}${text.slice(1)}. This page asks again in ${seconds} s ...`);
  return () => { if (!--waiting) notice(""); };
}

async function pause(text, seconds) {
  const done = sayBusy(text, seconds);
  // Not all pages of a class in the same moment.
  await new Promise((over) => { setTimeout(over, 1000 * (seconds + Math.random())); });
  done();
}
