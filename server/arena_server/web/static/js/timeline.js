// A game ply by ply: the positions follow from the moves, or where this page does not have the rules they are scenes
// that come with the game. A record gives all of it at once, a live stream adds to it.

import { GameError } from "./gameerror.js";
import { calledNames } from "./people.js";
import { makeGame, RULES } from "./rules.js";

/** Decisive plies by their points, beside the one from which the winner led. */
const MOST_DECISIVE = 5;
/** In a longer game better moves are not looked for: a ply takes some 0.1 ms. */
const MOST_SEARCHED = 5000;

/** The seat with the most points; null if several have them. */
function leaderOf(totals) {
  const most = Math.max(...totals);
  return totals.filter((total) => total === most).length === 1 ? totals.indexOf(most) + 1 : null;
}

/** What a bot's evaluation says, from -1 to 1: half at a size that a quarter of its numbers (`all`) stays below. */
function leaning(value, all) {
  const sizes = all.map(Math.abs).filter(Boolean).sort((a, b) => a - b);
  return value ? value / (Math.abs(value) + sizes[Math.floor(sizes.length / 4)]) : 0;
}

/** Whether these are the seats of a game of an anonymous contest that runs: player-1, player-2, who are no bots. */
export const isAnonymous = (names) => names.every((name, i) => name === `player-${i + 1}`);

export class Timeline {
  /**
   * `game` has {game_id, contest, game, options, names, clock_ms, board, sequence}, and {layout, scene, to_move} for a
   * game without rules here. Throws GameError.
   */
  constructor(game) {
    this.info = game;
    /** Null without rules here. */
    this.rules = RULES.has(game.game) ? makeGame(game.game, game.options, game.names.length) : null;
    if (this.rules === null && !game.layout) {
      throw new GameError(
        `Its file has no positions, and this page has no rules of ${game.game}. Open what “arena replay GAME --html FILE” or “--json” has written.`);
    }
    /** Whether it is only won, drawn or lost: its points say no more. */
    this.decided = Boolean(game.decided);
    this.plies = [];
    this.faults = [];
    /**
     * Notes of the bots, {seat, ply, depth, eval, nodes, line, text}, as they came; what one does not say is null or
     * absent.
     */
    this.notes = [];
    this.end = null;
    this.totals = null;
    this.record = null;
    /** The plies at which a cascade began: two or more waves. */
    this.cascades = [];
    this.steps = [this.rules === null ? { position: game.scene, toMove: game.to_move }
      : { position: this.rules.start(game) }];
    // Of every other one also the position `before` it, by which a board knows whether it can begin there.
  }

  /** All of a record; of one with an impossible ply the plies before it. Throws GameError for an impossible start. */
  static ofRecord(record) {
    const timeline = new Timeline({ ...record, ...record.scenes });
    try {
      const shown = timeline.rules === null ? record.scenes.after.map((scene, i) => ({ ...record.plies[i], ...scene }))
        : record.plies;
      for (const ply of shown) timeline.add(ply);
    } catch (error) {
      if (!(error instanceof GameError)) throw error;
    }
    timeline.faults = record.faults;
    timeline.notes = record.infos;
    timeline.end = record.end;
    timeline.totals = record.totals;
    timeline.record = record;
    return timeline;
  }

  /** Show names of the players in the place of those of the protocol, by these. */
  call(called) {
    this.info = { ...this.info, names: calledNames(this.info.names, called) };
  }

  get length() {
    return this.plies.length;
  }

  /**
   * Add a ply {seat, move, time_ms, clock, points, total, zombie}, with {scene, to_move} without rules, and the picture
   * that it reveals.
   */
  add(ply, revealed = null) {
    const before = this.steps.at(-1).position;
    const step = { before,
      ...(this.rules === null ? { position: ply.scene, toMove: ply.to_move } : this.rules.play(before, ply.move)) };
    if (this.rules !== null && revealed !== null) step.position = this.rules.extend(step.position, revealed);
    this.steps.push(step);
    this.plies.push(ply);
    if (step.waves > 1) this.cascades.push(this.plies.length);
  }

  position(ply) {
    return this.steps[ply].position;
  }

  /** The ply that led to the position after ply number `number`; null at the start. */
  ply(number) {
    return number ? this.plies[number - 1] : null;
  }

  clocks(number) {
    return number ? this.plies[number - 1].clock : this.info.names.map(() => this.info.clock_ms);
  }

  points(number) {
    if (this.totals !== null && number === this.length) return this.totals;
    return number ? this.plies[number - 1].total : this.info.names.map(() => 0);
  }

  /** The seat that has won the game at ply `number`; null before its end and without a winner. */
  winner(number) {
    return number === this.length && this.end !== null && this.end !== "void" ? leaderOf(this.points(number)) : null;
  }

  /** The fault of `seat` known at ply `number`: the first one up to the ply that is due then. */
  fault(seat, number) {
    const over = number === this.length && this.end !== null;
    const known = this.faults.filter((fault) => fault.seat === seat && (fault.ply <= number || over));
    return known.length ? known.reduce((a, b) => b.ply < a.ply ? b : a) : null;
  }

  /** What `seat` last said about a ply up to `number`: the notes about that ply in one, a later one first; or null. */
  note(seat, number) {
    const known = this.notes.filter((note) => note.seat === seat && note.ply <= number);
    const ply = Math.max(...known.map((note) => note.ply));
    const said = known.filter((note) => note.ply === ply)
      .map((note) => Object.entries(note).filter(([, value]) => value !== null));
    return said.length ? Object.fromEntries(said.flat()) : null;
  }

