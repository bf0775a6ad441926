"""`arena watch`: what a spectator's lines become, byte by byte, and the command as a process."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_cli.spectator import Spectator, line_of, plain, scene
from arena_cli.watch import HOME, Screen, _Lines, watch
from arena_client.transport import Veil
from arena_server.errors import ArenaError

from .programs import ARENA, Players, Server, arena, contest

VISIT = (
    dedent("""
        ARENA 1 insertion-arena/0.1
        WELCOME spectator session=7f resume=9c
        PING here
        GAME g1 insertion seat=0 seats=2 names=ann,bob clock=20000 increment=0 zombie=6 plies=3 \
        colours=6 lookahead=2 start=empty
        STATE ...../...../...../...../..... game=g1
        NEXT 44 game=g1
        START g1
        ZOMBIE ply=1 reason=illegal seat=1 line=4d4f56452030ff game=g1
        PLAYED 1 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 reveal=4 game=g1
        PLAYED 9 seat=1 move=6 time=0 clock=20000,20000 points=0 total=0,0 game=g77
        PLAYED 2 seat=2 move=6 time=4 clock=20000,19996 points=0 total=0,0 game=g1
        PLAYED 3 seat=1 move=6 time=0 clock=20000,19996 points=30 total=30,0 game=g1
        OVER g1 total=30,0 end=complete nonce=00 sequence=444
    """)
    .strip()
    .replace("        colours", "colours")
    .encode()
    + b"\n"
)
SAID = b"HELLO 1 spectator\nWATCH g1\nPONG here\n"


def visit(chunks: Iterable[bytes], target: str = "g1") -> tuple[list[str | None], bytes, Spectator]:
    """Feed a spectator; its lines for people, all that it said, and itself."""
    spectator = Spectator("spectator", None, target)
    lines: list[str | None] = []
    said = b""
    for chunk in chunks:
        lines += [line_of(*sight) for sight in spectator.receive(chunk)]
        said += spectator.to_send()
    return lines, said, spectator


def test_a_game_becomes_a_line_an_event() -> None:
    lines, said, spectator = visit([VISIT])
    assert [line for line in lines if line is not None] == [
        "g1: ann - bob, insertion",
        "g1 1: ann is a zombie: illegal",
        "g1 1: ann plays 6, 0 points, 0 ms, 0 - 0",
        "g1 2: bob plays 6, 0 points, 4 ms, 0 - 0",
        "g1 3: ann plays 6, 30 points, 0 ms, 30 - 0",
        "g1: over, complete, 30 - 0",
    ]
    assert said == SAID
    assert spectator.over


def test_byte_by_byte_it_is_the_same() -> None:
    chunks = [VISIT[index : index + 1] for index in range(len(VISIT))]
    assert visit(chunks)[:2] == visit([VISIT])[:2]


def test_who_watches_everything_stays_until_bye() -> None:
    _, said, spectator = visit([VISIT], "*")
    assert said == SAID.replace(b"g1", b"*")
    assert not spectator.over
    list(spectator.receive(b"BYE reason=finished\nGAME after the end\n"))
    assert spectator.over
    assert list(spectator.receive(b"")) == []


def test_a_program_gets_every_message() -> None:
    spectator = Spectator("spectator", None, "g1")
    objects = [json.loads(json.dumps(plain(*sight))) for sight in spectator.receive(VISIT)]
    verbs = [each["verb"] for each in objects]
    assert verbs == ["GAME", "STATE", "NEXT", "START", "ZOMBIE", "PLAYED", "PLAYED", "PLAYED", "OVER"]
    assert {each["id"] for each in objects} == {"g1"}
    assert objects[4]["line"] == "MOVE 0\xff"
    assert objects[-1]["total"] == [30, 0]


def test_the_picture_of_a_game() -> None:
    *_, (_, view) = Spectator("spectator", None, "g1").receive(VISIT)
    picture = scene(view)
    assert picture.title == "g1: ann - bob   ply 3 of 3"
    assert picture.deed == "ann plays 6: 30 points in 0 ms"
    assert picture.state == "...../...../...../...../....."  # three fours in a column are gone
    assert picture.sides == [("ann", 30, 20000), ("bob", 0, 19996)]
    assert picture.end == "complete"


def test_the_screen_draws_once_for_what_came_together_and_follows_a_game_to_its_end() -> None:
    drawn: list[str] = []
    screen = Screen(drawn.append, color=False)
    spectator = Spectator("spectator", None, "*")
    first, second = VISIT.split(b"OVER")
    other = VISIT[VISIT.index(b"GAME") : VISIT.index(b"ZOMBIE")].replace(b"g1", b"g2")
    screen(spectator.receive(first + other))
    assert len(drawn) == 1
    assert drawn[0].startswith(f"{HOME}g1: ann - bob   ply 3 of 3\n")
    screen(spectator.receive(b"OVER" + second))
    assert drawn[1].splitlines()[-1] == "g1: ann - bob   30 - 0, complete"
    assert "end: complete" in drawn[1]
    screen(spectator.receive(b"PING x\n"))
    assert len(drawn) == 2
    screen(spectator.receive(b"PLAYED 1 seat=1 move=6 time=0 clock=1,1 points=0 total=0,0 game=g2\n"))
    assert drawn[2].startswith(f"{HOME}g2: ann - bob   ply 1 of 3\n")
    assert drawn[2].splitlines()[-1] == "g1: ann - bob   30 - 0, complete"


def test_the_screen_waits_for_the_position() -> None:
    drawn: list[str] = []
    head = VISIT[: VISIT.index(b"STATE")]
    screen = Screen(drawn.append, color=False)
    screen(Spectator("spectator", None, "*").receive(head))
    assert drawn == []


WELCOME = VISIT[: VISIT.index(b"PING")]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            b"ERROR no-such-game no such game is being played\n",
            "no game g1 is being played now; without a game's id every game is shown",
        ),
        (
            b"ERROR flood too many lines\n",
            "the server refuses: too many lines (flood)",
        ),
        (
            b"WELCOME again session=1 resume=2\n",
            "the server does not keep to the protocol: unexpected: WELCOME has no meaning while watching",
        ),
        (
            VISIT[VISIT.index(b"GAME") : VISIT.index(b"STATE")].replace(b"seats=2", b"seats=3"),
            "the server does not keep to the protocol: "
            "g1: the server sent GAME with seats that do not add up",
        ),
        (
            VISIT[VISIT.index(b"GAME") : VISIT.index(b"STATE")].replace(b"seat=0", b"seat=1"),
            "spectator is offered a game; watch under a name that does not play",
        ),
        (b"", "the server closed the connection: it has ended, or we read too slowly; watch again"),
    ],
)
def test_why_it_cannot_go_on_is_one_line(lines: bytes, words: str) -> None:
    spectator = Spectator("spectator", None, "g1")
    list(spectator.receive(WELCOME))
    with pytest.raises(ArenaError) as caught:
        list(spectator.receive(lines))
    assert str(caught.value) == words


def test_a_refusal_before_anything_was_said() -> None:
    with pytest.raises(ArenaError, match=r"^the server refuses: full house \(full\)$"):
        list(Spectator("spectator", None, "*").receive(b"ERROR full full house\n"))


def test_a_target_that_has_no_form_on_the_wire() -> None:
    with pytest.raises(ArenaError, match=r"^this cannot be said to a server: "):
        list(Spectator("spectator", None, "two words").receive(WELCOME))


def test_moves_against_the_rules_are_told() -> None:
    screen = Screen(lambda _: None, color=False)
    with pytest.raises(ArenaError, match=r"^g1 ply 1: the server's PLAYED breaks the rules known here"):
        screen(Spectator("spectator", None, "g1").receive(VISIT.replace(b"move=6", b"move=16")))


@given(st.lists(st.binary() | st.sampled_from(VISIT.splitlines(keepends=True)), max_size=20))
@settings(max_examples=200, deadline=None)
def test_any_bytes_lead_to_sights_or_one_error(chunks: list[bytes]) -> None:
    spectator = Spectator("spectator", None, "*")
    show = _Lines(lambda sight: line_of(*sight) and None)
    with suppress(ArenaError):
        for chunk in chunks:
            show(spectator.receive(chunk))


def test_a_connection_that_breaks() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(VISIT[: VISIT.index(b"ZOMBIE")])
        theirs.close()  # with our HELLO unread: a reset
        with pytest.raises(ArenaError, match=r"the connection was lost: |the server closed the conn"):
            watch(ours, Spectator("spectator", None, "g1"), _Lines(lambda _: None), Veil(None, "here"))


def test_output_that_nobody_reads_is_not_the_connections_fault() -> None:
    """As of `arena watch | head -3`: the program ends then without a word."""

    def closed(_: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(VISIT)
        with pytest.raises(BrokenPipeError):
            watch(ours, Spectator("spectator", None, "g1"), closed, Veil(None, "here"))


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    outcome = arena("watch", "--connect", f"127.0.0.1:{port}")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.line == (
        f"arena: no server at 127.0.0.1:{port}: Connection refused; is it running, and is the address right?"
    )


@pytest.mark.parametrize("address", ["nowhere", "host:0", "host:70000", ":7"])
def test_no_address(address: str) -> None:
    outcome = arena("watch", "--connect", address)
    assert outcome.code == 2
    assert outcome.line == f"arena: --connect: expected HOST:PORT, got {address!r}"


@pytest.mark.slow
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_contest_is_watched_to_its_end(tmp_path: Path, form: list[str]) -> None:
    with Server(contest("a", "b"), tmp_path) as server:
        watching = subprocess.Popen(
            [*ARENA, "watch", "--connect", f"127.0.0.1:{server.port}", *form],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert server.process.stderr is not None
        for line in server.process.stderr:  # until the guest is in
            if " info login " in line:
                break
        Players(server.port, [("a", "first-legal"), ("b", "fixed:move=6")]).join()
        out, err = watching.communicate(timeout=60)
        assert (watching.returncode, err) == (0, "")
    lines = out.splitlines()
    if form:
        games = [json.loads(line) for line in lines]
        assert [each["verb"] for each in games].count("PLAYED") == 12
    else:
        assert "g1: over, complete" in out
        assert "g2: over, complete" in out
        assert sum(" plays " in line for line in lines) == 12


@pytest.mark.slow
def test_in_a_terminal_the_board_is_drawn(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    with Server(contest("a", "b"), tmp_path) as server:
        watching = subprocess.Popen(
            [*ARENA, "watch", "--connect", f"127.0.0.1:{server.port}"], stdout=theirs, stderr=subprocess.PIPE
        )
        os.close(theirs)
        assert server.process.stderr is not None
        for line in server.process.stderr:
            if " info login " in line:
                break
        bots = Players(server.port, [("a", "first-legal"), ("b", "fixed:move=6")])
        seen = b""
        with suppress(OSError):  # how a terminal says that nobody writes to it any more
            while chunk := os.read(ours, 65536):
                seen += chunk
        os.close(ours)
        bots.join()
        assert (watching.communicate(timeout=60)[1], watching.returncode) == (b"", 0)
    last = seen.decode().split(HOME)[-1]
    assert "end: complete" in last
    assert "\x1b[30;4" in seen.decode()  # painted pictures
    assert last.count(", complete\r\n") == 2  # both results beneath the board


@pytest.mark.slow
def test_a_game_that_is_not_played(tmp_path: Path) -> None:
    with Server(contest("a", "b"), tmp_path) as server:
        outcome = arena("watch", "g9", "--connect", f"127.0.0.1:{server.port}")
        assert outcome.code == 1
        assert outcome.line == (
            "arena: no game g9 is being played now; without a game's id every game is shown"
        )
