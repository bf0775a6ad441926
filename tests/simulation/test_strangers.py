"""A host with strangers, a visitor's game and orders: what a bot, an organiser and a visitor rely on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from tests.simulation.bots import HONEST, Honest
from tests.simulation.crashes import HOUR, QUEUED, Steady, at, killed_at, run
from tests.simulation.disk import Disk
from tests.simulation.given_orders import ALLOWED_BY
from tests.simulation.invariants import Violation
from tests.simulation.network import LOCAL, MS, SECOND, FaultProfile, seeded
from tests.simulation.strangers import KeyGuesser, Stranger, surround
from tests.simulation.world import Plan, Worlds
from tests.slices import rows

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.messages import Hello
from arena_server.core import admission
from arena_server.core.admission import LEAST_PLACES, ConnectionLimits
from arena_server.core.contest import Contest
from arena_server.core.journal import Past
from arena_server.core.router import Router
from arena_server.terms.config import ContestConfig

VISITOR = "play-4711"
#: Of the boundaries.
PARTS = 20
#: How long an order that forbids games stands.
HOLD = 150 * MS
KILLED = replace(LOCAL, crash_one_in=60)


def config(name: str) -> ContestConfig:
    return ContestConfig(
        name=name, seed=3, options={"plies": 4, "lookahead": 2}, games_per_pair=6, absent_ms=120_000
    )


def a_host(seed: int, faults: FaultProfile = LOCAL) -> Worlds:
    """Two contests whose bots have the same names, and a visitor's game, on as few places as there may be."""
    rng = seeded(seed)
    kinds: dict[str, type[Honest]] = {name: rng.choice(HONEST) for name in ("ann", "bob", "cid")}
    persons: dict[str, type[Honest]] = {"person-1": Honest, "engine": Honest}
    visitor = Plan(replace(config(VISITOR), games_per_pair=2), persons, named=True, listed=False)
    plans = [Plan(config("friday"), kinds), Plan(config("sunday"), kinds), visitor]
    bots = sum(len(plan.kinds) for plan in plans)
    # Fewer than there are strangers, and more than come while a HELLO is on its way.
    places = bots + LEAST_PLACES + rng.randrange(26, 34)
    return Worlds(seed, plans, faults, limits=ConnectionLimits(places, None, 3))


def play(seed: int, faults: FaultProfile = LOCAL) -> tuple[Worlds, list[Stranger]]:
    world = a_host(seed, faults)
    strangers = surround(world, 2)
    # The host is besieged when they come.
    names = {name for part in world.parts for name in part.clients}
    world.run(HOUR, {name: world.branch().randrange(2 * SECOND) for name in sorted(names)})
    return world, strangers


def check(seed: int, faults: FaultProfile = LOCAL) -> None:
    world, strangers = play(seed, faults)
    for part in world.parts:
        assert part.checker.finished == "finished"
    lines = [line for stranger in strangers for line in stranger.lines()]
    assert not [line for line in lines if VISITOR.encode() in line], "no answer names a visitor's game"
    guesses = [line for each in strangers if isinstance(each.bot, KeyGuesser) for line in each.lines()]
    assert not [line for line in guesses if line.startswith(b"WELCOME")]


@pytest.mark.parametrize("seed", rows([1, 2], 2))
def test_a_bot_with_the_right_key_gets_in_whatever_strangers_do(seed: int) -> None:
    check(seed)


@pytest.mark.soak
def test_also_while_the_server_is_killed_again_and_again() -> None:
    check(3, KILLED)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_hosts(seed: int) -> None:
    check(seed, KILLED if seed % 2 else LOCAL)


def found_by(run: Callable[[int], object], numbers: range) -> Iterator[str]:
    """What the checkers find in each of these runs, as far as they find something."""
    for number in numbers:
        try:
            run(number)
        except Violation as violation:
            yield str(violation)


