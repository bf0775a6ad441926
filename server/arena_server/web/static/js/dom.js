// Elements, texts and the theme. Everything that comes from a bot or a file is set as text, never as markup.

import { chooseLanguage, language, languages } from "./language.js";
import { apart, inRow, Locale, locale } from "./locale.js";
import { said } from "./said.js";
import { Counted, t } from "./texts.js";

/** The longest clock of all stands for a game without one. */
export const NO_CLOCK_MS = 864_000_000;
const MOMENT_MS = 700;
/** Before decimals, as the language of the page has it. */
export const POINT = locale.number(0.5)[1];
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A foreign text: its direction is its own, and moves nothing beside it. Of a bot, a person, an organiser. */
export const bdi = (text) => el("bdi", {}, text);

/**
 * What a server or an exception says, as a sentence of the page: with a full stop, and a capital letter unless it
 * begins with one of `names`.
 */
export function sentence(text, ...names) {
  const first = names.some((name) => name && text.startsWith(name)) ? text.charAt(0) : text.charAt(0).toUpperCase();
  return text && `${first}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}

/** In place of what cannot be shown: why not, and where to go on. */
export function errorBox(title, text, onward = null) {
  return el("div", { class: "error", role: "alert" }, el("h1", {}, title), el("p", {}, sentence(text)),
    onward && el("p", {}, onward));
}

export const allContests = () => el("a", { href: "index.html" }, t`All contests`);

/** Names in a row, as those of the players of a game. */
export const versus = (names) => names.flatMap((name, i) => [i ? " – " : "", bdi(name)]);

/**
 * Set the text of `node` where it is another one: the same text would take a layout, and be read out again. It is a new
 * text: one that changed in place would count as moved where it is not flush left.
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Have `parts` in `box`, which are left alone where they are there: the same ones would take a layout. */
export function setParts(box, ...parts) {
  const made = [...el("div", {}, ...parts).childNodes];
  const there = box.childNodes;
  if (made.length === there.length && made.every((each, i) => each.isEqualNode(there[i]))) return;
  box.replaceChildren(...made);
}

/** Have `nodes` in `box`, in their order; those that are there keep their places. */
export function arrange(box, nodes) {
  nodes.forEach((node, i) => {
    if (box.childNodes[i] !== node) box.insertBefore(node, box.childNodes[i] ?? null);
  });
  while (box.childNodes.length > nodes.length) box.lastChild.remove();
}

/** What a spectator sees of quick games: so often at most, and of several plies the last one. */
export const SEEN_MS = 200;

/** A function that has `work` done once in a frame soon, `ms` after the last one, however often it is called before. */
export function inFrame(work, ms = 0) {
  let asked = false;
  let done = -Infinity;
  const ask = () => requestAnimationFrame(() => { asked = false; done = performance.now(); work(); });
  return () => {
    if (asked) return;
    asked = true;
    const wait = done + ms - performance.now();
    if (wait > 0) setTimeout(ask, wait);
    else ask();
  };
}

/** Have `work` done in this frame once the page is laid out: to ask for a place before would take one layout more. */
export function afterLayout(element, work) {
  const observer = new ResizeObserver(() => { observer.disconnect(); work(); });
  observer.observe(element);
}

/** Milliseconds as 1:02.3, or 0:00.25 below ten seconds, by the point of the language; with `digits` of a second. */
export function clockText(ms, digits = ms < 10_000 ? 2 : 1) {
  const unit = 10 ** digits;
  const ticks = Math.floor(Math.max(0, ms) * unit / 1000);
  const minutes = Math.floor(ticks / unit / 60);
  const seconds = ticks - minutes * 60 * unit;
  const padded = (value, width) => String(value).padStart(width, "0");
  const fraction = digits ? `${POINT}${padded(seconds % unit, digits)}` : "";
  return `${minutes}:${padded(Math.floor(seconds / unit), 2)}${fraction}`;
}

export function numberText(value) {
  return locale.number(value);
}

/** A number with its sign, but zero: +30. */
export function signedText(value) {
  return locale.number(value, { signDisplay: "exceptZero" });
}

/** A number for an axis, with its sign if it is `signed`: 999,998 is 1M. */
export function shortText(value, signed = false) {
  if (Math.abs(value) < 10_000) return signed ? signedText(value) : numberText(value);
  return locale.number(value, { notation: "compact", signDisplay: signed ? "exceptZero" : "auto" });
}

export const plural = (count, word) => new Counted(count, word);

/** How many games of a contest have a result; an open one has no number of all. */
export function gamesText(done, total) {
  return total === null ? plural(done, "game") : t`${numberText(done)} of ${plural(total, "game")}`;
}

/** A mean with as many decimals everywhere. */
export const meanText = (value, digits = 1) =>
  locale.number(value, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Whether bots of a table have different numbers of games: then it ranks by the mean. */
export const unequal = (standings) => new Set(standings.map((row) => row.games)).size > 1;

/** The number that a row of `standings` is ranked by: the score of its format, the mean, or the sum. */
export function rankingText({ scoring }, standings, row) {
  if ("score" in row) return numberText(row.score);
  const sum = scoring === "wins" ? row.wins : row.points;
  return unequal(standings) ? meanText(row.games ? sum / row.games : 0) : numberText(sum);
}

export function pliesText(count) {
  return plural(count, "ply");
}

/** A duration in words, about. */
function durationText(seconds) {
  for (const [size, unit] of [[86_400, "day"], [3600, "hour"], [60, "minute"]]) {
    if (seconds >= 2 * size) return plural(Math.round(seconds / size), unit);
  }
  return t`${seconds} s`;
}

/** The cells of a row with the heads of their columns, which stand beside them where a table is shown as cards. */
export function labelled(heads, cells) {
  cells.forEach((cell, i) => { if (heads[i]) cell.dataset.label = heads[i]; });
  return cells;
}

/**
 * A table whose rows are cards on a phone, of the kinds `kind` beside that. A column without a head is a picture's;
 * `isNumber(place)` says which have numbers.
 */
export function cardTable(heads, rows, { kind = "", isNumber = () => false } = {}) {
  const head = (text, place) => (text
    ? el("th", { scope: "col", class: isNumber(place) ? "num" : null }, text) : el("td"));
  return el("table", { class: `${kind} cards`.trim() },
    el("thead", {}, el("tr", {}, ...heads.map(head))), el("tbody", {}, ...rows));
}

/** Seconds since 1970 as a date and a time of this browser's place. */
export function dateText(seconds) {
  return locale.date(new Date(1000 * seconds), { dateStyle: "short", timeStyle: "short" });
}

/** The same of a text as the API has it. */
export const instantText = (iso) => dateText(Date.parse(iso) / 1000);

/** When the last game of a running contest will be over; empty where that is not known. */
export function leftText(pace) {
  return pace && pace.left_s !== null ? t`, about ${durationText(pace.left_s)} left` : "";
}

/** How fast the games of a running contest end, and when the last one will; empty before the first result. */
export function paceText(pace) {
  return pace ? t`; ${plural(Math.round(pace.games_per_hour), "game")} an hour${leftText(pace)}` : "";
}

/** The server says when in UTC; a page says every time in the reader's zone. */
const reasonText = ({ reason, last_seen: seen, text }) =>
  (reason === "away" && seen ? t`last seen ${instantText(seen)}` : said(text));

/** The first `most` of some names, and how many others there are. */
export const someNames = (names, most = 3) =>
  `${inRow(names.slice(0, most))}${names.length > most ? t` and ${numberText(names.length - most)} more` : ""}`;

/** Whom a contest waits for: the list `waiting` of the server, five of them by name. */
const waitingText = (bots) => (bots.length
  ? t`waiting for ${someNames(bots.map((each) => `${apart(each.bot)} (${reasonText(each)})`), 5)}` : "");

/** Why no game of a contest is offered, or not all: the lists `holds` and `waiting` of the server. */
export function heldText({ holds = [], waiting = [] }) {
  const texts = holds.map(({ hold, until, text }) => {
    if (hold === "waiting") return waitingText(waiting);
    return hold === "closed" && until ? t`closed until ${instantText(until)}` : said(text);
  });
  const line = texts.join("; ");
  return line.charAt(0).toUpperCase() + line.slice(1);
}

/**
 * How a game ended, in words: the winner with the totals of all, or without `points`. `describe_result` in Python
 * prints the same.
 */
function ended({ t, locale }, names, totals, end, points = true) {
  if (end === "void") return t`void, it does not count`;
  const best = Math.max(...totals);
  const winners = names.filter((_, i) => totals[i] === best);
  const how = end === "forfeit" ? t` by forfeit` : end === "corrected" ? t`, corrected by the jury` : "";
  const drawn = () => winners.length === names.length ? t`a draw` : t`a draw of ${locale.list(winners)}`;
  const verdict = winners.length === 1 ? t`${winners[0]} wins` : end === "forfeit" ? t`no winner` : drawn();
  if (!points) return `${verdict}${how}`;
  if (names.length !== 2) {
    return `${verdict}${how}: ${names.map((name, i) => `${apart(name)} ${locale.number(totals[i])}`).join(", ")}`;
  }
  const score = [...totals].sort((a, b) => b - a).map((total) => locale.number(total)).join(" : ");
  return `${verdict}${winners.length === 1 ? " " : ", "}${score}${how}`;
}

export const resultText = (...game) => ended({ t, locale }, ...game);

/** The same for a file, which is the same in every language. */
export const englishResult = (...game) =>
  ended({ t: (parts, ...values) => String.raw({ raw: parts }, ...values), locale: new Locale("en") }, ...game);

/** Whether this file holds all pages and documents of one contest, as `arena report` writes it. */
export const inReport = () => document.documentElement.dataset.contest !== undefined;

/**
 * The parameter `name` of the page's address; the contest of a report needs none, and a page that `arena site` wrote
 * for one game has its own.
 */
export function parameter(name) {
  return new URLSearchParams(location.search).get(name)
    ?? new URLSearchParams(document.documentElement.dataset.shows).get(name)
    ?? (["contest", "id"].includes(name) ? document.documentElement.dataset.contest ?? null : null);
}

/** The address of a page of the site with parameters; in a report the page is a parameter, too. */
export function link(page, parameters = {}, hash = "") {
  const all = inReport() ? { page: page.replace(".html", ""), ...parameters } : parameters;
  const query = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== null && value !== undefined));
  return `${inReport() ? "" : page}${query.size ? `?${query}` : ""}${hash ? `#${hash}` : ""}`;
}

export function gameLink(contest, game, ply = null) {
  return link("game.html", { contest, game }, ply === null ? "" : `ply=${ply}`);
}

/** Words that a visitor may not know, in a box that opens; by the title of the box. */
export function explained(title, words) {
  return el("details", { class: "explain" }, el("summary", {}, el("span", { "aria-hidden": "true" }, "? "), title),
    el("dl", {}, ...words.flatMap(([word, text]) => [el("dt", {}, word), el("dd", {}, text)])));
}

/** Wait for `work`, but no longer than a moment: what comes in time is drawn with the rest, and moves nothing. */
export function inTime(work, ms = MOMENT_MS) {
  return Promise.race([work, new Promise((done) => { setTimeout(done, ms); })]);
}

const placeKey = () => `place ${location.pathname}${location.search}`;

/** Back, or a page that is loaded again, leads to the place where the reader left it: call this once it is whole. */
export function keepPlace() {
  addEventListener("pagehide", () => {
    try { sessionStorage.setItem(placeKey(), String(scrollY)); } catch { /* storage may be forbidden */ }
  });
  let place = null;
  try { place = sessionStorage.getItem(placeKey()); } catch { /* as above */ }
  const [how] = performance.getEntriesByType("navigation");
  if (place !== null && ["back_forward", "reload"].includes(how?.type)) scrollTo(0, Number(place));
}

/** The names of bots, as the attribute `pattern` has it. */
export const NAME_PATTERN = "[A-Za-z0-9][A-Za-z0-9_.\\-]*";

export const stillMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The stored theme, or none to follow the system. */
export function applyTheme() {
  let theme = null;
  try { theme = localStorage.getItem("theme"); } catch { /* storage may be forbidden */ }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  document.documentElement.lang = language;
}

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* the choice lasts for this page */ }
}

const PAGES = { "index.html": t`Contests`, "replay.html": t`Replay a file`, "tv.html": t`TV`, "play.html": t`Play`,
  "organiser.html": t`Organiser`, "register.html": t`Register a bot` };

/** What the organiser says of the site: {title, text, links, logo}, each only if there is one. */
export const aboutSite = () => JSON.parse(document.documentElement.dataset.site ?? "{}");

/** The header of every page: links to the pages of `data-menu`, of which the first is the brand's. */
export function pageHeader() {
  const pages = document.documentElement.dataset.menu?.split(" ") ?? [];
  const here = `${document.documentElement.dataset.page}.html`;
  const about = aboutSite();
  if (PAGES[here]) document.title = PAGES[here];
  const links =
    pages.map((page) => el("a", { href: page, "aria-current": page === here ? "page" : null }, PAGES[page]));
  return el("header", { class: "site" },
    el("a", { class: "skip", href: "#main" }, t`Skip to the content`),
    el(pages.length ? "a" : "span", { class: "brand", href: pages[0] },
      about.logo ? el("img", { src: about.logo, alt: "", height: 24 }) : brandMark(),
      bdi(about.title ?? "insertion-arena")),
    el("nav", { "aria-label": t`Pages` }, links,
      (about.links ?? []).map(([text, href]) => el("a", { href, rel: "external" }, bdi(text)))),
    el("div", { class: "languages" }, languages.filter(([code]) => code !== language).map(([code, own]) =>
      el("button",
        { type: "button", lang: code, title: own, "aria-label": `${code.toUpperCase()}: ${own}`, onclick: () => {
          chooseLanguage(code);
          location.reload();
        } }, code.toUpperCase()))),
    el("button",
      { type: "button", class: "theme", "aria-label": t`Switch between light and dark`, title: t`Light or dark`,
        onclick: toggleTheme }, el("span", { "aria-hidden": "true" }, "◐")));
}

/** A line at the top of the page about what it waits for; an empty text takes it away. */
export function notice(text) {
  let line = document.querySelector(".notice");
  if (line === null) {
    line = el("p", { class: "banner notice", role: "status" });
    document.querySelector("main").before(line);
  }
  line.textContent = text;
}

function brandMark() {
  return svg("svg", { viewBox: "0 0 20 20", width: 20, height: 20, "aria-hidden": "true" },
    svg("rect", { class: "c5", x: 0, y: 11, width: 9, height: 9, rx: 2 }),
    svg("rect", { class: "c1", x: 11, y: 11, width: 9, height: 9, rx: 2 }),
    svg("rect", { class: "c3", x: 0, y: 0, width: 9, height: 9, rx: 2 }));
}
