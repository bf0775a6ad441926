// A move to suggest: a search over the rules that the browser has, for some tenths of a second.

import { GameError } from "./gameerror.js";

const LIMIT_MS = 300;
const DEEPEST = 12;

class OutOfTime extends Error {}

/** The best move found for the seat to move, by its points less the best of the others; null without a move. */
export function hint(rules, position, limit = LIMIT_MS) {
  const until = performance.now() + limit;
  const seat = rules.toMove(position);
  let moves = rules.moves(position);
  let best = moves[0] ?? null;
  for (let depth = 1; depth <= DEEPEST; depth++) {
    const values = new Map();
    try {
      let alpha = -Infinity;
      for (const move of moves) {
        const value = search(rules, next(rules, position, move), seat, depth - 1, alpha, Infinity, until);
        values.set(move, value);
        if (value > alpha) [alpha, best] = [value, move];
      }
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error;
      return best;
    }
    moves = [...moves].sort((a, b) => values.get(b) - values.get(a));
    best = moves[0] ?? null;
    if (!foreseeable(rules, position, depth)) break;
  }
  return best;
}

/** The position after `move`; null where it depends on a picture that is not known yet. */
function next(rules, position, move) {
  try {
    return rules.play(position, move).position;
  } catch (error) {
    if (error instanceof GameError) return null;
    throw error;
  }
}

function foreseeable(rules, position, depth) {
  return rules.visible === undefined || depth < rules.visible(position).length;
}

function value(rules, position, seat) {
  const totals = rules.totals(position);
  return totals[seat - 1] - Math.max(...totals.filter((_, i) => i !== seat - 1));
}

function search(rules, position, seat, depth, alpha, beta, until) {
  if (performance.now() > until) throw new OutOfTime();
  if (position === null) return alpha === -Infinity ? 0 : alpha;
  if (depth === 0 || rules.end(position) !== null) return value(rules, position, seat);
  const own = rules.toMove(position) === seat;
  let best = own ? -Infinity : Infinity;
  for (const move of rules.moves(position)) {
    const after = next(rules, position, move);
    const found = after === null ? value(rules, position, seat)
      : search(rules, after, seat, depth - 1, alpha, beta, until);
    if (own) {
      best = Math.max(best, found);
      alpha = Math.max(alpha, best);
    } else { best = Math.min(best, found); beta = Math.min(beta, best); }
    if (alpha >= beta) break;
  }
  return best;
}
