"""`arena explain`: search trees, whole games and problem reductions as pictures.

Each command prints the picture as text, or writes a drawing with `--svg FILE`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import game_options, repeated

if TYPE_CHECKING:
    from arena_museum.andor.search import Goal
    from arena_museum.explain.picture import Picture
    from arena_museum.explain.trees import Method

GameName = Annotated[str, typer.Argument(metavar="GAME", help="The game, such as disc.", show_default=False)]
Settings = Annotated[
    list[str] | None, repeated("KEY=VALUE", "An option of the game, such as m=20", "--option", "--set")
]
State = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The position in the notation of STATE; else the start.")
]
Svg = Annotated[Path | None, typer.Option(metavar="FILE", help="Write an SVG drawing here.")]
Minimax = Annotated[bool, typer.Option("--minimax", help="Search without cutting any branch.")]


def tree(
    game: GameName,
    depth: Annotated[int, typer.Option(help="How many plies deep.")] = 2,
    minimax: Minimax = False,
    method: Annotated[
        str,
        typer.Option(
            help="alphabeta, minimax, maxn (a value for each seat) or expectiminimax (chance nodes)."
        ),
    ] = "alphabeta",
    settings: Settings = None,
    state: State = None,
    sequence: Annotated[
        str,
        typer.Option("--next", metavar="PICTURES", help="The visible pictures, as in NEXT; with --state."),
    ] = "",
    seed: Annotated[int, typer.Option(help="The deal to start from, without --state.")] = 0,
    svg: Svg = None,
) -> None:
    """Draw the search of a position: minimax values and the branches that alpha-beta cuts.

    With --method maxn every vertex has the points of all seats; with --method expectiminimax pictures that
    are not visible are chance nodes.

    Example: arena explain tree tictactoe --state xo./.x./..o --depth 3 --svg tree.svg
    """
    from arena_museum import explain

    options = game_options(settings)
    method = "minimax" if minimax else method
    show(
        explain.tree(game, options, state=state, sequence=sequence, seed=seed, depth=depth, method=method),
        svg=svg,
    )


def whole(game: GameName, settings: Settings = None, state: State = None, svg: Svg = None) -> None:
    """Draw the whole tree of a small game with its won and lost positions.

    Example: arena explain whole disc --option m=13 --svg disc.svg
    """
    from arena_museum import explain

    show(explain.whole(game, game_options(settings), state=state), svg=svg)


def strategy(
    game: GameName,
    seat: Annotated[int, typer.Option(help="The seat that forces the result.")] = 1,
    draw: Annotated[bool, typer.Option("--draw", help="Force at least a draw instead of a win.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Draw the whole graph with the strategy in bold.")
    ] = False,
    settings: Settings = None,
    state: State = None,
    svg: Svg = None,
) -> None:
    """Draw how a seat forces a win, or a draw: an AND/OR solution graph.

    Example: arena explain strategy lastcoin --seat 2 --all
    """
    from arena_museum import explain

    goal: Goal = "draw" if draw else "win"
    options = game_options(settings)
    show(explain.strategy(game, options, seat=seat, goal=goal, state=state, everything=everything), svg=svg)


def searches(
    game: GameName,
    seat: Annotated[int, typer.Option(help="Whose strategy.")] = 1,
    draw: Annotated[bool, typer.Option("--draw", help="To draw at least, rather than to win.")] = False,
    settings: Settings = None,
    state: State = None,
) -> None:
    """Compare the AND/OR searches for a strategy by the problems that they expand.

    Example: arena explain searches disc --option m=20
    """
    from arena_museum import explain

    goal: Goal = "draw" if draw else "win"
    options = game_options(settings)
    typer.echo(explain.searches(game, options, seat=seat, goal=goal, state=state), nl=False)


def evaluate(
    game: GameName,
    settings: Settings = None,
    state: State = None,
    engine: Annotated[
        str | None,
        typer.Option(help="openlines, or weighted:k=3/1/2; if absent the one that plays this game."),
    ] = None,
) -> None:
    """Print the static evaluation of a position with its terms.

    Example: arena explain evaluate tictactoe --option size=4 --state .o../.xx./..../....
    """
    from arena_museum import explain

    typer.echo(explain.evaluate(game, game_options(settings), state=state, engine=engine), nl=False)


def hanoi(
    discs: Annotated[int, typer.Option(help="How many discs.")] = 3,
    states: Annotated[
        bool, typer.Option("--states", help="Draw the state space, too, next to the reduction.")
    ] = False,
    svg: Svg = None,
) -> None:
    """Draw how the tower of Hanoi is reduced to single moves.

    Example: arena explain hanoi --states --svg tower.svg
    """
    from arena_museum import explain

    pictures = [explain.hanoi(discs)]
    if states:
        pictures.append(explain.hanoi_states(discs))
    show(*pictures, svg=svg)


def integral(
    integrand: Annotated[
        str, typer.Argument(metavar="INTEGRAND", help="Such as tan(x)^4.", show_default=False)
    ],
    variable: Annotated[str, typer.Option(help="The variable of integration.")] = "x",
    svg: Svg = None,
) -> None:
    """Solve an indefinite integral by reduction and draw the solution graph.

    Example: arena explain integral "tan(x)^4"
    """
    from arena_museum import explain

    show(explain.integral(integrand, variable)[0], svg=svg)


def example(minimax: Minimax = False, svg: Svg = None) -> None:
    """Draw the alpha-beta example of the Russian seed: 17 vertices and 10 evaluations, or 11 and 6.

    Example: arena explain example --minimax
    """
    from arena_museum import explain

    show(explain.example(_method(minimax)), svg=svg)


def show(*pictures: Picture, svg: Path | None) -> None:
    """Print pictures, or write them as one SVG and name the file. Raises ArenaError if it cannot."""
    from arena_museum.explain.picture import to_text
    from arena_museum.explain.svg import to_svg
    from arena_server.errors import ArenaError

    if svg is None:
        typer.echo("\n".join(map(to_text, pictures)), nl=False)
        return
    try:
        svg.write_text(to_svg(*pictures), encoding="utf-8")
    except OSError as error:
        raise ArenaError(f"--svg: cannot write {svg}: {error.strerror}") from error
    typer.echo(f"{svg}: {'; '.join(picture.title for picture in pictures)}")


def _method(minimax: bool) -> Method:
    return "minimax" if minimax else "alphabeta"


app = typer.Typer(
    help="Draw search trees, whole games and reductions.\n\nExample: arena explain whole disc",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for _command in (tree, whole, strategy, searches, evaluate, hanoi, example):
    app.command(_command.__name__)(_command)
# -x^2 is no option but an integrand.
app.command(integral.__name__, context_settings={"ignore_unknown_options": True})(integral)
