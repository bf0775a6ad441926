"""What `arena explain` draws: search trees, games and reductions of problems as a `Picture`.

One function a kind of picture, from texts and numbers; `to_text` and `to_svg` print a picture. Bad input
raises EngineError or GameError, one clear line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena_engines.engine import EngineError
from arena_engines.registry import create, usual_analyst
from arena_engines.small.openlines import HeuristicEngine, open_lines_table
from arena_engines.small.weighted import Weighted, terms_table
from arena_museum.andor.hanoi import Hanoi, whole_tower
from arena_museum.andor.search import Goal, GoalProblem, best_first, deepening, depth_first
from arena_museum.explain import trees
from arena_museum.explain.graphs import solution_picture, solution_tree, tower_states, whole_graph
from arena_museum.explain.picture import Picture, counted, to_text
from arena_museum.explain.svg import to_svg
from arena_museum.explain.trees import Method
from arena_protocol.errors import needs_extra
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game
from arena_protocol.games.mnk import MarksGame

__all__ = ["Picture", "to_svg", "to_text"]


#: The solution graph grows by six vertices a disc.
MAX_DISCS = 60
#: Up to this many discs the solution is drawn as a tree, with the moves in their order; it doubles with each
#: disc.
MAX_TREE_DISCS = 5
#: Positions expanded for a strategy: some seconds.
MAX_EXPANDED = 20_000
#: Positions expanded by a depth-first search that is compared with others.
MAX_COMPARED = 200_000


def tree(
    game: str,
    options: Mapping[str, object],
    *,
    state: str | None = None,
    sequence: str = "",
    seed: int = 0,
    depth: int = 2,
    method: str = "alphabeta",
) -> Picture:
    """The tree of a search, with the values of its vertices and the branches that were cut.

    `method` is one of trees.METHODS.

    The position is `state`, in the format of STATE, with the visible pictures `sequence` in games that have
    them; without `state` it is the deal of `seed`.
    """
    rules = make_game(game, options, allow_unknown=False)
    position = _position(rules, state, sequence, seed)
    if method == "maxn":
        return trees.maxn_tree(rules, position, depth)
    if method == "expectiminimax":
        return trees.chance_tree(rules, position, depth)
    if method not in trees.METHODS:
        raise EngineError(f"method {method}: expected {', '.join(trees.METHODS)}")
    return trees.game_tree(rules, position, depth, "minimax" if method == "minimax" else "alphabeta").picture


def whole(game: str, options: Mapping[str, object], *, state: str | None = None) -> Picture:
    """The whole tree of a small game with its won and lost positions; of disc, the figure of seed 000."""
    rules = make_game(game, options, allow_unknown=False)
    return trees.whole_tree(rules, _position(rules, state, "", 0))


def strategy(
    game: str,
    options: Mapping[str, object],
    *,
    seat: int,
    goal: Goal = "win",
    state: str | None = None,
    everything: bool = False,
) -> Picture:
    """How `seat` forces a win (or a draw): a solution graph, with `everything` the whole graph.

    Raises EngineError if there is no such strategy and not `everything`.
    """
    rules = make_game(game, options, allow_unknown=False)
    _check_strategy(rules, seat)
    position = _position(rules, state, "", 0)
    space = GoalProblem(rules, seat, goal)
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


def searches(
    game: str,
    options: Mapping[str, object],
    *,
    seat: int,
    goal: Goal = "win",
    state: str | None = None,
) -> str:
    """Compare AND/OR searches for a strategy of `seat`: a table of the problems that each expands.

    Fixed and dynamic order use the static evaluation of the game's engine `openlines` or `weighted`. Raises
    EngineError for a game without one.
    """
    rules = make_game(game, options, allow_unknown=False)
    _check_strategy(rules, seat)
    position = _position(rules, state, "", 0)
    player = create(usual_analyst(game), game)
    if not isinstance(player, HeuristicEngine):
        raise EngineError(f"{game} has no static evaluation to order by; disc, lastcoin and tictactoe have")
    space = GoalProblem(rules, seat, goal, lambda reached: player.evaluate(rules, reached))
    found = {
        "depth first, natural order": depth_first(space, position, limit=MAX_COMPARED),
        "depth first, fixed order": depth_first(space, position, limit=MAX_COMPARED, ordered=True),
        "iterative deepening, reordered": deepening(space, position, limit=MAX_COMPARED),
        "best first, dynamic order": best_first(space, position, limit=MAX_EXPANDED),
    }
    rows = [f"{game}: seat {seat}, {goal} from {rules.state_text(position)}"]
    rows.append(f"{'search':<32} {'expanded':>8}  solution")
    for name, search in found.items():
        given_up = search.expanded >= (MAX_EXPANDED if name.startswith("best") else MAX_COMPARED)
        size = "given up" if given_up else "none"
        if search.solution is not None:
            size = counted(len(search.solution.choices), "problem")
        rows.append(f"{name:<32} {search.expanded:>8}  {size}")
    return "\n".join(rows) + "\n"


def _check_strategy(rules: Game[Any], seat: int) -> None:
    if not 1 <= seat <= rules.seats or rules.seats != 2:
        raise EngineError(f"seat={seat}: a strategy is drawn for seat 1 or 2 of a game for two")


def evaluate(
    game: str, options: Mapping[str, object], *, state: str | None = None, engine: str | None = None
) -> str:
    """The static evaluation of a position by openlines or `weighted:k=...`, with its terms, as text."""
    rules = make_game(game, options, allow_unknown=False)
    player = create(engine or usual_analyst(game), game)
    if not isinstance(player, HeuristicEngine):
        raise EngineError(
            f"engine {player.name} has no static evaluation with terms; openlines and weighted have"
        )
    position = _position(rules, state, "", 0)
    head = f"{game}, seat {rules.to_move(position)} to move: {rules.state_text(position)}"
    if rules.end(position) is not None:
        value = player.evaluate(rules, position)
        sign = "0" if value == 0 else "+∞" if value > 0 else "-∞"
        return f"{head}\nE(P) = {sign}: the game is over\n"
    if isinstance(player, Weighted):
        return f"{head}\n{terms_table(player, rules, position)}\n"
    assert isinstance(rules, MarksGame), "openlines plays no other game"
    return f"{head}\n{open_lines_table(rules, position)}\n"


def hanoi(discs: int) -> Picture:
    """The solution of the tower of Hanoi by reduction."""
    if not 1 <= discs <= MAX_DISCS:
        raise EngineError(f"discs={discs}: expected 1..{MAX_DISCS}")
    solution = depth_first(Hanoi(), whole_tower(discs)).solution
    assert solution is not None, "every tower can be moved"
    size = f"{counted(discs, 'disc')}, {counted(2**discs - 1, 'move')}"
    draw = solution_tree if discs <= MAX_TREE_DISCS else solution_picture
    return draw(Hanoi(), solution, f"The tower of Hanoi, {size}")


def hanoi_states(discs: int) -> Picture:
    """The state space of the tower of Hanoi: 27 states for three discs."""
    if not 1 <= discs <= MAX_DISCS:
        raise EngineError(f"discs={discs}: expected 1..{MAX_DISCS}")
    return tower_states(discs)


def integral(text: str, variable: str = "x") -> tuple[Picture, str]:
    """The solution graph of an indefinite integral, and the answer as text. Needs SymPy."""
    try:
        from arena_museum.andor.integral_table import plain
        from arena_museum.andor.integrals import Integrals, integrate, parse
    except ImportError as error:
        raise EngineError(needs_extra("an integral", "symbolic")) from error
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
    return trees.seed_example(method).picture


def _position(rules: Game[Any], state: str | None, sequence: str, seed: int) -> Any:
    return rules.start(rules.deal(seed) if state is None else Deal(state, sequence))
