// The board of each game: enter the board of a new game here. A board is a class with these members.
//
//   constructor(rules)            of a game from rules.js
//   element, extra                an SVG element, and optionally an element that is shown below it
//   show(position, last)          draw a position; `last` is the ply that led to it ({move, seat}) or null
//   animate(step, last, ms)       show `step.position` of rules.play; may return a promise; `ms` per phase
//   stop()                        end an animation at once; `show` follows
//   describe(position)            the position in words, for screen readers
//   compact()                     optional: leave out what a small board has no room for
//   onmove                        set by the page: a function of a move; elements with `data-move` call it

import { CoinsBoard } from "./boards/coins.js";
import { DiscBoard } from "./boards/disc.js";
import { InsertionBoard } from "./boards/insertion.js";
import { MarksBoard } from "./boards/marks.js";

export const BOARDS = new Map([
  ["insertion", InsertionBoard], ["xo", MarksBoard], ["tictactoe", MarksBoard], ["disc", DiscBoard], ["lastcoin", CoinsBoard],
]);

export function makeBoard(name, rules) {
  return new (BOARDS.get(name))(rules);
}
