// Last coin loses: take one or two coins. A position is {coins, seat}.

import { DecidedGame, GameError, wholeNumber } from "./base.js";

export class LastCoin extends DecidedGame {
  static gameName = "lastcoin";
  zombieMove = "1";

  constructor(options, seats) {
    super();
    wholeNumber("lastcoin", { seats }, "seats", 2, 2, 2);
    this.coins = wholeNumber("lastcoin", options, "coins", 7, 1, 1000);
  }

  deal() {
    return { board: `${this.coins}/1`, sequence: "" };
  }

  start({ board }) {
    const match = /^([0-9]{1,4})\/([12])$/.exec(board);
    if (!match) throw new GameError(`a position of lastcoin is COINS/SEAT, such as 7/1, not ${board}`);
    return { coins: Number(match[1]), seat: Number(match[2]) };
  }

  state(position) {
    return `${position.coins}/${position.seat}`;
  }

  toMove(position) {
    return position.seat;
  }

  winner(position) {
    return position.coins ? null : position.seat;
  }

  moves(position) {
    return ["1", "2"].slice(0, position.coins);
  }

  play(position, move) {
    this.checkMove(position, move);
    return { position: { coins: position.coins - Number(move), seat: 3 - position.seat }, points: 0, phases: [] };
  }
}
