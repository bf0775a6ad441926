// The games of a contest that were played on the same deal, from every seat.

import { get } from "./api.js";
import { link } from "./dom.js";

/** The address of the page that shows games of one deal beside each other. */
export const pairLink = (contest, game, other = "") => link("pair.html", { contest, game, with: other });

/** The chunks that were loaded, each for a number of games: a game that is over adds to the row of an earlier one. */
const loaded = new Map();

/**
 * By the game at place `place` of the list, and those of its chunk: the other games on its deal. A game whose record is
 * not shown yet has none, and so has every game of a contest with fresh deals.
 */
export async function loadPairs(contest, place) {
  if (!contest.paired) return new Map();
  const path = `contests/${contest.id}/pairs-${Math.floor(place / contest.list.chunk)}.json`;
  const state = `${contest.list.games} ${contest.status} ${contest.changes}`;
  if (loaded.get(path)?.state !== state) {
    // A site that an earlier version has written has no such file.
    const found = get(path).then((rows) => new Map(rows), () => new Map());
    loaded.set(path, { state, found });
  }
  return loaded.get(path).found;
}
