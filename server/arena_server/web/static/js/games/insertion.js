// The rules of insertion, with the phases of each ply for animation. RULES.md has the rules in words.
//
// A board is an array of 25 colours (0: empty), cell 5 * x + y: column x from the left, row y from the
// bottom. A position is {board, sequence, played, totals}; it is never changed.

import { GameError } from "../gameerror.js";
import { drawBelow, drawBytes } from "../sha256.js";

export const SIDE = 5;
const MOVES = Array.from({ length: 15 }, (_, i) => String(i + 1));
const STARTS = ["full", "partial", "empty"];
const MAX_PLIES = 60000;

export function parseBoard(text, colours = 7) {
  const rows = String(text).split("/");
  if (rows.length !== SIDE || rows.some((row) => row.length !== SIDE)) {
    throw new GameError(`a board is five rows of five cells joined by '/', not ${text}`);
  }
  const board = new Array(SIDE * SIDE).fill(0);
  rows.reverse().forEach((row, y) => [...row].forEach((cell, x) => {
    const colour = ".1234567".indexOf(cell);
    if (colour < 0 || colour > colours) {
      throw new GameError(`a cell is '.' or a colour from 1 to ${colours}, not ${cell}`);
    }
    if (colour && y && !board[SIDE * x + y - 1]) {
      throw new GameError(`a picture hangs over an empty cell in column ${x + 1}`);
    }
    board[SIDE * x + y] = colour;
  }));
  return board;
}

export function formatBoard(board) {
  const rows = [];
  for (let y = SIDE - 1; y >= 0; y--) {
    let row = "";
    for (let x = 0; x < SIDE; x++) row += board[SIDE * x + y] || ".";
    rows.push(row);
  }
  return rows.join("/");
}

function height(board, x) {
  let y = 0;
  while (y < SIDE && board[SIDE * x + y]) y++;
  return y;
}

/**
 * Insert `colour` by `move` (1..15), before any run goes: {board, fell, paths}. A path is a picture's
 * colour and the cells [x, y] that it passes; a cell outside the board is where it comes from or goes to.
 */
export function insert(board, move, colour) {
  const after = board.slice();
  const paths = [];
  if (move >= 6 && move <= 10) {
    const x = move - 6;
    const full = height(board, x) === SIDE;
    if (full) {
      paths.push({ colour: board[SIDE * x], cells: [[x, 0], [x, -1]] });
      for (let y = 1; y < SIDE; y++) {
        after[SIDE * x + y - 1] = board[SIDE * x + y];
        paths.push({ colour: board[SIDE * x + y], cells: [[x, y], [x, y - 1]] });
      }
    }
    const y = full ? SIDE - 1 : height(board, x);
    after[SIDE * x + y] = colour;
    paths.push({ colour, cells: [[x, SIDE], [x, y]] });
    return { board: after, fell: full ? 1 : 0, paths };
  }
  const step = move <= 5 ? 1 : -1;
  const rim = move <= 5 ? 0 : SIDE - 1;
  const y = move <= 5 ? move - 1 : 15 - move;
  let moving = colour;
  for (let x = rim; ; x += step) {
    const path = { colour: moving, cells: [[x - step, y], [x, y]] };
    paths.push(path);
    if (x < 0 || x >= SIDE) return { board: after, fell: 1, paths };
    if (!board[SIDE * x + y]) {
      const landing = height(board, x);
      if (landing !== y) path.cells.push([x, landing]);
      after[SIDE * x + landing] = moving;
      return { board: after, fell: 0, paths };
    }
    after[SIDE * x + y] = moving;
    moving = board[SIDE * x + y];
  }
}

/** The cells of all runs of three or more, ascending. */
export function runs(board) {
  const gone = new Set();
  const line = (start, stride) => {
    for (let i = 0; i + 2 < SIDE; i++) {
      const cells = [0, 1, 2].map((k) => start + stride * (i + k));
      if (board[cells[0]] && cells.every((cell) => board[cell] === board[cells[0]])) {
        cells.forEach((cell) => gone.add(cell));
      }
    }
  };
  for (let k = 0; k < SIDE; k++) {
    line(SIDE * k, 1);
    line(k, SIDE);
  }
  return [...gone].sort((a, b) => a - b);
}

/** Take cells away and let what was above them fall: {board, paths}. */
export function remove(board, gone) {
  const after = new Array(SIDE * SIDE).fill(0);
  const paths = [];
  for (let x = 0; x < SIDE; x++) {
    let to = 0;
    for (let y = 0; y < SIDE; y++) {
      const colour = board[SIDE * x + y];
      if (!colour || gone.includes(SIDE * x + y)) continue;
      if (to !== y) paths.push({ colour, cells: [[x, y], [x, to]] });
      after[SIDE * x + to++] = colour;
    }
  }
  return { board: after, paths };
}

/** One whole ply on a board: {board, removed, fell, waves, phases}. */
export function playBoard(board, move, colour) {
  const inserted = insert(board, move, colour);
  const phases = [{ kind: "insert", ...inserted }];
  let removed = 0;
  let waves = 0;
  let current = inserted.board;
  for (let gone = runs(current); gone.length; gone = runs(current)) {
    removed += gone.length;
    waves++;
    phases.push({ kind: "clear", board: current, cells: gone });
    const fallen = remove(current, gone);
    phases.push({ kind: "fall", ...fallen });
    current = fallen.board;
  }
  return { board: current, removed, fell: inserted.fell, waves, phases };
}

