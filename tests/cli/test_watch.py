"""`arena watch`: updates as lines, as JSON and as a board; the command as a process."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.client.test_spectator import GAME_LINES
from tests.forked import Arena
from tests.ports import deaf_port
from tests.server.programs import PATIENCE_S, Gate, Players, Server, contest, inside

from arena_cli.watch import HOME, Screen, Wall, frame, json_line, line_printer, text_line, watch
from arena_client.errors import ClientError
from arena_client.spectator import Spectator
from arena_client.transport import TlsTransport
from arena_server.errors import ArenaError


def spectator(target: str = "g1") -> Spectator:
    return Spectator("spectator", None, target)


def test_a_game_becomes_a_line_per_event() -> None:
    lines = [text_line(update) for update in spectator().receive(GAME_LINES)]
    assert [line for line in lines if line is not None] == [
        "g1: ann - bob, insertion",
        'g1: ann sent an illegal move "0\\u00ff" at ply 1; the referee plays 6 for it until the game ends',
        "g1 1: ann plays 6, 0 points, 0 ms, 0 - 0",
        "g1 2: bob plays 6, 0 points, 4 ms, 0 - 0",
        "g1 3: ann plays 6, 30 points, 0 ms, 30 - 0",
        "g1: over, ann wins 30 : 0",
    ]


def test_a_note_of_a_bot_is_a_line() -> None:
    lines = GAME_LINES.replace(b"PLAYED 2", b"INFO game=g1 ply=2 seat=2 depth=9 eval=-30 text=hm\nPLAYED 2")
    assert "g1 2: note of bob: depth=9 eval=-30 text=hm" in map(text_line, spectator().receive(lines))
    seatless = lines.replace(b" seat=2 depth", b" depth")
    assert not any("note" in (text_line(update) or "") for update in spectator().receive(seatless))


def test_json_has_every_message() -> None:
    objects = [json.loads(json_line(update)) for update in spectator().receive(GAME_LINES)]
    verbs = [each["verb"] for each in objects]
    assert verbs == ["GAME", "STATE", "NEXT", "START", "ZOMBIE", "PLAYED", "PLAYED", "PLAYED", "OVER"]
    assert {each["id"] for each in objects} == {"g1"}
    assert objects[4]["line"] == "MOVE 0\xff"
    assert objects[-1]["total"] == [30, 0]


def test_the_frame_of_a_game() -> None:
    *_, (_, game) = spectator().receive(GAME_LINES)
    picture = frame(game)
    assert picture.title == "g1: ann - bob   ply 3 of 3"
    assert picture.caption == "ann plays 6: 30 points in 0 ms"
    assert picture.scene.describe() == "...../...../...../...../....."  # three fours in a column are gone
    assert picture.seats == [("ann", 30, 20000), ("bob", 0, 19996)]
    assert picture.result == "ann wins 30 : 0"


def test_the_screen_draws_once_per_call_and_follows_a_game_to_its_end() -> None:
    drawn: list[str] = []
    screen = Screen(drawn.append, color=False)
    watching = spectator("*")
    first, second = GAME_LINES.split(b"OVER")
    other = GAME_LINES[GAME_LINES.index(b"GAME") : GAME_LINES.index(b"ZOMBIE")].replace(b"g1", b"g2")
    screen(watching.receive(first + other))
    assert len(drawn) == 1
    assert drawn[0].startswith(f"{HOME}g1: ann - bob   ply 3 of 3\n")
    screen(watching.receive(b"OVER" + second))
    assert drawn[1].splitlines()[-1] == "g1: ann - bob   ann wins 30 : 0"
    assert "The game is over: ann wins 30 : 0." in drawn[1]
    screen(watching.receive(b"PING x\n"))
    assert len(drawn) == 2
    screen(watching.receive(b"PLAYED 1 seat=1 move=6 time=0 clock=1,1 points=0 total=0,0 game=g2\n"))
    assert drawn[2].startswith(f"{HOME}g2: ann - bob   ply 1 of 3\n")
    assert drawn[2].splitlines()[-1] == "g1: ann - bob   ann wins 30 : 0"


def lines_of(name: bytes, until: bytes = b"ZOMBIE") -> bytes:
    """GAME to START of one more game."""
    text = GAME_LINES[GAME_LINES.index(b"GAME") : GAME_LINES.index(until)]
    return text.replace(b"g1", name)


def over(name: bytes) -> bytes:
    return b"OVER" + GAME_LINES.split(b"OVER")[1].split(b"\n")[0].replace(b"g1", name) + b"\n"


class TestWall:
    def wall(self, columns: int, lines: int) -> tuple[Wall, list[str], Spectator]:
        drawn: list[str] = []
        watching = spectator("*")
        assert list(watching.receive(GAME_LINES[: GAME_LINES.index(b"GAME")])) == []
        return Wall(drawn.append, color=False, size=lambda: (columns, lines)), drawn, watching

    def shown(self, picture: str) -> list[str]:
        """The ids of the games on a wall, from the left, row by row."""
        assert picture.startswith(HOME)
        return re.findall(r"\b(g\d+)  ply", picture)

    def test_one_game_is_drawn_large(self) -> None:
        wall, drawn, watching = self.wall(80, 24)
        wall(watching.receive(lines_of(b"g1")))
        assert drawn[0].startswith(f"{HOME}g1: ann - bob   ply 0 of 3\n")
        assert "next" in drawn[0]

    def test_games_stand_side_by_side_and_no_line_is_too_long(self) -> None:
        wall, drawn, watching = self.wall(80, 40)
        wall(watching.receive(b"".join(lines_of(b"g%d" % number) for number in range(1, 6))))
        assert len(drawn) == 1
        assert self.shown(drawn[0]) == ["g1", "g2", "g3", "g4", "g5"]
        assert all(len(line) <= 80 for line in drawn[0].removeprefix(HOME).splitlines())
        assert len(drawn[0].splitlines()) <= 40
        assert drawn[0].count("ann ") >= 5
        wall(watching.receive(b"PING x\n"))
        assert len(drawn) == 1

    def test_a_game_keeps_its_place_and_gives_it_up_when_another_waits(self) -> None:
        wall, drawn, watching = self.wall(70, 22)
        wall(watching.receive(lines_of(b"g1") + lines_of(b"g2") + lines_of(b"g3")))
        places = self.shown(drawn[-1])
        assert places == ["g1", "g2"]
        assert drawn[-1].startswith(f"{HOME}3 games are running, 1 of them not shown\n")
        played = GAME_LINES[GAME_LINES.index(b"PLAYED 1") : GAME_LINES.index(b"OVER")].splitlines(True)
        for line in played:
            wall(watching.receive(line))
        wall(watching.receive(over(b"g1")))
        assert self.shown(drawn[-1]) == ["g3", "g2"]
        assert drawn[-1].startswith(f"{HOME}2 games are running\n")
        assert drawn[-1].endswith("\ng1: ann - bob   ann wins 30 : 0")

    def test_a_terminal_of_one_column_shows_one_game(self) -> None:
        wall, drawn, watching = self.wall(1, 1)
        wall(watching.receive(lines_of(b"g1") + lines_of(b"g2")))
        assert self.shown(drawn[0]) == ["g1"]


def test_the_screen_waits_for_the_position() -> None:
    drawn: list[str] = []
    Screen(drawn.append, color=False)(spectator("*").receive(GAME_LINES[: GAME_LINES.index(b"STATE")]))
    assert drawn == []


def test_a_move_against_the_rules_is_an_error() -> None:
    screen = Screen(lambda _: None, color=False)
    with pytest.raises(ClientError, match=r"^g1 ply 1: the server's PLAYED breaks the rules known here"):
        screen(spectator().receive(GAME_LINES.replace(b"move=6", b"move=16")))


@given(st.lists(st.binary() | st.sampled_from(GAME_LINES.splitlines(keepends=True)), max_size=20))
@settings(max_examples=200, deadline=None)
def test_any_bytes_lead_to_lines_or_one_error(chunks: list[bytes]) -> None:
    show = line_printer(lambda update: text_line(update) and None)
    watching = spectator("*")
    with suppress(ClientError):
        for chunk in chunks:
            show(watching.receive(chunk))


def test_a_connection_that_breaks() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(GAME_LINES[: GAME_LINES.index(b"ZOMBIE")])
        theirs.close()  # with our HELLO unread: a reset
        with pytest.raises(
            (ArenaError, ClientError), match=r"the connection was lost: |the server closed the conn"
        ):
            watch(ours, spectator(), line_printer(lambda _: None), TlsTransport(None, "here"))


def test_a_closed_output_is_not_an_error_of_the_connection() -> None:
    """As of `arena watch | head -3`: the program ends without a message."""

    def closed(_: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(GAME_LINES)
        with pytest.raises(BrokenPipeError):
            watch(ours, spectator(), closed, TlsTransport(None, "here"))


def test_no_server() -> None:
    with deaf_port() as port:
        outcome = inside("watch", "--connect", f"127.0.0.1:{port}")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.line == (
        f"arena: no server at 127.0.0.1:{port}: Connection refused; is it running, and is the address right?"
    )


@pytest.mark.parametrize("address", ["nowhere", "host:0", "host:70000", ":7"])
def test_a_wrong_address(address: str) -> None:
    outcome = inside("watch", "--connect", address)
    assert outcome.code == 2
    assert outcome.line == f"arena: --connect: expected HOST:PORT, got {address!r}"


@pytest.mark.real
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_contest_is_watched_to_its_end(tmp_path: Path, form: list[str]) -> None:
    with Server(contest("a", "b", contest='spectator_delay = "0s"'), tmp_path) as server:
        watching = Arena(
            ["watch", "--connect", f"127.0.0.1:{server.port}", *form],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        gate = Gate(0)
        bots = Players(server.port, [("a", gate), ("b", "fixed:move=6")])
        assert watching.stdout is not None
        lines = [watching.stdout.readline()]  # it watches, and no move has been played
        gate.open()
        bots.join()
        out, err = watching.communicate(timeout=PATIENCE_S)
        assert (watching.returncode, err) == (0, "")
    lines += out.splitlines()
    if form:
        games = [json.loads(line) for line in lines]
        assert [each["verb"] for each in games].count("PLAYED") == 12
    else:
        assert "g1: over, " in out
        assert "g2: over, " in out
        assert sum(" plays " in line for line in lines) == 12


@pytest.mark.real
@pytest.mark.soak
def test_in_a_terminal_the_board_is_drawn(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    with Server(contest("a", "b", contest='spectator_delay = "0s"'), tmp_path) as server:
        watching = Arena(
            ["watch", "--connect", f"127.0.0.1:{server.port}"], stdout=theirs, stderr=subprocess.PIPE
        )
        os.close(theirs)
        gate = Gate(0)
        bots = Players(server.port, [("a", gate), ("b", "fixed:move=6")])
        seen = b""
        while b"a - b" not in seen:
            seen += os.read(ours, 65536)
        gate.open()
        with suppress(OSError):  # EIO: the other end of the terminal is closed
            while chunk := os.read(ours, 65536):
                seen += chunk
        os.close(ours)
        bots.join()
        assert (watching.communicate(timeout=PATIENCE_S)[1], watching.returncode) == ("", 0)
    last = seen.decode().split(HOME)[-1]
    assert "The game is over: " in last
    assert "\x1b[30;4" in seen.decode()  # painted pictures
    # Both results beneath the board.
    assert len(re.findall(r"^g\d: \w - \w   (?:\w wins \d+ : \d+|a draw, \d+ : \d+)\r$", last, re.M)) == 2


@pytest.mark.real
@pytest.mark.soak
def test_a_game_that_is_not_played(tmp_path: Path) -> None:
    with Server(contest("a", "b", contest='spectator_delay = "0s"'), tmp_path) as server:
        outcome = inside("watch", "g9", "--connect", f"127.0.0.1:{server.port}")
        assert outcome.code == 1
        assert outcome.line == (
            "arena: game g9 is not being played now; without a game id all games are shown"
        )
