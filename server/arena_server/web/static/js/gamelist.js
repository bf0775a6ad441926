// The table of a contest's games, with filters, a page at a time.

import {
  arrange, bdi, cardTable, clockText, dateText, el, gameLink, labelled, link, numberText, parameter, plural,
} from "./dom.js";
import { loadPairs, pairLink } from "./pairs.js";
import { filterGames, MOST_PLANNED, OVER, PLANNED, RUNNING, scoreFor } from "./rows.js";
import { named, t } from "./texts.js";

/** The rows of a page; fewer where each row is a card, as in `site.css`. */
const PAGE = { rows: 50, cards: 10 };
const CARDS = "(max-width: 600px)";
/** A kind of fault, as an address may name it. */
const FAULT = /^[a-z-]+$/;
const RESULTS = [["", t`Any`], ["win", t`Won`], ["draw", t`Drawn`], ["loss", t`Lost`], ["void", t`Void`]];

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
