// Which running game /tv shows.

/** A game stays at least this long, and another one has to be this much better. */
const STAY_MS = 20_000;
const BETTER = 1.3;
/** Points gained within this time count as action. */
export const RECENT_MS = 15_000;

/**
 * How interesting a game is: close, far on, and with points being made. `gains` are [time, points] of the last
 * moments, `plies` is the length of the game if it is known.
 */
export function interest(game, gains, now, plies) {
  if (game.end) return 0;
  const sorted = [...game.totals].sort((a, b) => b - a);
  const closeness = 1 - (sorted[0] - sorted[1]) / (sorted[0] + sorted[1] + 100);
  const progress = plies ? game.ply / plies : Math.min(1, game.ply / 100);
  const action = gains.filter(([at]) => now - at < RECENT_MS).reduce((sum, [, points]) => sum + points, 0) / 100;
  return 0.2 + closeness * (0.3 + progress) + Math.min(1, action);
}

/** The number of a game of the schedule: that of g26 is 26; null of any other game. */
export function numberOf(id) {
  const found = /^g(\d+)$/.exec(id);
  return found ? Number(found[1]) : null;
}

/** The first game of the schedule behind those that run (`ids`); null without one. `rows` are [id, seats]. */
export function plannedAfter(rows, ids) {
  const last = Math.max(0, ...ids.map(numberOf));
  return rows.find(([id]) => numberOf(id) > last) ?? null;
}

/** Which game to show: `shown` is {id, since} or null, `scores` are by game. The current one has an advantage. */
export function choose(shown, scores, now) {
  const best = [...scores].reduce((a, b) => (b[1] > a[1] ? b : a), [null, 0]);
  if (shown === null || !scores.has(shown.id)) return best[0];
  const current = scores.get(shown.id);
  return now - shown.since < STAY_MS || best[1] <= BETTER * current ? shown.id : best[0];
}
