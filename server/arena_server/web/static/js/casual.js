// Games that a visitor starts: the form, the links that it gives, and the latest games that were played.

import { get } from "./api.js";
import { clockText, el, link, resultText } from "./dom.js";
import { gameLink } from "./gameview.js";
import { RULES } from "./rules.js";
import { named, t } from "./texts.js";

const PERSON = "person";
const NO_CLOCK_MS = 864_000_000;
/** The opponent that is chosen first, where the strongest engine is too strong. */
const FIRST_OPPONENT = { insertion: "greedy" };

export const seatLink = (key) => link("play.html", {}, key);

/** `onstart(wish)` starts a game and returns {contest, links: [{name, key}]}; `take(key)` takes the first seat. */
export async function casualPart({ onstart, take }) {
  const offer = await get("play/offer.json");
  const games = new Map(offer.games.map((game) => [game.name, game]));
  const select = (label, options = []) => {
    const field = el("select", {}, ...options.map((text) => el("option", { value: text }, text)));
    return [field, el("label", {}, label, field)];
  };
  const box = (text, checked) => {
    const field = el("input", { type: "checkbox" });
    field.checked = checked;
    return [field, el("label", { class: "check" }, field, ` ${text}`)];
  };
  const [game, gameLabel] = select(t`Game`, [...games.keys()]);
  const [opponent, opponentLabel] = select(t`Opponent, from weak to strong`);
  const [seat, seatLabel] = select(t`Your seat`);
  const contestClock = offer.clock_ms < NO_CLOCK_MS;
  const [clock, clockLabel] = box(t`With the contest's clock (${clockText(offer.clock_ms)} per seat${offer.increment_ms ? t` + ${offer.increment_ms / 1000} s per move` : ""})`, false);
  const [hints, hintsLabel] = box(t`With hints`, true);
  const fillFields = () => {
    const { name, engines, seats } = games.get(game.value);
    opponent.replaceChildren(...engines.map((engine) => el("option", { value: engine }, engine)), el("option", { value: PERSON }, seats > 2 ? t`other people, by links` : t`a second person, by a link`));
    opponent.value = FIRST_OPPONENT[name] ?? engines.at(-1) ?? PERSON;
    hintsLabel.hidden = !RULES.has(name);
    seat.replaceChildren(...Array.from({ length: seats }, (_, i) => el("option", { value: i + 1 }, i ? String(i + 1) : t`1, moves first`)));
  };
  game.addEventListener("change", fillFields);
  fillFields();
  const start = el("button", { type: "submit", class: "primary" }, t`Start the game`);
  const links = el("div", { role: "status" });
  const form = el("form", { class: "panel", onsubmit: async (event) => {
    event.preventDefault();
    start.disabled = true;
    const started = await onstart({ game: game.value, opponent: opponent.value, clock: clock.checked, seat: Number(seat.value), hints: hints.checked });
    start.disabled = false;
    if (started === null) return;
    const [own, ...others] = started.links;
    if (others.length) links.replaceChildren(linksPanel(own, others, take));
    else await take(own.key);
  } },
  el("h2", {}, t`Start a game`),
  el("div", { class: "filters" }, gameLabel, opponentLabel, seatLabel),
  el("p", { class: "checks" }, contestClock ? clockLabel : null, hintsLabel),
  el("p", { class: "sub" }, t`A regular game of this server, recorded and outside the standings. Without the clock a move may take 30 minutes.`),
  el("p", {}, start));
  return el("div", {}, form, links, await recent());
}

function linksPanel(own, others, take) {
  const row = ({ name, key }) => {
    const url = new URL(seatLink(key), location.href).href;
    const field = el("input", { type: "text", readonly: true, value: url, "aria-label": t`Link of ${name}`, onfocus: () => field.select() });
    const copy = el("button", { type: "button", onclick: async () => {
      field.focus();
      try { await navigator.clipboard.writeText(url); } catch { return; } // without permission it is selected
      copy.textContent = t`Copied`;
    } }, t`Copy`);
    return el("p", { class: "link-row" }, el("b", {}, name), field, copy);
  };
  return el("div", { class: "panel" }, el("h2", {}, t`The game waits for its players`),
    el("p", {}, others.length > 1 ? t`Send each of these links to one other person; a link works once.` : t`Send this link to the other person; it works once.`), ...others.map(row),
    el("p", {}, el("button", { type: "button", class: "primary", onclick: () => take(own.key) }, t`Take your seat as ${own.name}`)));
}

async function recent() {
  const { contests } = await get("played.json");
  if (!contests.length) return null;
  const row = (contest) => {
    const [game] = contest.rows;
    const names = contest.bots.join(" – ");
    const played = game ? el("a", { href: gameLink(contest.id, game[0], game[4]) }, names) : names;
    const end = game ? resultText(game[1].map((bot) => contest.bots[bot]), game[2], game[3]) : contest.status === "running" ? named("running") : t`not played`;
    return el("tr", {}, el("td", {}, contest.started_at.slice(0, 16).replace("T", " ")), el("td", {}, contest.game), el("td", { class: "name-cell" }, played), el("td", {}, end));
  };
  return el("section", { class: "panel" }, el("h2", {}, t`The latest games played here`),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...[t`Started`, t`Game`, t`Players`, t`Result`].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...contests.map(row)))));
}
