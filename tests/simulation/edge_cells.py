"""What a life of a contest at its edges is drawn of: format, field, terms, moment, script and death."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any, Final, NamedTuple

from tests.simulation.strangers import GUESTS

from arena_server.core.formats import format_of
from arena_server.terms.config import ContestConfig, ContestConfigError, game_of

NAMES: Final = ("ann", "bob", "cid", "dan", "eve", "fay", "gus")
LATE: Final = "late"
#: The options of a contest of each format; those of a ladder close it. The first word is the format.
FORMATS: Final[Mapping[str, Mapping[str, int | str | bool]]] = {
    "round-robin": {},
    "gauntlet": {"challengers": 1},
    "matches": {},
    "groups": {"groups": 1, "advance": 2},
    "knockout": {"extra_pairs": 1},
    "double-elimination": {},
    "ladder": {"games": 8},
    "swiss": {},
    "knockout third": {"third_place": True, "tie": "extra:1,sudden-death"},
    "knockout whole": {"play_all": True, "seeding": "lot"},
    "groups wide": {"groups": 2, "advance": 1, "third_place": True},
    "swiss long": {"rounds": 4},
    "swiss apart": {"rounds": 3, "same_owner": "never"},
    "swiss fast": {"acceleration": "baku"},
}
#: What else an organiser may have decided.
TERMS: Final[Mapping[str, Mapping[str, Any]]] = {
    "plain": {},
    "paired": {"deals": "paired"},
    "wins": {"scoring": "wins", "tie_breaks": ("buchholz", "sonneborn-berger", "wins", "lot")},
    "probation": {"probation": 1},
    "probation by time": {"probation": 1, "probation_for_ms": 200},
    "validation": {"validation": True},
    "memory": {"storage_bytes": 16},
    "stop": {"stop": "top:1", "games_per_pair": 12},
    "anonymous": {"anonymous": True, "rest_ms": 10},
    "no wait": {"absent_ms": 0},
    "one game": {"games_per_pair": 1},
    "delayed": {"spectator_delay_ms": 500},
    "values": {"scoring": "3-1-0", "games_per_pair": 4},
    "three seats": {"options": {"plies": 3, "lookahead": 1, "seats": 3}, "games_per_pair": 3},
    # What the server decides, and not the contest: see `Watched`.
    "two at once": {},
    "frozen": {},
    "quorum": {},
}
#: When the script begins; a moment that does not come is after the end.
MOMENTS: Final = ("before", "first", "between", "last", "over")
#: What is ordered one after another. {bot}, {other} and {game} are drawn, `time`, `night`, `day` are of the
#: timetable, `stop` and `suspend` end the server, `come` connects the late bot.
SCRIPTS: Final = (
    "",
    "pause; resume",
    "pause; time",
    "drain",
    "drain; resume",
    "abort; resume; abort",
    "start; start",
    "archive; pause; resume",
    "abort; archive; archive; undo",
    "extend 1; extend 2; undo",
    "shorten 1; extend 1",
    "extend 0; extend -1; extend 99999999; shorten 99; extend x",
    "kick {bot}; kick {bot}",
    "kick {bot}; lift {bot}",
    "lift {bot}; validate {bot}; kick zoe; lift zoe; validate zoe",
    "void {game}; void {game}; replay {game}",
    "replay {game}; replay {game}; replay g999; void g999; void x; replay v1",
    "add late; come; add late",
    "add late; remove late; add late; come",
    "add {bot}; remove zoe",
    "remove {bot}; remove {bot}; add {bot}; undo",
    "remove {bot}; remove {other}; undo; undo; undo",
    "token {bot}; token zoe",
    "invite own; registration 3; registration 0; registration x; approve zoe; reject zoe",
    "pause; forfeit {game} {bot}; undo; resume",
    "forfeit {game} {other}; forfeit {game} zoe; forfeit g999 {bot}; forfeit {game}",
    "pause; correct {game} 0-0; correct {game} 0-0; correct {game} 1; correct {game} x; resume",
    "disqualify {bot} lost; add {bot}; disqualify {bot} lost",
    "disqualify {bot} leave; undo; disqualify {bot}; disqualify zoe lost",
    "penalty {bot} 1; penalty {bot} 0.5; undo; penalty {bot} x; penalty {bot}; penalty {bot} nan",
    "pause; pair {bot}:{other}; pair {bot}:{bot}; pair x; resume",
    "forbid {bot}:{other}; forbid {bot}; allow {bot}:{other}; allow {bot}:{other}",
    "undo; undo",
    "void-worker w1; dance; kick; shorten",
    "time",
    "night; time; day",
    "night; day",
    "stop",
    "suspend",
    "pause; suspend; resume",
    "stop; stop; abort",
    "kick {bot}; disqualify {bot} lost; undo; undo",
    "remove {bot}; kick {bot}; add {bot}; undo",
)


class Cell(NamedTuple):
    """`kill`: at the how many-th write after the script has begun the server is killed; None: it is not.

    `absent`: the last bot never comes. `power`: the power is cut instead. `guests`: who else is there.
    """

    form: str
    bots: int
    terms: str
    moment: str
    script: str
    kill: int | None = None
    power: bool = False
    absent: bool = False
    seed: int = 1
    guests: str = "none"


def joined(rng: Random, script: str) -> str:
    """The script, and another one behind it half of the time."""
    behind = rng.choice(SCRIPTS)
    return f"{script}; {behind}" if script and behind and rng.random() < 0.5 else script


def any_cell(rng: Random, moment: str, script: str, bots: range) -> Cell:
    """A cell with one of these numbers of bots, which may make no contest."""
    kill = rng.choice((None, 0, 1, 2, 5))
    return Cell(
        rng.choice(list(FORMATS)),
        rng.choice(bots),
        rng.choice(list(TERMS)),
        moment,
        script,
        kill,
        kill is not None and rng.random() < 0.3,
        rng.random() < 0.15,
        rng.randrange(1 << 30),
        rng.choice(list(GUESTS)),
    )


def drawn(rng: Random, moment: str, script: str) -> Cell:
    """A cell with a field and terms that make a contest."""
    while True:
        cell = any_cell(rng, moment, script, range(2, 8))
        if refused(cell) is None:
            return cell


def config_of(cell: Cell) -> ContestConfig:
    base = ContestConfig(
        name="end",
        seed=cell.seed,
        options={"plies": 2, "lookahead": 1},
        games_per_pair=2,
        absent_ms=1_000,
        spectator_delay_ms=0,
        format=cell.form.split()[0],
        format_options=dict(FORMATS[cell.form]),
        owners={name: "xy"[number % 2] for number, name in enumerate(NAMES)},
    )
    return replace(base, **TERMS[cell.terms])


def refused(cell: Cell) -> str | None:
    """Why there is no contest of these terms; None: there is."""
    config = config_of(cell)
    try:
        format_of(config, NAMES[: cell.bots], game_of(config).seats)
    except ContestConfigError as problem:
        return str(problem)
    return None
