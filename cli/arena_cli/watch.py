"""`arena watch`: show games as they are played, as a board in a terminal or as a line per event."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import (
    Color,
    ConnectOrHere,
    ContestName,
    Tls,
    TlsCa,
    check_login,
    contest_of,
    is_terminal,
    tls_context,
    use_color,
)
from arena_protocol import messages as wire
from arena_protocol.record import describe_fault, describe_result

if TYPE_CHECKING:
    import socket

    from arena_cli.render import Frame
    from arena_client.spectator import Spectator, Update
    from arena_client.transport import TlsTransport
    from arena_protocol.view import GameView

#: Clear the screen from its top left corner on.
HOME = "\x1b[H\x1b[J"
READ_BYTES = 65536
#: The limit from the connection to WELCOME, the same as in `arena_client.retry`; and the shortest timeout.
LOGIN_S, SHORTEST_S = 10.0, 0.001
#: How many results are shown below the board.
RESULTS = 5
#: Lines of a wall beside its boards.
EDGE = 3 + RESULTS

_VERBS = {shape.type: shape.verb for shape in wire.TABLE}


def command(
    game: Annotated[
        str, typer.Argument(metavar="[GAME]", help="A game's id; all games if absent.", show_default=False)
    ] = "*",
    connect: ConnectOrHere = None,
    name: Annotated[str, typer.Option(help="The name to log in with.")] = "spectator",
    token: Annotated[str | None, typer.Option(help="Its token, if the contest admits no guests.")] = None,
    contest: ContestName = None,
    tls: Tls = False,
    tls_ca: TlsCa = None,
    color: Color = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per message.")] = False,
) -> None:
    """Watch a contest as it is played.

    In a terminal the board of GAME is drawn; without GAME a wall of small boards, as many running
    games as fit the window. A game keeps its place until it is over and another one begins.
    Elsewhere every event is a line. The command ends with GAME, or with the contest.

    Example: arena watch g3 --connect localhost:2006
    """
    from arena_client.spectator import Spectator
    from arena_client.transport import TlsTransport, debug_trace
    from arena_server.host.sockets import parse_address

    host, port = parse_address(connect, "--connect") if connect is not None else default_server()
    check_login(name, token, game)
    transport = TlsTransport(tls_context(tls, tls_ca), host)
    show: Show
    if as_json:
        show = line_printer(json_line)
    elif is_terminal():
        screen = Wall if game == "*" else Screen
        show = screen(typer.echo, color=use_color(color, terminal=True))
    else:
        show = line_printer(text_line)
    with open_connection(host, port) as sock:
        watch(sock, Spectator(name, token, game, debug_trace(), contest_of(contest)), show, transport)


#: Prints the updates that arrived together.
Show = Callable[[Iterable["Update"]], None]


def watch(sock: socket.socket, spectator: Spectator, show: Show, transport: TlsTransport) -> None:
    """Show updates until the spectator has finished. Raises ArenaError or ClientError."""
    deadline = time.monotonic() + LOGIN_S
    with _connection_errors():
        transport.start()
        # A TLS handshake begins with bytes of ours; without TLS these are none.
        sock.sendall(transport.send(b""))
    while not spectator.finished:
        with _connection_errors():
            data = _receive(sock, spectator, deadline)
            plain = transport.receive(data)
        if plain or not data:  # otherwise the bytes belong to the TLS handshake
            show(spectator.receive(plain))
        with _connection_errors():
            sock.sendall(transport.send(spectator.data_to_send()))


def _receive(sock: socket.socket, spectator: Spectator, deadline: float) -> bytes:
    """Return the next bytes. Raises ArenaError without a WELCOME by `deadline` (monotonic seconds)."""
    from arena_server.errors import ArenaError

    # Games may start much later, so only the log-in has a limit.
    sock.settimeout(None if spectator.welcomed else max(deadline - time.monotonic(), SHORTEST_S))
    try:
        return sock.recv(READ_BYTES)
    except TimeoutError as error:
        if error.errno is not None:
            raise  # ETIMEDOUT of the system: the link is dead
        raise ArenaError(spectator.timeout_message()) from None


@contextmanager
def _connection_errors() -> Iterator[None]:
    """Turn OSError into ArenaError; used only around socket calls, because printing may fail as well."""
    from arena_server.errors import ArenaError

    try:
        yield
    except OSError as error:
        raise ArenaError(f"the connection was lost: {error.strerror or error}; watch again") from None


def default_server() -> tuple[str, int]:
    """Return the address in ARENA_HOST and ARENA_PORT; the defaults are this machine and port 2006."""
    from arena_server.host.sockets import parse_address
    from arena_server.terms.schema import DEFAULT_PORT

    host = os.environ.get("ARENA_HOST") or "127.0.0.1"
    port = os.environ.get("ARENA_PORT") or DEFAULT_PORT
    return parse_address(f"{host}:{port}", "ARENA_HOST, ARENA_PORT")


def open_connection(host: str, port: int) -> socket.socket:
    import socket

    from arena_client.transport import tune
    from arena_server.errors import ArenaError

    try:
        sock = socket.create_connection((host, port), timeout=LOGIN_S)
    except OSError as error:
        raise ArenaError(
            f"no server at {host}:{port}: {error.strerror or error}; is it running, and is the address right?"
        ) from None
    tune(sock)
    return sock


def line_printer(line: Callable[[Update], str | None]) -> Show:
    """Return a `Show` that prints `line(update)`, without the updates for which it is None."""

    def show(updates: Iterable[Update]) -> None:
        for update in updates:
            if (text := line(update)) is not None:
                typer.echo(text)

    return show


def text_line(update: Update) -> str | None:
    """Return the update as a line of text, None if it needs no line."""
    message, game = update
    match message:
        case wire.Game():
            return f"{game.game_id}: {' - '.join(game.names)}, {game.game}"
        case wire.Played(ply, seat, move, time_ms, _, points, total):
            played = f"{game.names[seat - 1]} plays {move}, {points} points, {time_ms} ms"
            return f"{game.game_id} {ply}: {played}, {' - '.join(map(str, total))}"
        case wire.Info(_, ply, seat) if seat is not None and 1 <= seat <= game.seats:
            from arena_cli.render import describe_note

            return f"{game.game_id} {ply}: note of {game.names[seat - 1]}: {describe_note(message)}"
        case wire.Zombie(ply, reason, seat, line):
            name = game.names[seat - 1] if seat else "?"
            fault = describe_fault(name, reason, ply, line or b"", zombie_move=game.zombie_move)
            return f"{game.game_id}: {fault}"
        case wire.Over(total=total, end=end):
            return f"{game.game_id}: over, {describe_result(game.names, total, end)}"
    return None


def json_line(update: Update) -> str:
    """Return the update as a JSON object: `id` of the game, `verb`, the fields; bytes as Latin-1."""
    fields: dict[str, Any] = {
        key: value.decode("latin-1") if isinstance(value, bytes) else value
        for key, value in asdict(update.message).items()
        if value is not None
    }
    return json.dumps({"id": update.game.game_id, "verb": _VERBS[type(update.message)], **fields})


def frame(game: GameView) -> Frame:
    """Return the picture of a game. Raises ClientError if a move breaks the rules."""
    from arena_cli.render import Frame
    from arena_protocol.games.scene import rows_scene

    plies = game.options.get("plies")
    of = f" of {plies}" if plies is not None else ""
    last = game.last_move
    return Frame(
        title=f"{game.game_id}: {' - '.join(game.names)}   ply {len(game.history)}{of}",
        caption="start position"
        if last is None
        else f"{game.names[last.seat - 1]} plays {last.move}: {last.points} points in {last.time} ms",
        scene=rows_scene(game.board, coming=game.visible)
        if game.rules is None
        else game.rules.scene(game.position),
        seats=list(zip(game.names, game.totals, game.clocks, strict=True)),
        result=None if game.over is None else describe_result(game.names, game.over.total, game.over.end),
    )


def result_line(game: GameView) -> str:
    """Return the result of a game that is over."""
    assert game.over is not None
    result = describe_result(game.names, game.over.total, game.over.end)
    return f"{game.game_id}: {' - '.join(game.names)}   {result}"


class Screen:
    """A `Show` that draws one game until it ends, then the next one that has an update.

    It draws once per call, because bots can be faster than a terminal.
    """

    def __init__(self, write: Callable[[str], object], *, color: bool) -> None:
        self._write = write
        self._color = color
        self._game: GameView | None = None
        self._results: deque[str] = deque(maxlen=RESULTS)

    def __call__(self, updates: Iterable[Update]) -> None:
        shown = self._game
        for _, game in updates:
            followed = self._game
            # The game that is drawn stays until it ends: else two that run would take turns on the screen.
            if followed is None or followed.game_id == game.game_id or followed.over is not None:
                self._game = game
            if game.over is not None:
                self._results.append(result_line(game))
        if self._game is not None and self._game is not shown and self._game.state:  # STATE follows GAME
            self._draw(self._game)

    def _draw(self, game: GameView) -> None:
        from arena_cli.render import draw

        self._write("\n".join([HOME + draw(frame(game), color=self._color), *self._results]))


class Wall:
    """A `Show` that draws several games at once; while there is only one, it draws it as `Screen` does.

    Each game has a place; a new one takes the first free place, else that of the game that ended
    first. Games beyond the size of the terminal, `size()` in columns and lines, wait for a place.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        *,
        color: bool,
        size: Callable[[], tuple[int, int]] = shutil.get_terminal_size,
    ) -> None:
        self._write = write
        self._color = color
        self._size = size
        self._games: dict[str, GameView] = {}
        self._places: list[str] = []
        self._ended: list[str] = []
        self._results: deque[str] = deque(maxlen=RESULTS)

    def __call__(self, updates: Iterable[Update]) -> None:
        changed = False
        for _, game in updates:
            changed = True
            if game.over is not None and game.game_id not in self._ended:
                self._ended.append(game.game_id)
                self._results.append(result_line(game))
            self._games[game.game_id] = game
        shown = {name: game for name, game in self._games.items() if game.state}  # STATE follows GAME
        if changed and shown:
            self._draw(shown)

    def _draw(self, games: dict[str, GameView]) -> None:
        from arena_cli.render import compact, draw, side_by_side

        running = [game for game in games.values() if game.over is None]
        # Once there were several it stays a wall: else the picture would change at each end of a game.
        if not self._places and len(running) <= 1:
            game = running[0] if running else list(games.values())[-1]
            self._write("\n".join([HOME + draw(frame(game), color=self._color), *self._results]))
            return
        pictures = {name: compact(frame(game), color=self._color) for name, game in games.items()}
        columns, rows = self._capacity(pictures.values())
        waiting = self._give_places(games, columns * rows)
        lines = side_by_side([pictures[name] for name in self._places], columns)
        count = f"{len(running)} {'game is' if len(running) == 1 else 'games are'} running"
        more = f", {len(waiting)} of them not shown" if waiting else ""
        self._write("\n".join([f"{HOME}{count}{more}", "", *lines, *self._results]))
        self._forget()

    def _capacity(self, pictures: Iterable[list[str]]) -> tuple[int, int]:
        """Return how many columns and rows of the largest picture fit the terminal; at least one."""
        from arena_cli.render import GAP, printed_width

        wide, high = self._size()
        width = max(printed_width(line) for lines in pictures for line in lines) + len(GAP)
        height = max(map(len, pictures)) + 1
        return max(1, (wide + len(GAP)) // width), max(1, (high - EDGE) // height)

    def _give_places(self, games: dict[str, GameView], most: int) -> list[str]:
        """Give each game a place as far as there are any; returns running games without one."""
        del self._places[most:]
        running = [name for name, game in games.items() if game.over is None and name not in self._places]
        while running and len(self._places) < most:
            self._places.append(running.pop(0))
        # One that waits takes the place of one that has ended; all others keep theirs, so nothing moves.
        for name in [each for each in self._ended if each in self._places]:
            if not running:
                break
            self._places[self._places.index(name)] = running.pop(0)
        return running

    def _forget(self) -> None:
        """Drop games that have ended and are not shown any more."""
        for name in [each for each in self._ended if each not in self._places]:
            self._ended.remove(name)
            del self._games[name]
