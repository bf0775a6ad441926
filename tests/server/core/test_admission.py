"""Places for bots, guests and new connections: whatever strangers do, a bot with its key finds one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import rows

from arena_protocol.errors import ProtocolError
from arena_server.core.admission import (
    LEAST_PLACES,
    LOGIN_PLACES,
    MOST_NEW,
    SPARE,
    Admission,
    ConnectionLimits,
    network_of,
)
from arena_server.core.events import Command, Stop
from arena_server.core.log_events import ConnectionRefused
from arena_server.core.router import Member
from arena_server.terms.config import Entrant

from .routed import Routed, bot, contest

HOSTS = ("192.0.2.1", "192.0.2.2", "192.0.2.3")


class Server:
    """What a server does with an Admission: who gives way is closed, a guest without a place is refused."""

    def __init__(self, limits: ConnectionLimits, slots: int = 0) -> None:
        self.admission = Admission(limits)
        self.admission.reserved = slots
        self.limits = limits
        #: The address of each connection, in the order in which they came.
        self.new: dict[int, str] = {}
        self.guests: dict[int, str] = {}
        self.players: set[int] = set()
        self._last = 0

    def open(self, host: str) -> int:
        self._last += 1
        self.new[self._last] = host
        out = self.admission.open(self._last, host)
        if out is not None:
            count = Counter(self.new.values())
            assert count[self.new[out]] == max(count.values()), "of the address with most of them"
            assert out == next(conn for conn, each in self.new.items() if each == self.new[out]), "the oldest"
            del self.new[out]
            self.admission.logged_in(out)
        return self._last

    def watch(self, conn: int) -> str | None:
        """HELLO of a spectator; why it is refused."""
        host = self.new.pop(conn)
        try:
            self.admission.check_guest(host)
        except ProtocolError as problem:
            self.admission.logged_in(conn)
            return problem.text
        self.admission.logged_in(conn)
        self.admission.add_guest(conn, host)
        self.guests[conn] = host
        return None

    def play(self, conn: int) -> None:
        """HELLO of a bot with its key, which has a slot."""
        del self.new[conn]
        self.admission.logged_in(conn)
        self.players.add(conn)

    def leave(self, conn: int) -> None:
        self.new.pop(conn, None)
        self.guests.pop(conn, None)
        self.players.discard(conn)
        self.admission.released(conn)

    @property
    def held(self) -> int:
        return len(self.new) + len(self.guests) + len(self.players)


@given(
    st.integers(2, 60),
    st.none() | st.integers(0, 20),
    st.integers(1, 20),
    st.integers(0, 50),
    st.lists(st.sampled_from(["open", "watch", "play", "leave"]), max_size=120),
    st.integers(0, 2**32),
)
def test_no_sequence_takes_the_places_of_the_slots(
    spare: int, most: int | None, share: int, slots: int, actions: list[str], seed: int
) -> None:
    limits = ConnectionLimits(slots + spare, most, share)
    server, chance = Server(limits, slots), Random(seed)
    for action in actions:
        match action:
            case "open":
                assert server.held < limits.connections or spare < 3, "the listener accepts it"
                newest = server.open(chance.choice(HOSTS))
                assert newest in server.new
            case "watch" if server.new:
                server.watch(chance.choice(list(server.new)))
            case "play" if server.new and len(server.players) < slots:
                server.play(chance.choice(list(server.new)))
            case "leave" if server.held:
                server.leave(chance.choice([*server.new, *server.guests, *server.players]))
        assert len(server.new) + len(server.guests) <= spare
        assert server.held <= limits.connections
        guests = list(server.guests.values())
        assert len(guests) <= (spare if most is None else most)
        assert all(guests.count(host) <= share for host in HOSTS)
        assert len(guests) <= spare - min(LOGIN_PLACES, spare // 2), "some places are left for log-ins"


@pytest.mark.parametrize("count", rows([8_000, 20_000], 2))
@pytest.mark.parametrize("flood", ["silent", "spectators"])
def test_a_bot_that_says_hello_at_once_gets_its_place_beside_any_flood(flood: str, count: int) -> None:
    server = Server(ConnectionLimits(4_000), 4)
    strangers = HOSTS[0]
    for _ in range(count):
        conn = server.open(strangers)
        if flood == "spectators":
            server.watch(conn)
    assert server.held <= 3_996 - SPARE
    for host in (HOSTS[1], strangers, strangers, HOSTS[2]):
        bot = server.open(host)
        for _ in range(100):  # 0.2 s at the rate of the listener
            server.open(strangers)
        assert bot in server.new
        server.play(bot)
    assert server.held <= 4_000


@pytest.mark.parametrize(("connections", "guests"), [(4_000, 3_992 - LOGIN_PLACES), (100, 46), (10, 1)])
def test_guests_of_any_number_of_addresses_leave_places_to_log_in(connections: int, guests: int) -> None:
    server = Server(ConnectionLimits(connections))
    for number in range(connections):
        server.watch(server.open(f"192.0.2.{number % 200}"))
    assert len(server.guests) == guests


def test_the_refusal_says_what_is_full() -> None:
    server = Server(ConnectionLimits(100, 3, 2))
    answers = [server.watch(server.open(host)) for host in (HOSTS[0],) * 3 + (HOSTS[1],) * 2]
    assert answers == [
        None,
        None,
        "the server has as many spectators of your address as it may; try later",
        None,
        "the server has as many spectators as it may; try later",
    ]
    server.leave(next(iter(server.guests)))
    assert server.watch(server.open(HOSTS[1])) is None


def test_new_connections_are_as_many_as_come_in_a_burst() -> None:
    server = Server(ConnectionLimits(100_000))
    for number in range(MOST_NEW + 50):
        server.open(f"192.0.2.{number % 200}")
    assert len(server.new) == MOST_NEW


@pytest.mark.parametrize("slots", [4, 10, 400])
def test_fewer_connections_than_slots_leave_a_place_to_log_in(slots: int) -> None:
    """A limit of open files may leave so few."""
    server = Server(ConnectionLimits(4), slots)
    first, second, third = (server.open(host) for host in HOSTS)
    assert list(server.new) == [second, third]
    assert first not in server.new


def test_what_counts_as_one_address() -> None:
    assert network_of("192.0.2.1") == "192.0.2.1"
    one: Callable[[str], str] = network_of
    assert one("2001:db8:1:2::1") == one("2001:db8:1:2:ffff::9") != one("2001:db8:1:3::1")
    assert one("fe80::1%eth0") == one("fe80::2%eth1")
    assert one("no:address") == "no:address"


class TestOfARouter:
    """Who counts as what."""

    FULL = "ERROR full the server has as many spectators as it may; try later"

    @pytest.mark.parametrize(
        "hello", ["HELLO 1 guest role=spectator", "HELLO 1 ann token=ann-friday role=log"]
    )
    def test_spectators_and_readers_of_logs_are_guests(self, hello: str) -> None:
        member = Member(contest("friday"), logs=True)
        routed = Routed(member, limits=ConnectionLimits(100, guests=2))
        assert [routed.greet(hello).split()[0] for _ in range(3)] == ["WELCOME", "WELCOME", "ERROR"]
        assert routed.greet(hello) == self.FULL
        assert routed.greet("HELLO 1 ann token=ann-friday").startswith("WELCOME ann")

    def test_a_guest_that_is_gone_makes_room(self) -> None:
        routed = Routed(contest("friday"), limits=ConnectionLimits(100, guests=1))
        conn = routed.open()
        assert routed.say(conn, "HELLO 1 guest role=spectator")[1].startswith("WELCOME")
        assert routed.greet("HELLO 1 other role=spectator") == self.FULL
        routed.router.released(conn)
        assert routed.greet("HELLO 1 other role=spectator").startswith("WELCOME")

    def test_names_that_may_only_watch_are_guests_with_a_place_of_their_own(self) -> None:
        """They have keys, so strangers do not keep them out; but they take no place of a bot."""
        watcher = Entrant("tv", bot("tv", "friday").token_sha256, plays=False)
        routed = Routed(contest("friday", bot("ann", "friday"), bot("bob", "friday"), watcher))
        assert routed.contests[0].slots == 2
        limits = ConnectionLimits(100, guests=1)
        limited = Routed(contest("friday", watcher, bot("ann", "friday"), Entrant("b")), limits=limits)
        assert limited.greet("HELLO 1 guest role=spectator").startswith("WELCOME")
        assert limited.greet("HELLO 1 tv token=tv-friday").startswith("WELCOME")
        assert limited.greet("HELLO 1 guest role=spectator") == self.FULL

    def test_the_oldest_silent_connection_gives_way(self) -> None:
        routed = Routed(
            contest("friday"), limits=ConnectionLimits(6 + SPARE)
        )  # two of the places are for slots
        conns = [routed.open() for _ in range(5)]
        assert routed.lines(conns[0])[1:] == [
            "ERROR full too many clients have not said HELLO yet; say it at once, or try later"
        ]
        assert routed.closed == {conns[0]}
        assert [refusal.code for refusal in routed.logged if isinstance(refusal, ConnectionRefused)] == [
            "full"
        ]
        assert routed.say(conns[4], "HELLO 1 ann token=ann-friday")[0].startswith("WELCOME")

    def test_places_are_kept_for_a_bot_that_joins_and_no_more_join_than_have_one(self) -> None:
        routed = Routed(contest("friday"), limits=ConnectionLimits(5 + SPARE))
        late = bot("cid", "friday")
        routed.contests[0].feed(Command(1, "add", "cid", entrant=late), 0)
        conns = [routed.open() for _ in range(3)]
        routed.lines(conns[0])
        assert routed.closed == {conns[0]}  # 5 - 3 = 2
        with pytest.raises(ValueError, match=r"^no place for it: 13 connections are 3 slots of bots and 16 "):
            routed.router.check_place(1)
        Routed(contest("friday"), limits=ConnectionLimits(LEAST_PLACES + 3)).router.check_place(1)

    def test_places_are_kept_for_the_slots_of_all_contests_that_go_on(self) -> None:
        many = Entrant("ann", bot("ann", "friday").token_sha256, concurrency=8)
        routed = Routed(
            contest("friday", many, bot("bob", "friday")),
            contest("saturday"),
            limits=ConnectionLimits(21 + SPARE),
        )
        conns = [routed.open() for _ in range(11)]
        routed.lines(conns[0])
        assert routed.closed == {conns[0]}  # 21 - 9 - 2 = 10
        friday = routed.contests[0]
        friday.feed(Stop(), 0)
        routed.router.ended(0)
        conns += [routed.open() for _ in range(9)]
        routed.lines(conns[1])
        assert routed.closed == set()
        conns.append(routed.open())
        routed.lines(conns[1])
        assert routed.closed == {conns[1]}
