"""Two scripted clients that face a server in one case, both seats of its games in one hand.

A case asks for a `pair` in a fresh game and moves it on: `begin`, `move`, `finish`. Whatever an earlier case
has left unfinished is played to its end first, so cases need no order.
"""

from __future__ import annotations

import selectors
import socket
import ssl
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any

from arena_check.cases import Finding, Suite, Verdict, failed, reaching
from arena_check.server.client import Client, any_move, is_fresh, rules_of
from arena_check.wire import Wire, WireLog
from arena_protocol import messages as wire
from arena_protocol.framing import SERVER_LINE_LIMIT
from arena_protocol.games.base import Game
from arena_protocol.view import GameView

SUITE: Suite[ServerBench] = Suite()

#: A move that no game has.
ILLEGAL = "99"
#: The advice for a line that cannot be read.
REFUSE = (
    "Answer a line that cannot be read by ERROR and one code a cause; after log-in the connection goes on."
)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What `arena check server` is given; `names` are two bots of the contest, `token` is that of both.

    Times in seconds: `patience` for what must come, `quiet` for what must not. `limits` bounds the waits for
    the server's own limits: log-in, READY and the clock.
    """

    host: str
    port: int
    names: tuple[str, str] = ("check-1", "check-2")
    token: str | None = None
    patience: float = 10.0
    quiet: float = 0.2
    limits: float = 45.0
    tls: ssl.SSLContext | None = None


@dataclass
class Pair:
    """The two clients of one game, by seat: `seats[0]` has seat 1."""

    seats: tuple[Client, Client]

    @property
    def game(self) -> GameView:
        """The game as the first seat has seen it."""
        seen = self.seats[0].game
        assert seen is not None
        return seen

    @property
    def mover(self) -> Client:
        """The client that is to move."""
        return next(client for client in self.seats if client.turn is not None)

    @property
    def waiter(self) -> Client:
        """The other one."""
        return next(client for client in self.seats if client.turn is None)

    def begin(self) -> None:
        """Say READY on both seats and take START on both, and the first TURN."""
        for client in self.seats:
            client.send(f"READY {self.game.offer.game_id}")
        for client in self.seats:
            client.expect(wire.Start)
        self.take_turn()

    def take_turn(self) -> Client:
        """Take the TURN that is due; return the client that has it."""
        rules = self._rules()
        client = self.seats[rules.to_move(self.game.position) - 1]
        client.expect(wire.Turn)
        return client

    def _rules(self) -> Game[Any]:
        return rules_of(self.game)

    def legal(self) -> str:
        """A legal move of the position, not the same at each ply."""
        moves = self._rules().legal_moves(self.game.position)
        return moves[self.game.ply * 7 % len(moves)]

    def move(self) -> tuple[wire.Played, wire.Played]:
        """Play one ply by a legal move; return its PLAYED as both seats got it. TURN or OVER comes next."""
        self.mover.send(f"MOVE {self.legal()}")
        first, second = (client.expect(wire.Played) for client in self.seats)
        return first, second

    @property
    def is_over(self) -> bool:
        """Whether the game has ended by its rules."""
        return self._rules().end(self.game.position) is not None

    def finish(self) -> tuple[wire.Over, wire.Over]:
        """Play the game to its end, from a TURN that is due or open; return OVER as both seats got it."""
        while not self.is_over:
            if all(client.turn is None for client in self.seats):
                self.take_turn()
            self.move()
        first, second = (client.expect(wire.Over) for client in self.seats)
        return first, second


class ServerBench:
    """What a case of the server suite gets; closed after it."""

    #: PING tokens, never the same.
    _tokens = count(1)

    def __init__(self, settings: ServerSettings, keys: dict[str, str]) -> None:
        self.settings = settings
        self.log = WireLog()
        #: The last resume key of each name, across cases.
        self.keys = keys
        self._clients: list[Client] = []
        self._connections = 0

    @property
    def token_option(self) -> str:
        """The token as HELLO has it, with a space before it."""
        return f" token={self.settings.token}" if self.settings.token else ""

    def next_token(self) -> str:
        """A token for PING that was not used before."""
        return f"t{next(self._tokens)}"

    def open(self, *, plain: bool = False) -> Wire:
        """Connect, over TLS if the settings say so and it is not to be `plain`.

        Raises Finding: not reached if nothing listens there, failed if the TLS handshake fails.
        """
        address = self.settings.host, self.settings.port
        try:
            sock = socket.create_connection(address, timeout=self.settings.patience)
        except OSError as error:
            raise Finding(
                Verdict.NOT_REACHED,
                f"a connection to {address[0]}:{address[1]}",
                error.strerror or str(error),
            ) from error
        self._connections += 1
        if self.settings.tls is not None and not plain:
            try:
                sock = self.settings.tls.wrap_socket(sock, server_hostname=address[0])
            except OSError as error:
                sock.close()
                raise failed("a TLS handshake", str(error)) from error
        return Wire(sock, "C", SERVER_LINE_LIMIT, self.log, self._connections)

    def client(self, which: int = 0) -> Client:
        """A new connection in the name of one of the two bots; nothing is sent yet."""
        return self.anyone(self.settings.names[which])

    def anyone(self, name: str) -> Client:
        """A new connection in any name."""
        client = Client(self, name)
        self._clients.append(client)
        return client

    def logged_in(self, which: int = 0) -> Client:
        """A new connection that is logged in, in the lobby or in a game that goes on."""
        client = self.client(which)
        client.log_in()
        client.sync()
        return client

    def spectator(self) -> Client:
        """A new connection that watches. Raises Finding: not implemented if that is not allowed here."""
        client = self.anyone("onlooker")
        client.hello(" role=spectator")
        message = client.receive("WELCOME")
        if isinstance(message, wire.Error):
            got = f"ERROR {message.code} {message.text}"
            raise Finding(Verdict.NOT_IMPLEMENTED, "a log-in with role=spectator", got)
        if not isinstance(message, wire.Welcome):
            raise failed("WELCOME", "the end of the connection" if message is None else str(message))
        return client

    def visitor(self) -> Client:
        """A connection in the lobby: a spectator's, else a bot's that waits for its rival."""
        try:
            return self.spectator()
        except Finding as finding:
            if finding.verdict is not Verdict.NOT_IMPLEMENTED:
                raise
        client = self.logged_in()
        if client.game is not None and not client.game.over:
            raise Finding(Verdict.NOT_REACHED, "a connection in the lobby", "a game goes on")
        return client

    def refuses(self, line: bytes, code: str) -> None:
        """Send a first line that is to be refused: one ERROR of this code, and the end of the connection."""
        client = self.client()
        with reaching():
            client.expect(wire.Arena)
        client.send_bytes(line + b"\n")
        client.expect_error(code)
        client.expect_end()

    def refuses_in_lobby(self, line: bytes, code: str) -> None:
        """Send a line in the lobby that is to be refused: one ERROR of this code, and it goes on."""
        with reaching():
            client = self.visitor()
        client.expect_refusal(line, code)

    def begun(self) -> Pair:
        """A pair in a game that has started, with a TURN open, as a prerequisite."""
        with reaching():
            pair = self.pair()
            pair.begin()
        return pair

    def resumed(self, old: Client) -> Client:
        """A new connection that takes up the seat of one that was cut, with all that is sent to it."""
        client = self.client(self.settings.names.index(old.name))
        client.log_in()
        client.sync()
        return client

    def pair(self) -> Pair:
        """Both bots in a game that has been offered and not started, STATE and NEXT read.

        Games that earlier cases left are played to their end first. Raises Finding if no game is offered.
        """
        both = self.logged_in(0), self.logged_in(1)
        deadline = monotonic() + 2 * self.settings.limits
        while not all(client.game is not None and is_fresh(client.game) for client in both):
            if monotonic() > deadline:
                raise failed(
                    "a game to be offered to both bots", f"none within {2 * self.settings.limits:g} s"
                )
            self._go_on(both)
            # Nothing came of it: what the server sends next is due by one of its own limits.
            if not (both[0].sync() + both[1].sync()):
                self._await_line(both)
        first = both[0].game
        assert first is not None
        return Pair(both if first.offer.seat == 1 else both[::-1])

    def _go_on(self, both: tuple[Client, Client]) -> None:
        """Answer what waits for an answer in a game that an earlier case has left."""
        games = [client.game for client in both if client.game is not None]
        left = {game.offer.game_id for game in games if not is_fresh(game) and not game.over}
        for client in both:
            if client.game is None or client.game.offer.game_id not in left:
                continue
            if client.turn is not None:
                # Here, not by PLAYED: the next look may be before that has come, and would send another MOVE.
                client.turn = None
                client.send(f"MOVE {any_move(client.game)}")
            elif is_fresh(client.game):
                client.send(f"READY {client.game.offer.game_id}")

    def _await_line(self, both: tuple[Client, Client]) -> None:
        """Wait until something comes on either connection."""
        with selectors.DefaultSelector() as selector:
            for client in both:
                # Decrypted bytes lie in the object: the socket itself is not readable for them.
                if isinstance(client.socket, ssl.SSLSocket) and client.socket.pending():
                    return
                selector.register(client.socket, selectors.EVENT_READ)
            if not selector.select(self.settings.limits):
                raise failed("a game to be offered to both bots", f"nothing for {self.settings.limits:g} s")

    def close(self) -> str:
        """Cut all connections of the case."""
        for client in self._clients:
            client.close()
        return ""
