// The check of a record: replay the game and compare every number in it, as `arena verify` does. Of a game whose rules
// this page does not have, it checks what needs none: commitment, faults, clocks, and the totals of the last ply.

import { GameError } from "./gameerror.js";
import { RecordError } from "./record.js";
import { makeGame, RULES } from "./rules.js";
import { hex, sha256 } from "./sha256.js";

const KINDS = ["timeout", "illegal", "malformed", "flood", "out-of-turn", "disconnect", "never-ready", "quit",
  "resource", "void"];
const SETTINGS = ["clock_ms", "increment_ms", "margin_ms", "move_limit_ms", "byoyomi_ms", "lag_quota_ms",
  "first_move_limit_ms"];
const NS_A_MS = 1_000_000;

/** Check a record against what the list of its contest says of the game, field by field. Throws RecordError. */
export function verifyListed(record, listed) {
  const found = { ...record, plies: record.plies.length,
    faults: record.faults.map(({ seat, ply, kind }) => [seat, ply, kind]) };
  for (const [what, expected] of Object.entries(listed)) {
    const [wanted, given] = [JSON.stringify(expected), JSON.stringify(found[what])];
    if (wanted !== given) {
      throw new RecordError(`list of the contest: ${what}: expected ${shown(wanted)}, found ${shown(given)}`);
    }
  }
}

/**
 * Check that the records of these digests lead to the head, and that one of them is that of `bytes`. Throws
 * RecordError.
 */
export function verifyChain(bytes, { digests, place, head }) {
  const found = hex(sha256(bytes));
  if (found !== digests[place]) {
    throw new RecordError(
      `place ${place + 1} of the chain: expected a record of digest ${shown(digests[place])}, found ${shown(found)}`);
  }
  const fromHex = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
  let value = new Uint8Array(32);
  for (const digest of digests) value = sha256(new Uint8Array([...value, ...fromHex(digest)]));
  if (hex(value) !== head) {
    throw new RecordError(`head of the chain: expected ${shown(head)}, found ${shown(hex(value))}`);
  }
}

const shown = (value) => { const text = String(value); return text.length > 80 ? `${text.slice(0, 80)}...` : text; };

/** Check everything in a record. Throws RecordError with the place, the expected and the found value. */
export function verify(record) {
  const audit = new Audit(record);
  audit.checkStart();
  audit.checkFaults();
  record.plies.forEach((ply, i) => audit.checkPly(i + 1, ply));
  audit.checkEnd();
  audit.checkInfos();
}

class Audit {
  constructor(record) {
    this.record = record;
    this.place = "start";
    this.lastNs = 0;
    this.moved = new Set();
    this.seats = record.names.length;
    this.clock = new Array(this.seats).fill(record.clock_ms);
    this.quota = new Array(this.seats + 1).fill(record.lag_quota_ms);
    /** Null without rules here. */
    this.game = RULES.has(record.game) ? this.ask(() => makeGame(record.game, record.options, this.seats)) : null;
    this.position = this.game === null ? null : this.ask(() => this.game.start(record));
    this.faults = record.faults.filter((fault) => fault.kind !== "void");
    this.zombieFrom = new Map();
  }

  ask(question) {
    try {
      return question();
    } catch (error) {
      if (error instanceof GameError) throw new RecordError(`${this.place}: ${error.message}`);
      throw error;
    }
  }

  fail(what, expected, found) {
    throw new RecordError(`${this.place}: ${what}: expected ${shown(expected)}, found ${shown(found)}`);
  }

  equal(what, expected, found) {
    if (String(expected) !== String(found)) this.fail(what, expected, found);
  }

  checkStart() {
    const { record } = this;
    if (this.game !== null) {
      const deal = this.ask(() => this.game.deal(record.seed));
      this.equal("board", deal.board, record.board);
      this.equal("sequence", deal.sequence, record.sequence);
    }
    this.equal("commit", hex(sha256(`${record.nonce}:${record.board}:${record.sequence}`)), record.commit);
    for (const key of SETTINGS) if (record[key] < 0) this.fail(key, "0 or more", record[key]);
  }

  checkFaults() {
    for (const fault of this.record.faults) {
      this.place = `ply ${fault.ply}`;
      if (!KINDS.includes(fault.kind)) this.fail("fault", `one of ${KINDS.join(", ")}`, fault.kind);
      const [low, high] = fault.kind === "void" ? [0, 0] : [1, this.seats];
      if (fault.seat < low || fault.seat > high) {
        this.fail(`seat of fault ${fault.kind}`, `${low} to ${high}`, fault.seat);
      }
      const last = this.record.plies.length + (["forfeit", "void"].includes(this.record.end) ? 1 : 0);
      if (fault.ply < 0 || fault.ply > last) this.fail(`ply of fault ${fault.kind}`, `0 to ${last}`, fault.ply);
    }
    for (const { seat, ply } of this.faults) this.zombieFrom.set(seat, Math.min(ply, this.zombieFrom.get(seat) ?? ply));
  }

