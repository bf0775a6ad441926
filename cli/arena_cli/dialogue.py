"""Engines that a person plays in a way of its own, as at the console of `xo1970`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from arena_engines.engine import Engine
from arena_engines.registry import engines_of
from arena_protocol.games import GAMES
from arena_protocol.games.base import Game


@dataclass(frozen=True, slots=True)
class DialogueOptions:
    """Options of `arena play`; a dialogue refuses those that it has no use for, by ConfigError."""

    seat: int
    seed: int | None
    clock: str | None
    library: Path | None
    #: Where it stores games.
    games: Path


class Dialogue(Protocol):
    """The module that `Engine.dialogue` names."""

    #: How the files begin that it stores.
    MARK: bytes

    def play(self, spec: str, rules: Game[Any], options: DialogueOptions) -> None:
        """Play against the engine `spec` until the person leaves."""

    def frames(self, text: str) -> list[str]:
        """The positions of a stored game, one text each. Raises GameError for any other file."""


def dialogue_of(kind: type[Engine]) -> Dialogue:
    """The dialogue of an engine that has one."""
    return cast(Dialogue, import_module(kind.dialogue))


def dialogues() -> Iterator[Dialogue]:
    """All dialogues, of all engines."""
    for game in GAMES:
        yield from (dialogue_of(kind) for kind in engines_of(game).values() if kind.dialogue)
