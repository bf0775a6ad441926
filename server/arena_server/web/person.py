"""A person's seat: the web server holds a bot's connection to a referee, for one browser.

    link --take--> connecting -> waiting -> invited -> ready -> playing -> over -> ... -> finished

To the referee such a seat is a bot like any other: the same port, clock, rules and record.

A move is taken back by the referee, too: the game is void, and a new one begins on its deal (the order
`replay`). There the seat sends the moves that stand by itself, the engines give the same answers
(`arena bot --steady`), and the page shows nothing until the person is to move. Both records are true, and a
note of the seat in the new one says which plies are repeated.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Final

from arena_protocol import messages as wire
from arena_protocol.errors import ByeReason, ClientError
from arena_protocol.link import Link
from arena_server.web.gamestream import LineStream
from arena_server.web.ports import Invitation, MoveScript
from arena_server.web.streams import Channel, Viewer, encode_event

SESSION_BYTES: Final = 16
#: A move is one token of the protocol.
MOVE: Final = re.compile(r"[!-~]{1,64}")
RETRY_S: Final = (0.1, 0.5, 1.0, 2.0, 5.0)
SYNC_S: Final = 10.0
#: A casual game is given up for a person whose page has been closed for this time: long enough to load it
#: again, and, with the 15 s until a lost line is noticed, less than a minute.
ABANDONED_S: Final = 40.0
UNREACHED: Final = "the referee cannot be reached now"
#: Each move that is taken back leaves a record.
MOST_TAKEN_BACK: Final = 100

#: Opens a connection to the referee.
Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class SeatError(Exception):
    """A request that cannot be carried out now; the text says why in one line."""


class PersonSeat:
    """One person's connection to the referee. Every method runs on the web thread's loop.

    `state` is `link` before the link is used, then `connecting`, `waiting` for a game, `invited` to
    one, `ready`, `playing`, `over` after a game and `finished` after the contest.
    """

    def __init__(
        self,
        invitation: Invitation,
        connect: Connect,
        *,
        contest: str | None = None,
        place: int = 0,
        hints: bool = True,
        alone: bool = False,
        replay: Callable[[str, str, str], None] | None = None,
        script: MoveScript | None = None,
        named: Callable[[str], str] | None = None,
        called: Callable[[], Mapping[str, str]] = dict,
        taken: Callable[[], None] = lambda: None,
        finished: Callable[[], None] = lambda: None,
    ) -> None:
        """`contest` names that of a casual game; it is given up ABANDONED_S after the last viewer left.

        In it the person has the seat `place`, and is `alone` if all others are engines. The person may take
        moves back with `replay`, which has a game played again: its id, who wants that, and why. The game
        begins with the moves of `script`, which are shown when the person is to move. With `named` the person
        chooses a name with the link: it is called with that, or with none, returns the name in the protocol,
        and raises SeatError for one that cannot be. `called` has the names of players that the pages show,
        where they are none of the protocol. `taken` is called when the link is used, and may raise SeatError:
        then it is not. `finished` is called when the seat gets no further game.
        """
        self.place = place
        #: The key of a link to the next game of the same players, once one of them wants it.
        self.rematch: str | None = None
        self.key: str | None = invitation.key
        self.session: str | None = None
        self.state = "link"
        self.channel = Channel()
        #: Whether the game begins when others have used their links, too.
        self._is_early = False
        self._contest = contest
        self._named = named
        self._called = called
        self._taken = taken
        self._finished = finished
        self._hints = hints
        self._alone = alone
        self._replay = replay
        self._taken_back = 0
        #: While a game is played again, or begins with the moves of another one.
        self._script = script
        self._leaving: asyncio.TimerHandle | None = None
        self.invitation = invitation
        self._connect = connect
        #: The log-in, once the link of the invitation has been used.
        self._link: Link
        self._writer: asyncio.StreamWriter | None = None
        self._problem: str | None = None
        self._game: LineStream | None = None
        self._games = 0
        #: The ply that the referee waits for.
        self._turn: int | None = None
        self._published: bytes = b""
        self._tasks: list[asyncio.Task[None]] = []

    # -- the browser's requests

    @property
    def name(self) -> str:
        return self.invitation.name

    @property
    def called(self) -> str:
        """What the pages call this person."""
        return self._called().get(self.name, self.name)

    @property
    def is_named_late(self) -> bool:
        """Whether the person chooses a name with the link."""
        return self._named is not None

    def link(self) -> dict[str, object]:
        """What the link is for; it is not used up."""
        return {"name": self.called, "game": self.invitation.game, "named": self.is_named_late}

    def take(self, name: str = "") -> str:
        """Use the link up: connect to the referee, and return the session.

        Who may choose a `name` has it from now on. Raises SeatError for one that cannot be, and without a
        place for the game.
        """
        if self._named is not None:
            self.invitation = replace(self.invitation, name=self._named(name))
        self._taken()
        seat = self.invitation
        games = (seat.game,)
        hello = wire.Hello(wire.VERSION, seat.name, games, seat.token, agent="web/1", contest=seat.contest)
        self._link = Link(hello)
        self.key = None
        self.session = secrets.token_hex(SESSION_BYTES)
        self.state = "connecting"
        self._tasks = [asyncio.create_task(self._play()), asyncio.create_task(self._sync())]
        self._await_viewer()
        return self.session

    def close(self, problem: str | None) -> None:
        """Its server has gone: the link and the connection are of no use any more."""
        self.key = None
        for task in self._tasks[:1] if self._contest is not None else self._tasks:
            task.cancel()
        if self.state != "finished":
            self._problem = problem
            self._finish()

    def forget(self) -> None:
        """Nothing follows: the events end."""
        for task in self._tasks:
            task.cancel()

    def wait_for_others(self, *, waits: bool) -> None:
        """Whether the game begins only when others have used their links."""
        self._is_early = waits
        self._publish()

    def offer_rematch(self, key: str) -> None:
        """The other players wait in a new game; `key` is that of this person's link."""
        self.rematch = key
        self._publish()

    def _finish(self) -> None:
        self.state, self._turn = "finished", None
        if self._leaving is not None:
            self._leaving.cancel()
        self._publish()
        self._finished()

    def ready(self) -> None:
        """Let the clock start. Raises SeatError."""
        if self.state != "invited" or self._game is None:
            raise SeatError("no game waits for you")
        self._send(wire.Ready(self._game.game_id))
        self.state = "ready"
        self._publish()

    def move(self, ply: object, move: object) -> None:
        """Answer TURN. Raises SeatError; the rules are the referee's."""
        if not isinstance(move, str) or not MOVE.fullmatch(move):
            raise SeatError("a move is a word of ASCII characters")
        if self._turn is None or ply != self._turn:
            raise SeatError("it is not your turn")
        self._send(wire.Move(move))
        self._turn = None
        self._publish()

    def take_back(self) -> None:
        """Take back the last own move, and what came after it. Raises SeatError."""
        if self._replay is None:
            raise SeatError("no move can be taken back in this game")
        if self._turn is None or self._game is None:
            raise SeatError("it is not your turn")
        played = self._game.moves()
        own = [ply for ply, (seat, _) in enumerate(played, 1) if seat == self.place]
        if not own:
            raise SeatError("you have not moved yet")
        if self._taken_back == MOST_TAKEN_BACK:
            raise SeatError(f"{MOST_TAKEN_BACK} moves have been taken back, as many as may be")
        self._taken_back += 1
        game_id, ply = self._game.game_id, own[-1]
        moves = tuple(move for _, move in played[: ply - 1])
        self._script = MoveScript(moves, f"{self.name} took back ply {ply} of {game_id}")
        self._turn = None
        self._replay(game_id, self.name, f"{self.name} takes back ply {ply}")
        self._publish()

    def quit(self) -> None:
        """Give the contest up. Raises SeatError."""
        if self._writer is None:
            raise SeatError(UNREACHED)
        self._link.quit()
        self._flush(self._writer)

    def join(self, viewer: Viewer) -> list[bytes]:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
        self.channel.viewers.add(viewer)
        game = self._game
        shown = [] if game is None or not game.state() else [encode_event("snapshot", game.snapshot())]
        return [self._event(), *shown]

    def leave(self, viewer: Viewer) -> None:
        self.channel.viewers.discard(viewer)
        if not self.channel.viewers:
            self._await_viewer()

    def _await_viewer(self) -> None:
        if self._contest is not None and self.state != "finished":
            self._leaving = asyncio.get_running_loop().call_later(ABANDONED_S, self._abandon)

    def _abandon(self) -> None:
        try:
            self.quit()
        except SeatError:  # without a connection no BYE will come
            self.close("no page showed this seat")

    # -- the referee's lines

    async def _play(self) -> None:
        failures = 0
        while self.state != "finished":
            try:
                reader, self._writer = await self._connect()
            except OSError as error:
                self._problem = f"the referee cannot be reached: {error}"
            else:
                try:
                    await self._read(reader, self._writer)
                except ClientError as error:
                    self._problem = str(error)
                except OSError as error:
                    self._problem = f"the connection to the referee is lost: {error}"
                finally:
                    self._link.closed()
                    self._writer.close()
                    self._writer = None
            if self.state != "finished":
                failures = 0 if self._problem is None else failures + 1
                self._publish()
                await asyncio.sleep(RETRY_S[min(failures, len(RETRY_S) - 1)])

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._link.opened()
        while data := await reader.read(65536):
            try:
                for line, message in self._link.receive(data):
                    self._take(line, message)
            finally:
                self._flush(writer)
            self._publish()

    def _take(self, line: bytes, message: wire.ServerMessage | None) -> None:
        match message:
            case wire.Welcome():
                self._problem = None
                self.state = "waiting"
            case wire.Error(code, text):
                self._problem = f"{code}: {text}"
            case wire.Bye(reason) if reason != ByeReason.SLOW:
                self._finish()
            case wire.Game(game_id=game_id):
                self._begin(game_id, line)
            case wire.Turn(ply):
                self._turn = ply
                if self._script is not None:
                    self._follow(self._script)
            case wire.Over(end="void") if self._script is not None:
                pass  # the page shows this game until the new one has come as far
            case _ if self._game is not None and message is not None:
                self._read_on(self._game, line, message)

    def _begin(self, game_id: str, line: bytes) -> None:
        """A game is offered; while it only repeats another one, what happens is kept back."""
        self._games += 1
        channel = self.channel if self._script is None else Channel()
        self._game = LineStream(game_id, f"{self._games}", channel)
        self._game.add(line)
        self.state, self._turn = "invited", None
        if self._script is not None:
            self.ready()

    def _read_on(self, game: LineStream, line: bytes, message: wire.ServerMessage) -> None:
        game.add(line)
        match message:
            case wire.State() | wire.Next():
                game.channel.publish(encode_event("snapshot", game.snapshot()))
            case wire.Start() | wire.Played():
                self.state = "playing"
            case wire.Zombie(seat=None):  # of this seat; that of another one is an announcement
                self._turn = None
            case wire.Over():
                self.state, self._turn = "over", None
                self._show_game()

    def _follow(self, script: MoveScript) -> None:
        """Play as `script` has it; after its last move, or where another seat departs, stop."""
        assert self._game is not None
        assert self._turn is not None
        played, moves = tuple(move for _, move in self._game.moves()), script.moves
        if len(played) < len(moves) and played == moves[: len(played)]:
            self.move(self._turn, moves[len(played)])
            return
        same = sum(takewhile(bool, (now == then for now, then in zip(played, moves, strict=False))))
        text = f"{script.note}; plies 1 to {same} are the same"
        self._send(wire.Info(self._game.game_id, self._turn, text=text))
        self._show_game()

    def _show_game(self) -> None:
        """Show what has been kept back while a game was played again."""
        if self._script is not None and self._game is not None:
            self._script = None
            self._game.channel = self.channel
            self.channel.publish(encode_event("snapshot", self._game.snapshot()))

    def _send(self, message: wire.ClientMessage) -> None:
        """Send a message. Raises SeatError if it is not due, as without a connection."""
        if self._writer is None or not self._link.is_logged_in:
            raise SeatError(UNREACHED)
        try:
            self._link.send(message)
        except ClientError as error:
            raise SeatError(str(error)) from None
        self._flush(self._writer)

    def _flush(self, writer: asyncio.StreamWriter) -> None:
        writer.write(self._link.data_to_send())

    # -- events

    def _event(self) -> bytes:
        game = None if self._game is None else self._game.game_id
        document: dict[str, object] = {
            "name": self.called,
            "state": "waiting" if self._is_early and self.state == "connecting" else self.state,
            "game": game,
            "turn": self._turn,
        }
        if self._game is not None and self._turn is not None:
            document["legal"] = self._game.legal_moves()
        document |= {"problem": self._problem, "contest": self._contest, "hints": self._hints}
        document |= {"alone": self._alone, "called": self._called()}
        back = self._replay is not None and self._turn is not None and self._has_moved()
        document |= {"takes_back": self._replay is not None, "undo": back, "rematch": self.rematch}
        return encode_event("seat", document)

    def _has_moved(self) -> bool:
        return self._game is not None and any(seat == self.place for seat, _ in self._game.moves())

    def _publish(self) -> None:
        event = self._event()
        if event != self._published:
            self._published = event
            self.channel.publish(event)

    async def _sync(self) -> None:
        while self.state != "finished" or self._contest is not None:
            await asyncio.sleep(SYNC_S)
            self.channel.publish(
                encode_event("sync", {"since_ms": 0}) if self._game is None else self._game.sync()
            )
