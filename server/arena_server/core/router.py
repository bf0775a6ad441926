"""Connections before their HELLO, and the contest that each one belongs to after it.

    Opened -> ARENA        HELLO contest=friday -> that contest      HELLO -> the one contest it can log in to
    any other first line, or none before the deadline -> ERROR, closed

`routes` has the contest of each connection that has been passed on: all its further events are for that
contest alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arena_protocol import messages as wire
from arena_protocol.errors import ByeReason, ErrorCode, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT
from arena_server.core.admission import CROWDED, Admission, ConnectionLimits
from arena_server.core.clock import NS_PER_MS
from arena_server.core.contest import Contest
from arena_server.core.deadlines import DeadlineKind, Deadlines
from arena_server.core.effects import Effect, Marker
from arena_server.core.events import Event, Flushed, LineTooLong, Lost, Opened, Received, Stalled, Tick
from arena_server.core.log_events import ConnectionLost, ConnectionRefused
from arena_server.core.login import DENIED
from arena_server.core.peers import FLOODED, Outbox, Peer
from arena_server.core.ratelimit import LoginRateLimiter
from arena_server.errors import some_of
from arena_server.terms.config import ContestConfig

UNLIMITED = ConnectionLimits(10**9, None, 10**9)
_TOO_LONG = ProtocolError(ErrorCode.TOO_LONG, f"a line may have {CLIENT_LINE_LIMIT} bytes at most")


@dataclass(frozen=True, slots=True)
class Member:
    """A contest of a host. `listed`: an ERROR may name it; `logs`: logs of its bots can be fetched."""

    contest: Contest
    listed: bool = True
    logs: bool = False


class Router:
    """The contests of one host by name, and the connections that have not logged in to any of them.

    A connection that sends no HELLO within the longest `login_ms` of the listed contests is closed, and so
    is one whose place another needs.
    """

    def __init__(self, software: str, limits: ConnectionLimits = UNLIMITED) -> None:
        self._software = software
        self._admission = Admission(limits)
        self._members: dict[str, Member] = {}
        self.deadlines = Deadlines()
        self._limiter = LoginRateLimiter()
        self._waiting: dict[int, Peer] = {}
        #: Contests that are to come, and the clients among the waiting ones that may mean one of them.
        self._coming: set[str] = set()
        self._held: dict[int, tuple[Peer, wire.Hello]] = {}
        self.routes: dict[int, Contest] = {}
        self.output = Outbox()

    def expect(self, names: Iterable[str]) -> None:
        """These contests are to come, no others: who may mean one of them waits until it is none of them.

        Feed a Tick when they are fewer.
        """
        self._coming = set(names)

    def add(self, member: Member) -> None:
        """Let clients log in to a contest. Raises ValueError if one of its name is there."""
        if member.contest.name in self._members:
            raise ValueError(f"two contests are called {member.contest.name}")
        self._members[member.contest.name] = member
        self._count_slots()

    def remove(self, name: str) -> None:
        """No client can log in to contest `name` any more; its connections are its own to close."""
        self._members.pop(name, None)  # one whose beginning failed was not added
        self._count_slots()

    def ended(self, now: int) -> None:
        """A contest is over, or that may be known: after the last one there is nothing to log in to."""
        self._count_slots()
        if (bye_reason := self._bye_reason(now)) is not None:
            for peer in list(self._waiting.values()):
                self._dismiss(peer, bye_reason)
        contests = (member.contest for member in self._members.values())
        untold = [
            each.seen_end.seen_from
            for each in contests
            if each.bye_reason is not None and not each.tells_end(now)
        ]
        self.deadlines.set((DeadlineKind.END, 0), max(untold, default=None))

    def check_place(self, slots: int) -> None:
        """Raise ValueError unless there are places for this many slots more."""
        self._count_slots()
        self._admission.check_places(slots)

    def _count_slots(self) -> None:
        """Keep places for the bots of all contests; their number changes while these are played."""
        contests = (member.contest for member in self._members.values())
        self._admission.reserved = sum(contest.slots for contest in contests if contest.ended is None)

    @property
    def alarm(self) -> int | None:
        """A cheap lower bound of the earliest deadline; None if there is none."""
        return self.deadlines.alarm

    @property
    def deadline(self) -> int | None:
        """When the next connection is late, or may learn that all is over; None if there is no such time."""
        return self.deadlines.next

    def take(self) -> list[Effect]:
        """The effects of all events since the last call, in order."""
        effects, self.output.effects = self.output.effects, []
        return effects

    # -- events

    def feed(self, event: Event, now: int) -> None:
        """Take an event of a connection that has no route yet, or a Tick."""
        match event:
            case Received(conn, line, arrived):
                self.received(conn, line, arrived, now)
            case Opened(conn, address):
                self._open(conn, address, now)
            case LineTooLong(conn):
                if (peer := self._waiting.get(conn)) is not None:
                    self._refuse(peer, _TOO_LONG)
            case Lost(conn, reason):
                if (peer := self._waiting.get(conn)) is not None:
                    self.output.effects.append(ConnectionLost(conn, peer.address, None, reason))
                    self._forget(conn)
            case Tick():
                for peer, hello in list(self._held.values()):
                    self._lead(peer, hello, now)
                while (key := self.deadlines.pop(now)) is not None:
                    if key[0] is DeadlineKind.END:
                        self.ended(now)
                        continue
                    text = f"the first line did not come within {self._login_ms()} ms"
                    self._refuse(self._waiting[key[1]], ProtocolError(ErrorCode.LOGIN, text))
            case Flushed() | Stalled():
                pass

    def outlives_input(self, conn: int) -> bytes | None:
        """No client before its HELLO gets a line that it does not wait for."""
        return None

    def received(self, conn: int, line: bytes, arrived: int, now: int) -> None:
        """Take the event Received: HELLO is passed on, anything else is refused."""
        peer = self._waiting.get(conn)
        if peer is None:
            return
        if conn in self._held:  # it is to wait for an answer
            if not peer.chatter.admits(None, now):
                self._refuse(peer, FLOODED)
            return
        try:
            hello = peer.session.receive(line)
            if hello is None:
                if not peer.chatter.admits(None, now):  # blank lines are free up to a rate
                    raise FLOODED
                return
            assert isinstance(hello, wire.Hello), "no other message is allowed before HELLO"
            if hello.version != wire.VERSION:
                raise ProtocolError(ErrorCode.VERSION, f"this server speaks version {wire.VERSION}")
        except ProtocolError as problem:
            self._refuse(peer, problem)
            return
        self._lead(peer, hello, now)

    def _lead(self, peer: Peer, hello: wire.Hello, now: int) -> None:
        """Lead a client to its contest, as soon as that is there."""
        if self._may_come(hello):
            self._held[peer.conn] = peer, hello
            self.deadlines.set((DeadlineKind.LOGIN, peer.conn), None)  # it is not the client that is late
            return
        try:
            contest = self._contest_of(hello, peer.address, now)
            is_guest = hello.role in (wire.SPECTATOR, wire.LOG_READER)
            if is_guest:
                self._count_slots()
                self._admission.check_guest(_host_of(peer))
        except ProtocolError as problem:
            self._refuse(peer, problem)
            return
        conn = peer.conn
        self._forget(conn)
        self.routes[conn] = contest
        contest.log_in(peer, hello, now)
        if is_guest or (peer.slot is None and contest.holds(conn)):
            self._admission.add_guest(conn, _host_of(peer))

    def _may_come(self, hello: wire.Hello) -> bool:
        """Whether it may mean a contest that is to come. A key of one that is played means that one."""
        if hello.contest is not None or not self._coming:
            return hello.contest in self._coming
        there = (member.contest for member in self._members.values() if member.listed)
        return not any(contest.ended is None and contest.recognises(hello) for contest in there)

    def flushed(self, conn: int, marker: Marker, at: int, now: int) -> None:
        """Take the event Flushed: nothing that is sent before HELLO has a marker."""

    def released(self, conn: int) -> None:
        """The descriptor of a connection is free again: no event of it follows."""
        self.routes.pop(conn, None)
        self._admission.released(conn)

    # -- connections

    def _open(self, conn: int, address: str, now: int) -> None:
        """Greet a connection; after the end of all contests it is only told so."""
        peer = Peer(conn, address, opened=now)
        self.output.send(peer, wire.Arena(wire.VERSION, self._software))
        if (bye_reason := self._bye_reason(now)) is not None:
            self._dismiss(peer, bye_reason)
            return
        self._waiting[conn] = peer
        self._count_slots()
        self.deadlines.set((DeadlineKind.LOGIN, conn), now + self._login_ms() * NS_PER_MS)
        # The newest is let in: an attacker that holds connections open would else keep all others
        # out.
        if (crowded_out := self._admission.open(conn, _host_of(peer))) is not None:
            self._refuse(self._waiting[crowded_out], CROWDED)

    def _dismiss(self, peer: Peer, bye_reason: ByeReason) -> None:
        self.output.send(peer, wire.Bye(bye_reason))
        self.output.close(peer)
        self._forget(peer.conn)

    def _bye_reason(self, now: int) -> ByeReason | None:
        """Why no connection has anything to do here; None if one has, or may not know before HELLO."""
        contests = [member.contest for member in self._members.values()]
        if self._coming:
            return None
        if any(member.logs for member in self._members.values()) or any(each.leads_on for each in contests):
            return None
        if any(contest.bye_reason is None or not contest.tells_end(now) for contest in contests):
            return None
        return next((member.contest.bye_reason for member in self._members.values()), None)

    def _login_ms(self) -> int:
        members = self._members.values()
        listed = [member for member in members if member.listed] or members
        return max((member.contest.login_ms for member in listed), default=ContestConfig.login_ms)

    def _forget(self, conn: int) -> None:
        self._waiting.pop(conn, None)
        self._held.pop(conn, None)
        self._admission.logged_in(conn)
        self.deadlines.set((DeadlineKind.LOGIN, conn), None)

    def _refuse(self, peer: Peer, problem: ProtocolError) -> None:
        self.output.error(peer, problem)
        self.output.close(peer)
        self.output.effects.append(ConnectionRefused(peer.conn, peer.address, None, str(problem.code)))
        self._forget(peer.conn)

    # -- contests

    def _contest_of(self, hello: wire.Hello, address: str, now: int) -> Contest:
        """The contest that `hello` means. Raises ProtocolError if it has to say which, or names none."""
        if hello.contest is not None:
            member = self._members.get(hello.contest)
            if member is None:
                raise ProtocolError(ErrorCode.CONTEST, f"no contest {hello.contest} here; {self._list()}")
            return member.contest
        members = [member for member in self._members.values() if member.listed]
        # A key leads to one that is archived only where there is no other.
        served = [member for member in members if not member.contest.life.is_archived] or members
        listed = [member.contest for member in served]
        # One contest needs no name: clients that know no `contest=` work as before.
        if len(listed) == 1:
            return listed[0]
        # The key decides, not the name: so a name alone does not tell whether it is registered.
        found = [contest for contest in listed if contest.recognises(hello)]
        # A contest of last week with the same bots may still be there, over.
        played = [contest for contest in found if contest.ended is None]
        # A bot of several stages of a season waits for those to come, or learns how the last one ended.
        leading = [contest for contest in found if contest.leads_on]
        found = played or (found if hello.role is not None else (leading or found)[-1:])
        host = address.rpartition(":")[0]
        if found and hello.role != wire.SPECTATOR:  # a spectator has no key
            self._limiter.right(host, hello.name)
        if len(found) == 1:
            return found[0]
        if not found:
            # Wrong keys count as they do in a contest, and are refused only after the right one had its
            # chance: a guesser on the same address must not lock a bot out.
            self._limiter.deny(host, hello.name, now)
        if not found and hello.resume is not None:
            raise ProtocolError(ErrorCode.TOKEN, DENIED)  # a client knows that it may try its token then
        problem = "say which contest with contest=NAME" if found else DENIED
        raise ProtocolError(ErrorCode.CONTEST, f"{problem}; {self._list()}")

    def _list(self) -> str:
        members = self._members.items()
        names = [name for name, member in members if member.listed and not member.contest.life.is_archived]
        return f"there are: {some_of(names)}" if names else "there is none"


def _host_of(peer: Peer) -> str:
    """Its address without the port."""
    return peer.address.rpartition(":")[0]
