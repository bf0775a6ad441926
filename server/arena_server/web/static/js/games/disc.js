// The disc game: turn a disc of six segments by one, add the segment on top; the seat that reaches m wins.
// A position is {total, top, seat}.

import { DecidedGame, GameError, wholeNumber } from "./base.js";

export class Disc extends DecidedGame {
  static gameName = "disc";

  constructor(options, seats) {
    super();
    wholeNumber("disc", { seats }, "seats", 2, 2, 2);
    this.m = wholeNumber("disc", options, "m", 13, 1, 1000);
  }

  deal() {
    return { board: "0/1/1", sequence: "" };
  }

  start({ board }) {
    const match = /^([0-9]{1,4})\/([1-6])\/([12])$/.exec(board);
    if (!match) throw new GameError(`a position of disc is SUM/TOP/SEAT, such as 0/1/1, not ${board}`);
    const [total, top, seat] = match.slice(1).map(Number);
    return { total, top, seat };
  }

  state(position) {
    return `${position.total}/${position.top}/${position.seat}`;
  }

  toMove(position) {
    return position.seat;
  }

  winner(position) {
    return position.total >= this.m ? 3 - position.seat : null;
  }

  moves(position) {
    if (position.total >= this.m) return [];
    return [String(position.top % 6 + 1), String((position.top + 4) % 6 + 1)];
  }

  play(position, move) {
    this.checkMove(position, move);
    const top = Number(move);
    const after = { total: position.total + top, top, seat: 3 - position.seat };
    return { position: after, points: after.total >= this.m ? 2 : 0, phases: [] };
  }
}
