// What has happened in a game, as a sentence.

import { plural, resultText } from "./dom.js";
import { t } from "./texts.js";

/** Who played what, and what it brought: "greedy plays 12, 30 points"; `ply` is not the start. */
export function playText(timeline, ply) {
  const { seat, move, zombie, points } = timeline.ply(ply);
  const name = seat ? timeline.info.names[seat - 1] : t`the server`;
  const by = zombie ? t` (played by the server)` : "";
  const gained = timeline.decided ? "" : `, ${plural(points, "point")}`;
  const { waves } = timeline.steps[ply];
  const cascade = waves > 1 ? t` in ${waves} waves` : "";
  return `${t`${name} plays ${move}`}${by}${gained}${cascade}`;
}

/** The result at the ply where the game is over, or null. */
export function overText(timeline, ply) {
  if (timeline.end === null || ply !== timeline.length) return null;
  return `${resultText(timeline.info.names, timeline.points(ply), timeline.end, !timeline.decided)}.`;
}
