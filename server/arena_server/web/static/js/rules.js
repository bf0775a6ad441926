// The games whose rules the browser knows, by name: enter a new game here.

import { GameError } from "./games/base.js";
import { Disc } from "./games/disc.js";
import { Insertion } from "./games/insertion.js";
import { LastCoin } from "./games/lastcoin.js";
import { TicTacToe, Xo } from "./games/mnk.js";

export const RULES = new Map([Insertion, Xo, TicTacToe, Disc, LastCoin].map((game) => [game.gameName, game]));

/** A game by its name. Throws GameError for an unknown name or an impossible option. */
export function makeGame(name, options, seats) {
  const Game = RULES.get(name);
  if (Game === undefined) throw new GameError(`no rules for the game ${name} here`);
  return new Game(options, seats);
}
