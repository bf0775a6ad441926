// Play on from a ply of a record: against the engine that sat there, or another one.

import { get } from "./api.js";
import { keptName, nameField } from "./casual.js";
import { el, gameLink, link, versus } from "./dom.js";
import { GameView } from "./gameview.js";
import { inRow } from "./locale.js";
import { calledNames } from "./people.js";
import { Timeline } from "./timeline.js";
import { t } from "./texts.js";

/** As the opponent: who sat in the other seats of the record. */
const SAME = "same";

/** The address of the form; `seat` is the one that is taken. */
export const playOnLink = (contest, game, ply, seat = null) =>
  link("play.html", { contest, game, ply, ...(seat === null ? {} : { seat }) });

/** What the address asks for, {contest, game, ply, seat}; null for an address of another kind. */
export function playOnWish(search) {
  const given = new URLSearchParams(search);
  const [contest, game, ply] = ["contest", "game", "ply"].map((name) => given.get(name));
  if (!contest || !game || !/^\d{1,6}$/.test(ply ?? "")) return null;
  const seat = Number(given.get("seat") ?? NaN);
  return { contest, game, ply: Number(ply), seat: Number.isInteger(seat) ? seat : null };
}

/**
 * Who can sit in the other seats than `seat`: the same engines as in the record, if all of them are some; `lacking` are
 * those that are none.
 */
export function opponents({ names, same }, seat) {
  const others = names.map((name, i) => ({ name, same: same[i], seat: i + 1 })).filter((each) => each.seat !== seat);
  const lacking = inRow(others.filter((each) => !each.same).map(({ name }) => name));
  return { names: inRow(others.map(({ name }) => name)), known: !lacking, lacking };
}

/** The form; `onstart` and `take` are those of `casualPart`. */
export async function playOnPart(wish, { onstart, take }) {
  const { contest, game, ply } = wish;
  const query = new URLSearchParams({ contest, game, ply });
  const home = `contests/${encodeURIComponent(contest)}`;
  const [found, offer, record, { called }] = await Promise.all([get(`play/on.json?${query}`), get("play/offer.json"),
    get(`${home}/records/${encodeURIComponent(game)}.json`), get(`${home}.json`)]);
  const source = { ...found, names: calledNames(found.names, called) };
  const timeline = Timeline.ofRecord(record);
  const engines = offer.games.find(({ name }) => name === source.game).engines;
  const name = nameField();
  // The seat to move if the others are engines of the house, else another one.
  const mover = timeline.toMove(ply);
  const wanted = [wish.seat, mover, ...source.names.map((_, i) => i + 1)]
    .filter((each) => each >= 1 && each <= source.names.length);
  const first = wish.seat ?? wanted.find((each) => opponents(source, each).known) ?? wanted[0];
  const seat = el("select", {}, ...source.names.map((each, i) =>
    el("option", { value: i + 1, selected: i + 1 === first }, t`${each} (seat ${i + 1})`)));
  const engine = el("select", {});
  const why = el("p", { class: "sub", role: "status" });
  const fill = () => {
    const { names, known, lacking } = opponents(source, Number(seat.value));
    why.textContent = known ? "" : t`No engine of this site: ${lacking}. Choose another one.`;
    engine.replaceChildren(...(known ? [el("option", { value: SAME }, t`${names}, as in the record`)] : []),
      ...engines.map((each) => el("option", { value: each, selected: !known && names === each }, each)));
  };
  seat.addEventListener("change", fill);
  fill();
  const hints = el("input", { type: "checkbox", checked: true });
  const start = el("button", { type: "submit", class: "primary" }, t`Play on`);
  const form = el("form", { class: "panel start-form", onsubmit: async (event) => {
    event.preventDefault();
    start.disabled = true;
    const started = await onstart({ game: source.game, opponent: engine.value, clock: false, hints: hints.checked,
      seat: Number(seat.value), name: keptName(name), from: { contest, game, ply } });
    start.disabled = false;
    if (started !== null) await take(started.links[0].key);
  } },
  el("div", { class: "start-fields" },
    el("h2", {}, t`Play on from ply ${ply} of ${game}`),
    el("p", {}, el("a", { href: gameLink(contest, game, ply) }, versus(source.names))),
    el("div", { class: "filters" }, el("label", {}, t`In the place of`, seat), el("label", {}, t`Against`, engine),
      el("label", {}, t`Your name`, name)), why,
    el("label", { class: "check" }, hints,
      el("span", {}, timeline.rules ? t`With hints, and moves may be taken back` : t`Moves may be taken back`)),
    el("p", {}, start),
    el("p", { class: "sub" },
      t`The same deal and the moves up to there, then a game of its own: recorded, and outside the standings.`)),
  el("div", { class: "preview", "aria-hidden": "true" }, boardAt(timeline, ply)));
  return form;
}

function boardAt(timeline, ply) {
  const { board } = new GameView(timeline);
  board.compact();
  board.show(timeline.position(ply), timeline.ply(ply));
  return board.element;
}