  checkPly(number, ply) {
    this.place = `ply ${number}`;
    for (const fault of this.faultsAt(number, ["timeout", "illegal"])) {
      this.equal(`seat of fault ${fault.kind}`, ply.seat, fault.seat);
    }
    this.equal("zombie", this.isZombie(number, ply), ply.zombie);
    if (this.game !== null) {
      this.checkMover(number, ply);
      this.checkMove(ply);
    }
    this.checkTime(number, ply);
    this.moved.add(ply.seat);
    if (this.game === null) {
      // Who made the scenes has played the moves, up to the first one that the rules refuse.
      if (this.record.scenes !== undefined && number > this.record.scenes.after.length) {
        this.fail("move", "a legal move", ply.move);
      }
      return;
    }
    const step = this.ask(() => this.game.play(this.position, ply.move));
    this.position = step.position;
    this.equal("points", step.points, ply.points);
    this.equal("total", this.game.totals(this.position), ply.total);
  }

  checkMover(number, ply) {
    const end = this.game.end(this.position);
    if (end !== null) this.fail("plies", `none after the end (${end})`, `move ${ply.move}`);
    if (this.game.zombieMove === null && this.faults.some((fault) => fault.ply <= number)) {
      this.fail("plies", "none after a forfeit", `move ${ply.move}`);
    }
    this.equal("seat", this.game.toMove(this.position), ply.seat);
  }

  isZombie(number, ply) {
    return number >= (this.zombieFrom.get(ply.seat) ?? Infinity);
  }

  faultsAt(number, kinds) {
    return this.faults.filter((fault) => fault.ply === number && kinds.includes(fault.kind));
  }

  checkMove(ply) {
    if (ply.zombie) this.equal("move of a zombie", this.game.zombieMove, ply.move);
    if (!this.game.moves(this.position).includes(ply.move)) this.fail("move", "a legal move", ply.move);
  }

  checkTime(number, ply) {
    for (const what of ["handed_ns", "arrived_ns"]) {
      if (ply[what] < this.lastNs) this.fail(what, `${this.lastNs} or later`, ply[what]);
      this.lastNs = ply[what];
    }
    const ns = ply.arrived_ns - ply.handed_ns;
    const elapsed = ns < 0 ? 0 : (ns - ns % NS_A_MS) / NS_A_MS;
    const flag = this.flagFell(number, ply, elapsed);
    const before = this.clock[ply.seat - 1];
    if (!ply.zombie || flag) {
      if (ply.lag_ms < 0) this.fail("lag", "0 or more", ply.lag_ms);
      this.equal("credit", Math.min(ply.lag_ms, this.quota[ply.seat]), ply.credit_ms);
      this.quota[ply.seat] -= Math.min(ply.credit_ms, elapsed);
      const charge = Math.max(0, elapsed - ply.credit_ms);
      this.equal("time", charge, ply.time_ms);
      const limit = this.allowance(before, !this.moved.has(ply.seat));
      if (flag && charge <= limit) this.fail("time on which the flag fell", `more than ${limit}`, charge);
      if (!flag && charge > limit) this.fail("time without a fault", `at most ${limit}`, charge);
    } else {
      this.equal("time of a zombie", 0, ply.time_ms);
      this.equal("lag and credit of a zombie", [0, 0], [ply.lag_ms, ply.credit_ms]);
    }
    if (flag) this.clock[ply.seat - 1] = 0;
    else if (!ply.zombie) this.clock[ply.seat - 1] = Math.max(0, before - ply.time_ms) + this.record.increment_ms;
    this.equal("clock", this.clock, ply.clock);
  }

  allowance(clock, first) {
    const most = clock + this.record.byoyomi_ms;
    const limit = first && this.record.first_move_limit_ms || this.record.move_limit_ms;
    return (limit ? Math.min(most, limit) : most) + this.record.margin_ms;
  }

  /** Whether the flag fell on this ply. A seat that was away at START has a fault without a charge. */
  flagFell(number, ply, elapsed) {
    const kinds = this.faultsAt(number, ["timeout", "disconnect"]).filter((fault) => fault.seat === ply.seat)
      .map((fault) => fault.kind);
    return kinds.includes("timeout") || kinds.includes("disconnect") && elapsed > 0;
  }

  checkEnd() {
    this.place = "end";
    if (this.game === null) {
      const last = this.record.plies.at(-1);
      if (last !== undefined && this.record.end !== "forfeit") this.equal("totals", last.total, this.record.totals);
      return;
    }
    this.equal("final position", this.game.state(this.position), this.record.final);
    const [end, totals] = this.outcome();
    this.equal("end", end, this.record.end);
    this.equal("totals", totals, this.record.totals);
  }

  checkInfos() {
    const last = this.record.plies.length + 1;
    for (const { seat, ply } of this.record.infos) {
      this.place = `note of ply ${ply}`;
      if (seat < 1 || seat > this.seats) this.fail("seat", `1 to ${this.seats}`, seat);
      if (ply < 1 || ply > last) this.fail("ply", `1 to ${last}`, ply);
    }
  }

  outcome() {
    const totals = this.game.totals(this.position);
    if (this.record.end === "void") return ["void", totals];
    if (this.faults.length && this.game.zombieMove === null) {
      const lost = this.faults.map((fault) => this.game.forfeit(this.position, fault.seat));
      return ["forfeit", totals.map((_, seat) => Math.min(...lost.map((points) => points[seat])))];
    }
    return [this.game.end(this.position) ?? "void (the game is not over)", totals];
  }
}
