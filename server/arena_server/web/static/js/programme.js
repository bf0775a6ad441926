// What /tv shows while no game runs: the best moments of the contest, one after another.

import { get, getBytes } from "./api.js";
import { el, gameLink } from "./dom.js";
import { GameError } from "./gameerror.js";
import { highlightTexts, loadHighlights } from "./highlights.js";
import { decodeRecord } from "./record.js";
import { RULES } from "./rules.js";
import { Timeline } from "./timeline.js";
import { Screen } from "./tv-screen.js";

/** How long a ply is shown, and the last one of a moment. */
const PLY_MS = 1200;
const LAST_MS = 6000;
/** The plies of a moment before and after that which is the highlight; of a result those before it. */
const BEFORE = 6;
const AFTER = 4;
const END = 12;

/** The first and the last ply that are shown of a highlight, of a game of `length` plies. */
export function momentOf({ kind, ply }, length) {
  if (kind === "upset" || kind === "day" || !ply) return [Math.max(0, length - END), length];
  return [Math.max(0, Math.min(ply, length) - BEFORE), Math.min(length, ply + AFTER)];
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

async function timelineOf(contest, game) {
  const path = `contests/${encodeURIComponent(contest)}/records/${encodeURIComponent(game)}`;
  const record = decodeRecord(await getBytes(`${path}.record`));
  if (!RULES.has(record.game)) record.scenes = (await get(`${path}.json`)).scenes;
  return Timeline.ofRecord(record);
}

/** Shows the highlights of `contest` by `show(screen)`, again and again, as long as `wanted()` holds. */
export async function playHighlights(contest, show, wanted) {
  while (wanted()) {
    const { highlights = [] } = await loadHighlights(contest) ?? {};
    let isEmpty = true;
    for (const found of highlights) {
      const timeline = await timelineOf(contest, found.game).catch((error) => {
        if (error instanceof GameError || error.status !== undefined) return null;
        throw error;
      });
      if (!wanted()) return;
      if (timeline === null) continue;
      const [title, text] = highlightTexts(found);
      const screen = new Screen(timeline, { address: gameLink(contest, found.game, found.ply), announced: false,
        caption: el("p", { class: "tv-caption", role: "status" }, el("b", {}, title), " ", text) });
      show(screen);
      isEmpty = false;
      const [first, last] = momentOf(found, timeline.length);
      for (let ply = first; ply <= last; ply++) {
        screen.show(ply);
        await pause(ply === last ? LAST_MS : PLY_MS);
        if (!wanted()) return;
      }
    }
    // Of a contest without any there may be some later, and a server that is away comes back.
    if (isEmpty) await pause(LAST_MS * 5);
  }
}
