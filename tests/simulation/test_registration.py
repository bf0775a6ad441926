"""A link by which an author registers a bot: in a simulated host it works once, wherever that is killed."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import pytest
from tests.simulation.bots import Honest
from tests.simulation.crashes import HOUR, QUEUED, Steady, at, killed_at, run
from tests.simulation.disk import Disk
from tests.simulation.network import MS
from tests.simulation.test_strangers import HOLD, PARTS, config
from tests.simulation.world import Plan, Worlds
from tests.slices import rows

from arena_server.core.journal import JournalError, Past
from arena_server.core.parts.invitations import NO_CODE

CODE = sha256(b"code").hexdigest()
AUTHOR, STRANGER = ("jan", "register", "dan"), ("eve", "register", "eve")
INVITED = ("anna", "invite", "jan")
NAMES = ("ann", "bob", "dan")


class Registration:
    """Each step is repeated until it is answered, as by one whose answer was lost.

    The organiser invites jan, jan registers dan, dan logs in, and eve tries the same link to the end.
    """

    def __init__(self, world: Worlds) -> None:
        self._world = world
        self._part = world.parts[0]
        self._due = [INVITED, AUTHOR, STRANGER]
        world.queue.after(15 * MS, self._next)

    def _next(self) -> None:
        server, orders = self._world.server, self._part.checker.orders
        if not self._due or "friday" in server.reasons:
            return
        given = who, verb, target = self._due[0]
        if given in orders.answered and given != STRANGER:
            self._due.pop(0)
            if given == AUTHOR:
                self._world.queue.after(MS, self._part.clients["dan"].connect)
        elif server.alive and (given != STRANGER or self._has_come()):
            token = self._part.entrants["dan"].token_sha256
            entrant = replace(self._part.entrants["dan"], name=target, token_sha256=token)
            server.order("friday", verb, target, who=who, code=CODE, until=HOUR, entrant=entrant)
        self._world.queue.after(15 * MS if given != STRANGER else HOLD, self._next)

    def _has_come(self) -> bool:
        """Whether dan has logged in: up to then its link gives another token, as an answer may be lost."""
        lines = [line for each in self._part.clients["dan"].connections for line in each.lines]
        return any(line.startswith(b"WELCOME") for line in lines)


def registered(crash: int = 0) -> tuple[Worlds, int]:
    """A contest to which a bot comes by a link, and one beside it; killed at a boundary of its disk."""
    kinds: dict[str, type[Honest]] = dict.fromkeys(NAMES, Steady)
    friday = replace(config("friday"), games_per_pair=4)
    world = Worlds(
        1,
        [Plan(friday, kinds, late=frozenset({"dan"})), Plan(config("sunday"), dict.fromkeys("xyz", Steady))],
        QUEUED,
    )
    Registration(world)
    return world, run(world, at(crash), dict.fromkeys(("ann", "bob", "x", "y", "z"), 20 * MS))


def check(world: Worlds) -> None:
    friday, sunday = world.parts
    orders = friday.checker.orders
    assert orders.answered == {INVITED, AUTHOR}
    # Some tries come behind the end, unless a restart took the time of the last one.
    assert {NO_CODE} <= orders.refused[STRANGER] <= {NO_CODE, "the contest is over: finished"}
    assert sunday.checker.orders.answered == set()
    assert friday.checker.finished == sunday.checker.finished == "finished"
    players = {name for record in friday.checker.records.values() for name in record.names}
    assert players == set(NAMES)


def test_a_link_works_once_wherever_the_server_is_killed() -> None:
    killed_at(registered, check, lambda boundaries: range(1, boundaries, boundaries // 3))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_a_link_works_once_at_every_boundary(part: int) -> None:
    killed_at(registered, check, lambda boundaries: range(part, boundaries, PARTS))


@pytest.mark.parametrize("word", rows(["redeemed", "invited"], 2))
def test_a_journal_without_the_link_is_found(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """With a server that is broken on purpose the link works twice, or not once."""
    past = Disk.past

    def without(disk: Disk, contest: str) -> Past:
        there = past(disk, contest)
        return Past(there.results, tuple(entry for entry in there.entries if entry[1] != word))

    monkeypatch.setattr(Disk, "past", without)
    with pytest.raises((AssertionError, JournalError)):
        killed_at(registered, check, lambda boundaries: range(3, boundaries, boundaries // 3))
