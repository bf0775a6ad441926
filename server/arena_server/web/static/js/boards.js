// The board of a game. A board is a class with these members.
//
//   element, extra                an SVG element, and optionally an element that is shown below it
//   show(position, last)          draw a position; `last` is the ply that led to it ({move, seat}) or null
//   animate(step, last, ms)       go from `step.before` of a timeline to `step.position`, whatever is shown; may return
//                                 a promise; `ms` per phase. This and `show` cut an animation that runs off.
//   describe(position)            the position in words, for screen readers
//   plan(moves, seat)             mark the moves that `seat` expects to be played from here, numbered; none clear them
//   compact()                     leave out what a small board has no room for
//   onmove                        a function of a move and its click; elements with `data-move` call it

import { InsertionBoard } from "./boards/insertion.js";
import { SceneBoard } from "./boards/scene.js";

/** The board for positions of `rules`, or without rules for scenes of `layout`. */
export function makeBoard(rules, layout) {
  return rules === null ? new SceneBoard(layout) : new InsertionBoard(rules);
}
