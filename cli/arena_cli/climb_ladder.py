"""The ladders of `arena climb`: files of rungs, each a player with a rating that games have given it.

{"game": "insertion", "options": {}, "rungs": [{"player": "greedy", "rating": 1840, "margin": 21}, ...]}

Those of this package are `ladders/GAME.json`, made by `benchmarks/climb_ladder.py`.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from arena_cli.engine_games import play_deal
from arena_engines.registry import create, engines_of
from arena_protocol.games import make_game
from arena_server.errors import ConfigError

FOLDER = Path(__file__).parent / "ladders"
#: The deal whose games are the proof of a rung.
PROOF_DEAL = 1
#: A rating that was found is off by less than this.
ACCURACY = 0.01


@dataclass(frozen=True, slots=True)
class Rung:
    """A player; `margin` is half of the 95 % interval of its `rating`.

    `proof` is a digest of the games with the next rung on one deal, while both play as when they were rated.
    """

    player: str
    rating: float = 0.0
    margin: float = 0.0
    proof: str = ""


@dataclass(frozen=True, slots=True)
class RatedLadder:
    """The rungs of a game with these options, by rising ratings; their numbers begin with 1."""

    game: str
    options: Mapping[str, object]
    rungs: tuple[Rung, ...]

    @classmethod
    def of(cls, game: str, path: Path | None) -> Self:
        """The ladder of a file, else this package's of the installed engines. Raises ConfigError."""
        if path is not None:
            return cls.read(path)
        known = sorted(each.stem for each in FOLDER.glob("*.json"))
        if game not in known:
            raise ConfigError(f"climb: no ladder for {game}; there are {', '.join(known)}, and --ladder FILE")
        whole, installed = cls.read(FOLDER / f"{game}.json"), engines_of(game)
        rungs = [rung for rung in whole.rungs if rung.player.partition(":")[0] in installed]
        return cls(whole.game, whole.options, tuple(rungs))

    @classmethod
    def read(cls, path: Path, *, draft: bool = False) -> Self:
        """Raises ConfigError for a file that is none; a draft has no ratings yet."""
        try:
            plain = json.loads(path.read_bytes())
            rungs = tuple(_rung(each, draft) for each in plain["rungs"])
            ladder = cls(str(plain["game"]), dict(plain.get("options", {})), rungs)
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            text = f"{type(error).__name__}: {error}"
            raise ConfigError(f"{path}: expected a ladder, as docs/climb.md has it ({text:.80})") from None
        ratings = [rung.rating for rung in rungs]
        if draft:
            return ladder
        if len(rungs) < 2 or any(one >= two for one, two in pairwise(ratings)):
            raise ConfigError(f"{path}: expected two rungs or more with rising ratings")
        return ladder

    @property
    def ratings(self) -> Sequence[float]:
        return [rung.rating for rung in self.rungs]

    def nearest(self, rating: float) -> int:
        """The index of the rung whose rating is nearest: games with it say most."""
        return min(range(len(self.rungs)), key=lambda at: abs(self.rungs[at].rating - rating))

    def number(self, rating: float) -> int:
        """The number of the highest rung that is not above `rating`; 0 below the first one."""
        # Halving ends a bit above or below it: who takes half of the points of a rung stands on that rung.
        return bisect_right(self.ratings, rating + ACCURACY)


def _rung(plain: Mapping[str, Any], draft: bool) -> Rung:
    if draft:
        return Rung(str(plain["player"]))
    rating, margin = float(plain["rating"]), float(plain.get("margin", 0))
    if not (math.isfinite(rating) and math.isfinite(margin)):
        raise ValueError(f"rating {rating:g}, margin {margin:g}")
    return Rung(str(plain["player"]), rating, margin, str(plain.get("proof", "")))


def first_games(ladder: RatedLadder, at: int) -> str:
    """The proof of a rung: a digest of all moves of its games with the next one on a deal."""
    rules = make_game(ladder.game, ladder.options)
    engines = [create(rung.player, ladder.game) for rung in ladder.rungs[at : at + 2]]
    for engine in engines:
        engine.warm_up()
    games = play_deal(rules, rules.deal(PROOF_DEAL), engines, None)
    moves = [[*seating, *game.moves] for seating, game in games]
    return sha256(json.dumps(moves).encode()).hexdigest()[:8]
