"""Random games for tests of Match and Transcript: commands at moments at which a contest may give them."""

from __future__ import annotations

from hypothesis import strategies as st

from arena_protocol.games import make_game
from arena_protocol.record import FaultKind
from arena_server.core.deal import Setting
from arena_server.core.formats.base import Pairing
from arena_server.core.game_facts import GameFact, Offered
from arena_server.core.match import Abort, Blame, Match, PlayMove, SayReady
from arena_server.core.replay import restore
from arena_server.terms.config import ContestConfig

MS = 1_000_000

#: Every rule of the clock is in force.
CLOCKS: dict[str, int] = {
    "increment_ms": 7, "margin_ms": 3, "handover_ms": 300, "lag_quota_ms": 25, "byoyomi_ms": 9,
    "move_limit_ms": 80,
}  # fmt: skip

GAMES = st.sampled_from(["insertion", "tictactoe"])
VERBS = (
    "ready", "sent", "move", "late", "illegal", "blame",
    "depart", "arrive", "expire", "lag", "crash", "abort",
)  # fmt: skip
OFFER = Offered(("ann", "bob"), 1)
#: (verb, seat, milliseconds to wait before it); most games are started first, and few are aborted.
STEPS = st.tuples(
    st.booleans(),
    st.lists(
        st.tuples(
            st.one_of(st.sampled_from(VERBS[:-1]), st.sampled_from(VERBS[1:4]), st.sampled_from(VERBS)),
            st.integers(1, 2),
            st.integers(0, 60),
        ),
        max_size=60,
    ),
).map(lambda drawn: [("ready", 1, 0), ("ready", 2, 0)] * drawn[0] + drawn[1])
Steps = list[tuple[str, int, int]]


def a_setting(game: str = "insertion", **config: object) -> Setting:
    """Game g1 of ann and bob, with a clock of 100 ms, 200 ms for READY, and insertion's `lookahead`."""
    lookahead = config.pop("lookahead", 20)
    given: dict[str, object] = {"name": "m", "seed": 1, "clock_ms": 100, "ready_ms": 200} | config
    options = {"plies": 6, "lookahead": lookahead} if game == "insertion" else {}
    return Setting.of(ContestConfig(**given), make_game(game, options), Pairing(1, ("ann", "bob"), 1))  # type: ignore[arg-type]


def a_match(game: str = "insertion", now: int = 0, **config: object) -> Match:
    return Match(a_setting(game, **config), now)


class Runner:
    """Runs one match as a contest does: only the present send, and deadlines come when they are due.

    `facts` is what the journal holds; `crash` continues with a new match that is restored from it.
    """

    def __init__(self, game: str = "insertion", **config: object) -> None:
        self.setting = a_setting(game, **config)
        self.match = Match(self.setting, 0)
        self.now = 0
        self.facts: list[GameFact] = [OFFER]
        #: The facts of each step that led to any, with its moment.
        self.steps: list[tuple[int, list[GameFact]]] = [(0, [OFFER])]

    def run(self, steps: Steps) -> Runner:
        for step in steps:
            self.step(*step)
        return self

    def finish(self) -> Runner:
        """Break the game off, unless it is over."""
        if not self.match.over:
            self.step("abort", 1, 0)
        return self

    def step(self, verb: str, seat: int, wait: int) -> None:
        self.now += wait * MS
        if verb in ("blame", "depart", "arrive", "expire", "crash", "abort") or self.match.present[seat - 1]:
            facts = getattr(self, verb)(seat, wait)
            if facts:
                self.facts += facts
                self.steps.append((self.now, facts))

    def ready(self, seat: int, _: int) -> list[GameFact]:
        return self.match.execute(SayReady(seat, self.now), self.now)

    def sent(self, seat: int, _: int) -> None:
        timer = self.match.timer
        if seat == timer.seat and timer.sent is None:
            self.match.run(self.now)

    def move(self, seat: int, _: int) -> list[GameFact]:
        move = "7" if self.setting.game.name == "insertion" else f"{'abc'[self.now // MS % 3]}2"
        return self.match.execute(PlayMove(seat, move, b"MOVE", self.now), self.now)

    def late(self, seat: int, wait: int) -> list[GameFact]:
        """Handle a line that arrived before."""
        return self.match.execute(PlayMove(seat, "7", b"MOVE 7", self.now - wait * MS), self.now)

    def illegal(self, seat: int, _: int) -> list[GameFact]:
        return self.match.execute(PlayMove(seat, "0", b"MOVE 0", self.now), self.now)

    def blame(self, seat: int, _: int) -> list[GameFact]:
        return self.match.execute(Blame(seat, FaultKind.FLOOD, b"x"), self.now)

    def abort(self, _seat: int, _wait: int) -> list[GameFact]:
        return self.match.execute(Abort("stopped"), self.now)

    def depart(self, seat: int, _: int) -> list[GameFact]:
        return self.match.depart(seat, self.now)

    def arrive(self, seat: int, _: int) -> None:
        if not self.match.present[seat - 1]:
            self.match.arrive(seat, self.now)

    def lag(self, seat: int, wait: int) -> None:
        self.match.lag[seat - 1] = wait // 3

    def expire(self, _seat: int, _wait: int) -> list[GameFact]:
        deadline = self.match.timer.deadline
        if deadline is None or deadline > self.now:
            return []
        slow, facts = self.match.expire(self.now)
        return self.match.depart(slow, self.now) if slow else facts

    def crash(self, _seat: int, wait: int) -> list[GameFact]:
        """The server is started again `wait` seconds later, on another clock."""
        self.now = wait * 1000 * MS
        self.match = Match(self.setting, self.now)
        restore(self.match, self.facts, self.now)
        return self.match.restart(self.now)