class TestAHostThatKeepsBotsOut:
    """With a host that is broken on purpose the checker says who was kept out."""

    def test_a_router_that_looks_at_the_limit_before_the_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right_way = Router._contest_of

        def limit_first(router: Router, hello: Hello, address: str, now: int) -> Contest:
            host = address.rpartition(":")[0]
            if router._limiter._limit.wait((host, hello.name), now):
                raise ProtocolError(ErrorCode.RATE, "too many wrong log-ins; wait, then try again")
            return right_way(router, hello, address, now)

        monkeypatch.setattr(Router, "_contest_of", limit_first)
        assert any(" was kept out: ERROR rate " in found for found in found_by(play, range(1, 5)))

    def test_an_admission_that_sends_the_newest_away(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def newest(self: admission._ByAddress) -> int:
            return next(reversed(self._networks))

        monkeypatch.setattr(admission._ByAddress, "oldest_of_the_most", newest)
        assert any(" was kept out: ERROR full " in found for found in found_by(play, range(1, 5)))

    @pytest.mark.soak
    def test_an_answer_that_lists_all_contests(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Router, "_list", lambda router: f"there are: {', '.join(router._members)}")
        with pytest.raises(AssertionError, match=r"^no answer names a visitor's game"):
            check(2)


class Orders:
    """The organiser pauses and resumes, kicks and lifts, each until it is answered; then again."""

    def __init__(self, world: Worlds, contest: str, bot: str) -> None:
        self._world, self._contest = world, contest
        self._checker = next(part.checker for part in world.parts if part.plan.config.name == contest)
        verbs = [("pause", ""), ("resume", ""), ("kick", bot), ("lift", bot)]
        self._due = [(number, verb, target) for number in range(2) for verb, target in verbs]
        self._crashes = 0
        world.queue.after(15 * MS, self._next)

    def _next(self) -> None:
        server, wait = self._world.server, 15 * MS
        if not self._due or self._contest in server.reasons:
            return
        number, verb, target = self._due[0]
        who = f"anna {number}"
        if server.alive and server.crashes != self._crashes:
            # The bots come back before the next order: what was ordered before still has to hold.
            self._crashes, wait = server.crashes, HOLD
        elif (who, verb, target) in self._checker.orders.answered:
            self._due.pop(0)
            wait = HOLD if verb in ALLOWED_BY else wait
        elif server.alive:
            server.order(self._contest, verb, target, who=who)
        self._world.queue.after(wait, self._next)


def ordered(crash: int = 0) -> tuple[Worlds, int]:
    """A contest with orders, and one beside it; the server is killed at a boundary of its disk."""
    kinds: dict[str, type[Honest]] = {"ann": Steady, "bob": Steady, "cid": Steady}
    friday = replace(config("friday"), games_per_pair=20)
    world = Worlds(1, [Plan(friday, kinds), Plan(config("sunday"), kinds)], QUEUED)
    Orders(world, "friday", "cid")
    return world, run(world, at(crash))


def check_orders(world: Worlds) -> None:
    """Every order is answered once, and both contests are whole."""
    friday, sunday = world.parts
    assert sunday.checker.orders.answered == set()
    assert len(friday.checker.orders.answered) == 8
    assert friday.checker.finished == sunday.checker.finished == "finished"


def test_an_answered_order_holds_wherever_the_server_is_killed() -> None:
    killed_at(
        ordered, check_orders, lambda boundaries: range(boundaries // 3, boundaries, boundaries // 3 + 1)
    )


@pytest.mark.soak
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_an_answered_order_holds_at_every_boundary(part: int) -> None:
    killed_at(ordered, check_orders, lambda boundaries: range(part, boundaries, PARTS))


class TestAServerThatForgetsOrders:
    """With a server that is broken on purpose the checker says what was forgotten."""

    @pytest.mark.parametrize(
        ("word", "text"),
        rows(
            [
                ("order", r"the orders [\w, ]+ were answered, and are lost$"),
                ("run-state", r"g\d+ began while the contest was paused$"),
                ("conduct", r"g\d+: cid plays, and was kicked$"),
            ],
            3,
        ),
    )
    def test_a_journal_without_what_an_order_did(
        self, monkeypatch: pytest.MonkeyPatch, word: str, text: str
    ) -> None:
        past = Disk.past

        def without(disk: Disk, contest: str) -> Past:
            there = past(disk, contest)
            return Past(there.results, tuple(entry for entry in there.entries if entry[1] != word))

        monkeypatch.setattr(Disk, "past", without)
        assert any(re.search(text, found) for found in found_by(ordered, range(41, 320, 62)))
