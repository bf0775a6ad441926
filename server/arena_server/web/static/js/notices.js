// Notices of the browser about a contest, while its page is open and not shown; off until a visitor wants them.

import { get } from "./api.js";
import { el, resultText } from "./dom.js";
import { starred } from "./places.js";
import { loadGames } from "./rows.js";
import { said } from "./said.js";
import { named, t } from "./texts.js";

/** How often a page that is not shown asks for news. */
const ASK_MS = 30_000;
/** Of more results at once a notice has the newest. */
const MOST = 3;

const isOver = ({ matches }) => matches.every(({ state }) => !["to come", "open"].includes(state));

/**
 * What has happened between two states {contest, rows, rounds}, as lines: results of bots with a star, rounds that are
 * over, the end of the contest.
 */
export function newsBetween(before, now, stars) {
  const { contest } = now;
  const known = new Set(before.rows.map(({ id }) => id));
  const results = now.rows.filter(({ id, seats }) =>
    !known.has(id) && seats.some((place) => stars.includes(contest.bots[place])));
  const ended = new Set(before.rounds.filter(isOver).map(({ title }) => title));
  const rounds = now.rounds.filter((round) => isOver(round) && !ended.has(round.title));
  const isEnd = before.contest.status === "running" && contest.status !== "running";
  return [
    ...results.slice(-MOST).map(({ id, seats, totals, end }) =>
      `${id}: ${resultText(seats.map((place) => contest.bots[place]), totals, end, !contest.decided)}`),
    ...rounds.map(({ title }) => t`${said(title)} is over`),
    ...(isEnd ? [t`The contest is ${named(contest.status)}`] : []),
  ];
}

/** The button that turns notices on and off, of rounds as `loadRounds` reads them; null where a browser has none. */
export function noticeButton(contest, title, loadRounds) {
  if (!globalThis.isSecureContext || !("Notification" in globalThis)) return null;
  const key = `notices ${contest.id}`;
  let last = null;
  let timer = null;
  const read = async () => {
    const now = await get(`contests/${contest.id}.json`);
    const known = last !== null && last.contest.changes === now.changes ? last.rows : [];
    return { contest: now, rows: await loadGames(now, known), rounds: (await loadRounds(now)).rounds };
  };
  const isOn = () => {
    try { return localStorage.getItem(key) === "on" && Notification.permission === "granted"; } catch { return false; }
  };
  const ask = async () => {
    const now = await read().catch(() => null); // asked again later
    if (now !== null && document.visibilityState === "hidden" && isOn()) {
      const lines = last === null ? [] : newsBetween(last, now, starred());
      if (lines.length) new Notification(title, { body: lines.join("\n"), tag: key });
      last = now;
    }
  };
  const follow = () => {
    clearInterval(timer);
    last = null;
    if (document.visibilityState !== "hidden" || !isOn()) return;
    ask();
    timer = setInterval(ask, ASK_MS);
  };
  const button = el("button", { type: "button", class: "notices", onclick: async () => {
    const wanted = !isOn();
    if (wanted) await Notification.requestPermission();
    try { localStorage.setItem(key, wanted ? "on" : "off"); } catch { /* storage may be forbidden */ }
    show();
  } }, t`Notify me`);
  const show = () => {
    button.setAttribute("aria-pressed", String(isOn()));
    button.disabled = Notification.permission === "denied";
    button.title = button.disabled ? t`This browser allows no notices of this site`
      : t`While this page is open in another tab: results of bots with a star, rounds, the end`;
  };
  show();
  document.addEventListener("visibilitychange", follow);
  return button;
}
