"""Who learns of the end of a contest, and when: its bots at once, all others after the spectator delay."""

from __future__ import annotations

from itertools import product

import pytest

from arena_server.core.contest import Contest
from arena_server.core.effects import Finished
from arena_server.core.events import Command, Freeze, Observe, Stop, Tick
from arena_server.core.router import Member
from arena_server.terms.config import ContestConfig

from ...slices import all_of
from .harness import MS, numbered_secrets
from .routed import Routed, bot, contest

DELAY = 900


def ended(delay: int, *, frozen: bool = False) -> tuple[Contest, Routed, int, int, int]:
    """A contest with a bot, a guest that watches, and one that has only logged in, which is aborted then."""
    one = contest("cup", spectator_delay_ms=delay)
    routed = Routed(Member(one))
    player, watcher, guest = (routed.open() for _ in range(3))
    assert routed.say(player, "HELLO 1 ann token=ann-cup")[-1].startswith("WELCOME ")
    for conn in (watcher, guest):
        assert routed.say(conn, f"HELLO 1 eye{conn} role=spectator")[-1].startswith("WELCOME ")
    routed.router.routes[watcher].received(watcher, b"WATCH *", 0, 0)
    if frozen:
        one.feed(Freeze(0), 0)
    return one, routed, player, watcher, guest


@all_of(("delay", "frozen"), product((0, DELAY), (False, True)))
def test_the_port(delay: int, frozen: bool) -> None:
    one, routed, player, watcher, guest = ended(delay, frozen=frozen)
    early = routed.open()
    assert routed.lines(early) == ["ARENA 1 arena/test"]
    over = ["BYE reason=aborted"]
    one.feed(Command(1, "abort"), 0)
    effects = one.take()
    routed.effects += effects
    assert any(isinstance(each, Finished) for each in effects) == (not delay), "who watches is awaited"
    routed.router.ended(0)
    sent = _all(routed, player, watcher, guest, early)
    assert sent[player] == over
    assert [sent[conn] for conn in (watcher, guest, early)] == [[] if delay else over] * 3
    if delay:
        assert not one.tells_end(delay * MS - 1)
        one.feed(Tick(), delay * MS - 1)
        routed.now = delay * MS - 1
        assert _all(routed, watcher, guest, early) == {watcher: [], guest: [], early: []}
        conn = routed.open()
        assert routed.lines(conn) == ["ARENA 1 arena/test"]
        assert routed.say(conn, "HELLO 1 ann token=ann-cup")[-1] == over[0], "a bot may know"
        late = routed.open()
        assert routed.say(late, "HELLO 1 another role=spectator")[-1].startswith("WELCOME ")
        assert one.deadline == delay * MS
        one.feed(Tick(), delay * MS)
        effects = one.take()
        assert [each.ago for each in effects if isinstance(each, Finished)] == [delay * MS]
        routed.effects += effects
        assert _all(routed, watcher, guest, late) == {watcher: over, guest: over, late: over}
    routed.now = delay * MS
    assert routed.lines(routed.open())[-1:] == over
    assert one.deadline is None


@pytest.mark.parametrize("delay", [0, DELAY])
def test_who_has_not_said_hello_learns_of_an_end_that_nobody_watched(delay: int) -> None:
    one = contest("cup", spectator_delay_ms=delay)
    routed = Routed(Member(one))
    silent = routed.open()
    one.feed(Command(1, "abort"), 0)
    routed.router.ended(0)
    late = routed.open()
    if delay:
        assert _all(routed, silent, late) == {silent: ["ARENA 1 arena/test"], late: ["ARENA 1 arena/test"]}
        assert routed.router.deadline == delay * MS
        routed.router.feed(Tick(), delay * MS - 1)
        assert routed.router.take() == []
        routed.router.feed(Tick(), delay * MS)
    assert [lines[-1] for lines in _all(routed, silent, late).values()] == ["BYE reason=aborted"] * 2
    assert routed.router.deadline is None


def _all(routed: Routed, *conns: int) -> dict[int, list[str]]:
    """What was sent to each connection since the last call."""
    routed.effects += routed.router.take()
    for one in routed.contests:
        routed.effects += one.take()
    effects, found = routed.effects, {}
    for conn in conns:
        routed.effects = list(effects)
        found[conn] = routed.lines(conn)
    return found


@pytest.mark.parametrize("ago", [0, DELAY // 2])
def test_a_server_that_begins_after_the_end_knows_when_that_was(ago: int) -> None:
    given = ContestConfig(name="cup", seed=7, spectator_delay_ms=DELAY, login_ms=1_000)
    bots = [bot("ann", "cup"), bot("bob", "cup")]
    one = Contest(given, bots, numbered_secrets(), 0, ended="finished", ended_ago=ago * MS)
    routed = Routed(Member(one))
    routed.router.ended(0)
    over = "BYE reason=finished"
    assert routed.greet("HELLO 1 ann token=ann-cup") == over
    assert routed.greet("HELLO 1 ann token=x").startswith("ERROR token ")
    guest = routed.open()
    assert routed.say(guest, "HELLO 1 eye role=spectator")[-1].startswith("WELCOME ")
    at = (DELAY - ago) * MS
    assert one.deadline == at
    one.feed(Tick(), at)
    routed.now = at
    assert routed.lines(guest) == [over]
    assert routed.lines(routed.open())[-1] == over


def test_a_server_that_ends_tells_everybody() -> None:
    one, routed, player, watcher, guest = ended(DELAY)
    one.feed(Stop(), 0)
    assert set(map(tuple, _all(routed, player, watcher, guest).values())) == {("BYE reason=stopped",)}
    assert one.tells_end(0)


@pytest.mark.parametrize("observed", [False, True])
def test_nobody_is_awaited_that_does_not_watch(observed: bool) -> None:
    """The page of this process counts as one that does."""
    one = contest("cup", spectator_delay_ms=DELAY)
    if observed:
        one.feed(Observe(1, on=True), 0)
    assert not one.tells_end(0)
    one.feed(Command(2, "abort"), 0)
    assert [each.ago for each in one.take() if isinstance(each, Finished)] == ([] if observed else [0])
    assert one.deadline == (DELAY * MS if observed else None)
    one.feed(Tick(), DELAY * MS)
    assert any(isinstance(each, Finished) for each in one.take()) == observed