  /**
   * The plies that decided the points of a game that is over, as `arena why` has them: {ply, seat, points, leads}, in
   * order. `leads`
   * is the winner at the ply from which it led to the end, the others have the most points; of equal ones the later. Of
   * a game that is
   * only won or lost `wins` is its winner at the last ply, `seen` at the ply from which the bots saw it ahead.
   */
  decisive() {
    if (this.end === null || this.end === "void" || !this.length) return [];
    return this.decided ? this.#deciding() : this.#scoring();
  }

  /**
   * Of a game that is only won or lost: the ply from which the bots saw its winner ahead to the end, and the last one.
   */
  #deciding() {
    const winner = leaderOf(this.points(this.length));
    if (winner === null || this.end === "forfeit") return [];
    const sign = winner === 1 ? 1 : -1;
    let seen = this.length + 1;
    while (seen > 1 && sign * this.evaluation(seen - 1) > 0) seen--;
    const found = (number, more) => {
      const { seat, move, points } = this.ply(number);
      return { ply: number, seat, move, points, leads: null, ...more };
    };
    return [...(seen < this.length ? [found(seen, { seen: winner })] : []), found(this.length, { wins: winner })];
  }

  #scoring() {
    const leaders = this.plies.map((ply) => leaderOf(ply.total));
    const winner = leaderOf(this.points(this.length));
    let led = this.length;
    while (led > 1 && leaders[led - 2] === winner) led--;
    const chosen = new Set(this.plies.map((ply, i) => [ply.points, i + 1]).filter(([points]) => points)
      .sort((a, b) => b[0] - a[0] || b[1] - a[1]).slice(0, MOST_DECISIVE).map(([, ply]) => ply));
    // A verdict may give the points to a seat that never led.
    const leads = winner !== null && leaders.at(-1) === winner ? led : null;
    if (leads !== null) chosen.add(leads);
    return [...chosen].sort((a, b) => a - b).map((number) => {
      const ply = this.ply(number);
      return { ply: number, seat: ply.seat, move: ply.move, points: ply.points,
        leads: number === leads ? winner : null };
    });
  }

  /**
   * The own moves of bots that most left behind at once, as `arena why` has them: {ply, seat, move, points, best,
   * most}, in order.
   */
  missed() {
    if (this.end === null || this.end === "void" || this.rules === null || this.length > MOST_SEARCHED) return [];
    this.searched ??= this.plies.flatMap(({ seat, move, points, zombie }, i) => {
      if (zombie) return [];
      const { position } = this.steps[i];
      let [best, most] = [null, points];
      for (const other of this.rules.moves(position)) {
        const gain = this.rules.play(position, other).points;
        if (gain > most) [best, most] = [other, gain];
      }
      return best === null ? [] : [{ ply: i + 1, seat, move, points, best, most }];
    }).sort((a, b) => (b.most - b.points) - (a.most - a.points) || a.ply - b.ply).slice(0, MOST_DECISIVE)
      .sort((a, b) => a.ply - b.ply);
    return this.searched;
  }

  /**
   * From -1 (seat 2 wins) to 1 (seat 1 wins): the mean of what the bots last noted up to `number`; null without such
   * notes.
   */
  evaluation(number) {
    if (this.info.names.length !== 2) return null;
    const said = [1, 2].flatMap((seat) => {
      const own = this.notes.filter((note) => note.seat === seat && Number.isFinite(note.eval));
      const last = own.findLast((note) => note.ply <= number);
      if (last === undefined) return [];
      return [(seat === 1 ? 1 : -1) * leaning(last.eval, own.map((note) => note.eval))];
    });
    return said.length ? said.reduce((sum, value) => sum + value, 0) / said.length : null;
  }

  /**
   * What a bot expects from the position after ply `number` on, {seat, ply, moves}: the rest of the line of the newest
   * note that the game has followed so far; null without one, and at the end.
   */
  expected(number) {
    if (this.end !== null && number === this.length) return null;
    let found = null;
    for (const note of this.notes) {
      if (!note.line || note.ply > number + 1 || note.ply < (found?.ply ?? 1)) continue;
      const line = note.line.split(",");
      const played = this.plies.slice(note.ply - 1, number);
      const follows = played.length < line.length && played.every(({ move }, i) => move === line[i]);
      if (follows) found = { seat: note.seat, ply: note.ply, moves: line.slice(played.length) };
    }
    return found;
  }

  /**
   * The first ply, {ply, values}, about which two bots disagree: each sees itself ahead, or each itself behind, by what
   * they noted about plies at most a move of both apart. `values` are by seat, each for itself. Null without one.
   */
  disagreement() {
    if (this.info.names.length !== 2) return null;
    const last = [null, null];
    for (const note of this.notes.toSorted((a, b) => a.ply - b.ply)) {
      if (!Number.isFinite(note.eval)) continue;
      last[note.seat - 1] = note;
      const [first, second] = last;
      if (first === null || second === null || Math.abs(first.ply - second.ply) > 2) continue;
      if (first.eval * second.eval > 0) return { ply: note.ply, values: [first.eval, second.eval] };
    }
    return null;
  }

  toMove(number) {
    if (this.end !== null && number === this.length) return null;
    return this.rules === null ? this.steps[number].toMove : this.rules.toMove(this.position(number));
  }
}
