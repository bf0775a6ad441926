"""The search of `arena tune`: parameters of a command, and simultaneous perturbation (SPSA) over them.

Every step compares two points on opposite sides of the current one, all parameters changed at once, and moves
towards the better one (J. C. Spall, "Multivariate stochastic approximation using a simultaneous
perturbation gradient approximation", 1992). A point has a number from 0 to 1 for each parameter, its
place in the range.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from arena_server.errors import ConfigError

#: The decay of distances and of steps by their number, and how much of a run is before the decay: Spall's.
DISTANCE_DECAY, STEP_DECAY, STABILITY = 0.101, 0.602, 0.1
#: The first distance and the first step, as shares of a range.
DISTANCE, STEP = 0.15, 0.1
#: The last share of the steps whose points make the answer.
AVERAGED = 0.5

Point = tuple[float, ...]

_PARAM = re.compile(r"([A-Za-z_]\w*)=([^:@]+):([^:@]+?)(:int)?(?:@([^:@]+))?", re.ASCII)
_PLACE = re.compile(r"\{([A-Za-z_]\w*)\}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Param:
    """A number in the command of a bot, from `low` to `high`; `whole`: an integer."""

    name: str
    low: float
    high: float
    start: float
    whole: bool = False

    @classmethod
    def of(cls, text: str) -> Param:
        """Read NAME=LOW:HIGH, behind it :int for whole numbers and @START. Raises ConfigError."""
        found = _PARAM.fullmatch(text)
        if found is None:
            raise ConfigError(
                f"--param: expected NAME=LOW:HIGH, NAME=LOW:HIGH:int or ...@START, got {text!r}"
            )
        name, *texts, whole, start = found.groups()
        numbers = [_number(each, whole is not None, text) for each in [*texts, start] if each is not None]
        low, high, *given = numbers
        if low >= high:
            raise ConfigError(f"--param {name}: expected LOW less than HIGH, got {text!r}")
        if given and not low <= given[0] <= high:
            raise ConfigError(f"--param {name}: expected a start from {low:g} to {high:g}, got {given[0]:g}")
        middle = (low + high) / 2
        return cls(name, low, high, given[0] if given else middle, whole is not None)

    def value(self, place: float) -> float:
        """The number at a place of the range; a whole one is rounded."""
        number = self.low + place * (self.high - self.low)
        return math.floor(number + 0.5) if self.whole else float(f"{number:.6g}")

    def text(self, place: float) -> str:
        """The same as it stands in the command."""
        return str(self.value(place)) if self.whole else f"{self.value(place):.6g}"

    @property
    def least(self) -> float:
        """The distance on either side of a place at which values differ."""
        return 0.5 / (self.high - self.low) if self.whole else 0.0


def _number(text: str, whole: bool, param: str) -> float:
    try:
        number = int(text) if whole else float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        kind = "a whole number" if whole else "a number"
        raise ConfigError(f"--param: expected {kind} in {param!r}, got {text!r}")
    return number


def read_params(texts: Sequence[str], command: str) -> tuple[Param, ...]:
    """The parameters of a command. Raises ConfigError for one that is wrong, twice there or not in it."""
    params = tuple(map(Param.of, texts))
    names = [param.name for param in params]
    places = _PLACE.findall(command)
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"--param {name}: expected each parameter once")
        if name not in places:
            raise ConfigError(
                f"--param {name}: expected {{{name}}} in the command of the bot, got {command!r}"
            )
    for name in places:
        if name not in names:
            raise ConfigError(f"{command!r} has {{{name}}}: expected --param {name}=LOW:HIGH")
    if not params:
        raise ConfigError("expected --param NAME=LOW:HIGH, and {NAME} in the command of the bot")
    return params


def filled(command: str, params: Sequence[Param], point: Point) -> str:
    """The command with the values of a point."""
    texts = {param.name: param.text(place) for param, place in zip(params, point, strict=True)}
    return _PLACE.sub(lambda found: texts[found[1]], command)


class Spsa:
    """The search: `ask` the two points of the next step, `tell` what was measured.

    It follows from `seed` and the leads alone, so that a run that was ended is made again from them.
    The steps become shorter up to the last of `steps`.
    """

    def __init__(self, params: Sequence[Param], steps: int, seed: int) -> None:
        self._params = params
        self._steps = steps
        self._seed = seed
        self._sum_of_squares = 0.0
        #: The point after each step, the start first.
        self.path: list[Point] = [
            tuple((param.start - param.low) / (param.high - param.low) for param in params)
        ]

    @property
    def told(self) -> int:
        """How many leads there are."""
        return len(self.path) - 1

    def ask(self) -> tuple[Point, Point]:
        """The points to compare in the next step."""
        centres, signs, sizes = self._perturbation()
        triples = list(zip(centres, signs, sizes, strict=True))
        return (
            tuple(centre + sign * size for centre, sign, size in triples),
            tuple(centre - sign * size for centre, sign, size in triples),
        )

    def tell(self, lead: float) -> None:
        """Add by how much the first point of `ask` was better than the second one, in any unit.

        A step is scaled by the mean square of all leads, so that the unit does not matter.
        """
        _, signs, _ = self._perturbation()
        self._sum_of_squares += lead * lead
        number = self.told + 1
        scale = math.sqrt(self._sum_of_squares / number) or 1.0
        early = STABILITY * self._steps
        step = STEP * ((1 + early) / (number + early)) ** STEP_DECAY * lead / scale
        moved = zip(self.path[-1], signs, strict=True)
        self.path.append(tuple(min(1.0, max(0.0, place + step * sign)) for place, sign in moved))

    def best(self) -> Point:
        """The answer so far: the mean of the later points, which has less noise than the last one."""
        later = self.path[-max(1, math.ceil(AVERAGED * self.told)) :]
        return tuple(sum(places) / len(later) for places in zip(*later, strict=True))

    def _perturbation(self) -> tuple[Iterable[float], list[int], list[float]]:
        """Of the next step: the middle of both points, the sign and the distance of each parameter."""
        number = self.told + 1
        draws = random.Random(step_seed(self._seed, number))  # noqa: S311 - the same in every run
        signs = [draws.choice((-1, 1)) for _ in self._params]
        distance = DISTANCE / number**DISTANCE_DECAY
        sizes = [min(0.5, max(distance, param.least)) for param in self._params]
        # At the end of a range the points stay in it, and as far from each other.
        places = zip(self.path[-1], sizes, strict=True)
        return [min(1 - size, max(size, place)) for place, size in places], signs, sizes


def step_seed(seed: int, step: int) -> int:
    """The seed of the deals of a step: no two steps of a run, and no two runs, have the same."""
    return int.from_bytes(sha256(f"deals:{seed}:{step}".encode()).digest()[:4])
