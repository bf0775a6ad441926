"""`arena rehearse`: whether this machine takes a contest, from playing it for real with bots of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import Config, Json, Library, duration, print_json
from arena_cli.tables import Cell, Column, ResultTable

if TYPE_CHECKING:
    from arena_cli.rehearsal_figures import Measured, Percentiles
    from arena_server.terms.config import ContestConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearseOptions:
    """How long, and how fast the bots are."""

    seconds: Annotated[
        float, typer.Option(min=1, max=86_400, help="The most seconds; a shorter contest is played whole.")
    ] = 30
    move_time: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="The mean time that a bot thinks, such as 50ms; without it none, the greatest load.",
            show_default=False,
        ),
    ] = None
    library: Library = None


def command(config: Config, options: RehearseOptions = RehearseOptions(), as_json: Json = False) -> None:
    """Play CONFIG for real on this machine, with bots of ours in every seat, and say whether it takes it.

    The referee, the network and the database are those of the contest; the bots play any legal move and
    think as long as --move-time says, half of them longer. Prints games and plies a second, the processor
    time of the referee, the time from a move to the next TURN, and what the machine itself took of the
    clocks of the bots. The referee runs on one processor, the bots on the others; with two processors
    or fewer they disturb each other, as local bots of the contest do. No database is left. The status is 0 if
    the machine takes the contest, else 1.

    Example: arena rehearse examples/local.toml --seconds 10
    """
    import asyncio
    from dataclasses import replace
    from datetime import UTC, datetime

    from arena_cli.rehearsal_figures import plain, verdict
    from arena_server.errors import FAILED, INTERRUPTED
    from arena_server.terms.file import config_of, entrants_of, load_contest
    from arena_server.terms.idle_keys import check_idle_keys

    file = load_contest(config, options.library)
    check_idle_keys(file, datetime.now(UTC), str(config))
    move_ms = 0 if options.move_time is None else duration(options.move_time, "--move-time")
    # No bot is removed for a fault of the machine, which is to be counted.
    contest = replace(config_of(file), probation=0)
    entrants = entrants_of(file)
    measured = asyncio.run(_run(contest, entrants, move_ms, options.seconds))
    if measured is None:
        raise typer.Exit(INTERRUPTED)
    if as_json:
        print_json({"contest": contest.name, "bots": len(entrants)} | plain(contest, measured))
    else:
        _print(contest, len(entrants), measured, move_ms)
    if not verdict(contest, measured)[0]:
        raise typer.Exit(FAILED)


async def _run(contest: ContestConfig, entrants: list, move_ms: int, seconds: float) -> Measured | None:  # type: ignore[type-arg]
    from arena_cli.rehearsal import rehearse
    from arena_server.places.supervisor import interrupt_event

    return await rehearse(contest, entrants, move_ms, seconds, interrupt_event())


def _print(contest: ContestConfig, bots: int, measured: Measured, move_ms: int) -> None:
    from arena_cli.rehearsal_figures import games_at_once, usual_move_ms, verdict

    whole = "the whole contest" if measured.complete else "a part of the contest"
    pace = f"{move_ms} ms a move" if move_ms else "moves at once"
    title = (
        f"{contest.name}: {contest.game}, {bots} bots on {measured.seats} connections, {pace}; "
        f"{whole}: {measured.games} games and {measured.plies:,} plies in {measured.seconds:.1f} s, "
        f"at most {measured.at_once} games at once"
    )
    seconds = max(measured.seconds, 1e-9)
    rows: list[list[Cell]] = [
        ["games a second", f"{measured.games / seconds:,.1f}"],
        ["plies a second", f"{measured.plies / seconds:,.0f}"],
        ["referee's processor time a ply", f"{measured.cpu_us:,.0f} us"],
        ["referee's share of one processor", f"{measured.load:.0%}"],
        ["bots' share of theirs", f"{measured.bots_busy:.0%}"],
    ]
    ResultTable(title, [Column("", is_text=True), Column("measured")], rows).print()
    heads = [Column("milliseconds", is_text=True), *map(Column, ("median", "99 of 100 below", "longest"))]
    times: list[list[Cell]] = [
        ["from a move to the next TURN", *_ms(measured.answer)],
        ["of a clock, beyond the bot's thinking", *_ms(measured.machine)],
    ]
    ResultTable("latency of the machine", heads, times).print()
    usual = usual_move_ms(contest, measured)
    for ms, pace in (
        (10.0, "take 10 ms a move"),
        (usual, f"use half of their clock, {usual:,.0f} ms a move"),
    ):
        typer.echo(
            f"half a processor judges {games_at_once(measured, ms):,} games at once of bots that {pace}"
        )
    typer.echo(f"does this machine take it? {verdict(contest, measured)[1]}")


def _ms(spread: Percentiles) -> list[str]:
    return [f"{us / 1000:.2f}" for us in (spread.p50, spread.p99, spread.max)]
