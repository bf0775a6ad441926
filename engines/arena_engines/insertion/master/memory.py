"""What a master keeps of its opponents from game to game: the scores of the models, and their choices.

A name stands for a program. What is kept of earlier games weighs as much as CARRIED moves of the next one, so
that a program which has changed behind its name is noticed within about as many moves. Its choices among
equal moves weigh in full, since single ones tell little.

    memory=yes     in the process
    memory=FILE    also in a JSON file, written after every game; one process at a time
    memory=no      every opponent is new in every game
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from arena_engines.engine import EngineError, Parameter
from arena_engines.insertion.master.fitting import is_fitted
from arena_engines.insertion.master.opponent import MODELS, OpponentModel, Score, Shortfall
from arena_protocol.text import text_of

logger = logging.getLogger(__name__)

NO, YES = "no", "yes"
FORMAT = "master memory 1"
#: Opponents that are kept; of more, those met last.
MOST_NAMES = 1000
#: A score is as large as the longest game; a file with more is not ours.
MOST_MOVES = 1e6
#: What the name of a file that is set aside has more.
DAMAGED = ".damaged"


@dataclass(frozen=True, slots=True)
class MemoryParameter(Parameter):
    """`yes`, `no` or a path."""

    @property
    def expected(self) -> str:
        """The accepted values as text."""
        return "yes|no|FILE"

    def parse(self, text: str) -> str:
        """Return the text unchanged. Raises EngineError naming what is expected."""
        if not text:
            raise EngineError(f"{self.name}={text}: expected {self.name}={self.expected}")
        return text


class Known(NamedTuple):
    """An opponent: the games played against it, the score of each model and the shortfall after the last."""

    games: int
    scores: Mapping[OpponentModel, Score]
    shortfall: Shortfall = Shortfall()


NEW = Known(0, {})


class OpponentMemory:
    """The opponents by name."""

    def __init__(self, kept: str) -> None:
        """`kept`: NO, YES or the path of a file. Raises EngineError if the file cannot be read.

        One that is damaged, or of another program, is a warning; it is kept beside, and the memory is empty.
        """
        self._enabled = kept != NO
        self._path = None if kept in (NO, YES) else Path(kept)
        self._known: dict[str, Known] = {}
        if self._path is not None:
            try:
                self._known = read(self._path)
            except DamagedError:
                self._set_aside(self._path)

    def _set_aside(self, path: Path) -> None:
        beside = path.with_name(f"{path.name}{DAMAGED}")
        try:
            path.replace(beside)
        except OSError as exc:
            self._path = None
            what = f"it stays as it is ({exc.strerror}), and nothing is kept"
        else:
            what = f"it is {beside.name} now"
        logger.warning("memory=%s: no file that master wrote; %s; every opponent is new", path, what)

    def recall(self, name: str) -> Known:
        """Return what is known of an opponent; an empty name is that of an unknown one."""
        return self._known.get(name, NEW) if self._enabled else NEW

    def keep(self, name: str, scores: Mapping[OpponentModel, Score], shortfall: Shortfall) -> None:
        """Keep the scores of the models and the shortfall after a game.

        A file that cannot be written is a warning, not the end of the bot.
        """
        if not self._enabled or not name:
            return
        games = self.recall(name).games + 1
        self._known.pop(name, None)
        self._known[name] = Known(games, scores, shortfall)
        while len(self._known) > MOST_NAMES:
            del self._known[next(iter(self._known))]
        if self._path is not None:
            try:
                write(self._path, self._known)
            except OSError as exc:
                logger.warning("memory=%s cannot be written: %s", self._path, exc.strerror)


class DamagedError(Exception):
    """A file that is none of a memory."""


def write(path: Path, known: Mapping[str, Known]) -> None:
    """Replace the file at once. Raises OSError."""
    opponents = {
        name: {
            "games": each.games,
            "shortfall": [round(value, 4) for value in each.shortfall],
            "models": [
                [model.view, model.depth, model.order, *(round(value, 4) for value in score)]
                for model, score in each.scores.items()
            ],
        }
        for name, each in known.items()
    }
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text(json.dumps({"format": FORMAT, "opponents": opponents}), encoding="utf-8")
    beside.replace(path)


def read(path: Path) -> dict[str, Known]:
    """The opponents in a file; none without it. Raises EngineError and, for another file, DamagedError."""
    try:
        data = json.loads(text_of(path.read_bytes()))
        if data["format"] != FORMAT:
            raise ValueError(data["format"])
        return {str(name): _known(each) for name, each in data["opponents"].items()}
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise EngineError(f"memory={path}: there is no folder {path.parent}") from None
        return {}
    except OSError as exc:
        raise EngineError(f"memory={path}: {exc.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DamagedError from None


def _known(data: Any) -> Known:
    games = data["games"]
    scores = {}
    for view, depth, order, hits, moves, loss in data["models"]:
        model = OpponentModel(view, depth, order)
        score = Score(float(hits), float(moves), float(loss))
        if (
            (model in MODELS or is_fitted(model))
            and 0 <= score.hits <= score.moves <= MOST_MOVES
            and score.moves > 0
            and 0 <= score.loss <= MOST_MOVES
        ):
            scores[model] = score
            continue
        raise ValueError(model)
    if type(games) is not int or games < 1:
        raise ValueError(games)
    # Files of earlier versions have none.
    total, compared = data.get("shortfall", Shortfall())
    shortfall = Shortfall(float(total), float(compared))
    if not (abs(shortfall.total) <= MOST_MOVES and 0 <= shortfall.moves <= MOST_MOVES):
        raise ValueError(shortfall)
    return Known(games, scores, shortfall)
