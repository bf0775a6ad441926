// The replay of a record: a game view with a link per ply, a download, and the check in a worker.

import { ApiError } from "./api.js";
import { el, errorBox, numberText, pliesText } from "./dom.js";
import { GameError } from "./gameerror.js";
import { gameHead, GameView } from "./gameview.js";
import { shareMenu } from "./share.js";
import { inWorker } from "./thread.js";
import { Timeline } from "./timeline.js";
import { named, t } from "./texts.js";

/**
 * The head is checked at once in contests of at most this many games, else on demand: it takes the digests of all
 * records.
 */
const CHAINED_AT_ONCE = 2000;

/**
 * Show a record in `host`, with the links `ways` to other games and the menu that shares it unless `share` is false.
 * `download` is the address of its file, or null. `proof` is what its contest says of it:
 * {bytes, listed, place, games, head, digests}; `head` is null before it is published, `digests()` loads the chain.
 * `notes` are elements about the result; `called` has the names of visitors that
 * are none of the record, `title` is what people call the game.
 */
export function showRecord(host, record, options = {}) {
  const { download = null, botLink, proof = null, back = null, ways = [], share = true, embed = null } = options;
  const { address, card, notes = [], called = {}, title } = options;
  let timeline;
  try {
    timeline = Timeline.ofRecord(record);
    timeline.call(called);
  } catch (error) {
    if (!(error instanceof GameError)) throw error;
    host.replaceChildren(errorBox(t`This record cannot be played`, error.message));
    return null;
  }
  const { names } = timeline.info;
  const view = new GameView(timeline, { botLink: botLink && ((name) => botLink(record.names[names.indexOf(name)])) });
  view.drawLines();
  const game =
    t`${record.contest}, game ${record.game_id}: ${named(title ?? record.game)}, ${pliesText(record.plies.length)}`;
  const more = ways.filter((way) => way.classList.contains("same"));
  const menu = share ? shareMenu(view, record, { download, embed, more, address, card }) : null;
  host.replaceChildren(
    gameHead(names, game, { back, tools: share ? [...ways, menu] : [] }), ...notes,
    view.element, placeLines(record, names));
  view.onply = (ply) => { if (!view.playing) history.replaceState(null, "", `#ply=${ply}`); };
  document.addEventListener("keydown", (event) => { if (host.contains(view.element)) view.key(event); });
  const wanted = /^#ply=(\d{1,6})$/.exec(location.hash);
  if (wanted) view.go(Number(wanted[1]));
  addEventListener("hashchange", () => {
    const ply = /^#ply=(\d{1,6})$/.exec(location.hash);
    if (ply && Number(ply[1]) !== view.ply) view.jump(Number(ply[1]));
  });
  check(record, view, proof, proof !== null && proof.games <= CHAINED_AT_ONCE);
  return view;
}

/** Where the game was played, if that was not the server, and what bots got of the processor. */
function placeLines(record, names) {
  const bound = record.cores ? t`bound to cores ${record.cores}` : "";
  const speed = record.bench ? t`${numberText(record.bench)} plies/s before its first game` : "";
  const place = record.worker
    ? [t`Played by worker ${record.worker} on ${record.host}`, record.cpu, bound, speed].filter(Boolean).join(", ")
    : "";
  const ms = (value) => value === null ? "?" : t`${numberText(value)} ms`;
  return el("div", { class: "sub places" }, place === "" ? null : el("p", {}, place),
    ...record.images.slice(0, record.names.length).map((image, i) =>
      image === "-" ? null : el("p", {}, t`${names[i]}: image ${image}`)),
    ...record.usage.map(({ seat, used_ms: used, throttled_ms: held, pressure_ms: waited }) =>
    el("p", {},
      t`${names[seat - 1]}: ${ms(used)} of processor time, ${ms(held)} held back by its own limit, ${ms(waited)} kept waiting by a busy machine`)));
}

async function check(record, view, proof, whole) {
  view.showVerdict(undefined);
  const chained = whole && proof.head !== null;
  let chain = null;
  try {
    if (chained) chain = { digests: await proof.digests(), place: proof.place, head: proof.head };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return view.showVerdict(t`The chain of the contest cannot be read: ${error.message}.`);
  }
  let found = null;
  try {
    found = await inWorker({ record, bytes: proof?.bytes, listed: proof?.listed, chain });
  } catch {
    found = { problem: t`The check could not be started.` };
  }
  const more = proof === null || chained || proof.head === null ? null : () => check(record, view, proof, true);
  view.showVerdict(found.problem, { text: coverage(proof, chained, view.timeline.rules !== null), more });
  return undefined;
}

/** What a check that found nothing wrong has covered; without `rules` no move was played here. */
function coverage(proof, chained, rules) {
  const checked = rules ? t`deal, moves, points and clocks are as recorded` : t`clocks and faults are as recorded`;
  const left = rules ? "" : t` Moves and points are not checked here: arena verify does that.`;
  if (proof === null) return t`${checked}.${left} A file alone does not prove its names.`;
  const listed = proof.listed.totals ? t`names and result are as the contest lists them; ${checked}`
    : t`names are as the contest lists them, its result is not that of the record; ${checked}`;
  if (!chained) return `${listed}.${left}`;
  const [first, last] = [proof.head.slice(0, 8), proof.head.slice(-8)];
  const [place, games] = [numberText(proof.place + 1), numberText(proof.games)];
  return `${listed}${t`; record ${place} of the ${games} under the head ${first}…${last}`}.${left}`;
}
