"""A round that the organiser pairs, and what no round may have.

ann:bob,cid:dan,eve     ann, who has the first seat, meets bob, cid meets dan, eve has the bye
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from arena_server.terms.formats import FormatError

Groups = tuple[tuple[str, ...], ...]
Pair = frozenset[str]


def parse_groups(text: str) -> Groups:
    """The pairs of an order. Raises FormatError for a text that has none."""
    groups = tuple(tuple(group.strip().split(":")) for group in text.split(","))
    if not all(all(group) and len(group) <= 2 for group in groups):
        raise FormatError(f"expected pairs as ann:bob,cid:dan,eve, got {text!r:.60}")
    return groups


def after_change(pairs: frozenset[Pair], pair: Pair, *, forbidden: bool) -> frozenset[Pair]:
    """The pairs that do not meet once this one does not, or does again."""
    return pairs | {pair} if forbidden else pairs - {pair}


class PairingRules(NamedTuple):
    """What a round depends on: who has met and had a bye, who must not meet, and whose bots are."""

    met: Collection[Pair]
    byes: Collection[str]
    forbidden: Collection[Pair]
    owners: Mapping[str, str]
    owners_meet: bool

    def flaw(self, groups: Sequence[Sequence[str]], *, repeats: bool) -> str:
        """The first thing that no round may have; empty: there is none. `repeats` lets pairs meet again."""
        return next(self._flaws(groups, repeats=repeats), "")

    def _flaws(self, groups: Sequence[Sequence[str]], *, repeats: bool) -> Iterator[str]:
        for group in groups:
            if len(group) < 2:
                if not repeats and group and group[0] in self.byes:
                    yield f"{group[0]} has had a bye"
                continue
            one, other = group
            if frozenset(group) in self.forbidden:
                yield f"{one} and {other} must not meet: the pair is forbidden"
            owner = self.owners.get(one)
            if not self.owners_meet and owner and owner == self.owners.get(other):
                yield f'{one} and {other} must not meet: same_owner is "never", and both are of {owner}'
            if not repeats and frozenset(group) in self.met:
                yield f"{one} and {other} have met"


def check_names(groups: Groups, known: Collection[str], here: Collection[str]) -> None:
    """Raise FormatError unless all bots that are `here` are in a round, each once, with one bye at most."""
    count = Counter(name for group in groups for name in group)
    for name, times in count.items():
        if name not in known:
            raise FormatError(f"no bot of this contest is called {name!r:.40}, or it has left")
        if times > 1:
            raise FormatError(f"{name} is in the round {times} times")
    if missing := [name for name in here if name not in count]:
        raise FormatError(f"the round is without {', '.join(missing)}: each plays, or one has the bye")
    if len(byes := [group[0] for group in groups if len(group) == 1]) > 1:
        raise FormatError(f"expected one bye at most, got {', '.join(byes)}")
    if len(byes) == len(groups):
        raise FormatError("expected a pair")
