"""No byte of a deal that is still to be played leaves the server, on any channel, nor what a bot stores.

What leaves is searched for words as long as a secret. After the contest the moment at which each was first
seen is compared with the moment from which the deal may be known: the end of the last game played on it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import inf

from arena_protocol.record import VOID, GameRecord

#: A nonce has 32 digits, a seed 30 or more, a sequence of interest at least as many as here.
LONG = 20
_WORDS = re.compile(rb"[0-9a-f]{%d,}" % LONG)


class Leaks:
    """Words that left, each with the moment in ns and the channel of its first time."""

    def __init__(self) -> None:
        self._first: dict[bytes, tuple[int, str]] = {}
        #: Words that never leave, with what each of them is.
        self._hidden: dict[bytes, str] = {}

    def hide(self, word: bytes, what: str) -> None:
        """No channel may ever have this word."""
        self._hidden[word] = what

    def left(self, channel: str, data: bytes, now: int) -> None:
        """These bytes can be read outside the server from `now` on."""
        for word in _WORDS.findall(data):
            self._first.setdefault(word, (now, channel))

    def knows(self, word: bytes) -> bool:
        """Whether a word has left, at any moment."""
        return word in self._first

    def found(
        self, records: Mapping[str, GameRecord], ended: Mapping[str, int], *, paired: bool, whole: bool
    ) -> Iterator[str]:
        """A line for each hidden word that left, and each secret of a deal before the end of its last game.

        `ended` is when each game ended, `paired` and `whole` whether deals are played from every seat, and
        whether every game of the contest has a result: otherwise it may go on.
        """
        for word in self._hidden.keys() & self._first.keys():
            at, channel = self._first[word]
            yield f"{channel} has {self._hidden[word]} at {at / 1e9:.6f} s"
        deals: defaultdict[int, list[GameRecord]] = defaultdict(list)
        for record in records.values():
            deals[record.seed].append(record)
        for seed, games in deals.items():
            results = sum(game.end != VOID for game in games)
            is_open = paired and not whole and results < len(games[0].names)
            over = inf if is_open else max(ended[game.game_id] for game in games)
            for what, word in secrets(seed, games):
                now, channel = self._first.get(word, (inf, ""))
                if now < over:
                    last = "and is not over" if is_open else f"to {over / 1e9:.6f} s"
                    names = ", ".join(game.game_id for game in games)
                    yield f"{channel} has the {what} at {now / 1e9:.6f} s of a deal played in {names} {last}"


def secrets(seed: int, games: list[GameRecord]) -> Iterator[tuple[str, bytes]]:
    """What is to be hidden of a deal, as any channel may write it."""
    yield "seed", str(seed).encode()
    yield "seed", f"{seed:x}".encode()
    for game in games:
        yield "nonce", game.nonce.encode()
    if len(games[0].sequence) >= LONG:
        yield "sequence", games[0].sequence.encode()
