"""What must hold whatever happens, checked after every event of a simulated contest.

- The contest sends only to connections that are open, and a Tick leaves no deadline that has passed.
- started = finished + void + running; no bot plays more games at once than it has slots, nor itself
- A result is sent once it is durable, and not before; every game has one.
- Every record verifies; no bot has a fault that it cannot have made.
- No bot is paired that has a validation game to play, and such a game counts nowhere.
- The page, in the server's process, is one more reader: after the delay, with the position of those lines.
- Every reader gets the same line for a ply, however often it is sent; clocks rise only by increments.
- A crash takes back no result that was sent, and no ply, unless the power was cut.
- The contest ends as `finished` only if every scheduled game has a result.
- A bot that gives its token gets in, whatever others do (`strangers.py`).
- An answered order holds, also after a crash (`given_orders.py`).
- No byte of a deal that is still to be played leaves (`leaks.py`), nor what a bot stores.
- A bot gets what it has stored, and nothing is kept of a game without a result that counts (`kept.py`).
- No line of a game is sent to a spectator, or is on the page, before its time (`shown.py`).
- No line of an anonymous contest has the name of a bot but that of its reader (`shown.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, NamedTuple

from tests.simulation.given_orders import GivenOrders
from tests.simulation.kept import KeptBytes
from tests.simulation.leaks import Leaks
from tests.simulation.shown import Cut, HiddenNames, ShownLines
from tests.simulation.trace import GameTrace

from arena_protocol.messages import Game, Over, Played, Turn, encode, parse_server
from arena_protocol.record import GameRecord, RecordError
from arena_protocol.record_codec import decode
from arena_protocol.verify import verify
from arena_protocol.view import GameView
from arena_server.core import deal
from arena_server.core.effects import (
    CloseConnection,
    Effect,
    Finished,
    Journal,
    Mute,
    Reply,
    Send,
    Show,
    Store,
    Unmute,
)  # fmt: skip
from arena_server.core.events import Command, Event, Lost, Opened, Received, Stop, Stored, Tick
from arena_server.core.facts import Validated
from arena_server.core.journal import Live, Past, fact_of
from arena_server.core.log_events import BotValidated, GameStarted, LogEvent, LoggedIn, ValidationStarted
from arena_server.core.overview import Progress
from arena_server.core.transcript import Transcript
from arena_server.host.logs import format_json
from arena_server.terms.config import ContestConfig, game_of
from arena_server.web.metrics import MetricsRecorder

#: The effects of a ply.
PLAIN = Journal | Send | Show


class Violation(AssertionError):  # noqa: N818 - it is what an assertion finds
    """Something that must hold does not; the text says what, and when."""


class Counts(NamedTuple):
    """How many games have a result, are void, or run."""

    done: int
    void: int
    running: int


class InvariantChecker:
    """Observes one contest (it is a server's Observer), and raises Violation.

    `may` has the faults that the record of a bot may hold. `progress`, `counts` and `deadline` ask the
    contest. `counts` are those of `progress`, without its table; each eighth time both are asked.
    """

    def __init__(
        self,
        config: ContestConfig,
        may: Mapping[str, frozenset[str]],
        progress: Callable[[], Progress],
        counts: Callable[[], Counts],
        deadline: Callable[[], int | None],
        slots: Mapping[str, int] | None = None,
    ) -> None:
        self.records: dict[str, GameRecord] = {}
        self.durable: set[str] = set()
        #: How long each game took from its offer to its end, and when it ended, in ns.
        self.took: dict[str, int] = {}
        #: The records of the validation games that are over, and the bots that have played one well.
        self.validations: dict[str, GameRecord] = {}
        self.validated: set[str] = set()
        #: The validation games whose end was sent.
        self._said: set[str] = set()
        self.ended: dict[str, int] = {}
        #: A hash of all lines that were sent, in order.
        self.digest = sha256()
        self.finished: str | None = None
        #: Everything that leaves the server is added here.
        self.leaks = Leaks()
        self.metrics = MetricsRecorder()
        self.kept = KeptBytes(self.require, self.leaks)
        self.orders = GivenOrders(self.require)
        self.shown = ShownLines(self.require)
        self.shown.cut = Cut(config, None)
        self.hidden = HiddenNames(may if config.anonymous else (), self.require)
        self._config = config
        self._seats = game_of(config).seats
        self._may = may
        self._progress = progress
        self._counts = counts
        self._counted = 0
        self._deadline = deadline
        self.slots = slots or {}
        #: The bots of each game that was started, and the games that have no record yet.
        self._names: dict[str, tuple[str, ...]] = {}
        self._playing: set[str] = set()
        #: The most games that a bot has played at once.
        self.most_at_once = 0
        self._open: set[int] = set()
        self._games: dict[str, GameTrace] = {}
        #: The game of each connection that was offered one, and those that watch.
        self._seated: dict[int, str] = {}
        self._watching: set[int] = set()
        #: How far the page has read each transcript, and the game as its lines tell it.
        self._read: dict[Transcript, tuple[int, Any]] = {}
        self._views: dict[Transcript, GameView] = {}
        self._started = 0
        self._now = 0
        self._power_cut = False

    def handled(self, event: Event, effects: list[Effect], now: int) -> None:
        """Check one event and all its effects."""
        self._now = now
        if isinstance(event, Opened):
            self._open.add(event.conn)
        elif isinstance(event, Lost):
            self._open.discard(event.conn)
        elif isinstance(event, Stored):
            self.durable.add(event.game_id)
            self.kept.ended(event.game_id, self.records)
        elif isinstance(event, Received) and event.conn in self._open:
            self.hidden.came(event.conn, event.line)
            self.kept.came(event.conn, event.line)
        elif isinstance(event, Command):
            self.orders.asked(event)
            if event.verb in ("lift", "kick"):  # who is lifted, also by an undo, needs no validation game
                self.validated.add(event.target)
        for effect in effects:
            self._check(effect)
        if isinstance(event, Tick):
            deadline = self._deadline()
            self.require(deadline is None or deadline > now, "a tick left a deadline behind")
        # A plain ply changes no count.
        if isinstance(event, Stored | Stop) or not all(isinstance(each, PLAIN) for each in effects):
            self._count()

    def routed(self, event: Event, effects: list[Effect], now: int) -> None:
        """Check an event of a connection that no contest has yet."""
        if not isinstance(event, Tick):
            self.handled(event, effects, now)
        else:
            self._now = now
            for effect in effects:
                self._check(effect)

    @property
    def begun(self) -> list[str]:
        """The games that have been started."""
        return list(self._names)

    def require(self, holds: bool, what: str) -> None:
        """Raise Violation, unless it holds."""
        if not holds:
            raise Violation(f"at {self._now / 1e9:.6f} s: {what}")

    def _check(self, effect: Effect) -> None:
        if isinstance(effect, Send | CloseConnection | Mute | Unmute):
            self.require(effect.conn in self._open, f"an effect for connection {effect.conn}, which is gone")
        if isinstance(effect, CloseConnection):
            self._open.discard(effect.conn)
        elif isinstance(effect, Send):
            self.kept.answered(effect.conn, effect.data)
        elif isinstance(effect, LoggedIn) and effect.bot is not None:
            self.kept.logged_in(effect.conn, effect.bot, effect.slot)
        elif isinstance(effect, Store):
            self.kept.recorded(effect.game_id)
            self._stored(effect.game_id, effect.record)
        elif isinstance(effect, Journal):
            self.shown.came_about(effect.entries, self._now)
            self.kept.decided(effect.entries)
            for fact in (fact_of(entry) for entry in effect.entries if entry[1] == "validated"):
                assert isinstance(fact, Validated)
                self._validation_over(fact)
        elif isinstance(effect, GameStarted):
            if self._config.validation:
                early = sorted({*effect.names} - self.validated)
                self.require(not early, f"{effect.game} began before {', '.join(early)} was validated")
            self.orders.begins(effect.game, effect.names)
            self._began(effect.game, effect.names)
            self._started += 1
        elif isinstance(effect, ValidationStarted):
            self._began(effect.game, (effect.bot,))
        elif isinstance(effect, BotValidated):
            self.validated.add(effect.bot)

    def carried_out(self, effect: Effect, now: int) -> None:
        """Check what leaves the server."""
        self._now = now
        if isinstance(effect, Send):
            self._sent(effect)
        elif isinstance(effect, Show):
            self._shown(effect)
        elif isinstance(effect, LogEvent):
            self.metrics.happened(effect)
            self.leaks.left("the log", format_json(0, effect).encode(), now)
        elif isinstance(effect, Reply):
            self.orders.sent_answer(effect.number, effect.problem)
        elif isinstance(effect, Finished):
            # One that could go on is aborted when it is archived.
            over = (
                self.finished in (None, "incomplete", "stopped")
                if effect.reason == "aborted"
                else self.finished is None
            )
            self.require(over, "the contest finished twice")
            self.finished = effect.reason
            progress = self._progress()
            # Nothing is complete without a game.
            whole = 0 < progress.done == progress.total or bool(progress.separated)
            self.require(
                effect.reason == "stopped" or whole == (effect.reason == "finished"),
                f"the contest ended as {effect.reason} with {progress.done} of {progress.total} results",
            )

    def over(self, now: int) -> None:
        """Nothing will happen any more: check what can be known only now."""
        self._now = now
        self.require(self.finished is not None, "nothing happens any more")
        paired = self._config.deals == "paired"
        whole = self.finished == "finished"
        for leak in self.leaks.found(self.records, self.ended, paired=paired, whole=whole):
            self.require(False, leak)

    def restarted(self, past: Past, power: bool, now: int) -> None:
        """The server was dead: what is durable is all there is, and all that was sent is part of it."""
        self._now = now
        self._power_cut |= power
        self.finished = None
        self.orders.restarted(past.entries, power)
        self.kept.restarted(past, power)
        results = {f"g{game.number}" for game in past.results}
        live = Live()
        live.add(past.entries)
        begun = set(map(deal.game_id, live.games))
        facts = (fact_of(entry) for entry in past.entries if entry[1] == "validated")
        records = {fact.name: decode(fact.record) for fact in facts if isinstance(fact, Validated)}
        validations = {deal.game_id(-entry[3]) for entry in past.entries if entry[1] == "validated"}
        self.validated = {name for name, record in records.items() if not record.faults}
        lifts = (("order", "lift"), ("order", "kick"))
        self.validated |= {entry[4] for entry in past.entries if entry[1:4:2] in lifts}
        gone = sorted(self._said - validations)
        self.require(power or not gone, f"the ends of {', '.join(gone)} were sent, and are lost")
        self._said &= validations
        self.validations = {name: self.validations[name] for name in self.validations if name in validations}
        self.shown.restarted(past.entries, results | validations)
        lost = sorted(self.durable - results)
        self.require(not lost, f"the results of {', '.join(lost)} were sent, and are lost")
        for game_id in [*self._games]:
            plies = self._games[game_id].plies
            if power:
                self._games[game_id].reset(self._config.clock_ms)
            elif game_id not in begun | results | validations:
                self.require(not plies, f"{len(plies)} plies of {game_id} were sent, and are lost")
            if game_id not in begun:
                del self._games[game_id]
        # The end of a validation game does not wait for the disk: a power cut takes it back.
        for game_id in begun - self._games.keys():
            self.require(power, f"{game_id} was over, and goes on")
            self._games[game_id] = GameTrace(now, (self._config.clock_ms,) * self._seats)
        self.records = {game_id: self.records[game_id] for game_id in self.records if game_id in results}
        self.durable = results
        self._started = sum(deal.number_of(each) > 0 for each in results | begun)
        self._playing = begun - results
        self._open.clear()
        self._seated.clear()

    def key_refused(self, name: str) -> None:
        """The key of the last WELCOME that `name` has read was refused: only after QUIT, or a power cut."""
        self.require(self._power_cut or bool(self._may[name]), f"the resume key of {name} was refused")

    def kept_out(self, name: str, line: str) -> None:
        """`name` gave its token and was refused: only its own old connection may be in the way."""
        self.require(line.startswith("ERROR name-taken "), f"{name} was kept out: {line}")

    # -- games

    def _began(self, game_id: str, names: tuple[str, ...]) -> None:
        self._names[game_id] = names
        self._playing.add(game_id)
        at_once = Counter(name for each in self._playing for name in self._names[each])
        for name in names:
            self.require(names.count(name) == 1, f"{game_id}: {name} plays itself")
            most = self.slots.get(name, 1)
            self.require(at_once[name] <= most, f"{name} plays {at_once[name]} games at once, not {most}")
            self.most_at_once = max(self.most_at_once, at_once[name])
        self.require(game_id not in self._games and game_id not in self.records, f"{game_id} began twice")
        self._games[game_id] = GameTrace(self._now, (self._config.clock_ms,) * self._seats)

    def _validation_over(self, fact: Validated) -> None:
        """The record of a validation game is in the journal: its OVER follows once that is durable."""
        record = decode(fact.record)
        self.require(record.game_id not in self.validations, f"{record.game_id} is over a second time")
        players = sorted({*record.names} - {deal.REFEREE})
        self.require(players == [fact.name], f"{record.game_id} was played by {', '.join(players)}")
        self.validations[record.game_id] = record
        self._over_with(record.game_id, record)

    def _stored(self, game_id: str, record: GameRecord) -> None:
        self.require(game_id not in self.records, f"{game_id} has a second result")
        self.records[game_id] = record
        self._over_with(game_id, record)

    def _over_with(self, game_id: str, record: GameRecord) -> None:
        self._playing.discard(game_id)
        self.ended[game_id] = self._now
        self.took[game_id] = self._now - self._games[game_id].began
        try:
            verify(record)
        except RecordError as error:
            self.require(False, f"a record that is not true: {error}")
        for fault in record.faults:
            if fault.seat:
                name = record.names[fault.seat - 1]
                self.require(
                    fault.kind in self._may[name],
                    f"{name} was blamed for {fault.kind} in {game_id}, ply {fault.ply}",
                )
        sent = self._games[game_id].plies
        self.require(len(sent) <= len(record.plies), f"{game_id}: more plies were sent than are recorded")

    def _count(self) -> None:
        """Every game that was started is finished, void or running."""
        counts = self._counts()
        known = counts.done + counts.void + counts.running
        self.require(known == self._started, f"{self._started} games were started, {known} are known")
        counted = counts.done + counts.void
        self.require(
            counted <= len(self.durable), f"{counted} results count, {len(self.durable)} are durable"
        )
        self._counted += 1
        if self._counted % 8 == 0:
            told = self._progress()
            same = Counts(told.done, told.void, told.running)
            self.require(same == counts, f"{counts} is shown as {same}")

    # -- lines

    def _sent(self, effect: Send) -> None:
        data = effect.data
        self.digest.update(b"%d %b" % (effect.conn, data))
        self.leaks.left("a connection", self.kept.public(data), self._now)
        self.require(data.endswith(b"\n"), "half a line was sent")
        for line in data.splitlines():
            self._watched(effect.conn, line)
            self.hidden.sent(effect.conn, line)
            match line.partition(b" ")[0]:
                case b"GAME":
                    self._game(effect.conn, line)
                case b"OVER":
                    self._over(line)
                case b"PLAYED":
                    self._played(effect.conn, line)
                case b"TURN":
                    self._turn(effect.conn, line)

    def _watched(self, conn: int, line: bytes) -> None:
        """A line to a spectator names its game."""
        verb, *rest = line.split(b" ", 2)
        if verb == b"GAME" and b" seat=0 " in line:
            self._watching.add(conn)
        if conn in self._watching and verb in (b"GAME", b"OVER"):
            self.shown.seen(line, rest[0].decode("ascii"), self._now)
        elif conn in self._watching and verb == b"PLAYED":
            self.shown.seen(line, line.rpartition(b" game=")[2].decode("ascii"), self._now)

    def _shown(self, effect: Show) -> None:
        """The page reads what it may be shown now."""
        transcript, end = effect
        begin, behind = self._read.get(transcript, (0, None))
        shown, behind = transcript.shown(begin, end, behind)
        self._read[transcript] = end, behind
        for _, message, position in shown:
            line = encode(message)
            self.shown.seen(line, transcript.game_id, self._now)
            self.hidden.shown(line)
            self.leaks.left("the page", line, self._now)
            if isinstance(message, Game):
                self._views[transcript] = GameView.of(replace(message, seat=1))
            view = self._views[transcript] = self._views[transcript].after(message)
            if position is not None and view.is_dealt:
                seen = position == view.position
                self.require(seen, f"{transcript.game_id} has another position on the page than its lines")
            if isinstance(message, Played):
                self._played(0, line[:-1])
            elif isinstance(message, Over):
                self._over(line)

    def _game(self, conn: int, line: bytes) -> None:
        if b" seat=0 " not in line:
            self._seated[conn] = line.split(b" ", 2)[1].decode("ascii")

    def _over(self, line: bytes) -> None:
        game_id = line.split(b" ", 2)[1].decode("ascii")
        if game_id in self.validations:
            self._said.add(game_id)  # that it is durable shows after the next crash
        else:
            self.require(game_id in self.durable, f"the result of {game_id} was sent before it was durable")
        self._games.pop(game_id, None)

    def _played(self, conn: int, line: bytes) -> None:
        """A ply is the same for every reader; sent for the first time, it follows from the last."""
        text, _, tag = line.partition(b" game=")
        game_id = tag.decode("ascii") if tag else self._seated[conn]
        trace = self._games.get(game_id)
        if trace is None:
            return  # for a spectator, after the result
        trace.played(game_id, text, self._config.increment_ms, self.require)

    def _turn(self, conn: int, line: bytes) -> None:
        message = parse_server(line)
        assert isinstance(message, Turn)
        trace = self._games[self._seated[conn]]
        late = any(shown > left for shown, left in zip(message.clock, trace.clocks, strict=True))
        self.require(not late, f"TURN {message.ply} of {self._seated[conn]} shows clocks that rose")
