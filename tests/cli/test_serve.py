"""`arena serve` as a process: from `listening` to its end, and what it refuses before."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing, suppress
from hashlib import sha256
from pathlib import Path

import pytest
from tests.forked import Arena
from tests.server.peers import Peer
from tests.server.programs import PATIENCE_S, Players, Server, contest, inside

from arena_cli.options import DIGESTS_VARIABLE
from arena_server.core import config as config_module
from arena_server.store.reader import Results

pytestmark = pytest.mark.real


class Raw:
    """A client of blocking lines; use it in a `with` statement."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._lines = self.sock.makefile("rb")

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self.sock.close()

    def say(self, line: str) -> None:
        self.sock.sendall(line.encode() + b"\n")

    def until(self, verb: str) -> str:
        """Read up to the next line of this verb; an error at the end of the stream."""
        for line in self._lines:
            if line.startswith(verb.encode()):
                return line.decode().rstrip()
        raise EOFError(verb)

    def first(self) -> bytes:
        """The first line; empty if the server closed without one."""
        try:
            return self._lines.readline()
        except ConnectionResetError:
            return b""

    def until_closed(self) -> bytes:
        """The last line, other than ARENA; empty if the server closed without one."""
        last = b""
        with suppress(ConnectionResetError):
            for line in self._lines:
                last = b"" if line.startswith(b"ARENA ") else line
        return last

    def play(self) -> None:
        """The three moves of a game of six plies."""
        self.say("READY " + self.until("GAME").split()[1])
        for _ in range(3):
            self.until("TURN")
            self.say("MOVE 6")

    def play_to_the_end(self) -> str:
        """A game to its OVER."""
        self.play()
        return self.until("OVER")


def seat_of(game: str) -> int:
    """The seat that a GAME line gives."""
    return int(game.partition(" seat=")[2].split()[0])


def status(server: Server) -> str:
    with Results(server.database) as results:
        return results.contest().status


