// Games that a visitor starts: the form, the links that it gives, and the latest games that were played.

import { get } from "./api.js";
import { makeBoard } from "./boards.js";
import { copyButton } from "./copy.js";
import {
  bdi, cardTable, clockText, dateText, el, gameLink, labelled, link, NO_CLOCK_MS, resultText, versus,
} from "./dom.js";
import { calledNames } from "./people.js";
import { makeGame, RULES } from "./rules.js";
import { gameName, named, t } from "./texts.js";
import { summaryPosition } from "./wall.js";

const PERSON = "person";
const ANY = "any";
/** Engines of three strengths for people, where those of the whole list are too close or too strong. */
const STRENGTHS = { insertion: ["random", "greedy", "master"] };
const NAME = "arena-name";
/** In units of UTF-16; the server counts what a reader sees. */
const LONGEST_TYPED = 160;

export const seatLink = (key) => link("play.html", {}, key);

/** An easy, a medium and a strong engine of a game, empty without three; `engines` are from weak to strong. */
function strengthsOf({ name, engines }) {
  const chosen = STRENGTHS[name] ?? [engines[0], engines[Math.floor(engines.length / 2)], engines.at(-1)];
  const words = [t`Easy`, t`Medium`, t`Strong`];
  const found = chosen.map((engine, i) => [engine, words[i]])
    .filter(([engine], i) => engines.includes(engine) && chosen.indexOf(engine) === i);
  return found.length === words.length ? found : [];
}

function previewBoard({ preview, seats }) {
  const rules = RULES.has(preview.game) ? makeGame(preview.game, preview.options, seats) : null;
  const board = makeBoard(rules, preview.layout);
  board.compact();
  board.show(summaryPosition(rules, preview), null);
  return board.element;
}

/** A field for the name of a person, with the one that was kept. */
export function nameField() {
  const field = el("input",
    { type: "text", maxlength: LONGEST_TYPED, size: 20, dir: "auto", autocomplete: "nickname" });
  try { field.value = localStorage.getItem(NAME) ?? ""; } catch { /* storage may be forbidden */ }
  return field;
}

/** The name in such a field, which is kept. */
export function keptName(field) {
  try { localStorage.setItem(NAME, field.value); } catch { /* the name lasts for this game */ }
  return field.value;
}