function wholeNumber(options, key, standard, low, high) {
  const value = options[key] ?? standard;
  const number = /^[0-9]+$/.test(value) ? Number(value) : NaN;
  if (!(number >= low && number <= high)) {
    throw new GameError(`insertion: ${key} is a whole number from ${low} to ${high}, not ${value}`);
  }
  return number;
}

/**
 * The game. Positions are never changed.
 *
 *   constructor(options, seats)     options of GAME as texts; throws GameError
 *   deal(seed)                      {board, sequence} of a seed (decimal text)
 *   start({board, sequence})        the first position; throws GameError
 *   state(position)                 the text of STATE
 *   toMove(position)                the seat whose turn it is (1, 2, ...)
 *   moves(position)                 the legal moves, as texts
 *   play(position, move)            {position, points, waves, phases}; throws GameError
 *   totals(position), end(position) the points of the seats; `complete` or null
 *   zombieMove                      the move that is played for a zombie
 */
export class Insertion {
  static gameName = "insertion";
  zombieMove = "6";

  constructor(options, seats) {
    this.seats = wholeNumber({ seats }, "seats", 2, 2, 4);
    this.plies = wholeNumber(options, "plies", 200, 1, MAX_PLIES);
    this.colours = wholeNumber(options, "colours", 6, 3, 7);
    this.lookahead = wholeNumber(options, "lookahead", 20, 1, 999999999);
    this.startKind = options.start ?? "full";
    if (!STARTS.includes(this.startKind)) {
      throw new GameError(`insertion: start is one of ${STARTS.join(", ")}, not ${this.startKind}`);
    }
    if (options.board !== undefined && options.start !== undefined) {
      throw new GameError("insertion: give either start or board, not both");
    }
    this.board = options.board;
    if (this.board !== undefined) this.#parseStart(this.board);
  }

  #parseStart(text) {
    const board = parseBoard(text, this.colours);
    if (runs(board).length) throw new GameError(`a start board has no run of three or more of one colour: ${text}`);
    return board;
  }

  #checked(sequence) {
    if (sequence.length > this.plies) {
      throw new GameError(`a game of ${this.plies} plies has no more pictures, and here are ${sequence.length}`);
    }
    for (const picture of sequence) {
      if (!(picture >= "1" && picture <= String(this.colours))) {
        throw new GameError(`a picture is a colour from 1 to ${this.colours}, not ${picture}`);
      }
    }
    return sequence;
  }

  deal(seed) {
    const draws = drawBytes("insertion", seed);
    let board = new Array(SIDE * SIDE).fill(0);
    if (this.board !== undefined) {
      board = parseBoard(this.board);
    } else {
      const heights = [];
      for (let x = 0; x < SIDE; x++) {
        heights.push(this.startKind === "partial" ? drawBelow(draws, SIDE + 1) : this.startKind === "full" ? SIDE : 0);
      }
      heights.forEach((pictures, x) => {
        for (let y = 0; y < pictures; y++) {
          let next;
          do {
            next = board.slice();
            next[SIDE * x + y] = 1 + drawBelow(draws, this.colours);
          } while (runs(next).length);
          board = next;
        }
      });
    }
    let sequence = "";
    for (let ply = 0; ply < this.plies; ply++) sequence += 1 + drawBelow(draws, this.colours);
    return { board: formatBoard(board), sequence };
  }

  start({ board, sequence }) {
    return { board: this.#parseStart(board), sequence: this.#checked(sequence ?? ""), played: 0,
      totals: new Array(this.seats).fill(0) };
  }

  state(position) {
    return formatBoard(position.board);
  }

  /** The same position seen by a client that has just learned of the picture `revealed`. */
  extend(position, revealed) {
    return { ...position, sequence: this.#checked(position.sequence + revealed) };
  }

  /** The pictures to come that a player sees; the first is the one to insert now. */
  visible(position) {
    return position.sequence.slice(position.played, position.played + this.lookahead);
  }

  toMove(position) {
    return position.played % this.seats + 1;
  }

  moves(position) {
    return position.played < this.plies ? MOVES : [];
  }

  play(position, move) {
    if (position.played >= this.plies) throw new GameError(`the game is over: all ${this.plies} plies are played`);
    if (!MOVES.includes(move)) throw new GameError(`a move of insertion is a number from 1 to 15, not ${move}`);
    if (position.played >= position.sequence.length) {
      throw new GameError(`the picture of ply ${position.played + 1} is not known`);
    }
    const result = playBoard(position.board, Number(move), Number(position.sequence[position.played]));
    const points = 10 * result.removed;
    const totals = position.totals.slice();
    totals[position.played % this.seats] += points;
    const after = { board: result.board, sequence: position.sequence, played: position.played + 1, totals };
    return { position: after, points, waves: result.waves, phases: result.phases };
  }

  totals(position) {
    return position.totals;
  }

  end(position) {
    return position.played >= this.plies ? "complete" : null;
  }
}
