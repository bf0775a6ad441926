"""A router of contests, whose connections say lines and get answers."""

from __future__ import annotations

from hashlib import sha256

from arena_protocol.messages import parse_server
from arena_server.core.admission import ConnectionLimits
from arena_server.core.contest import Contest
from arena_server.core.effects import CloseConnection, Effect, Send
from arena_server.core.events import Opened, Received
from arena_server.core.log_events import ConnectionLost, ConnectionRefused
from arena_server.core.router import UNLIMITED, Member, Router
from arena_server.terms.config import ContestConfig, Entrant

from .harness import numbered_secrets


def contest(name: str, *entrants: Entrant, **config: object) -> Contest:
    given = {"name": name, "seed": 7, "options": {"plies": 1}, "login_ms": 1_000} | config
    bots = entrants or (bot("ann", name), bot("bob", name))
    return Contest(ContestConfig(**given), bots, numbered_secrets(name), 0)  # type: ignore[arg-type]


def bot(name: str, of: str) -> Entrant:
    """A bot whose token is its name and that of its contest."""
    return Entrant(name, sha256(f"{name}-{of}".encode()).hexdigest())


class Routed:
    """A router of contests; every line and its answer."""

    def __init__(self, *members: Contest | Member, limits: ConnectionLimits = UNLIMITED) -> None:
        self.router = Router("arena/test", limits)
        self.contests: list[Contest] = []
        for each in members:
            member = each if isinstance(each, Member) else Member(each)
            self.router.add(member)
            self.contests.append(member.contest)
        self.now = 0
        self.effects: list[Effect] = []
        self._conns = 0

    def open(self, address: str = "1.2.3.4") -> int:
        self._conns += 1
        self.router.feed(Opened(self._conns, f"{address}:{4000 + self._conns}"), self.now)
        return self._conns

    def lines(self, conn: int) -> list[str]:
        """What was sent to a connection since the last call."""
        self.effects += self.router.take()
        for contest in self.contests:
            self.effects += contest.take()
        mine = [each.data.decode() for each in self.effects if isinstance(each, Send) and each.conn == conn]
        self.closed = {each.conn for each in self.effects if isinstance(each, CloseConnection)}
        self.logged = [each for each in self.effects if isinstance(each, ConnectionLost | ConnectionRefused)]
        self.effects = []
        lines = "".join(mine).splitlines()
        assert all(parse_server(line.encode()) for line in lines)
        return lines

    def say(self, conn: int, line: str) -> list[str]:
        self.router.feed(Received(conn, line.encode(), self.now), self.now)
        return self.lines(conn)

    def greet(self, hello: str, address: str = "1.2.3.4") -> str:
        """The answer to HELLO on a new connection."""
        conn = self.open(address)
        arena, answer, *_ = self.say(conn, hello)
        assert arena == "ARENA 1 arena/test"
        return answer

    def welcomed(self, hello: str) -> str | None:
        """The contest that a connection with this HELLO gets."""
        conn = self.open()
        answer = self.say(conn, hello)[1]
        return self.router.routes[conn].name if answer.startswith("WELCOME") else None
