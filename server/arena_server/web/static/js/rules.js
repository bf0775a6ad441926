// The games whose rules the browser knows, by name: for the check of a record without a server, for animations and
// for hints. Every other game is shown from scenes, which the server or a file has; each file in games/ is one here.

import { GameError } from "./gameerror.js";
import { Insertion } from "./games/insertion.js";

export const RULES = new Map([Insertion].map((game) => [game.gameName, game]));

/** A game by its name. Throws GameError for an unknown name or an impossible option. */
export function makeGame(name, options, seats) {
  const Game = RULES.get(name);
  if (Game === undefined) throw new GameError(`no rules for the game ${name} here`);
  return new Game(options, seats);
}
