// The games of a contest as rows, over, running and planned: loaded in chunks, and filtered in memory.

import { get } from "./api.js";

/** Planned games beyond this number are counted and not listed; SCHEDULE_CHUNKS of `arena site` goes with it. */
export const MOST_PLANNED = 100_000;
export const OVER = "over";
export const RUNNING = "running";
export const PLANNED = "planned";

/** A row of the API as an object; `state` is OVER, RUNNING or PLANNED. */
export function readRow([id, seats, totals, end, plies, at, faults, used = []]) {
  return { state: OVER, id, seats, totals, end, plies, at, faults, used };
}

/** The row of a game without a result; `totals` is null before the first ply. */
export function openRow(state, id, seats, plies = 0, totals = null) {
  return { state, id, seats, totals, end: null, plies, at: null, faults: [], used: [] };
}

/** Requests for chunks at once. */
const AT_ONCE = 4;

/**
 * All games of a contest document that are over, in the order of storing. `known` are those loaded before: a chunk that
 * was full has not changed. The newest chunk comes first, and `onnewest(rows)` gets it if there are others, which wait
 * for what it gives.
 */
export async function loadGames(contest, known = [], onnewest = () => {}) {
  const { games: all, chunk: size } = contest.list;
  const full = Math.floor(known.length / size);
  const parts = [];
  const load = async (chunk) => {
    const games = await get(`contests/${contest.id}/games-${chunk}.json`);
    parts[chunk] = games.map((row, at) => ({ ...readRow(row), place: chunk * size + at }));
  };
  const wanted = Array.from({ length: Math.ceil(all / size) - full }, (_, i) => full + i);
  if (wanted.length > 1) {
    const newest = wanted.pop();
    await load(newest);
    await onnewest(parts[newest]);
  }
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (wanted.length) await load(wanted.pop());
  }));
  return [...known.slice(0, full * size), ...parts.slice(full).flat()];
}

/**
 * The `row` of a game that is over, its `place` in the list (0, 1, ...), and `near`, the rows of its chunk by their
 * places; null without one.
 */
export async function findGame(contest, id) {
  const { games, chunk } = contest.list;
  // Games end about in the order of their numbers.
  const guess = Math.floor((Number(id.slice(1)) - 1) / chunk);
  const chunks = Array.from({ length: Math.ceil(games / chunk) }, (_, i) => i)
    .sort((a, b) => Math.abs(a - guess) - Math.abs(b - guess));
  for (const number of chunks) {
    const rows = await get(`contests/${contest.id}/games-${number}.json`);
    const at = rows.findIndex((row) => row[0] === id);
    if (at < 0) continue;
    const near = new Map(rows.map((row, i) => [number * chunk + i, row]));
    return { row: readRow(rows[at]), place: number * chunk + at, near };
  }
  return null;
}

/** The row at a place of the list, one of those `near` or loaded; null beyond its ends. */
export async function gameAt(contest, place, near) {
  const { games, chunk } = contest.list;
  if (place < 0 || place >= games) return null;
  if (near.has(place)) return readRow(near.get(place));
  const rows = await get(`contests/${contest.id}/games-${Math.floor(place / chunk)}.json`);
  return rows[place % chunk] ? readRow(rows[place % chunk]) : null;
}

/** The digests of all records of a contest that is over, in the order of its list. */
export async function loadChain(contest) {
  const digests = [];
  for (let part = 0; part * contest.list.chunk < contest.list.games; part++) {
    digests.push(...await get(`contests/${contest.id}/chain-${part}.json`));
  }
  return digests;
}

/** The schedule of a contest as rows [id, seats]; empty once no game of it will be played. */
export async function loadSchedule(contest) {
  const { games, chunk } = contest.schedule;
  if (contest.status === "aborted" || contest.games !== null && contest.games_played >= contest.games) return [];
  const rows = [];
  for (let part = 0; part * chunk < Math.min(games, MOST_PLANNED); part++) {
    rows.push(...await get(`contests/${contest.id}/schedule-${part}.json`));
  }
  return rows;
}

