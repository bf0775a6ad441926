// The games of a contest, over, running and planned: loaded in chunks, filtered in memory, shown a page at a time.

import { get } from "./api.js";
import {
  arrange, bdi, cardTable, clockText, dateText, el, gameLink, labelled, link, numberText, parameter, plural,
} from "./dom.js";
import { loadPairs, pairLink } from "./pairs.js";
import { named, t } from "./texts.js";

/** The rows of a page; fewer where each row is a card, as in `site.css`. */
const PAGE = { rows: 50, cards: 10 };
const CARDS = "(max-width: 600px)";
/** A kind of fault, as an address may name it. */
const FAULT = /^[a-z-]+$/;
/** Planned games beyond this number are counted and not listed; SCHEDULE_CHUNKS of `arena site` goes with it. */
const MOST_PLANNED = 100_000;
export const OVER = "over";
export const RUNNING = "running";
export const PLANNED = "planned";
export const RESULTS = [["", t`Any`], ["win", t`Won`], ["draw", t`Drawn`], ["loss", t`Lost`], ["void", t`Void`]];

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

const headsOf = (contest) => [t`Game`, t`Bots`, contest.decided ? t`Result` : t`Points`, t`End`, t`Plies`, t`Time`,
  t`Ended`, t`Faults`];

export class GameList {
  /** `bot` fixes the first filter to the place of a bot. */
  constructor(contest, bot = null) {
    this.contest = contest;
    this.heads = headsOf(contest);
    this.fixed = bot;
    this.rows = [];
    this.open = [];
    /** By the id of a running game that is shown: the function that sets its row to a newer ply. */
    this.live = new Map();
    /** The row of the table of each game that is over: it stays where it is when others come. */
    this.drawn = new WeakMap();
    this.page = 0;
    this.complete = false;
    const names = contest.bots.map((name, place) => [String(place), name]).sort((a, b) => a[1].localeCompare(b[1]));
    const choose = (label, options) => {
      const select = el("select", { onchange: () => {
        this.page = 0;
        this.show();
        this.#keep();
      } }, ...options.map(([value, text]) => el("option", { value }, text)));
      return [select, el("label", {}, label, select)];
    };
    const [stateSelect, stateLabel] = choose(t`State`,
      [["", t`All`], [OVER, t`Over`], [RUNNING, t`Running`], [PLANNED, t`Planned`]]);
    const [botSelect, botLabel] = choose(t`Bot`, [["", t`All`], ...names]);
    const [otherSelect, otherLabel] = choose(t`Against`, [["", t`All`], ...names]);
    const [resultSelect, resultLabel] = choose(t`Result`, RESULTS);
    const [faultSelect, faultLabel] = choose(t`Fault`, [["", t`With or without`], ["any", t`Any fault`]]);
    /** What the address may carry, also that of a game, which links to all games of its bots. */
    this.named = { ...(bot === null ? { bot: botSelect } : {}), against: otherSelect, state: stateSelect,
      result: resultSelect, fault: faultSelect };
    this.#restore();
    Object.assign(this, { stateSelect, botSelect, otherSelect, resultSelect, faultSelect });
    this.count = el("span", { role: "status" });
    this.next = el("button", { type: "button", onclick: () => this.#turn(1) }, t`Next`);
    this.previous = el("button", { type: "button", onclick: () => this.#turn(-1) }, t`Previous`);
    this.cards = matchMedia(CARDS);
    this.cards.addEventListener("change", () => this.show());
    /** Planned games are counted until they are asked for. */
    this.folded = true;
    this.fold = el("button", { type: "button", class: "fold", onclick: () => {
      this.folded = !this.folded;
      this.show();
    } });
    this.element = el("div", {},
      el("div", { class: "filters" }, stateLabel, bot === null ? botLabel : null, otherLabel, resultLabel, faultLabel),
      el("div", { class: "scroll" },
        cardTable(this.heads, [], { kind: "games", isNumber: (place) => place === 4 || place === 5 })),
      this.fold,
      el("p", { class: "pager" }, this.previous, this.next, this.count));
    this.body = this.element.querySelector("tbody");
  }

  #restore() {
    for (const [key, select] of Object.entries(this.named)) {
      const given = parameter(key);
      if (given === null) continue;
      const place = this.contest.bots.indexOf(given);
      const value = key === "bot" || key === "against" ? String(place) : given;
      // Faults become known with the games.
      if (key === "fault" && FAULT.test(value) && value !== "any") select.append(el("option", { value }, named(value)));
      if ([...select.options].some((option) => option.value === value)) select.value = value;
    }
    this.page = Math.max(0, (Number.parseInt(parameter("list") ?? "1", 10) || 1) - 1);
  }

  /** The address carries the filters and the page of the list: back, and a reader that gets it, find the same. */
  #keep() {
    const url = new URL(location.href);
    const set = (key, value) => (value ? url.searchParams.set(key, value) : url.searchParams.delete(key));
    for (const [key, { value }] of Object.entries(this.named)) {
      set(key, value && (key === "bot" || key === "against") ? this.contest.bots[Number(value)] : value);
    }
    set("list", this.page ? String(this.page + 1) : "");
    try { history.replaceState(history.state, "", url); } catch { /* a file has no address of its own */ }
  }

  /** Go to another page of rows, and to its first one. */
  #turn(step) {
    this.page += step;
    this.show();
    this.#keep();
    if (this.element.getBoundingClientRect().top < 0) this.element.scrollIntoView();
  }

  /** The games that are over: `complete` once all of them have come. */
  setRows(rows, complete = false) {
    this.rows = rows;
    this.complete ||= complete;
    const kinds = [...new Set(rows.flatMap((row) => row.faults.map(([, , kind]) => kind)))].sort();
    for (const kind of kinds) {
      if (![...this.faultSelect.options].some((option) => option.value === kind)) {
        this.faultSelect.append(el("option", { value: kind }, named(kind)));
      }
    }
    this.show();
  }

  /** The games without a result, as `openGames` gives them. */
  setOpen(open) {
    this.open = open;
    this.show();
  }

  /** Running games have moved on: their rows change in place, so that no click is lost. */
  update(running) {
    for (const row of running) this.live.get(row.id)?.(row);
  }

  show() {
    const place = (select) => (select.value === "" ? null : Number(select.value));
    const bot = this.fixed ?? place(this.botSelect);
    const filters = { state: this.stateSelect.value || null, bot, other: place(this.otherSelect),
      result: this.resultSelect.value || null, fault: this.faultSelect.value || null };
    const over = filterGames(this.rows, filters).reverse();
    const running = filterGames(this.open, filters).filter((row) => row.state === RUNNING);
    const planned = filterGames(this.open, filters).filter((row) => row.state === PLANNED);
    // What runs comes first, then what is over, the newest first, then what is planned, in the order of the schedule.
    const folded = this.folded && planned.length > 0 && filters.state === null;
    const found = [...running, ...over, ...(folded ? [] : planned)];
    this.fold.hidden = !planned.length || filters.state !== null;
    this.fold.textContent = folded ? t`Show ${numberText(planned.length)} planned`
      : t`Hide ${numberText(planned.length)} planned`;
    this.fold.setAttribute("aria-expanded", String(!folded));
    const size = this.cards.matches ? PAGE.cards : PAGE.rows;
    const pages = Math.max(1, Math.ceil(found.length / size));
    // The page of the address waits for its games.
    const at = Math.max(0, Math.min(this.page, pages - 1));
    if (this.complete) this.page = at;
    const shown = found.slice(size * at, size * (at + 1));
    this.live.clear();
    arrange(this.body, shown.map((row) => this.#kept(row)));
    this.#linkDeals(shown);
    if (!shown.length) {
      this.body.append(el("tr", {},
        el("td", { colspan: this.heads.length, class: "none" },
          this.rows.length || !folded && this.open.length ? t`No game matches; choose fewer conditions.`
            : t`No game has ended yet; the first result will stand here.`)));
    }
    this.previous.disabled = at === 0;
    this.next.disabled = at >= pages - 1;
    const unlisted = planned.length ? Math.max(0, this.contest.schedule.games - MOST_PLANNED) : 0;
    const parts = [[over.length, OVER], [running.length, RUNNING], [planned.length, PLANNED],
      [unlisted, t`planned later and not listed`]].filter(([count]) => count);
    const open = running.length + planned.length;
    const states = open ? `: ${parts.map(([count, state]) => `${numberText(count)} ${named(state)}`).join(", ")}` : "";
    const page = pages > 1 ? t`, page ${at + 1} of ${numberText(pages)}` : "";
    this.count.textContent = `${plural(over.length + open, "game")}${states}${page}${this.complete ? "" : " …"}`;
  }

  /** Behind the id of each game of which another one on its deal is shown, the way to both. */
  async #linkDeals(shown) {
    if (!this.contest.paired) return;
    for (const [at, { id, place }] of shown.entries()) {
      if (place === undefined) continue;
      const others = (await loadPairs(this.contest, place)).get(id);
      const cell = this.body.rows[at]?.cells[0];
      // Other rows may be shown by now.
      if (!others?.length || cell?.firstChild.textContent !== id || cell.querySelector(".deal")) continue;
      const title = t`${id} and ${others[0]}: the same deal`;
      cell.append(el("a", { class: "deal", href: pairLink(this.contest.id, id, others[0]), title, "aria-label": title },
        "⇄"));
    }
  }

  #kept(row) {
    const kept = this.drawn.get(row) ?? this.#row(row);
    if (row.state === OVER) this.drawn.set(row, kept);
    return kept;
  }

  #row(row) {
    const { contest } = this;
    const name = (seat) => contest.bots[row.seats[seat]] ?? row.names?.[seat];
    const bots = el("td", { class: "name-cell" },
      row.seats.flatMap((bot, seat) => [seat ? " – " : "", bot < 0 ? bdi(name(seat))
        : el("a", { href: link("bot.html", { contest: contest.id, bot: name(seat) }) }, bdi(name(seat)))]));
    const none = () => el("td", {});
    const cells = (...all) => labelled(this.heads, all);
    if (row.state === PLANNED) {
      return el("tr", { class: "planned" },
        cells(el("td", {}, row.id), bots, none(), el("td", {}, t`planned`), none(), none(),
          el("td", {}, row.at === null ? "" : t`begins about ${dateText(row.at)}`), none()));
    }
    if (row.state === RUNNING) return this.#runningRow(row, bots);
    const best = Math.max(...row.totals);
    const end = (...children) => el("a", { href: gameLink(contest.id, row.id, row.plies) }, ...children);
    const used = row.used.reduce((sum, ms) => sum + ms, 0);
    return el("tr", { class: "row" }, ...labelled(this.heads, [
      el("td", {}, el("a", { class: "whole", href: gameLink(contest.id, row.id, 0) }, row.id)),
      bots,
      el("td", { class: "nowrap" },
        end(...row.totals.flatMap((total, seat) => [seat ? " : " : "",
          el(total === best && row.end !== "void" ? "b" : "span", {},
            numberText(scoreFor(contest, row, row.seats[seat])))]))),
      el("td", {}, end(named(row.end))),
      el("td", { class: "num" }, end(numberText(row.plies))),
      el("td", { class: "num" }, row.used.length ? clockText(used) : ""),
      el("td", { class: "nowrap" }, row.at === null ? "" : dateText(row.at)),
      el("td", {},
        row.faults.flatMap(([seat, ply, kind], i) => [i ? ", " : "",
          el("a", { class: "faults", href: gameLink(contest.id, row.id, ply) },
            seat ? bdi(name(seat - 1)) : t`the server`, `: ${named(kind)}`)]))]));
  }

  #runningRow(game, bots) {
    const links = ["points", "running", "plies"].map(() => el("a"));
    const show = (row) => {
      links.forEach((each) => { each.href = gameLink(this.contest.id, row.id, row.plies); });
      links[0].textContent = row.totals?.map(numberText).join(" : ") ?? "";
      links[1].textContent = named(RUNNING);
      links[2].textContent = numberText(row.plies);
    };
    show(game);
    this.live.set(game.id, show);
    const [, state, plies] = links;
    // A game that is only won or lost has no points to link.
    const points = this.contest.decided ? null : links[0];
    return el("tr", {}, labelled(this.heads, [
      el("td", {}, el("a", { href: gameLink(this.contest.id, game.id) }, game.id)), bots,
      el("td", { class: "nowrap" }, points), el("td", {}, state), el("td", { class: "num" }, plies), el("td", {}),
      el("td", {}), el("td", {}),
    ]));
  }
}