/** `onstart(wish)` starts a game and returns {contest, links: [{name, key}]}; `take(key)` takes the first seat. */
export async function casualPart({ onstart, take }) {
  const offer = await get("play/offer.json");
  const games = new Map(offer.games.map((game) => [game.name, game]));
  const select = (label, options = []) => {
    const field = el("select", {}, ...options.map(([value, text]) => el("option", { value }, text)));
    return [field, el("label", {}, label, field)];
  };
  const box = (text, checked) => {
    const field = el("input", { type: "checkbox" });
    const said = el("span", {}, text);
    field.checked = checked;
    return [field, el("label", { class: "check" }, field, said), said];
  };
  const [game, gameLabel] = select(t`Kind of game`, offer.games.map(({ name: key, title }) => [key, named(title)]));
  const name = nameField();
  const [seat, seatLabel] = select(t`Your seat`);
  const choices = el("div", { class: "choices" });
  const [engine, engineLabel] = select(t`Engine, from weak to strong`);
  const engines = el("div", { class: "filters" }, engineLabel);
  const contestClock = offer.clock_ms < NO_CLOCK_MS;
  const increment = offer.increment_ms ? t` + ${offer.increment_ms / 1000} s per move` : "";
  const [clock, clockLabel] =
    box(t`With the contest's clock (${clockText(offer.clock_ms)} per seat${increment})`, false);
  const [hints, hintsLabel, hintsText] = box("", true);
  const preview = el("div", { class: "preview", "aria-hidden": "true" });
  const opponent = () => {
    const chosen = choices.querySelector("input:checked")?.value;
    return chosen === ANY ? engine.value : chosen;
  };
  const showOpponent = () => {
    engines.hidden = choices.querySelector("input:checked")?.value !== ANY;
    hintsText.textContent = !RULES.has(game.value) ? t`Moves may be taken back` : opponent() === PERSON ? t`With hints`
      : t`With hints, and moves may be taken back`;
    hintsLabel.hidden = opponent() === PERSON && !RULES.has(game.value);
  };
  const fillFields = () => {
    const chosen = games.get(game.value);
    const strengths = strengthsOf(chosen);
    const options = [...strengths.map(([value, word]) => [value, word, value]),
      ...(chosen.engines.length ? [[ANY, t`Another engine`, ""]] : []),
      [PERSON, chosen.seats > 2 ? t`Other people` : t`A second person`, t`by a link`]];
    const first = strengths.length ? strengths[1][0] : options[0][0];
    choices.replaceChildren(...options.map(([value, text, more]) => {
      const field = el("input", { type: "radio", name: "opponent", value, onchange: showOpponent });
      field.checked = value === first;
      return el("label", { class: "choice" }, field, el("b", {}, text),
        more ? el("span", { class: "sub" }, more) : null);
    }));
    engine.replaceChildren(...chosen.engines.map((each) => el("option", { value: each }, each)));
    engine.value = chosen.engines.at(-1) ?? "";
    seat.replaceChildren(...Array.from({ length: chosen.seats },
      (_, i) => el("option", { value: i + 1 }, i ? String(i + 1) : t`1, moves first`)));
    preview.replaceChildren(previewBoard(chosen));
    showOpponent();
  };
  game.addEventListener("change", fillFields);
  fillFields();
  const start = el("button", { type: "submit", class: "primary" }, t`Start the game`);
  const links = el("div", { role: "status" });
  const form = el("form", { class: "panel start-form", onsubmit: async (event) => {
    event.preventDefault();
    start.disabled = true;
    const started =
      await onstart({ game: game.value, opponent: opponent(), clock: clock.checked, seat: Number(seat.value),
        hints: hints.checked, name: keptName(name) });
    start.disabled = false;
    if (started === null) return;
    const [own, ...others] = started.links;
    if (others.length) links.replaceChildren(linksPanel(own, others, take));
    else await take(own.key);
  } },
  el("div", { class: "start-fields" },
    el("h2", {}, t`Start a game`),
    el("div", { class: "filters" }, gameLabel, el("label", {}, t`Your name`, name), seatLabel),
    el("fieldset", {}, el("legend", {}, t`Opponent`), choices, engines),
    el("div", { class: "checks" }, contestClock ? clockLabel : null, hintsLabel),
    el("p", {}, start),
    el("p", { class: "sub" },
      t`A regular game of this server, recorded and outside the standings. Without the clock a move may take 30 minutes.`)),
  preview);
  return el("div", {}, links, form, await recent());
}

function linksPanel(own, others, take) {
  const row = ({ name, key }) => {
    const url = new URL(seatLink(key), location.href).href;
    const field = el("input",
      { type: "text", readonly: true, value: url, "aria-label": t`Link of ${name}`, onfocus: () => field.select() });
    return el("p", { class: "link-row" }, el("b", {}, bdi(name)), field, copyButton(url));
  };
  return el("div", { class: "panel" }, el("h2", {}, t`The game waits for its players`),
    el("p", {},
      others.length > 1 ? t`Send each of these links to one other person; a link works once.`
        : t`Send this link to the other person; it works once.`), ...others.map(row),
    el("p", {},
      el("button", { type: "button", class: "primary", onclick: () => take(own.key) },
        t`Take your seat as ${own.name}`)));
}

async function recent() {
  const { contests } = await get("played.json");
  if (!contests.length) return null;
  const heads = [t`Started`, t`Kind of game`, t`Players`, t`Result`];
  const row = (contest) => {
    // Those before have been broken off: a move was taken back.
    const game = contest.rows.at(-1);
    const bots = calledNames(contest.bots, contest.called);
    const names = versus(bots);
    const played = game ? el("a", { class: "whole", href: gameLink(contest.id, game[0], game[4]) }, names) : names;
    const back = contest.rows.length > 1 ? ` (${t`moves taken back: ${contest.rows.length - 1}`})` : "";
    const end = game ? resultText(game[1].map((bot) => bots[bot]), game[2], game[3], !contest.decided)
      : contest.status === "running" ? named("running") : t`not played`;
    return el("tr", { class: "row" }, ...labelled(heads, [
      el("td", { class: "nowrap" }, dateText(Date.parse(contest.started_at) / 1000)),
      el("td", {}, gameName(contest)), el("td", { class: "name-cell" }, played), el("td", {}, `${end}${back}`)]));
  };
  return el("section", { class: "panel" }, el("h2", {}, t`The latest games played here`),
    el("div", { class: "scroll" }, cardTable(heads, contests.map(row))));
}
