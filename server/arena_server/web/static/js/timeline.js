// A game ply by ply: the positions follow from the moves. A record gives all of it at once, a live stream
// adds to it.

import { GameError } from "./games/base.js";
import { makeGame } from "./rules.js";

export class Timeline {
  /** `game` has {game_id, contest, game, options, names, clock_ms, board, sequence}. */
  constructor(game) {
    this.info = game;
    this.rules = makeGame(game.game, game.options, game.names.length);
    this.plies = [];
    this.faults = [];
    this.notes = [];
    this.end = null;
    this.totals = null;
    this.record = null;
    /** The plies at which a cascade began: two or more waves. */
    this.cascades = [];
    this.steps = [{ position: this.rules.start(game), phases: [] }];
  }

  /** All of a record; of one with an impossible ply the plies before it. Throws GameError for an impossible start. */
  static ofRecord(record) {
    const timeline = new Timeline(record);
    try {
      for (const ply of record.plies) timeline.add(ply);
    } catch (error) {
      if (!(error instanceof GameError)) throw error;
    }
    timeline.faults = record.faults;
    timeline.notes = record.notes ?? [];
    timeline.end = record.end;
    timeline.totals = record.totals;
    timeline.record = record;
    return timeline;
  }

  get length() {
    return this.plies.length;
  }

  /** Add a ply {seat, move, time_ms, clock, points, total, zombie}, and the picture that it reveals. */
  add(ply, revealed = null) {
    const { position } = this.steps.at(-1);
    const step = this.rules.play(position, ply.move);
    if (revealed !== null) step.position = this.rules.extend(step.position, revealed);
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

  toMove(number) {
    return this.end !== null && number === this.length ? null : this.rules.toMove(this.position(number));
  }
}
