"""What must hold whatever happens, checked after every event of a simulated contest.

    - the contest speaks only to connections that are open, and a tick leaves no deadline behind
    - started = finished + void + running
    - a result is told once it is durable, and not before; every game has one
    - every record verifies; nobody is blamed for what it did not do
    - everybody is told the same of every ply, again and again; clocks never rise without cause
    - a crash takes back no result that was told, and no ply, unless the power was cut

It must not know: the network, how bots come to what they do, private parts of the contest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256

from arena_protocol.messages import Played, Turn, parse_server
from arena_protocol.record import GameRecord, RecordError
from arena_protocol.verify import verify
from arena_server.core.config import ContestPlan
from arena_server.core.effects import Close, Effect, Finished, Mute, Note, Send, Store, Unmute
from arena_server.core.events import Event, Lost, Opened, Stop, Stored, Tick
from arena_server.core.journal import OFFER, Past
from arena_server.core.standings import Progress


class Violation(AssertionError):  # noqa: N818 - it is what an assertion finds
    """Something that must hold does not; the text says what, and when."""


class _Story:
    """What has been told of one running game: a line a ply, and the clocks after the last."""

    def __init__(self, began: int, clocks: tuple[int, ...]) -> None:
        self.began = began
        self.plies: list[bytes] = []
        self.clocks = clocks

    def forget(self, clock_ms: int) -> None:
        """Nothing has been told that still holds."""
        self.plies.clear()
        self.clocks = (clock_ms,) * len(self.clocks)


class Audit:
    """Looks on at one contest (it is a shell's Observer), and raises Violation.

    `may` says which faults the record of a bot may hold. `progress` and `deadline` ask the
    contest. The records and the moments are kept for whoever wants to see more.
    """

    def __init__(
        self,
        plan: ContestPlan,
        may: Mapping[str, frozenset[str]],
        progress: Callable[[], Progress],
        deadline: Callable[[], int | None],
    ) -> None:
        self.records: dict[str, GameRecord] = {}
        self.durable: set[str] = set()
        self.took: dict[str, int] = {}
        self.ended: dict[str, int] = {}
        self.digest = sha256()
        self.finished: str | None = None
        self._plan = plan
        self._may = may
        self._progress = progress
        self._deadline = deadline
        self._open: set[int] = set()
        self._stories: dict[str, _Story] = {}
        self._at_table: dict[int, str] = {}
        self._started = 0
        self._now = 0

    def judged(self, event: Event, effects: list[Effect], now: int) -> None:
        """Check one event and all its effects."""
        self._now = now
        if isinstance(event, Opened):
            self._open.add(event.conn)
        elif isinstance(event, Lost):
            self._open.discard(event.conn)
        elif isinstance(event, Stored):
            self.durable.add(event.game_id)
        for effect in effects:
            self._check(effect)
        if isinstance(event, Tick):
            deadline = self._deadline()
            self.require(deadline is None or deadline > now, "a tick left a deadline behind")
        if effects and (isinstance(event, Stored | Stop) or not isinstance(effects[0], Send)):
            self._count()

    def require(self, holds: bool, what: str) -> None:
        """Raise Violation, unless it holds."""
        if not holds:
            raise Violation(f"at {self._now / 1e9:.6f} s: {what}")

    def _check(self, effect: Effect) -> None:
        if isinstance(effect, Send | Close | Mute | Unmute):
            self.require(effect.conn in self._open, f"the contest spoke to connection {effect.conn}, gone")
        if isinstance(effect, Close):
            self._open.discard(effect.conn)
        elif isinstance(effect, Store):
            self._stored(effect.game_id, effect.record)
        elif isinstance(effect, Note) and effect.event == "game":
            self._began(str(effect.fields["game"]), str(effect.fields["names"]).count(",") + 1)

    def carried_out(self, effect: Effect, now: int) -> None:
        """Check what the world gets to see."""
        self._now = now
        if isinstance(effect, Send):
            self._said(effect)
        elif isinstance(effect, Finished):
            self.require(self.finished is None, "the contest finished twice")
            self.finished = effect.reason

    def restarted(self, past: Past, power: bool, now: int) -> None:
        """The server was dead: what is durable is all there is, and all that was told is part of it."""
        self._now = now
        results = {f"g{game.number}" for game in past.results}
        begun = {f"g{entry[0]}" for entry in past.entries if entry[1] == OFFER}
        lost = sorted(self.durable - results)
        self.require(not lost, f"the results of {', '.join(lost)} were told, and are lost")
        for game_id in [*self._stories]:
            plies = self._stories[game_id].plies
            if power:
                self._stories[game_id].forget(self._plan.clock_ms)
            elif game_id not in begun | results:
                self.require(not plies, f"{len(plies)} plies of {game_id} were told, and are lost")
            if game_id not in begun:
                del self._stories[game_id]
        self.records = {game_id: self.records[game_id] for game_id in self.records if game_id in results}
        self.durable = results
        self._started = len(results | begun)
        self._open.clear()
        self._at_table.clear()

    # -- games

    def _began(self, game_id: str, seats: int) -> None:
        self.require(game_id not in self._stories and game_id not in self.records, f"{game_id} began twice")
        self._started += 1
        self._stories[game_id] = _Story(self._now, (self._plan.clock_ms,) * seats)

    def _stored(self, game_id: str, record: GameRecord) -> None:
        self.require(game_id not in self.records, f"{game_id} has a second result")
        self.records[game_id] = record
        self.ended[game_id] = self._now
        self.took[game_id] = self._now - self._stories[game_id].began
        try:
            verify(record)
        except RecordError as error:
            self.require(False, f"a record that is not true: {error}")
        for fault in record.faults:
            if fault.seat:
                name = record.names[fault.seat - 1]
                innocent = fault.kind not in self._may[name]
                self.require(
                    not innocent, f"{name} was blamed for {fault.kind} in {game_id}, ply {fault.ply}"
                )
        told = self._stories[game_id].plies
        self.require(len(told) <= len(record.plies), f"{game_id}: more plies were told than are recorded")

    def _count(self) -> None:
        """Every game that was started is finished, void or running."""
        progress = self._progress()
        known = progress.done + progress.void + progress.running
        self.require(known == self._started, f"{self._started} games were started, {known} are known")
        told = progress.done + progress.void
        self.require(told <= len(self.durable), f"{told} results count, {len(self.durable)} are durable")

    # -- what is said

    def _said(self, effect: Send) -> None:
        data = effect.data
        self.digest.update(b"%d %b" % (effect.conn, data))
        self.require(data.endswith(b"\n"), "half a line was said")
        for line in data.splitlines():
            reader = _READERS.get(line.partition(b" ")[0])
            if reader is not None:
                reader(self, effect.conn, line)

    def _game(self, conn: int, line: bytes) -> None:
        if b" seat=0 " not in line:
            self._at_table[conn] = line.split(b" ", 2)[1].decode("ascii")

    def _over(self, _: int, line: bytes) -> None:
        game_id = line.split(b" ", 2)[1].decode("ascii")
        self.require(game_id in self.durable, f"the result of {game_id} was told before it was durable")
        self._stories.pop(game_id, None)

    def _played(self, conn: int, line: bytes) -> None:
        """A ply is told to everybody alike; told for the first time, it follows from the last."""
        text, _, tag = line.partition(b" game=")
        game_id = tag.decode("ascii") if tag else self._at_table[conn]
        story = self._stories.get(game_id)
        if story is None:
            return  # a spectator's, shown later than the result
        ply = int(text.split(b" ", 2)[1])
        if ply <= len(story.plies):
            self.require(story.plies[ply - 1] == text, f"{game_id}, ply {ply} was told in two ways")
            return
        self.require(ply == len(story.plies) + 1, f"{game_id}: ply {ply} was told after {len(story.plies)}")
        message = parse_server(text)
        assert isinstance(message, Played)
        self._clocks(game_id, story, message)
        story.plies.append(text)

    def _clocks(self, game_id: str, story: _Story, played: Played) -> None:
        for seat, (before, after) in enumerate(zip(story.clocks, played.clock, strict=True), start=1):
            earned = self._plan.increment_ms if seat == played.seat else 0
            rises = f"{game_id}, ply {played.ply}: the clock of seat {seat} rose from {before} to {after}"
            self.require(after <= before + earned, rises)
            self.require(after == before or seat == played.seat, f"{rises}, and it was not its ply")
        story.clocks = played.clock

    def _turn(self, conn: int, line: bytes) -> None:
        message = parse_server(line)
        assert isinstance(message, Turn)
        story = self._stories[self._at_table[conn]]
        late = any(shown > left for shown, left in zip(message.clock, story.clocks, strict=True))
        self.require(not late, f"TURN {message.ply} of {self._at_table[conn]} shows clocks that rose")


_READERS: dict[bytes, Callable[[Audit, int, bytes], None]] = {
    b"GAME": Audit._game,
    b"OVER": Audit._over,
    b"PLAYED": Audit._played,
    b"TURN": Audit._turn,
}
