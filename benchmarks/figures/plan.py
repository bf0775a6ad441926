"""What is measured for docs/engines.md: the tasks of every picture and table.

WHOLE takes about 25 minutes of one core, QUICK is a slice of each part in half a minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from measure import Nodes, Options, Pace, Pairing, Speed, Task

#: The three rungs that cut nothing search the same tree.
UNCUT = ("minimax", "entry2006", "fourtier:cut=none")
CHAMPION = "champion:depth=5"
SPOILER = f"{CHAMPION},strategy=spoiling"
ADAPTIVE = f"{CHAMPION},strategy=adaptive"
#: A time for each move, so that a busy machine makes no zombie; 2 s for 100 moves.
MASTER = "master:millis=20"


@dataclass(frozen=True)
class Plan:
    """The tasks, by part. The order within a part is that of the picture."""

    nodes: tuple[Nodes, ...]
    speed: Speed
    depths: tuple[Pairing, ...]
    league: tuple[Pairing, ...]
    zombie: tuple[Pairing, ...]
    models: tuple[Pairing, ...]
    conditions: tuple[Pairing, ...]
    switch: tuple[Pairing, ...]
    wildcards: tuple[Pairing, ...]
    clocks: tuple[Pairing, ...]
    pace: tuple[Pairing | Pace, ...]
    contest: tuple[Pairing, ...]

    def part(self, name: str) -> tuple[Task, ...]:
        """Return the tasks of a part. Raises AttributeError for another name."""
        found = getattr(self, name)
        return found if isinstance(found, tuple) else (found,)


#: In the order of measuring, the cheap ones first.
PARTS = (
    "nodes",
    "speed",
    "depths",
    "league",
    "zombie",
    "models",
    "conditions",
    "switch",
    "wildcards",
    "clocks",
    "pace",
)
#: Twenty minutes more, at the clock of the contest.
CONTEST = "contest"


def league_of(plan: Plan) -> tuple[str, ...]:
    """Return the engines of the league in the order of their first game."""
    return tuple(dict.fromkeys(spec for pairing in plan.league for spec in (pairing.one, pairing.other)))


def round_robin(engines: tuple[str, ...], deals: int, options: Options = ()) -> tuple[Pairing, ...]:
    """Return the pairings of a league."""
    return tuple(Pairing(one, other, deals, None, options) for one, other in combinations(engines, 2))


def under(
    spec: str, conditions: tuple[Options, ...], deals: int, clock: int | None = None
) -> tuple[Pairing, ...]:
    """Return `master` against the champion and against a zombie, under each of these options."""
    return tuple(
        Pairing(spec, rival, deals, clock, options) for rival in (CHAMPION, "dummy") for options in conditions
    )


def modelled(model: str) -> str:
    """Return `master` with a model of the opponent and a time for each move, as MASTER has it."""
    return f"master:model={model},millis=10"


def looking(pictures: int) -> Options:
    """Return the options of a game with so few visible pictures."""
    return () if pictures == 20 else (("lookahead", pictures),)


def switched(deals: int, options: Options = ()) -> tuple[Pairing, ...]:
    """Return minimax under a clock too short for its depth, with and without the switch of the depth.

    Three plies are never too slow; 100 moves take about 0.1 s at 5 plies and 1.5 s at 6.
    """
    return tuple(
        Pairing(
            f"minimax:depth={depth},switch={switch}",
            CHAMPION,
            deals,
            clock,
            (*options, *looking(pictures)),
        )
        for pictures, depth, clock in ((3, 3, 1_000), (5, 5, 100), (20, 6, 1_000))
        for switch in (100, 85)
    )


def guessing(deals: int, options: Options = ()) -> tuple[Pairing, ...]:
    """Return the champion with and without expected values over wildcards."""
    return tuple(
        Pairing(
            f"champion:depth={depth},wildcards={wildcards}",
            CHAMPION,
            deals,
            None,
            (*options, *looking(pictures)),
        )
        for pictures, depth, counts in ((3, 5, (0, 1, 2)), (5, 6, (0, 1)), (20, 6, (0, 1)))
        for wildcards in counts
    )


def paces(
    specs: tuple[str, ...], other: str, deals: int, options: Options = ()
) -> tuple[Pairing | Pace, ...]:
    """Return the points of engines against one, and the time that their moves take."""
    points = (Pairing(spec, other, deals, None, options) for spec in specs)
    return (*points, *(Pace(spec, other, options) for spec in specs))


#: The contest's game, few pictures in sight, few and many colours.
CONDITIONS: tuple[Options, ...] = (
    (),
    (("lookahead", 5),),
    (("lookahead", 3),),
    (("colours", 4),),
    (("colours", 7),),
)

#: The strongest first, so that a pairing of the league is the same as one of another part.
LADDER = (
    MASTER,
    ADAPTIVE,
    SPOILER,
    CHAMPION,
    "threetier",
    "fourtier",
    "entry2006",
    "minimax:depth=4",
    "greedy",
    "random:seed=1",
    "dummy",
)

WHOLE = Plan(
    nodes=(
        Nodes("minimax", 7),
        Nodes("entry2006", 6),
        Nodes("fourtier:cut=none", 6),
        Nodes("fourtier:cut=quarter", 7),
        Nodes("fourtier:cut=half", 8),
        Nodes("threetier", 8),
        Nodes("champion", 9),
        Nodes("master", 10),
    ),
    speed=Speed("champion", "master", 7),
    depths=tuple(Pairing(f"champion:depth={depth}", CHAMPION, 30) for depth in range(1, 9)),
    league=round_robin(LADDER, deals=6),
    zombie=(
        *(Pairing(spec, "dummy", 20) for spec in LADDER[:-1] if spec != ADAPTIVE),
        Pairing("entry2006:zombie=0", "dummy", 20),
        Pairing(f"{CHAMPION},zombie=0", "dummy", 20),
    ),
    models=tuple(
        Pairing(modelled(model), rival, 8)
        for rival in (CHAMPION, SPOILER)
        for model in ("worst", "own", "spoiling", "seen")
    ),
    conditions=under(MASTER, CONDITIONS, deals=6),
    switch=switched(deals=6),
    wildcards=guessing(deals=20),
    clocks=tuple(Pairing("master", CHAMPION, 6, clock) for clock in (100, 1_000, 5_000, 20_000)),
    pace=paces(
        (
            "greedy",
            "minimax:depth=4",
            "entry2006",
            "fourtier",
            "threetier",
            *(f"champion:depth={depth}" for depth in range(1, 9)),
            *(f"master:millis={millis}" for millis in (1, 5, 20, 100)),
        ),
        CHAMPION,
        3,
    ),
    contest=under("master", CONDITIONS, deals=3, clock=20_000),
)

SHORT: Options = (("plies", 12),)
QUICK = Plan(
    nodes=(Nodes("minimax", 2), Nodes("entry2006", 2), Nodes("champion", 3), Nodes("master", 3)),
    speed=Speed("champion", "master", 2),
    depths=tuple(Pairing(f"champion:depth={depth}", "champion:depth=2", 2, None, SHORT) for depth in (1, 2)),
    league=round_robin((MASTER, "champion:depth=2", "greedy", "dummy"), 2, SHORT),
    zombie=tuple(Pairing(spec, "dummy", 2, None, SHORT) for spec in (MASTER, "greedy", "champion:depth=2")),
    models=tuple(Pairing(modelled(model), "greedy", 1, None, SHORT) for model in ("worst", "own", "seen")),
    conditions=under(MASTER, (SHORT, (*SHORT, ("lookahead", 3))), deals=1),
    switch=switched(1, SHORT)[4:],
    wildcards=guessing(1, SHORT)[:2],
    clocks=tuple(Pairing("master", "champion:depth=2", 2, clock, SHORT) for clock in (100, 200)),
    pace=paces(("greedy", "champion:depth=1", "champion:depth=3", MASTER), "champion:depth=2", 1, SHORT),
    contest=(),
)
