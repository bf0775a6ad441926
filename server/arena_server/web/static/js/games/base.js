// What all games share. A game is a class whose objects have these members; positions are never changed.
//
//   constructor(options, seats)     options of GAME as texts; throws GameError
//   deal(seed)                      {board, sequence} of a seed (decimal text)
//   start({board, sequence})        the first position; throws GameError
//   state(position)                 the text of STATE
//   toMove(position)                the seat whose turn it is (1, 2, ...)
//   moves(position)                 the legal moves, as texts
//   play(position, move)            {position, points, phases}; throws GameError
//   totals(position), end(position) the points of the seats; `complete`, `win`, `draw` or null
//   zombieMove                      the move that is played for a zombie; null: such a seat forfeits
//   forfeit(position, seat)         the totals if a seat forfeits

export class GameError extends Error {}

export function wholeNumber(game, options, key, standard, low, high) {
  const value = options[key] ?? standard;
  const number = /^[0-9]+$/.test(value) ? Number(value) : NaN;
  if (!(number >= low && number <= high)) throw new GameError(`${game}: ${key} is a whole number from ${low} to ${high}, not ${value}`);
  return number;
}

/** A game for two that is won, lost or drawn: `winner(position)` is a seat, 0 for a draw, null before the end. */
export class DecidedGame {
  seats = 2;
  zombieMove = null;

  totals(position) {
    return [[0, 0], [1, 1], [2, 0], [0, 2]][{ null: 0, 0: 1, 1: 2, 2: 3 }[this.winner(position)]];
  }

  end(position) {
    const winner = this.winner(position);
    return winner === null ? null : winner ? "win" : "draw";
  }

  forfeit(_position, seat) {
    return seat === 1 ? [0, 2] : [2, 0];
  }

  checkMove(position, move) {
    if (this.winner(position) !== null) throw new GameError("the game is over");
    if (!this.moves(position).includes(move)) throw new GameError(`${move} is not a legal move here`);
  }
}
