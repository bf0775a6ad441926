"""`arena log`: the bot's token opens its log, and nothing else does; with a real server."""

from __future__ import annotations

import json
import re
import signal
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from hashlib import sha256
from pathlib import Path

import pytest
from tests.server.programs import PATIENCE_S, Server, contest, inside

from arena_cli.log import fetch, line_json
from arena_client import scripted
from arena_client.errors import ClientError
from arena_client.transport import TlsTransport
from arena_server.errors import ArenaError

TOKENS = {"mine": "s3cret", "rival": "other"}
DENIED = "token: no such name, or a wrong token or resume key"


def bots(*without_token: str) -> str:
    tables = [
        f'[[bot]]\nname = "{name}"\ntoken_sha256 = "{sha256(token.encode()).hexdigest()}"\n'
        for name, token in TOKENS.items()
    ]
    return "".join([*tables, *(f'[[bot]]\nname = "{name}"\n' for name in without_token)])


class Client:
    """A bare socket that speaks the protocol by hand."""

    def __init__(self, port: int) -> None:
        self._sock = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._lines = self._sock.makefile("rb")
        self.line()

    def close(self) -> None:
        self._lines.close()
        self._sock.close()

    def say(self, text: str) -> None:
        self._sock.sendall(text.encode() + b"\n")

    def line(self) -> str:
        return self._lines.readline().decode().rstrip("\n")

    def until(self, last: str) -> list[str]:
        """The lines up to `last`."""
        lines = [self.line()]
        while lines[-1] != last:
            assert lines[-1], "the connection has ended"
            lines.append(self.line())
        return lines

    def rest(self) -> list[str]:
        """Everything up to the end of the connection."""
        return self._lines.read().decode().splitlines()


