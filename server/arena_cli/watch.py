"""`arena watch`: a contest as it is played, drawn in the terminal."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from arena_cli.options import Tls, TlsCa, address, check_login, is_terminal, may_paint, trust

if TYPE_CHECKING:
    import socket

    from arena_cli.spectator import Sight, Spectator
    from arena_client.transport import Veil
    from arena_client.view import GameView

#: Clear the screen from its top left corner on.
HOME = "\x1b[H\x1b[J"
READ_BYTES = 65536
#: What a server may take to let us in, as of `arena_client.retry`; and the shortest wait there is.
GREETING_S, SHORTEST_S = 10.0, 0.001
#: Results shown beneath the board.
RESULTS = 5


def command(
    game: Annotated[
        str, typer.Argument(metavar="[GAME]", help="A game's id; every game if absent.", show_default=False)
    ] = "*",
    connect: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="The server; else ARENA_HOST and ARENA_PORT, else this machine."
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="The name to come in under.")] = "spectator",
    token: Annotated[str | None, typer.Option(help="Its token, if strangers may not watch.")] = None,
    tls: Tls = False,
    tls_ca: TlsCa = None,
    color: Annotated[bool, typer.Option("--color/--no-color", help="Paint the pictures.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a message.")] = False,
) -> None:
    """Watch a contest as it is played.

    In a terminal the board is drawn: of the one game, or of a running one and then the next.
    In a pipe every event is a line. It ends with the game, or with the contest.

    Example: arena watch g3 --connect localhost:2006
    """
    from arena_cli.spectator import Spectator
    from arena_client.transport import Veil

    host, port = address(_server() if connect is None else connect)
    check_login(name, token, game)
    veil = Veil(trust(tls, tls_ca), host)
    show: Show
    if as_json:
        show = _Lines(_json_line)
    elif is_terminal():
        show = Screen(typer.echo, color=may_paint(color, terminal=True))
    else:
        show = _Lines(_text_line)
    with _connection(host, port) as sock:
        watch(sock, Spectator(name, token, game), show, veil)


class Show(Protocol):
    """What becomes of the sights that came together."""

    def __call__(self, sights: Iterable[Sight]) -> None:
        """Show them."""


def watch(sock: socket.socket, spectator: Spectator, show: Show, veil: Veil) -> None:
    """Show what comes until there is nothing more to be seen. Raises ArenaError, or ClientError for TLS."""
    limit = time.monotonic() + GREETING_S
    with _connected():
        veil.begin()
        sock.sendall(veil.send(b""))
    while not spectator.over:
        with _connected():
            data = _received(sock, spectator, limit)
            plain = veil.receive(data)
        if plain or not data:  # else it is of the handshake
            show(spectator.receive(plain))
        with _connected():
            sock.sendall(veil.send(spectator.to_send()))


def _received(sock: socket.socket, spectator: Spectator, limit: float) -> bytes:
    """What comes next. Raises ArenaError if the server has not let us in by `limit` (monotonic seconds)."""
    from arena_server.errors import ArenaError

    # A person waits for a game as long as it takes, but not for the first word of a stranger.
    sock.settimeout(None if spectator.welcomed else max(limit - time.monotonic(), SHORTEST_S))
    try:
        return sock.recv(READ_BYTES)
    except TimeoutError as error:
        if error.errno is not None:
            raise  # the system's: the link is dead
        raise ArenaError(spectator.unheard()) from None


@contextmanager
def _connected() -> Iterator[None]:
    """Blame the connection for what breaks in here, and for nothing else: output may break as well."""
    from arena_server.errors import ArenaError

    try:
        yield
    except OSError as error:
        raise ArenaError(f"the connection was lost: {error.strerror or error}; watch again") from None


def _server() -> str:
    """HOST:PORT of the server that the environment names, else of one on this machine."""
    from arena_server.config_schema import DEFAULT_PORT

    host = os.environ.get("ARENA_HOST") or "127.0.0.1"
    return f"{host}:{os.environ.get('ARENA_PORT') or DEFAULT_PORT}"


def _connection(host: str, port: int) -> socket.socket:
    import socket

    from arena_client.transport import tune
    from arena_server.errors import ArenaError

    try:
        sock = socket.create_connection((host, port), timeout=GREETING_S)
    except OSError as error:
        raise ArenaError(
            f"no server at {host}:{port}: {error.strerror or error}; is it running, and is the address right?"
        ) from None
    tune(sock)
    return sock


class _Lines:
    """A line an event, for pipes."""

    def __init__(self, line: Callable[[Sight], str | None]) -> None:
        self._line = line

    def __call__(self, sights: Iterable[Sight]) -> None:
        for sight in sights:
            if (line := self._line(sight)) is not None:
                typer.echo(line)


def _text_line(sight: Sight) -> str | None:
    from arena_cli.spectator import line_of

    return line_of(*sight)


def _json_line(sight: Sight) -> str | None:
    from arena_cli.spectator import plain

    return json.dumps(plain(*sight))


class Screen:
    """The board of one game, which is followed to its end; then that of the next that moves.

    It is drawn once for all that came together: a terminal is slower than bots.
    """

    def __init__(self, write: Callable[[str], object], *, color: bool) -> None:
        self._write = write
        self._color = color
        self._game: GameView | None = None
        self._results: deque[str] = deque(maxlen=RESULTS)

    def __call__(self, sights: Iterable[Sight]) -> None:
        """Take in all sights, and draw the last of the game that is followed."""
        shown = self._game
        for _, view in sights:
            self._follow(view)
            if view.over is not None:
                self._note_result(view)
        if self._game is not None and self._game is not shown:
            self._draw(self._game)

    def _follow(self, view: GameView) -> None:
        game = self._game
        if game is None or game.game_id == view.game_id or game.over is not None:
            self._game = view

    def _note_result(self, view: GameView) -> None:
        assert view.over is not None
        score = " - ".join(map(str, view.over.total))
        self._results.append(f"{view.game_id}: {' - '.join(view.names)}   {score}, {view.over.end}")

    def _draw(self, view: GameView) -> None:
        from arena_cli.render import draw
        from arena_cli.spectator import scene
        from arena_client.errors import ClientError
        from arena_server.errors import ArenaError

        if not view.state:
            return  # GAME has come, and STATE is on its way
        try:
            picture = draw(scene(view), color=self._color)
        except ClientError as error:
            raise ArenaError(str(error)) from None
        self._write("\n".join([HOME + picture, *self._results]))
