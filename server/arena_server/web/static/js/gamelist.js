// The games of a contest: loaded in chunks, filtered in memory, shown a page at a time.

import { get } from "./api.js";
import { el, link, numberText, plural } from "./dom.js";
import { gameLink } from "./gameview.js";

const PAGE = 50;
export const RESULTS = [["", "Any"], ["win", "Won"], ["draw", "Drawn"], ["loss", "Lost"], ["void", "Void"]];

/** A row of the API as an object. */
export function readRow([id, seats, totals, end, plies, at, faults]) {
  return { id, seats, totals, end, plies, at, faults };
}

/** All games of a contest document, in the order of storing; `onchunk(rows)` after each chunk. */
export async function loadGames(contest, onchunk = () => {}) {
  const rows = [];
  const chunks = Math.ceil(contest.list.games / contest.list.chunk);
  for (let chunk = 0; chunk < chunks; chunk++) {
    rows.push(...(await get(`contests/${contest.id}/games-${chunk}.json`)).map(readRow));
    onchunk(rows);
  }
  return rows;
}

/** How a game ended for the bot at place `bot`: "win", "draw", "loss" or "void"; for null: was there a winner. */
export function resultFor(row, bot) {
  if (row.end === "void") return "void";
  const best = Math.max(...row.totals);
  const winners = row.totals.filter((total) => total === best).length;
  const seat = row.seats.indexOf(bot);
  if (bot === null) return winners === 1 ? "win" : "draw";
  if (row.totals[seat] < best) return "loss";
  return winners === 1 ? "win" : "draw";
}

/** The rows that match {bot, other, result, fault}; null matches everything. */
export function filterGames(rows, { bot = null, other = null, result = null, fault = null }) {
  return rows.filter((row) =>
    (bot === null || row.seats.includes(bot))
    && (other === null || row.seats.includes(other))
    && (result === null || resultFor(row, bot) === result)
    && (fault === null || row.faults.some(([seat, , kind]) => (fault === "any" || kind === fault) && (bot === null || seat === 0 || row.seats[seat - 1] === bot))));
}

export class GameList {
  /** `bot` fixes the first filter to the place of a bot. */
  constructor(contest, bot = null) {
    this.contest = contest;
    this.fixed = bot;
    this.rows = [];
    this.page = 0;
    const names = contest.bots.map((name, place) => [String(place), name]).sort((a, b) => a[1].localeCompare(b[1]));
    const choose = (label, options) => {
      const select = el("select", { onchange: () => { this.page = 0; this.show(); } }, ...options.map(([value, text]) => el("option", { value }, text)));
      return [select, el("label", {}, label, select)];
    };
    const [botSelect, botLabel] = choose("Bot", [["", "All"], ...names]);
    const [otherSelect, otherLabel] = choose("Against", [["", "All"], ...names]);
    const [resultSelect, resultLabel] = choose("Result", RESULTS);
    const [faultSelect, faultLabel] = choose("Fault", [["", "With or without"], ["any", "Any fault"]]);
    Object.assign(this, { botSelect, otherSelect, resultSelect, faultSelect });
    this.body = el("tbody");
    this.count = el("span", { role: "status" });
    this.older = el("button", { type: "button", onclick: () => { this.page++; this.show(); } }, "Older");
    this.newer = el("button", { type: "button", onclick: () => { this.page--; this.show(); } }, "Newer");
    this.element = el("div", {},
      el("div", { class: "filters" }, bot === null ? botLabel : null, otherLabel, resultLabel, faultLabel),
      el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...["Game", "Bots", "Points", "End", "Plies", "Faults"].map((text, i) => el("th", { scope: "col", class: i === 4 ? "num" : null }, text)))), this.body)),
      el("p", { class: "pager" }, this.newer, this.older, this.count));
  }

  setRows(rows) {
    this.rows = rows;
    const kinds = [...new Set(rows.flatMap((row) => row.faults.map(([, , kind]) => kind)))].sort();
    for (const kind of kinds) {
      if (![...this.faultSelect.options].some((option) => option.value === kind)) this.faultSelect.append(el("option", { value: kind }, kind));
    }
    this.show();
  }

  /** Choose the games between two bots, by their places. */
  choose(bot, other) {
    this.botSelect.value = String(bot);
    this.otherSelect.value = String(other);
    this.page = 0;
    this.show();
  }

  show() {
    const place = (select) => (select.value === "" ? null : Number(select.value));
    const bot = this.fixed ?? place(this.botSelect);
    const found = filterGames(this.rows, { bot, other: place(this.otherSelect), result: this.resultSelect.value || null, fault: this.faultSelect.value || null });
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    this.page = Math.max(0, Math.min(this.page, pages - 1));
    const end = found.length - PAGE * this.page;
    const shown = found.slice(Math.max(0, end - PAGE), end).reverse();
    this.body.replaceChildren(...shown.map((row) => this.#row(row)));
    if (!shown.length) this.body.append(el("tr", {}, el("td", { colspan: 6, class: "none" }, this.rows.length ? "No game matches." : "No game has ended yet.")));
    this.newer.disabled = this.page === 0;
    this.older.disabled = this.page >= pages - 1;
    this.count.textContent = `${plural(found.length, "game")}${pages > 1 ? `, page ${this.page + 1} of ${numberText(pages)}` : ""}`;
  }

  #row(row) {
    const { contest } = this;
    const name = (seat) => contest.bots[row.seats[seat]];
    const best = Math.max(...row.totals);
    const end = (...children) => el("a", { href: gameLink(contest.id, row.id, row.plies) }, ...children);
    return el("tr", {},
      el("td", {}, el("a", { href: gameLink(contest.id, row.id) }, row.id)),
      el("td", { class: "name-cell" }, row.seats.flatMap((place, seat) => [seat ? " – " : "", el("a", { href: link("bot.html", { contest: contest.id, bot: name(seat) }) }, name(seat))])),
      el("td", {}, end(...row.totals.flatMap((total, seat) => [seat ? " : " : "", el(total === best && row.end !== "void" ? "b" : "span", {}, numberText(total))]))),
      el("td", {}, end(row.end)),
      el("td", { class: "num" }, end(numberText(row.plies))),
      el("td", {}, row.faults.flatMap(([seat, ply, kind], i) => [i ? ", " : "", el("a", { class: "faults", href: gameLink(contest.id, row.id, ply) }, `${seat ? name(seat - 1) : "server"}: ${kind}`)])));
  }
}
