// A game ply by ply: the positions follow from the moves, or where this page does not have the rules they are scenes
// that come with the game. A record gives all of it at once, a live stream adds to it.

import { GameError } from "./gameerror.js";
import { makeGame, RULES } from "./rules.js";

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
      throw new GameError(`Its file has no positions, and this page has no rules of ${game.game}. Open what “arena replay GAME --html FILE” or “--json” has written.`);
    }
    this.plies = [];
    this.faults = [];
    /** Notes of the bots, {seat, ply, depth, eval, nodes, line, text}, as they came; what one does not say is null or absent. */
    this.notes = [];
    this.end = null;
    this.totals = null;
    this.record = null;
    /** The plies at which a cascade began: two or more waves. */
    this.cascades = [];
    this.steps = [this.rules === null ? { position: game.scene, toMove: game.to_move } : { position: this.rules.start(game), phases: [] }];
  }

  /** All of a record; of one with an impossible ply the plies before it. Throws GameError for an impossible start. */
  static ofRecord(record) {
    const timeline = new Timeline({ ...record, ...record.scenes });
    try {
      const shown = timeline.rules === null ? record.scenes.after.map((scene, i) => ({ ...record.plies[i], ...scene })) : record.plies;
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

  get length() {
    return this.plies.length;
  }

  /** Add a ply {seat, move, time_ms, clock, points, total, zombie}, with {scene, to_move} without rules, and the picture that it reveals. */
  add(ply, revealed = null) {
    const { position } = this.steps.at(-1);
    const step = this.rules === null ? { position: ply.scene, toMove: ply.to_move } : this.rules.play(position, ply.move);
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
    const said = known.filter((note) => note.ply === ply).map((note) => Object.entries(note).filter(([, value]) => value !== null));
    return said.length ? Object.fromEntries(said.flat()) : null;
  }

  toMove(number) {
    if (this.end !== null && number === this.length) return null;
    return this.rules === null ? this.steps[number].toMove : this.rules.toMove(this.position(number));
  }
}
