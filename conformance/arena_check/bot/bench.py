"""The scripted referee that faces a bot in one case: it listens, starts the bot, and seats it at games.

A case moves the bench on step by step: `log_in`, `offer`, `expect("READY")`, `start`, `play`, `finish`;
or all of it by `play_game`. Lines of the bot are read by the protocol's own parser; whatever a bot may send
at any time (PING, INFO, blank lines, late PONGs) is answered or passed over here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from arena_check.bot.door import Door
from arena_check.bot.said import is_note, nothing, only_others, parsed, shown, unanswered
from arena_check.bot.table import Table, deal
from arena_check.cases import Finding, LateFinding, Suite, Verdict, failed, reaching
from arena_check.wire import Form, ReceiveTimeoutError, Stream, Wire, WireLog, plainly
from arena_protocol import messages
from arena_protocol.framing import CLIENT_LINE_LIMIT, Overlong

#: After the plain game a game is played as servers send it, lines joined; most cases send them so.
SUITE: Suite[BotBench] = Suite(needs=("1.1/1",))

ARENA = "ARENA 1 arena-check/1"
BYE = "BYE reason=finished"
#: A machine that is so late is too busy to tell whether a bot is slow.
MACHINE_LATE_MS = 100
#: What a bot may send in every state after WELCOME.
_AT_ANY_TIME = ("PING", "PONG", "INFO")


@dataclass(frozen=True, slots=True)
class BotSettings:
    """What `arena check bot` is given.

    Times in seconds: `patience` for what must come, `quiet` for what must not, `start_s` for a bot from its
    start to its connection.
    """

    name: str = "checked"
    token: str = "s3cret"  # noqa: S105 - the checker's own, good for nothing else
    game: str = "insertion"
    host: str = "127.0.0.1"
    port: int = 0
    patience: float = 10.0
    quiet: float = 0.2
    start_s: float = 30.0


class BotBench:
    """What a case of the bot suite gets; closed after it."""

    def __init__(self, door: Door, settings: BotSettings) -> None:
        self.settings = settings
        self.log = WireLog(door.now)
        self.form: Form = plainly
        #: Changes each line before it is sent; the cases about lines replace it.
        self.alter: Callable[[str], str] = str
        #: HELLO of the plain game.
        self.hello: messages.Hello | None = None
        self.key = ""
        self.old_keys: set[str] = set()
        self.keys = 0
        self.games = 0
        self.door = door
        self._started = False
        self._connections = 0
        self._wire: Wire | None = None

    # -- connections ---------------------------------------------------------------------------------

    @property
    def wire(self) -> Wire:
        """The connection at hand."""
        assert self._wire is not None, "connect first"
        return self._wire

    def connect(self, patience: float | None = None) -> None:
        """Start the bot, unless it runs, and take its next connection.

        Raises Finding: failed if the bot has ended or does not connect in time.
        """
        if not self._started:
            self._started = True
            # An interpreter may take far longer to start than a bot that runs takes to connect.
            patience = patience or self.settings.start_s
            self.door.start(self.settings.name, self.settings.token)
        found = self.door.accept(patience or self.settings.patience)
        if isinstance(found, str):
            raise failed(f"a connection to {self.door.address}", found)
        self.take(found)

    def take(self, found: Stream) -> None:
        """Go on with this connection of the bot."""
        self._connections += 1
        self._wire = Wire(found, "S", CLIENT_LINE_LIMIT, self.log, self._connections)

    def reconnect(self) -> None:
        """Take the connection with which the bot comes back. Raises Finding: not implemented."""
        try:
            self.connect()
        except Finding as finding:
            raise Finding(
                Verdict.NOT_IMPLEMENTED, "the bot to connect again after a lost connection", finding.actual
            ) from finding

    def cut(self, *, reset: bool = False) -> None:
        """Lose the connection."""
        self.wire.close(reset=reset)
        self._wire = None

    def expect_close(self) -> None:
        """Wait until the bot has closed the connection. Raises Finding if it sends a line or stays."""
        line = self.receive(f"the bot to close the connection within {self.settings.patience:g} s")
        if line is not None:
            raise failed("no more lines, and the end of the connection", shown(line))
        self.cut()

    def expect_gone(self) -> None:
        """Wait, where that can be seen, until the bot has ended, its connection being lost.

        Raises Finding: failed if it connects again, not strict if it goes on without a connection.
        """
        # The end of a bot that was started by hand cannot be seen.
        if not self.door.sees_end:
            return
        found = self.door.accept(self.settings.patience)
        if not isinstance(found, str):
            raise failed("no further connection", "the bot connects again")
        if self.door.status() is None:
            raise Finding(
                Verdict.NON_STRICT, "the bot to end", f"it still runs after {self.settings.patience:g} s"
            )

    def refuse(self, error: str) -> None:
        """Answer HELLO by this ERROR and close the connection, as a server does before log-in."""
        self.send(f"ERROR {error}")
        self.cut()

    def expect_exit_status(self, wanted: Callable[[int], bool], text: str) -> None:
        """Check the status of a bot that has ended, where it can be seen."""
        status = self.door.status()
        if status is not None and not wanted(status):
            raise Finding(Verdict.NON_STRICT, text, f"exit status {status}")

    def close(self) -> str:
        """Let the bot go, end it, and return the end of its stderr."""
        if self._wire is not None:
            with suppress(OSError):
                self._wire.send(f"{BYE}\n".encode())
            self._wire.close()
        return self.door.stop()

    # -- lines ---------------------------------------------------------------------------------------

    def send(self, *lines: str) -> None:
        """Send lines in the form of the case, in one piece unless that form says otherwise."""
        self.form(self.wire, [self.alter(line) for line in lines])

    def receive(self, expected: str, patience: float | None = None) -> bytes | None:
        """Return the next line of the bot, blank lines left out, or None at the end of the connection.

        Raises Finding, with `expected`, if nothing comes in time or the line is too long.
        """
        patience = patience or self.settings.patience
        while True:
            try:
                line = self.wire.receive(patience)
            except ReceiveTimeoutError:
                raise failed(expected, nothing(patience)) from None
            if isinstance(line, Overlong):
                raise failed(f"a line of at most {CLIENT_LINE_LIMIT} bytes", f"{shown(line.head)}...")
            if line is None or line.strip():
                return line

    def expect(self, *verbs: str, patience: float | None = None) -> Any:
        """Return the bot's next message, which must have one of these verbs.

        Passes over what may come at any time. Raises Finding (failed) for anything else.
        """
        expected = " or ".join(verbs)
        patience = patience or self.settings.patience
        deadline = self.log.now() + patience
        while True:
            line = self.receive(expected, patience)
            if line is None:
                raise failed(expected, "the end of the connection")
            message = None if is_note(line) else parsed(line)
            if type(message).__name__.upper() in verbs:
                return message
            # A bot that sends notes and PINGs for ever would begin the wait again with each.
            if self.log.now() > deadline:
                raise failed(expected, only_others(patience))
            if message is None:
                continue
            if isinstance(message, messages.Ping):
                self.send(f"PONG {message.token}")
            elif not isinstance(message, messages.Pong) and not self.is_late_ready(message):
                raise failed(expected, shown(line))

    def is_late_ready(self, message: object) -> bool:
        """Whether it is a READY after the first of its game, which changes nothing."""
        return isinstance(message, messages.Ready) and message.game_id == f"g{self.games}"

    def expect_nothing(self, forbidden: str, *allowed: str, clause: str = "", advice: str = "") -> None:
        """Check that no line comes for as long as the settings call quiet.

        What may come at any time, and messages of the verbs `allowed`, are passed over. The end of the
        connection is no line. `clause` and `advice` are for a Finding that is not what the case is about.
        """
        deadline = self.log.now() + self.settings.quiet
        while (left := deadline - self.log.now()) > 0:
            try:
                line = self.receive(f"no {forbidden}", left)
            except Finding as finding:
                if unanswered(finding):
                    return
                raise
            if line is None:
                return
            verb = line.split(b" ")[0].decode("latin-1")
            # Without a key there was no WELCOME yet, and before that no verb is in time.
            if verb not in allowed and (verb not in _AT_ANY_TIME or not self.keys):
                raise failed(f"no {forbidden}", shown(line), clause=clause, advice=advice)

    # -- games ---------------------------------------------------------------------------------------

    def log_in(self, extra: str = "") -> messages.Hello:
        """Greet the bot, take its HELLO and welcome it with a new key."""
        if self._wire is None:
            self.connect()
        self.send(ARENA)
        hello = self.expect("HELLO")
        assert isinstance(hello, messages.Hello)
        self.welcome(extra)
        return hello

    def welcome(self, extra: str = "") -> None:
        """Send WELCOME with a key that was not used before."""
        self.old_keys.add(self.key)
        self.keys += 1
        self.key = f"{self.keys:032x}"
        self.send(f"WELCOME {self.settings.name} session=s{self.keys} resume={self.key}{extra}")

    def table(
        self,
        seat: int = 1,
        seats: int = 2,
        options: dict[str, str] | None = None,
        *,
        clock: int | None = None,
        increment: int = 0,
        extra: str = "",
    ) -> Table:
        """Deal a game; nothing is sent yet. `options` are the game's own, `extra` goes into GAME.

        Without a `clock` in ms the bot has as long as the settings are patient.
        """
        self.games += 1
        clock = int(self.settings.patience * 1000) if clock is None else clock
        names = [self.settings.name if number == seat else f"rival{number}" for number in range(1, seats + 1)]
        return deal(f"g{self.games}", self.settings.game, seat, names, options or {}, clock, increment, extra)

    def offer(self, table: Table) -> None:
        """Send GAME, STATE and NEXT together, and take the bot's READY."""
        self.send(*table.offer)
        self.expect_ready(table)

    def expect_ready(self, table: Table) -> None:
        """Take READY, which must name the game."""
        ready = self.expect("READY")
        if ready.game_id != table.id:
            advice = "READY has the first value of the GAME that it answers."
            raise failed(f"READY {table.id}", f"READY {ready.game_id}", clause="3.2", advice=advice)

    def begin(self, seat: int = 1, **more: Any) -> Table:
        """Offer a game, take READY and send START."""
        table = self.table(seat, **more)
        self.offer(table)
        self.send(f"START {table.id}")
        return table

    def play(self, table: Table, plies: int | None = None, *, turn_extra: str = "") -> None:
        """Play this many plies, or to the end of the game."""
        last = None if plies is None else table.ply + plies
        while not table.is_over and table.ply != last:
            if table.to_move == table.seat:
                self.ask(table, turn_extra)
            else:
                self.send(table.play(table.rival_move()))

    def ask(self, table: Table, turn_extra: str = "") -> None:
        """Send TURN, take the MOVE, which must be legal and in time, and send PLAYED."""
        self.send(table.turn(turn_extra))
        self.take_move(table)

    def take_move(self, table: Table) -> None:
        """Take the MOVE for a TURN that has just been sent, and send PLAYED."""
        since, left = self.log.now(), table.clocks[table.seat - 1]
        # With less than the patience on the clock a late MOVE is awaited too: it has a finding of its own.
        move = self.expect("MOVE", patience=max(left / 1000, self.settings.patience)).move
        spent = self.check_time(table, since)
        if not table.rules.is_legal(table.position, move):
            raise failed(f"a legal move at ply {table.ply}", f"MOVE {move}")
        self.send(table.play(move, spent))

    def check_time(self, table: Table, since: float) -> int:
        """Return the milliseconds of a move that has just come. Raises Finding if the flag has fallen."""
        spent, left = int((self.log.now() - since) * 1000), table.clocks[table.seat - 1]
        if spent > left:
            raise self.late(
                f"MOVE within the {left} ms that were left",
                spent,
                advice="clock= of GAME is for the whole game, that of TURN is what is left: "
                "divide it by the plies that are left.",
            )
        return spent

    def late(self, expected: str, spent: int, *, advice: str = "") -> LateFinding:
        """The finding that a MOVE came after `spent` milliseconds; to be raised.

        If the machine was late, too, it is not the bot's, as far as can be seen.
        """
        machine = int(self.door.machine_late_s * 1000)
        if machine < MACHINE_LATE_MS:
            actual = f"MOVE after {spent} ms"
            return LateFinding(Verdict.FAILED, expected, actual, clause="7.5", advice=advice)
        return LateFinding(
            Verdict.NON_STRICT,
            expected,
            f"MOVE after {spent} ms, while a program that only answers took {machine} ms",
            clause="7.5",
            advice="The machine is too busy to tell how long the bot takes: check it again when it is not.",
        )

    def finish(self, table: Table) -> None:
        """Send OVER."""
        self.send(table.over())

    def play_game(self, seat: int = 1, **more: Any) -> None:
        """Play a whole game, from GAME to OVER."""
        table = self.begin(seat, **more)
        self.play(table)
        self.finish(table)

    def reach_lobby(self, games: int = 0) -> None:
        """Log the bot in and let it play `games`, as prerequisites of a case. Raises Finding: not reached."""
        with reaching():
            self.log_in()
            for _ in range(games):
                self.play_game()

    def reach_game(self, seat: int = 1, *, moved: bool = False, **more: Any) -> Table:
        """Log the bot in and begin a game as prerequisites; `moved` after the bot's first MOVE.

        Raises Finding: not reached.
        """
        with reaching():
            self.log_in()
            table = self.begin(seat, **more)
            if moved:
                self.ask(table)
        return table

    def play_contest(self, *games: dict[str, Any]) -> None:
        """Log the bot in, play these games, and send the bot away; it must close the connection."""
        self.log_in()
        for game in games or ({},):
            self.play_game(**game)
        self.send(BYE)
        self.expect_close()

    def resume(self, table: Table, *, started: bool = True, zombie: str = "") -> messages.Hello:
        """Take the bot's next connection, log it in, and send it the game again up to now.

        Raises Finding: not implemented if it does not come back.
        """
        self.reconnect()
        hello = self.log_in()
        lines = [*table.offer, *([f"START {table.id}"] if started else []), *table.told]
        self.send(*lines, *([zombie] if zombie else []))
        return hello

    def ping(self, token: str) -> None:
        """Send a PING and take its PONG."""
        self.send(f"PING {token}")
        self.expect_pong(token)

    def expect_pong(self, token: str) -> None:
        """Take a PONG with this token; no answer at all is `not implemented`."""
        try:
            pong = self.expect("PONG", patience=min(self.settings.patience, 2.0))
        except Finding as finding:
            if unanswered(finding):
                raise Finding(Verdict.NOT_IMPLEMENTED, f"PONG {token[:40]}", finding.actual) from finding
            raise
        if pong.token != token:
            raise failed(shown(f"PONG {token}".encode()), shown(f"PONG {pong.token}".encode()))