Connect = Callable[[Server], Client]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Makes clients of a server, which are closed at the end."""
    with ExitStack() as stack:
        yield lambda server: stack.enter_context(closing(Client(server.port)))


@pytest.mark.slow
class TestServer:
    @pytest.fixture
    def server(self, tmp_path: Path) -> Iterator[Server]:
        """Two bots with tokens and one without."""
        text = contest(bots=bots("free"), seed=None)
        with Server(text, tmp_path, "--bot-logs", str(tmp_path / "logs")) as server:
            yield server

    def log(self, server: Server, *arguments: str) -> tuple[int, str, str]:
        outcome = inside("log", "--connect", f"127.0.0.1:{server.port}", *arguments)
        return outcome.code, outcome.out, outcome.err

    @pytest.mark.real
    def test_only_its_token_opens_the_log_of_a_bot(self, server: Server, connect: Connect) -> None:
        bot = connect(server)
        bot.say("HELLO 1 mine token=s3cret agent=test/1")
        key = bot.line().rpartition("resume=")[2]
        bot.say("PING 1")
        assert bot.line() == "PONG 1"
        # Every other client, and every other way to log in under this name.
        for hello in (
            "mine role=log",
            "mine token=other role=log",
            "rival token=s3cret role=log",
            f"mine resume={key} role=log",
            f"mine token=s3cret resume={key} role=log",
            f"free resume={key} role=log",
            "free role=log",
            "free token=s3cret role=log",
            "stranger token=s3cret role=log",
        ):
            client = connect(server)
            client.say(f"HELLO 1 {hello}")
            assert client.rest() == [f"ERROR {DENIED.replace(':', '', 1)}"], hello
        # Players and spectators are never sent a line of it.
        others = {"rival token=other": connect(server), "eye role=spectator": connect(server)}
        for hello, client in others.items():
            client.say(f"HELLO 1 {hello}")
            client.say("PING 2")
            assert not [line for line in client.until("PONG 2") if line.startswith("LOG")]
        rival = connect(server)
        rival.say("HELLO 1 rival token=other role=log")
        rivals = rival.rest()
        assert any(line.endswith(" C PING 2") for line in rivals)
        assert not any("PING 1" in line or "test/1" in line for line in rivals)
        # The bot itself: while it plays, and without its secrets.
        code, out, err = self.log(server, "--name", "mine", "--token", "s3cret")
        assert (code, err) == (0, "")
        assert [line.partition(" ")[2] for line in out.splitlines()][1:3] == ["C PING 1", "S PONG 1"]
        assert not any("PING 2" in line for line in out.splitlines())
        assert re.match(
            r"\S+Z \* login peer=127\.0\.0\.1:\d+ agent=test/1 resumed=False slot=1$", out.splitlines()[0]
        )
        assert key not in out
        assert "s3cret" not in out
        bot.say("PING 3")
        bot.until("PONG 3")

    @pytest.mark.real
    @pytest.mark.soak
    def test_files_and_denials(self, server: Server, connect: Connect, tmp_path: Path) -> None:
        bot = connect(server)
        bot.say("HELLO 1 mine token=s3cret")
        bot.line()
        denied = (1, "", f"arena: the server refuses mine: {DENIED}\n")
        assert self.log(server, "--name", "mine") == denied
        assert self.log(server, "--name", "mine", "--token", "guess") == denied
        code, out, _ = self.log(server, "--name", "mine", "--token", "s3cret", "--json")
        assert code == 0
        assert json.loads(out.splitlines()[0])["from"] == "event"
        _, out, _ = self.log(server, "--name", "rival", "--token", "other")
        assert re.fullmatch(r"\S+Z \* log-read peer=127\.0\.0\.1:\d+\n", out)
        server.end(signal.SIGTERM)
        file, other = sorted((tmp_path / "logs" / "trial").iterdir())
        assert (file.name, other.name) == ("mine.log", "rival.log")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        # The next server goes on with all that is connected.
        assert " BYE " not in file.read_text()

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_finished_contest_and_the_clocks_in_the_log(self, connect: Connect, tmp_path: Path) -> None:
        text = contest(bots=bots(), seed=None, game='plies = 4\nlag_quota = "1s"')
        with Server(text, tmp_path, "--bot-logs", str(tmp_path / "logs")) as server:
            players = [
                threading.Thread(
                    target=scripted.run,
                    args=(spec, "127.0.0.1", server.port),
                    kwargs={"name": name, "token": TOKENS[name]},
                    daemon=True,
                )
                for name, spec in (("mine", "zero-based"), ("rival", "first-legal"))
            ]
            for player in players:
                player.start()
            for player in players:
                player.join(PATIENCE_S)
            code, out, _ = self.log(server, "--name", "mine", "--token", "s3cret")
            late = connect(server)
            late.say("HELLO 1 mine token=s3cret")
            assert late.rest()[-1] == "BYE reason=finished"
        assert code == 0
        lines = [line.partition(" ")[2] for line in out.splitlines()]
        assert any(re.fullmatch(r"S TURN 1 clock=20000,20000 lag=\d+ credit=\d+", line) for line in lines)
        assert lines.index("C MOVE 0") < lines.index("S ZOMBIE ply=1 reason=illegal")
        assert lines[-2] == "S BYE reason=finished"
        assert lines[-1].startswith("* log-read peer=")

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_server_without_logs(self, connect: Connect, tmp_path: Path) -> None:
        with Server(contest(bots=bots(), seed=None), tmp_path) as server:
            code, out, err = self.log(server, "--name", "mine", "--token", "s3cret")
            assert (code, out) == (1, "")
            assert err == "arena: the server keeps no log of mine; the organiser can set server.bot_logs\n"
            # A log fetched does not log the bot in.
            bot = connect(server)
            bot.say("HELLO 1 mine token=s3cret")
            assert bot.line().startswith("WELCOME mine ")


class TestFetch:
    """The server is the other end of a pair of sockets, with a script."""

    def lines(self, *script: bytes) -> list[str]:
        mine, server = socket.socketpair()
        with mine, server:
            server.sendall(b"".join(script))
            server.shutdown(socket.SHUT_WR)
            return list(fetch(mine, TlsTransport(None, ""), "mine", "t"))

    HEAD = b"ARENA 1 x\nWELCOME mine session=1 resume=2\n"

    def test_the_lines_up_to_bye(self) -> None:
        assert self.lines(self.HEAD, b"PING 1\nLOG t C MOVE 4\nNEWS x\nLOG t S\nBYE reason=log\n") == [
            "t C MOVE 4",
            "t S",
        ]

    @pytest.mark.parametrize(
        ("script", "line"),
        [
            (b"", "the server closed the connection before the end of the log; try again"),
            (HEAD, "the server closed the connection before the end of the log; try again"),
            (b"SSH-2.0\n", "the server broke the protocol: the first line of a server is ARENA: 'SSH-2.0'"),
            (b"ARENA 1 x\nERROR full no\n", "the server refuses mine: full: no"),
        ],
    )
    def test_errors_are_one_line(self, script: bytes, line: str) -> None:
        with pytest.raises((ArenaError, ClientError)) as caught:
            self.lines(script)
        assert str(caught.value).startswith(line)


def test_a_line_as_json() -> None:
    assert line_json("t C MOVE 4") == {"time": "t", "from": "client", "line": "MOVE 4"}
    assert line_json("t S") == {"time": "t", "from": "server", "line": ""}


def test_a_name_is_needed() -> None:
    outcome = inside("log", "--connect", "127.0.0.1:1", env={"ARENA_NAME": ""})
    assert (outcome.code, outcome.line) == (2, "arena: say which bot: --name, or ARENA_NAME set")