/** The rows of running games, {game_id, names, ply, totals}, without those of `rows`, which are over. */
export function runningRows(contest, rows, running) {
  const over = new Set(rows.map((row) => row.id));
  return running.filter((game) => game.names && !over.has(game.game_id)).map((game) => ({
    // Names of an anonymous contest are of no bot: their places are -1.
    ...openRow(RUNNING, game.game_id, game.names.map((name) => contest.bots.indexOf(name)), game.ply, game.totals),
    names: game.names,
  }));
}

export const idsOf = (games) => games.map((game) => game.game_id).join();

/**
 * The games that run now, and those of `before` that have ended and whose results have not come: they are never shown
 * as planned.
 */
export function withLeaving(now, before, rows) {
  const known = new Set([...now.map((game) => game.game_id), ...rows.map((row) => row.id)]);
  return [...now, ...before.filter((game) => !known.has(game.game_id))];
}

/** Results by whose clocks a start is expected: those of `expected` in `following.py`, for calendars. */
const MEASURED = 50;

/**
 * When a game is expected to begin that `before` others are to end before, as a function of `before` that gives seconds
 * since 1970: its end follows from the pace of the contest, and its start is earlier by the mean of what clocks have
 * been charged. It gives null without a pace.
 */
export function expectedStarts({ status, pace, frozen_at: frozen }, rows, now) {
  if (now === null || status !== "running" || frozen || !pace?.games_per_hour) return () => null;
  const charged = rows.slice(-MEASURED).filter(({ used }) => used.length)
    .map(({ used }) => used.reduce((sum, ms) => sum + ms, 0) / 1000);
  const lasts = charged.length ? charged.reduce((sum, each) => sum + each, 0) / charged.length : 0;
  return (before) => now + Math.max(0, Math.round((before + 1) * 3600 / pace.games_per_hour - lasts));
}

/** The games without a result, of the same arguments and the schedule; with a time `now` each has a start. */
export function openGames(contest, rows, schedule, running = [], now = null) {
  const open = runningRows(contest, rows, running);
  const begun = new Set([...rows, ...open].map((row) => row.id));
  const startAfter = expectedStarts(contest, rows, now);
  return [...open, ...schedule.filter(([id]) => !begun.has(id)).map(([id, seats], i) => (
    { ...openRow(PLANNED, id, seats), at: startAfter(open.length + i) }))];
}

/**
 * How a game ended for the bot at place `bot`: "win", "draw", "loss" or "void"; for null: was there a winner. Null
 * before its end.
 */
export function resultFor(row, bot) {
  if (row.state !== OVER) return null;
  if (row.end === "void") return "void";
  const best = Math.max(...row.totals);
  const winners = row.totals.filter((total) => total === best).length;
  const seat = row.seats.indexOf(bot);
  if (bot === null) return winners === 1 ? "win" : "draw";
  if (row.totals[seat] < best) return "loss";
  return winners === 1 ? "win" : "draw";
}

/**
 * What a game gave the bot at place `bot`: its points, and in a contest of games that are only won or lost 1, a half or
 * 0.
 */
export function scoreFor(contest, row, bot) {
  if (contest.decided) return { win: 1, draw: 0.5 }[resultFor(row, bot)] ?? 0;
  return row.totals?.[row.seats.indexOf(bot)] ?? 0;
}

/** The values of a win, a draw and a loss by which a contest is scored, as "3-1-0"; null without such. */
export function valuesOf(contest) {
  const found = /^([\d.]+)-([\d.]+)-([\d.]+)/.exec(contest.scoring);
  return found && { win: Number(found[1]), draw: Number(found[2]), loss: Number(found[3]) };
}

/** The rows that match {state, bot, other, result, fault}; null matches everything. */
export function filterGames(rows, { state = null, bot = null, other = null, result = null, fault = null }) {
  return rows.filter((row) =>
    (state === null || row.state === state)
    && (bot === null || row.seats.includes(bot))
    && (other === null || row.seats.includes(other))
    && (result === null || resultFor(row, bot) === result)
    && (fault === null
      || row.faults.some(([seat, , kind]) => (fault === "any" || kind === fault)
        && (bot === null || seat === 0 || row.seats[seat - 1] === bot))));
}
