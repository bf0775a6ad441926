"""Who is to blame for games that workers give back: a worker that fails, or a bot that kills its workers.

    lost MOST_FAILURES times in a row by one worker, while others play -> it is excluded
    given back MOST_ATTEMPTS times -> the bots that all lost games have in common -> Remove, Drop or GiveUp

A bot of which another game was played is not accused before one of which none was, and none before
some game has been played: a fault of the workers would look like one of the first bots. A worker is not
accused while a bot that has not been played yet was in all of its lost games.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

#: How often workers may give the same game back.
MOST_ATTEMPTS = 5
#: How often one of several workers may do so.
MOST_ALONE = 15
#: How many games may be dropped before one has been played.
MOST_DROPPED = 5
#: How many lost games of one worker in a row are too many.
MOST_FAILURES = 5


@dataclass(frozen=True, slots=True)
class Remove:
    """The games of this bot end their workers. It is removed, and the `dropped` games are its."""

    bot: str
    evidence: str
    dropped: Sequence[str]


@dataclass(frozen=True, slots=True)
class Drop:
    """The game is not played again: one of its bots is to blame, and others can play on."""

    evidence: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """No bot is to blame, or none is left to play."""

    evidence: str


Verdict = Remove | Drop | GiveUp | None


@dataclass(slots=True)
class LostGames:
    """The games of a run between `bots` that workers have given back and not played since."""

    bots: Collection[str]
    _attempts: Counter[str] = field(default_factory=Counter)
    #: The workers that have given a game back.
    _by: dict[str, set[str]] = field(default_factory=dict)
    _names: dict[str, frozenset[str]] = field(default_factory=dict)
    _dropped: list[str] = field(default_factory=list)
    #: The bots of which a game was played.
    _played: set[str] = field(default_factory=set)
    _removed: set[str] = field(default_factory=set)
    #: The games that each worker has lost since it played one, and the workers that have played any.
    _failures: dict[str, list[frozenset[str]]] = field(default_factory=dict)
    _players: set[str] = field(default_factory=set)

    def others_play(self, worker: str) -> bool:
        """Whether a worker other than this one has played a game."""
        return bool(self._players - {worker})

    def played(self, game: str, names: Collection[str], worker: str = "") -> Verdict:
        """A worker has played a game: Remove if that tells whose fault the dropped games are."""
        self._played.update(names)
        self._players.add(worker)
        self._failures.pop(worker, None)
        self._forget([game])
        return self._accuse() if self._dropped else None

    def replaced(self, bot: str) -> None:
        """Another program plays for the bot, of which no game was played."""
        self._played.discard(bot)

    def failed(self, worker: str, names: Collection[str]) -> bool:
        """A game has failed on a worker: True if the worker is to blame; else the game is `given_back`."""
        lost = self._failures.setdefault(worker, [])
        lost.append(frozenset(names))
        del lost[:-MOST_FAILURES]
        unplayed = frozenset.intersection(*lost) - self._played
        return len(lost) == MOST_FAILURES and not unplayed and self.others_play(worker)

    def given_back(self, game: str, names: Collection[str], worker: str = "", workers: int = 1) -> Verdict:
        """One of several `workers` has given a game back. None: another one is to play it."""
        self._attempts[game] += 1
        self._names[game] = frozenset(names)
        by = self._by.setdefault(game, set())
        by.add(worker)
        # One of several workers alone proves nothing about a bot, unless the others never take the game.
        most = MOST_ATTEMPTS if len(by) >= min(2, workers) else MOST_ALONE
        if self._attempts[game] < most:
            return None
        if (verdict := self._accuse()) is not None:
            return verdict
        in_common = self._in_common()
        others = set(self.bots) - self._removed - in_common
        useless = not self._played and len(self._dropped) >= MOST_DROPPED
        if not in_common or not others or useless:
            return GiveUp(self._evidence())
        self._dropped.append(game)
        return Drop(self._evidence())

    def _in_common(self) -> frozenset[str]:
        return frozenset.intersection(*self._names.values()) if self._names else frozenset()

    def _accuse(self) -> Remove | None:
        suspects = self._in_common()
        if len(suspects) > 1:
            suspects -= self._played
        if len(suspects) != 1 or not self._played:
            return None
        (bot,) = suspects
        verdict = Remove(bot, self._evidence(), tuple(self._dropped))
        self._removed.add(bot)
        self._forget(list(self._names))
        return verdict

    def _evidence(self) -> str:
        """The lost games, and the bots that they have in common."""
        games = ", ".join(f"{game} was given back {_times(self._attempts[game])}" for game in self._names)
        in_common = " and ".join(sorted(self._in_common())) or "no bot"
        return f"{games}; {in_common} played in all of them"

    def _forget(self, games: Collection[str]) -> None:
        for game in games:
            self._attempts.pop(game, None)
            self._names.pop(game, None)
            self._by.pop(game, None)
        self._dropped = [game for game in self._dropped if game in self._names]


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
