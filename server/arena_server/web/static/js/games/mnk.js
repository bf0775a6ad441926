// Tic-tac-toe and XO: marks on a square board. A position is {cells, size}, cells in scan order a1, b1, ...

import { drawBelow, drawBytes } from "../sha256.js";
import { DecidedGame, GameError, wholeNumber } from "./base.js";

class MarksGame extends DecidedGame {
  cellName(index) {
    return String.fromCharCode(97 + index % this.size) + (Math.floor(index / this.size) + 1);
  }

  #index(move) {
    const match = /^([a-z])([1-9][0-9]?)$/.exec(move);
    if (!match) return -1;
    const column = match[1].charCodeAt(0) - 97;
    const row = Number(match[2]) - 1;
    return column < this.size && row < this.size ? row * this.size + column : -1;
  }

  start({ board }) {
    const rows = String(board).split("/");
    if (rows.length !== this.size || rows.some((row) => row.length !== this.size || /[^.xo]/.test(row))) {
      throw new GameError(`a board is ${this.size} rows of ${this.size} cells '.', 'x' or 'o' joined by '/', not ${board}`);
    }
    const position = { cells: [...rows.reverse().join("")] };
    const surplus = this.#count(position, "x") - this.#count(position, "o");
    if (surplus !== 0 && surplus !== 1) throw new GameError("x has as many marks as o or one more");
    if (this.line(position, "x").length && this.line(position, "o").length) throw new GameError("x and o cannot both have a line");
    return position;
  }

  #count(position, mark) {
    return position.cells.filter((cell) => cell === mark).length;
  }

  state(position) {
    const rows = [];
    for (let y = this.size - 1; y >= 0; y--) rows.push(position.cells.slice(y * this.size, (y + 1) * this.size).join(""));
    return rows.join("/");
  }

  toMove(position) {
    return this.#count(position, "x") === this.#count(position, "o") ? 1 : 2;
  }

  /** The cells of all lines of `win` or more marks of a side. */
  line(position, mark) {
    const { size, win } = this;
    const found = new Set();
    for (let index = 0; index < size * size; index++) {
      for (const [dx, dy] of [[1, 0], [0, 1], [1, 1], [-1, 1]]) {
        const x = index % size + dx * (win - 1);
        const y = Math.floor(index / size) + dy * (win - 1);
        if (x < 0 || x >= size || y >= size) continue;
        const cells = Array.from({ length: win }, (_, k) => index + k * (dx + dy * size));
        if (cells.every((cell) => position.cells[cell] === mark)) cells.forEach((cell) => found.add(cell));
      }
    }
    return [...found];
  }

  winner(position) {
    if (this.line(position, "x").length) return 1;
    if (this.line(position, "o").length) return 2;
    return position.cells.includes(".") ? null : 0;
  }

  moves(position) {
    if (this.winner(position) !== null) return [];
    return position.cells.flatMap((cell, index) => cell === "." ? [this.cellName(index)] : []);
  }

  play(position, move) {
    const index = this.#index(move);
    if (this.winner(position) !== null) throw new GameError("the game is over");
    if (index < 0 || this.cellName(index) !== move) throw new GameError(`${move} is not a cell`);
    if (position.cells[index] !== ".") throw new GameError(`${move} is taken`);
    const seat = this.toMove(position);
    const cells = position.cells.slice();
    cells[index] = seat === 1 ? "x" : "o";
    const after = { cells };
    return { position: after, points: this.totals(after)[seat - 1], phases: [] };
  }
}

export class TicTacToe extends MarksGame {
  static gameName = "tictactoe";

  constructor(options, seats) {
    super();
    wholeNumber("tictactoe", { seats }, "seats", 2, 2, 2);
    this.size = wholeNumber("tictactoe", options, "size", 3, 3, 4);
    this.win = wholeNumber("tictactoe", options, "win", this.size, 3, this.size);
  }

  deal() {
    return { board: Array(this.size).fill(".".repeat(this.size)).join("/"), sequence: "" };
  }
}

const OPENING_SIDE = 6;

export class Xo extends MarksGame {
  static gameName = "xo";

  constructor(options, seats) {
    super();
    wholeNumber("xo", { seats }, "seats", 2, 2, 2);
    this.size = wholeNumber("xo", options, "size", 10, 10, 14);
    this.win = wholeNumber("xo", options, "win", 5, 5, 5);
    this.opening = wholeNumber("xo", options, "opening", 0, 0, 8);
  }

  deal(seed) {
    const draws = drawBytes("xo", seed);
    const low = Math.floor((this.size - OPENING_SIDE) / 2);
    const left = [];
    for (let row = low; row < low + OPENING_SIDE; row++) {
      for (let column = low; column < low + OPENING_SIDE; column++) left.push(this.size * row + column);
    }
    const cells = new Array(this.size * this.size).fill(".");
    for (let k = 0; k < this.opening; k++) cells[left.splice(drawBelow(draws, left.length), 1)[0]] = "xo"[k % 2];
    return { board: this.state({ cells }), sequence: "" };
  }
}
