"""PROTOCOL.md and the code agree in both directions."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.slices import all_of

from arena_protocol.codec import REQUIRED, Direction, Schema
from arena_protocol.errors import ByeReason, ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal
from arena_protocol.kinds import KINDS
from arena_protocol.messages import (
    TABLE,
    VERSION,
    Error,
    Game,
    Next,
    Over,
    Played,
    State,
    encode,
    parse_client,
    parse_server,
)
from arena_protocol.record import FaultKind
from arena_protocol.session import CLIENT_TRANSITIONS, SERVER_TRANSITIONS, ClientSession, ServerSession
from arena_protocol.session import State as At
from arena_server.places.base import LocalBot
from arena_server.terms.config import ContestConfig

from .test_tls import make_pair

TEXT = (Path(__file__).resolve().parents[2] / "protocol" / "PROTOCOL.md").read_text(encoding="utf-8")
DIRECTIONS = {
    "client": Direction.CLIENT,
    "server": Direction.SERVER,
    "client and server": Direction.BOTH,
}


def blocks(kind: str, text: str = TEXT) -> list[list[str]]:
    """The fenced blocks of one kind, as lists of lines."""
    return [body.splitlines() for body in re.findall(rf"^```{kind}\n(.*?)^```$", text, re.M | re.S)]


def rows(header: str, text: str = TEXT) -> list[list[str]]:
    """The rows of the one table whose header begins so, as lists of cells."""
    (table,) = re.findall(rf"^\| {re.escape(header)}.*\n\| ---.*\n((?:\|.*\n)*)", text, re.M)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]


@dataclass(frozen=True)
class Section:
    verb: str
    direction: Direction
    text: str

    def parts(self) -> list[list[str]]:
        return rows("part", self.text) if "| part |" in self.text else []


SECTIONS = [
    Section(verb, DIRECTIONS[direction], text)
    for verb, direction, text in re.findall(
        r"^### `([A-Z]+)` · ([a-z ]+)\n(.*?)(?=^##)", TEXT + "\n##", re.M | re.S
    )
]


def parts_of(schema: Schema) -> list[list[str]]:
    positionals = [[f"`{name}`", kind.name, "positional"] for name, kind in schema.positionals.items()]
    options = [
        [f"`{key}=`", kind.name, "required" if schema.defaults[key] is REQUIRED else "optional"]
        for key, kind in schema.options.items()
    ]
    return positionals + options


def test_the_verbs_are_those_of_the_table() -> None:
    assert [(s.verb, s.direction) for s in SECTIONS] == [(s.verb, s.direction) for s in TABLE]


@all_of("section", SECTIONS)
def test_the_parts_of_a_verb_are_those_of_the_table_in_its_order(section: Section) -> None:
    (schema,) = [schema for schema in TABLE if schema.verb == section.verb]
    assert [row[:3] for row in section.parts()] == parts_of(schema)
    assert all(meaning for *_, meaning in section.parts())


@all_of("section", SECTIONS)
def test_the_examples_of_a_verb_read_and_print_back(section: Section) -> None:
    (examples,) = blocks("lines", section.text)
    parse = parse_server if section.direction is Direction.SERVER else parse_client
    for line in examples:
        assert line.split(" ")[0] == section.verb
        message = parse(line.encode())
        assert message is not None
        assert encode(message) == line.encode() + b"\n"


def test_the_kinds_are_those_of_the_code() -> None:
    (lines,) = blocks("kinds")
    documented = dict(re.split(r" +", line, maxsplit=1) for line in lines)
    assert documented == {kind.name: kind.pattern for kind in KINDS}


def test_the_kinds_of_every_table_are_explained() -> None:
    used = {kind for section in SECTIONS for _, kind, *_ in section.parts()}
    assert used == {kind.name for kind in KINDS}


def test_the_error_codes_are_those_of_the_code() -> None:
    assert rows("code") == [[f"`{code}`", code.meaning] for code in ErrorCode]


def test_the_reasons_of_bye_are_those_of_the_code() -> None:
    assert rows("reason") == [[f"`{reason}`", reason.meaning] for reason in ByeReason]


def test_the_faults_are_those_of_the_record() -> None:
    assert [name for name, _ in rows("fault")] == [f"`{fault}`" for fault in FaultKind]


def says(table: Any, state: At) -> str:
    """What one side may say in a state, as the page prints it."""
    said = [
        f"`{event}`" if moves[state] is state else f"`{event}` → {moves[state].name}"
        for event, moves in table.items()
        if state in moves
    ]
    return ", ".join(said) or "-"


def test_the_states_are_those_of_the_sessions() -> None:
    assert [[name, client, server] for name, _, client, server in rows("state")] == [
        [state.name, says(CLIENT_TRANSITIONS, state), says(SERVER_TRANSITIONS, state)] for state in At
    ]


def test_the_limits_and_the_version_are_those_of_the_code() -> None:
    prose = " ".join(TEXT.split())
    assert f"line of a client has at most {CLIENT_LINE_LIMIT} bytes" in prose
    assert f"line of a server at most {SERVER_LINE_LIMIT}, " in prose
    assert f"`PING` and `PONG` have at most {CLIENT_LINE_LIMIT} bytes" in prose
    assert TEXT.startswith(f"# The arena protocol, version {VERSION}\n")


def test_the_limits_of_a_contest_are_the_defaults_of_its_config() -> None:
    config = ContestConfig(name="a", seed=1)
    seconds = [config.login_ms, config.ready_ms, config.handover_ms]
    counts = [config.out_of_turn_limit, config.flood_limit, config.probation]
    assert [value for _, value in rows("limit")] == [
        *(f"{limit // 1000} s" for limit in seconds),
        *(str(limit) for limit in counts),
    ]


def test_every_link_leads_to_a_heading() -> None:
    headings = {
        re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", TEXT, re.M)
    }
    links = re.findall(r"\]\(#([^)]+)\)", TEXT)
    assert links
    assert set(links) <= headings


# -- TLS in a shell and in C ----------------------------------------------------------------


@pytest.fixture
def tls_server(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """A server for one connection: it sends ARENA, reads a line, sends it back and closes."""
    certificate, key = make_pair(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def serve() -> None:
        with suppress(OSError), context.wrap_socket(listener.accept()[0], server_side=True) as tls:
            lines = tls.makefile("rwb", buffering=0)
            lines.write(b"ARENA 1 test/1\n")
            lines.write(lines.readline())

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1], certificate
        thread.join(150)


ECHO = b"ARENA 1 test/1\nHELLO 1 me\n"


@pytest.mark.real
def test_the_shell_command_makes_a_connection(tls_server: tuple[int, str]) -> None:
    port, certificate = tls_server
    ((*command,),) = blocks("sh")
    environment = {"ARENA_HOST": "localhost", "ARENA_PORT": str(port), "ARENA_TLS": certificate}
    ended = subprocess.run(
        ["sh", "-c", "\n".join(command)],
        input=b"HELLO 1 me\n",
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=150,
        check=False,
    )
    assert ended.stdout == ECHO


MAIN = r"""
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1]))};
    int plain = socket(AF_INET, SOCK_STREAM, 0), size;
    char buffer[1024];
    SSL *tls;

    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    if (count != 4 || connect(plain, (struct sockaddr *)&address, sizeof address) != 0)
        return 2;
    tls = start_tls(plain, arguments[2], arguments[3]);
    if (tls == NULL)
        return 1;
    SSL_write(tls, "HELLO 1 me\n", 11);
    while ((size = SSL_read(tls, buffer, sizeof buffer)) > 0)
        fwrite(buffer, 1, size, stdout);
    return 0;
}
"""


@pytest.mark.real
@pytest.mark.skipif(
    shutil.which("cc") is None or not Path("/usr/include/openssl/ssl.h").exists(),
    reason="needs a C compiler and the headers of OpenSSL",
)
@pytest.mark.parametrize(("host", "status", "output"), [("localhost", 0, ECHO), ("elsewhere.test", 1, b"")])
def test_the_c_function_makes_a_connection(
    tls_server: tuple[int, str], tmp_path: Path, host: str, status: int, output: bytes
) -> None:
    port, certificate = tls_server
    (function,) = blocks("c")
    program, source = tmp_path / "client", tmp_path / "client.c"
    source.write_text("\n".join(function) + MAIN, encoding="utf-8")
    subprocess.run(
        ["cc", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program), "-lssl", "-lcrypto"],
        check=True,
    )
    ended = subprocess.run(
        [str(program), str(port), host, certificate], stdout=subprocess.PIPE, timeout=150, check=False
    )
    assert (ended.returncode, ended.stdout) == (status, output)


def test_the_variables_of_a_started_program_are_those_of_the_tournament() -> None:
    bot = LocalBot("mine", ("true",), "s3cret")
    given = bot.environment("127.0.0.1", 2006, {})
    assert [f"`{name}`" for name in given] == [name for name, _ in rows("variable")]


# -- transcripts --------------------------------------------------------------------------

#: Who says a line, and the line.
Transcript = list[list[str]]

TRANSCRIPTS: list[Transcript] = [
    [line.split(None, 1) for line in block if not line.startswith("#")] for block in blocks("transcript")
]


def walk(transcript: Transcript) -> tuple[ClientSession, ServerSession]:
    """Let both machines say and hear every line. `C!` is a line that the client may not say."""
    client, server = ClientSession(), ServerSession()
    refusal: ProtocolError | None = None
    for who, text in transcript:
        line = text.encode()
        if who == "S":
            message = parse_server(line)
            assert message is not None
            if refusal is not None:
                assert message == Error(refusal.code, refusal.text)
                refusal = None
            assert server.send(message) == line + b"\n"
            assert client.receive(line) == message
        elif who == "C":
            command = parse_client(line)
            assert command is not None
            assert client.send(command) == line + b"\n"
            assert server.receive(line) == command
        else:
            refusal = refused(client, server, line)
        assert client.state is server.state
    assert refusal is None
    return client, server


def refused(client: ClientSession, server: ServerSession, line: bytes) -> ProtocolError:
    """Both machines refuse what stands behind `C!`, and stay where they are."""
    with pytest.raises((LocalProtocolError, ProtocolError)):
        _said(client, line)
    with pytest.raises(ProtocolError) as caught:
        server.receive(line)
    return caught.value


def _said(client: ClientSession, line: bytes) -> None:
    message = parse_client(line)
    assert message is not None
    client.send(message)


@all_of("transcript", TRANSCRIPTS)
def test_a_transcript_walks_through_both_machines(transcript: Transcript) -> None:
    walk(transcript)


def test_the_transcripts_show_every_verb() -> None:
    assert {text.split()[0] for transcript in TRANSCRIPTS for _, text in transcript} == {
        schema.verb for schema in TABLE
    }


class Replay:
    """Plays a game from the lines that a client gets, and checks all that they say."""

    def __init__(self, offer: Game) -> None:
        self.offer = offer
        self.game = make_game(offer.game, {**offer.options, "seats": offer.seats})
        self.clocks = (offer.clock,) * offer.seats
        self.board = self.shown = ""
        self.position: Any = None
        self.plies = 0

    def played(self, line: Played) -> None:
        if self.position is None:
            self.position = self.game.start(Deal(self.board, self.shown))
        self.plies += 1
        assert (line.ply, line.seat) == (self.plies, self.game.to_move(self.position))
        step = self.game.play(self.position, line.move)
        total = self.game.totals(step.position)
        assert (line.points, line.total) == (step.points, total)
        self.position = self.game.extend(step.position, line.reveal) if line.reveal else step.position
        self.shown += line.reveal or ""
        spent = [before - line.time * (seat == line.seat) for seat, before in enumerate(self.clocks, start=1)]
        assert line.clock == tuple(spent)
        self.clocks = line.clock

    def over(self, line: Over) -> None:
        sequence = line.sequence or ""
        opened = sha256(f"{line.nonce}:{self.board}:{sequence}".encode()).hexdigest()
        assert opened == self.offer.commit
        assert sequence == self.shown
        if line.end == "forfeit":
            assert line.total == self.game.forfeit(self.position, self.offer.seat)
        else:
            assert (line.end, line.total) == (
                self.game.end(self.position),
                self.game.totals(self.position),
            )


GAMES = [transcript for transcript in TRANSCRIPTS if any(text.startswith("GAME ") for _, text in transcript)]


@all_of("transcript", GAMES)
def test_the_games_of_the_transcripts_are_true(transcript: Transcript) -> None:
    replay: Any = None
    for message in [parse_server(text.encode()) for who, text in transcript if who == "S"]:
        if isinstance(message, Game):
            replay = Replay(message)
        elif isinstance(message, State):
            replay.board = message.text
        elif isinstance(message, Next):
            replay.shown = message.text
        elif isinstance(message, Played):
            replay.played(message)
        elif isinstance(message, Over):
            replay.over(message)
    assert replay.plies > 0