class TestLife:
    @pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
    def test_a_server_may_be_stopped_as_soon_as_it_listens(self, tmp_path: Path, how: int) -> None:
        with Server(contest("a", "b"), tmp_path) as server:
            assert server.end(how).code == 0

    def test_a_contest_is_played_and_the_server_stays(self, tmp_path: Path) -> None:
        with Server(contest("a", "b", "c", contest="probation = 0"), tmp_path) as server:
            players = Players(server.port, [("a", "first-legal"), ("b", "fixed:move=6"), ("c", "zero-based")])
            assert players.join() == {"a": "finished", "b": "finished", "c": "finished"}
            with Raw(server.port) as late:
                assert late.until("ARENA") == "ARENA 1 insertion-arena/0.1"
            outcome = server.end(signal.SIGTERM)
            assert (outcome.code, outcome.out) == (0, "")
            assert " info stopping why=SIGTERM" in outcome.err
            assert "programs-not-started" not in outcome.err
            with Results(server.database) as results:
                chosen = results.contest()
                assert (chosen.status, results.games_played(chosen), chosen.games) == ("finished", 6, 6)
                faults = {row.name: dict(row.faults) for row in results.standings(chosen)}
                assert faults == {"a": {}, "b": {}, "c": {"illegal": 4}}
            verified = inside("verify", "--database", f"sqlite:///{server.database}")
            assert (verified.code, verified.out) == (0, "verified: 6 games\n")

    def test_until_finished_it_exits_with_the_standings(self, tmp_path: Path) -> None:
        text = contest(bots='[[bot]]\nname = "a"\nengine = "dummy"\n[[bot]]\nname = "b"\n')
        with Server(text, tmp_path, "--until-finished") as server:
            players = Players(server.port, [("a", "first-legal"), ("b", "fixed:move=6")])
            outcome = server.end()
            assert players.join() == {"a": "finished", "b": "finished"}
            assert outcome.code == 0
            # The program of a bot in the file is started by others.
            assert " info programs-not-started bots=a text=" in outcome.err
            assert outcome.out.startswith("trial: insertion, 2 of 2 games, scored by points, finished")
            assert [line.split()[1] for line in outcome.out.splitlines()[4:6]] != []

    def test_until_finished_a_contest_without_all_its_games_is_status_1(self, tmp_path: Path) -> None:
        text = contest("a", "b", "c", contest='absent = "4s"')
        with Server(text, tmp_path, "--until-finished", "--log-level", "error") as server:
            Players(server.port, [("a", "first-legal"), ("b", "first-legal")]).join()
            outcome = server.end()
        assert outcome.code == 1
        assert "2 of 6 games, scored by points, incomplete" in outcome.out
        assert outcome.line == (
            "arena: the contest is incomplete: 4 of 6 games have no result (4 absent: c); missing bots: c"
        )
        assert status(server) == "incomplete"

    @pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
    def test_stopped_in_the_middle_results_are_kept_and_the_running_game_is_void(
        self, tmp_path: Path, how: int
    ) -> None:
        with Server(contest("a", "b", contest="games_per_pair = 4"), tmp_path) as server:
            helper = Players(server.port, [("b", "first-legal")])
            with Raw(server.port) as raw:
                raw.say("HELLO 1 a")
                raw.play()
                assert " end=complete " in raw.until("OVER")
                raw.say("READY " + raw.until("GAME").split()[1])
                raw.until("TURN")
                server.process.send_signal(how)
                assert " end=void" in raw.until("OVER")
                assert raw.until("BYE") == "BYE reason=stopped"
            assert helper.join() == {"b": "stopped"}
            assert server.end().code == 0
            with Results(server.database) as results:
                chosen = results.contest()
                assert chosen.status == "stopped"
                assert results.games_played(chosen) == 1
                assert [row["end"] for row in results.rows(chosen)] == ["complete", "void"]

    def test_tokens_are_required_if_the_environment_has_their_digests(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(DIGESTS_VARIABLE, json.dumps({"a": sha256(b"s3cret").hexdigest()}))
        with Server(contest("a", "b"), tmp_path) as server:
            for token, verb in (("wrong", "ERROR token"), ("s3cret", "WELCOME a")):
                with Raw(server.port) as raw:
                    raw.say(f"HELLO 1 a token={token}")
                    raw.until(verb)

    def test_a_supervised_server_ends_with_its_supervisor(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b"))
        server = Arena(
            ["serve", "c.toml", "--port", "0", "--no-web", "--supervised"],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert server.stdout is not None
        assert server.stdin is not None
        with server.stdout:
            assert server.stdout.readline().startswith("listening on ")
            first = json.loads(server.stdout.readline())
            assert (first["done"], first["total"], first["ended"]) == (0, 2, None)
            server.stdin.write(
                '{"crashed": "a", "slot": 1}\n{"abandoned": "a", "slot": 1, "game": "g1", "exceeded": ""}\n'
            )
            server.stdin.flush()
            assert json.loads(server.stdout.readline()) == {"crashed": "a", "slot": 1, "game": None}
            assert json.loads(server.stdout.readline()) == {"over": "a", "slot": 1}
            server.stdin.close()
            last = json.loads(server.stdout.readlines()[-1])
            assert last["ended"] == "stopped"
        assert server.wait(PATIENCE_S) == 0


class TestRefusals:
    """Nothing is started; the error is one line."""

    def test_a_wrong_configuration(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b", contest="probatoin = 1"))
        outcome = inside("serve", "c.toml", cwd=tmp_path)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.line == "arena: c.toml: contest.probatoin: unknown key; did you mean 'probation'?"
        assert not (tmp_path / "arena.db").exists()

    def test_fewer_connections_than_places_that_are_kept(self, tmp_path: Path) -> None:
        text = contest("a", "b", server="max_connections = 17")
        (tmp_path / "c.toml").write_text(text)
        outcome = inside("serve", "c.toml", cwd=tmp_path)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.line == (
            "arena: c.toml: server.max_connections: expected at least 18, one for each of 2 slots of bots "
            "and 16 for clients that log in or watch, got 17"
        )
        assert not (tmp_path / "arena.db").exists()

    def test_a_format_whose_library_is_not_installed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(config_module, "find_spec", lambda _: None)
        (tmp_path / "c.toml").write_text(contest("a", "b", contest='format = "swiss"'))
        outcome = inside("serve", "c.toml", "--port", "0", cwd=tmp_path)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.line.startswith('arena: contest.format = "swiss" needs the extra [swiss]: run ')
        assert not (tmp_path / "arena.db").exists()

    def test_a_port_in_use(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b"))
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            outcome = inside("serve", "c.toml", "--port", str(port), cwd=tmp_path)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.line == (
            f"arena: cannot listen on 127.0.0.1:{port}: the port is in use; "
            "choose another by --port (0 picks one)"
        )

    @pytest.mark.parametrize("host", ["203.0.113.7", "no.such.host.invalid"])
    def test_an_address_of_another_machine(self, tmp_path: Path, host: str) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b", seed=None))
        outcome = inside("serve", "c.toml", "--host", host, "--port", "0", cwd=tmp_path)
        assert outcome.code == 1
        assert outcome.line.startswith(f"arena: cannot listen on {host}:0: ")

    @pytest.mark.parametrize("options", [["--host", "0.0.0.0"], []])
    def test_a_seed_where_bots_come_from_elsewhere(self, tmp_path: Path, options: list[str]) -> None:
        guest = '[[bot]]\nname = "a"\n[[bot]]\nname = "guest"\n'
        if not options:
            guest += f'token_sha256 = "{"0" * 64}"\n'
        (tmp_path / "c.toml").write_text(contest(bots=guest))
        outcome = inside("serve", "c.toml", "--port", "0", *options, cwd=tmp_path)
        assert outcome.code == 2
        assert outcome.line.startswith(
            "arena: contest.seed: expected no seed where bots connect by themselves ("
        )

    def test_a_wrong_duration(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b"))
        outcome = inside("serve", "c.toml", "--absent", "soon", cwd=tmp_path)
        assert outcome.code == 2
        assert outcome.line == (
            "arena: --absent: expected a duration such as '500ms', '20s', '2m' or '1h', got 'soon'"
        )

    def test_a_database_that_is_no_database(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b"))
        (tmp_path / "arena.db").write_bytes(b"not a database, just text" * 100)
        outcome = inside("serve", "c.toml", "--port", "0", cwd=tmp_path)
        assert (outcome.code, outcome.out) == (1, "")
        assert "arena.db: the database is damaged (file is not a database); restore it" in outcome.line

    def test_a_database_locked_by_another_program(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b"))
        with closing(sqlite3.connect(tmp_path / "arena.db", isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            outcome = inside("serve", "c.toml", "--port", "0", cwd=tmp_path)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.line == (
            "arena: arena.db: the database is locked by another program; stop it or choose another --database"
        )

    def test_a_database_url_of_another_kind(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b"))
        outcome = inside("serve", "c.toml", "--database", "mysql://x", cwd=tmp_path)
        assert outcome.code == 2
        assert outcome.line == (
            "arena: --database: expected a URL such as sqlite:///arena.db or postgresql://host/name, "
            "got 'mysql://x'"
        )


class TestUnderStrain:
    def test_a_database_that_fails_later_ends_the_server_with_one_last_line(self, tmp_path: Path) -> None:
        with Server(contest("a", "b"), tmp_path) as server, Raw(server.port) as raw:
            raw.say("HELLO 1 a")
            raw.until("WELCOME")
            while not _entered(server.database):
                raw.say("PING x")
                raw.until("PONG x")
            with closing(sqlite3.connect(server.database, isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                helper = Players(server.port, [("b", "first-legal")])
                with pytest.raises(EOFError):
                    raw.play_to_the_end()  # OVER is sent only after the result is on disk
                outcome = server.end()
            assert outcome.code == 1
            assert outcome.err.splitlines()[-1].startswith("arena: ")
            assert "the database is locked by another program" in outcome.err.splitlines()[-1]
            assert helper.join()["b"] != "finished"

    def test_a_bug_ends_the_server_with_its_trace_in_the_log(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b"))
        program = (
            "import sys; from arena_server.core import contest\n"
            "def fault(*_): raise RuntimeError('a bug')\n"
            "contest.Handlers.received = fault\n"
            "sys.argv = ['arena', 'serve', 'c.toml', '--port', '0', '--no-web']\n"
            "from arena_cli import main; main()"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            assert server.stdout is not None
            with Raw(int(server.stdout.readline().rpartition(":")[2])) as raw:
                raw.say("HELLO 1 a")
                raw.say("PING 1")
                _, err = server.communicate(timeout=PATIENCE_S)
        assert server.returncode == 1
        *log, last = err.splitlines()
        assert last == "arena: contest trial was closed at a fault of the server's own; the log has it"
        assert any(" error crash trace='RuntimeError: a bug'" in line for line in log)

    def test_a_full_stderr_pipe_does_not_stop_the_games(self, tmp_path: Path) -> None:
        with Server(contest("a", "b"), tmp_path) as server:
            # Each connection logs two lines, which the test does not read: 64 KiB fill the pipe.
            for _ in range(700):
                with Raw(server.port) as raw:
                    raw.say("HELLO 1 unknown token=wrong")
                    raw.until("ERROR")
            players = Players(server.port, [("a", "first-legal"), ("b", "first-legal")])
            assert players.join() == {"a": "finished", "b": "finished"}

    def test_out_of_descriptors_it_refuses_and_connected_bots_play_on(self, tmp_path: Path) -> None:
        def few() -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))

        with Server(contest("a", "b"), tmp_path, before=few) as server, ExitStack() as visits:
            bots = {name: visits.enter_context(Raw(server.port)) for name in "ab"}
            for name, raw in bots.items():
                raw.say(f"HELLO 1 {name}")
                raw.until("WELCOME")
            crowd = [visits.enter_context(Raw(server.port)) for _ in range(200)]  # there are 54 places
            words = [raw.until_closed()[:11] for raw in crowd[:140]]
            # Those that give way so fast that the server has no descriptor for their last line get none.
            assert set(words) <= {b"ERROR full ", b""}
            assert words.count(b"ERROR full ") > 0
            games = [raw.until("GAME") for raw in bots.values()]
            order = [raw for _, raw in sorted(zip(map(seat_of, games), bots.values(), strict=True))]
            for raw in order:
                raw.say(f"READY {games[0].split()[1]}")
            for _ in range(3):
                for raw in order:
                    raw.until("TURN")
                    raw.say("MOVE 6")
            for raw in order:
                assert " end=complete " in raw.until("OVER")

    def test_a_thousand_bots(self, tmp_path: Path) -> None:
        names = [f"b{number}" for number in range(1000)]
        # They log in, are offered games and answer; they do not send READY, so all games stay offered.
        text = contest(*names, contest='login = "10m"')
        with Server(text, tmp_path, "--log-level", "error") as server:
            asyncio.run(_thousand(server, names))
            assert server.end().code == 0
            assert status(server) == "stopped"


def _entered(database: Path) -> bool:
    """Whether the contest's row is written: from then on the writer only needs a lock to commit."""
    try:
        with Results(database) as results:
            return bool(results.contests())
    except Exception:
        return False


async def _thousand(server: Server, names: list[str]) -> None:
    loop = asyncio.get_running_loop()

    async def join(name: str) -> Peer:
        sock = socket.socket()
        sock.setblocking(False)
        await loop.sock_connect(sock, ("127.0.0.1", server.port))
        peer = Peer(sock)
        assert (await peer.line()).startswith(b"ARENA 1 ")
        await peer.say(f"HELLO 1 {name}\n".encode())
        assert (await peer.line()).startswith(f"WELCOME {name} ".encode())
        return peer

    peers = await asyncio.gather(*map(join, names))
    try:
        await _talk_and_part(server, peers)
    finally:
        for peer in peers:
            peer.sock.close()


async def _talk_and_part(server: Server, peers: list[Peer]) -> None:

    async def hello_again(peer: Peer) -> None:
        await peer.say(b"PING here\n")
        while await peer.line() != b"PONG here":
            pass

    await asyncio.gather(*map(hello_again, peers))
    server.process.send_signal(signal.SIGTERM)
    for last in await asyncio.gather(*(peer.everything() for peer in peers)):
        assert last.endswith(b"BYE reason=stopped\n")


@pytest.mark.parametrize("heavy", ["numpy", "numba", "trio"])
def test_a_server_imports_no_heavy_library(heavy: str) -> None:
    program = f"import sys; import arena_cli.app, arena_cli.serve; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_little_is_loaded_before_the_port_is_open(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text(contest("a", "b"))
    program = (
        "import sys; from pathlib import Path; from arena_cli.app import app\n"
        "from arena_cli.prepare import ServeOptions, prepare\n"
        f"options = ServeOptions(port=0, database='sqlite:///{tmp_path}/arena.db')\n"
        f"prepare([Path({str(config)!r})], options).sock.close()\n"
        "late = {'asyncio', 'sqlalchemy', 'rich', 'msgpack', 'arena_server.core.contest'}\n"
        "print(*sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
