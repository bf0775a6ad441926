"""What `arena explain` draws, one function a picture: texts and numbers in, a Picture out.

Everything wrong that a person can put right is an EngineError or a GameError, one clear line. It
must not know: the command line, files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena_engines.andor.depthfirst import depth_first
from arena_engines.andor.hanoi import Hanoi, whole_tower
from arena_engines.andor.strategies import Goal, Strategy
from arena_engines.engine import EngineError
from arena_engines.explain import examples, games
from arena_engines.explain.picture import Picture, counted
from arena_engines.explain.reductions import solution_picture, solution_tree, whole_graph
from arena_engines.explain.searches import Method
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game

#: The whole graph is drawn only of a few discs; the solution graph grows by six vertices a disc.
MAX_DISCS = 60
#: So many are drawn as a tree, in which the moves stand in their order; each disc more doubles it.
MAX_TREE_DISCS = 5
#: Positions looked at for a strategy: some seconds.
MAX_EXPANDED = 20_000


def tree(
    game: str,
    options: Mapping[str, object],
    *,
    state: str | None = None,
    sequence: str = "",
    seed: int = 0,
    depth: int = 2,
    method: Method = "alphabeta",
) -> Picture:
    """A search tree with minimax values and cut branches.

    The position is `state` (as STATE prints it, with the pictures of `sequence` in games that have
    them), or the deal of `seed`.
    """
    rules = make_game(game, options, strangers=False)
    return games.game_tree(rules, _position(rules, state, sequence, seed), depth, method).picture


def whole(game: str, options: Mapping[str, object], *, state: str | None = None) -> Picture:
    """The whole tree of a small game, won and lost positions marked: for disc, the figure of seed 000."""
    rules = make_game(game, options, strangers=False)
    return games.whole_tree(rules, _position(rules, state, "", 0))


def strategy(
    game: str,
    options: Mapping[str, object],
    *,
    seat: int,
    goal: Goal = "win",
    state: str | None = None,
    everything: bool = False,
) -> Picture:
    """How `seat` forces a win (or a draw), as a solution graph; `everything`: within the whole graph.

    Raises EngineError if it cannot, unless everything is drawn.
    """
    rules = make_game(game, options, strangers=False)
    if not 1 <= seat <= rules.seats or rules.seats != 2:
        raise EngineError(f"seat={seat}: a strategy is drawn for seat 1 or 2 of a game for two")
    position = _position(rules, state, "", 0)
    space = Strategy(rules, seat, goal)
    search = depth_first(space, position, limit=MAX_EXPANDED)
    if search.expanded >= MAX_EXPANDED:
        raise EngineError(f"{game} is too large from here: no strategy among {MAX_EXPANDED} positions")
    solution = search.solution
    can = "cannot force" if solution is None else "forces"
    title = f"{game}: seat {seat} {can} a {goal} from {rules.state_text(position)}"
    if everything:
        return whole_graph(space, position, solution, title)
    if solution is None:
        raise EngineError(title)
    return solution_picture(space, solution, title)


def hanoi(discs: int) -> Picture:
    """The reduction of the tower of Hanoi."""
    if not 1 <= discs <= MAX_DISCS:
        raise EngineError(f"discs={discs}: expected 1..{MAX_DISCS}")
    solution = depth_first(Hanoi(), whole_tower(discs)).solution
    assert solution is not None, "every tower can be moved"
    size = f"{counted(discs, 'disc')}, {counted(2**discs - 1, 'move')}"
    draw = solution_tree if discs <= MAX_TREE_DISCS else solution_picture
    return draw(Hanoi(), solution, f"The tower of Hanoi, {size}")


def integral(text: str, variable: str = "x") -> tuple[Picture, str]:
    """The solution graph of an indefinite integral, and the answer. Needs SymPy."""
    try:
        from arena_engines.andor.integrals import integrate, parse
        from arena_engines.andor.integrals.problem import plain
        from arena_engines.andor.integrals.solve import Integrals
    except ImportError as error:
        raise EngineError("integrals need SymPy: pip install 'insertion-arena[symbolic]'") from error
    try:
        integrand, symbol = parse(text, variable)
    except ValueError as error:
        raise EngineError(str(error)) from error
    solved = integrate(integrand, symbol)
    if solved is None:
        raise EngineError(f"the rules here do not solve the integral of {text}")
    answer = f"∫ {plain(integrand)} d{variable} = {plain(solved.answer)} + C"
    return solution_picture(Integrals(), solved.solution, answer), answer


def example(method: Method = "alphabeta") -> Picture:
    """The alpha-beta example of seed 004."""
    return examples.seed_example(method).picture


def _position(rules: Game[Any], state: str | None, sequence: str, seed: int) -> Any:
    return rules.start(rules.deal(seed) if state is None else Deal(state, sequence))
