"""What is measured for docs/engines.md: the tasks of every picture and table, as data.

Two plans of one shape: the whole one, some 25 minutes of one core, and a quick one, a slice of each part that
shows that everything runs. Both are drawn by the same code. It must not know: how anything is
measured or drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from figures_measure import Nodes, Pairing, Speed, Task
from figures_vary import Varied

Options = tuple[tuple[str, int], ...]

#: The three rungs that cut nothing search the same tree.
UNCUT = ("minimax", "entry2006", "fourtier:cut=none")
CHAMPION = "champion:depth=5"
SPOILER = f"{CHAMPION},strategy=spoiling"
ADAPTIVE = f"{CHAMPION},strategy=adaptive"
#: With a time for each move nobody runs out of it, however busy the machine is; 2 s for 100 moves.
MASTER = "master:millis=20"
#: Where the constants of master stand.
ENGINE, FOLLOWER = (f"arena_engines.insertion.master.{module}" for module in ("engine", "follower"))


@dataclass(frozen=True)
class Plan:
    """The tasks, by part. The order within a part is that of the picture."""

    nodes: tuple[Nodes, ...]
    speed: Speed
    depths: tuple[Pairing, ...]
    league: tuple[Pairing, ...]
    zombie: tuple[Pairing, ...]
    models: tuple[Pairing, ...]
    constants: tuple[Pairing, ...]
    conditions: tuple[Pairing, ...]
    clocks: tuple[Pairing, ...]
    contest: tuple[Pairing, ...]

    def part(self, name: str) -> tuple[Task, ...]:
        """Return the tasks of a part. Raises AttributeError for another name."""
        found = getattr(self, name)
        return found if isinstance(found, tuple) else (found,)


#: In the order of measuring, the cheap ones first.
PARTS = ("nodes", "speed", "depths", "league", "zombie", "models", "constants", "conditions", "clocks")
#: Hours at the contest's own clock: only when asked for.
CONTEST = "contest"


def league_of(plan: Plan) -> tuple[str, ...]:
    """Return the engines of the league in the order of their first game."""
    return tuple(dict.fromkeys(spec for pairing in plan.league for spec in (pairing.one, pairing.other)))


def everybody(engines: tuple[str, ...], deals: int, options: Options = ()) -> tuple[Pairing, ...]:
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


def selfish(name: str, pairing: Pairing) -> tuple[Pairing, Pairing]:
    """Return a pairing as it is, and with these weights of `master` counting its own points alone."""
    known = (pairing.one, pairing.other, pairing.deals, pairing.clock, pairing.options)
    return pairing, Varied(*known, FOLLOWER, name, (1024, 0, 0))


def believing(pairing: Pairing) -> tuple[Pairing, ...]:
    """Return a pairing in which `master` believes a model sooner and later than it does."""
    known = (pairing.one, pairing.other, pairing.deals, pairing.clock, pairing.options)
    return (Varied(*known, ENGINE, "BELIEF", 0.3), pairing, Varied(*known, ENGINE, "BELIEF", 0.7))


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
    league=everybody(LADDER, deals=6),
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
    constants=(
        *selfish("GUARD_WEIGHTS", Pairing(modelled("worst"), CHAMPION, 8)),
        *selfish("PLAN_WEIGHTS", Pairing(modelled("seen"), CHAMPION, 8)),
        *selfish("ALONE_WEIGHTS", Pairing(modelled("seen"), "dummy", 8)),
        *believing(Pairing(modelled("seen"), SPOILER, 8)),
    ),
    conditions=under(MASTER, CONDITIONS, deals=6),
    clocks=tuple(Pairing("master", CHAMPION, 6, clock) for clock in (100, 1_000, 5_000, 20_000)),
    contest=under("master", CONDITIONS, deals=5, clock=20_000),
)

SHORT: Options = (("plies", 12),)
QUICK = Plan(
    nodes=(Nodes("minimax", 2), Nodes("entry2006", 2), Nodes("champion", 3), Nodes("master", 3)),
    speed=Speed("champion", "master", 2),
    depths=tuple(Pairing(f"champion:depth={depth}", "champion:depth=2", 2, None, SHORT) for depth in (1, 2)),
    league=everybody((MASTER, "champion:depth=2", "greedy", "dummy"), 2, SHORT),
    zombie=tuple(Pairing(spec, "dummy", 2, None, SHORT) for spec in (MASTER, "greedy", "champion:depth=2")),
    models=tuple(Pairing(modelled(model), "greedy", 1, None, SHORT) for model in ("worst", "own", "seen")),
    constants=selfish("PLAN_WEIGHTS", Pairing(modelled("seen"), "greedy", 1, None, SHORT)),
    conditions=under(MASTER, (SHORT, (*SHORT, ("lookahead", 3))), deals=1),
    clocks=tuple(Pairing("master", "champion:depth=2", 2, clock, SHORT) for clock in (100, 200)),
    contest=(),
)
