"""Hostile peers on real sockets against a real server: each harms itself at most.

Nothing here is timed: a test waits for what must happen, and honest bots must finish their
contest meanwhile. Deadlines of the protocol are shortened by configuration.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest
from tests.server.lines import LineClient
from tests.server.programs import PATIENCE_S, Players, Server, contest

from arena_client.retry import RetryPolicy
from arena_server.store.reader import Results

pytestmark = pytest.mark.real

HONEST = [("a", "first-legal"), ("b", "fixed:move=6")]
FINISHED = {"a": "finished", "b": "finished"}
#: Plies that make half a megabyte: many times what the server keeps for a slow reader.
LONG = 5_000


@pytest.fixture
def rude(tmp_path: Path) -> Iterator[Server]:
    """A server for a, b, and the odd guest."""
    text = contest("a", "b", "victim", contest="games_per_pair = 10")
    with Server(text, tmp_path, "--log-level", "info") as server:
        yield server


SPECTATOR = " role=spectator"


def hello(server: Server, name: str = "victim", role: str = "", **how: object) -> LineClient:
    client = LineClient(server.port, **how)  # type: ignore[arg-type]
    client.send(f"HELLO 1 {name}{role}\n".encode())
    client.until("WELCOME")
    return client


def honest_faults(server: Server) -> dict[str, int]:
    with Results(server.database) as results:
        rows = results.sums.standings(results.contest())
        return {kind: number for row in rows if row.name in "ab" for kind, number in dict(row.faults).items()}


def alone(tmp_path: Path, more: str = "") -> Server:
    """A server for a and b alone: their contest ends while others misbehave."""
    return Server(contest("a", "b", contest=f"games_per_pair = 20\n{more}"), tmp_path)


class TestBeforeLogIn:
    @pytest.mark.soak
    def test_slow_loris(self, tmp_path: Path) -> None:
        """A hundred that say HELLO one byte at a time are each cut off at the deadline, without a trace."""
        # Long enough for the honest on a busy machine.
        with alone(tmp_path, 'login = "2s"') as server:
            lorises = [LineClient(server.port) for _ in range(100)]
            for byte in b"HEL":
                for loris in lorises:
                    loris.send(bytes([byte]))
            # The honest come after: a contest that ended first would say BYE to the lorises too.
            for loris in lorises:
                lines = loris.rest()
                assert lines[-1] == "ERROR login the first line did not come within 2000 ms"
                loris.close()
            assert Players(server.port, HONEST).join() == FINISHED
            assert honest_faults(server) == {}

    @pytest.mark.parametrize(
        "line",
        [
            b"HELLO 1 " + name + b"\n"
            for name in (
                b"../../etc/passwd", b"a;DROP TABLE bots", b"\xd0\xb0\xd0\xb4\xd0\xb0", b"a\x00b", b"%s%n",
                b".", b"-x", b"x" * 33, b"<script>", b"a\x1b[2Jb", b"a=b", b"\xf0\x9f\x98\x80",
            )
        ],
        ids=repr,
    )  # fmt: skip
    @pytest.mark.soak
    def test_odd_names(self, rude: Server, line: bytes) -> None:
        client = LineClient(rude.port)
        client.send(line)
        assert client.line().startswith("ARENA 1 ")
        code, *rest = client.rest()
        assert code.split()[:2] in (["ERROR", "name"], ["ERROR", "syntax"])
        assert rest == []
        client.close()

    @pytest.mark.soak
    def test_a_giant_line(self, rude: Server) -> None:
        """Four megabytes without an end are refused after the first kilobyte, and never kept."""
        client = LineClient(rude.port)
        client.line()
        try:
            for _ in range(1024):
                client.send(b"x" * 4096)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert client.rest()[:1] in (["ERROR too-long a line may have 1024 bytes at most"], ["reset"])
        client.close()

    def test_guessing(self, tmp_path: Path) -> None:
        """Ten tries, then one has to wait; the owner comes in from elsewhere, and others from here."""
        digest = sha256(b"right").hexdigest()
        bots = f'[[bot]]\nname = "owner"\ntoken_sha256 = "{digest}"\n[[bot]]\nname = "other"\n'
        with Server(contest(bots=bots, seed=None), tmp_path) as server:
            answers = []
            for number in range(12):
                client = LineClient(server.port, source="127.0.0.2")
                client.send(f"HELLO 1 owner token=guess{number}\n".encode())
                answers.append(client.until("ERROR"))
                client.close()
            assert {answer.split()[1] for answer in answers[:10]} == {"token"}
            for answer in answers[10:]:
                assert answer.startswith(
                    "ERROR rate too many wrong log-ins; wait, then try again retry_after="
                )
                assert 0 < int(answer.rpartition("=")[2]) <= 6000
            for name, source in (("owner token=right", "127.0.0.1"), ("other", "127.0.0.2")):
                client = hello(server, name, source=source)
                client.close()


class TestLoggedIn:
    @pytest.mark.soak
    def test_a_reader_that_never_reads(self, tmp_path: Path) -> None:
        """Its answers pile up to the limit, or for 10 s, then it is dropped; the log says so."""
        with alone(tmp_path, "flood_limit = 1000000") as server:
            deaf = LineClient(server.port, window=4096)
            deaf.send(b"HELLO 1 guest role=spectator\nWATCH *\n")
            with pytest.raises((BrokenPipeError, ConnectionResetError)):
                _say_for_ever(deaf, b"WATCH g0123456789\n" * 1000)
            deaf.close()
            players = Players(server.port, HONEST)
            assert players.join() == FINISHED
            assert honest_faults(server) == {}
            log = server.end(signal.SIGTERM).err
            assert log.count("reason=backed-up") + log.count("reason=dead-link") == 1

    @pytest.mark.soak
    def test_a_spectator_that_reads_slowly_gets_a_long_game_whole(self, tmp_path: Path) -> None:
        """Two zombies play it to its end in a moment, and all of it is said at once."""
        config = contest("a", "b", contest="games_per_pair = 2", game=f"plies = {LONG}")
        with Server(config, tmp_path, "--log-level", "info") as server:
            # With segments as small as on a far network the server's system, too, takes little at once.
            eye = hello(server, "eye", SPECTATOR, window=4096, segment=536)
            eye.send(b"WATCH *\n")
            bots = [hello(server, name) for name in "ab"]
            for bot in bots:
                bot.send(b"READY g1\nwhat?\n")
            for bot in bots:
                assert " end=complete " in bot.until("OVER g1")
            seen = 0
            while (line := eye.line()) and not line.startswith("OVER g1"):
                seen += line.startswith("PLAYED")
            assert (seen, line.split()[:1]) == (LONG, ["OVER"])
            for client in (eye, *bots):
                client.close()
            assert "backed-up" not in server.end(signal.SIGTERM).err

    @pytest.mark.soak
    def test_a_giant_line_in_the_lobby_is_refused_and_costs_no_more(self, rude: Server) -> None:
        client = hello(rude)
        client.send(b"y" * 1_000_000 + b"\nPING still-here\n")
        assert client.line() == "ERROR too-long a line may have 1024 bytes at most"
        assert client.line() == "PONG still-here"
        client.close()

    def test_a_half_closed_socket_is_closed(self, rude: Server) -> None:
        """A client that half-closes is gone: the other half is closed as well."""
        client = hello(rude)
        client.sock.shutdown(socket.SHUT_WR)
        assert client.rest() == []
        client.close()
        again = hello(rude)  # the name is free at once
        again.close()

    def test_a_flood_in_a_game_makes_a_zombie_that_is_not_heard(self, rude: Server) -> None:
        """Only its own games suffer: the honest have no fault."""
        players = Players(rude.port, HONEST)
        client = hello(rude)
        client.send(b"READY " + client.until("GAME").split()[1].encode() + b"\n")
        client.until("TURN")
        client.send(b"READY g999\n" * 200)
        assert client.until("ZOMBIE").endswith("reason=flood")
        assert " end=complete " in client.until("OVER")
        client.send(b"QUIT\n")
        client.until("BYE")
        client.close()
        rude.process.send_signal(signal.SIGTERM)
        players.join()
        assert honest_faults(rude) == {}


#: Bots with tokens, which get one chance: `full` would end them.
ONCE = RetryPolicy(delays=lambda: iter(()))
KEYED = "".join(
    f'[[bot]]\nname = "{name}"\ntoken_sha256 = "{sha256(name.encode()).hexdigest()}"\n' for name in "ab"
)


def strangers(server: Server, number: int, say: bytes, source: str = "127.0.0.1") -> list[LineClient]:
    """Clients that say this and stay; those that the server sends away at once are among them."""
    crowd = [LineClient(server.port, source=source) for _ in range(number)]
    for client in crowd:
        with suppress(OSError):
            client.send(say)
    return crowd


def answers(crowd: list[LineClient]) -> Counter[str]:
    """What the server answered HELLO, or why it sent the client away before."""
    found: Counter[str] = Counter()
    for client in crowd:
        line = "reset"
        with suppress(ConnectionResetError):
            while (line := client.line()).startswith("ARENA"):
                pass
        verb, _, rest = line.partition(" ")
        found[f"ERROR {rest.split()[0]}" if verb == "ERROR" else verb] += 1
    return found


class TestTheCap:
    """Strangers without a token, many more than there are places; bots with their keys play all the same."""

    @pytest.mark.parametrize(
        "say",
        [b"HELLO 1 guest role=spectator\nWATCH *\n", b"HELLO 1 guest role=spectator\n", b"", b"HEL"],
        ids=["spectators", "spectators that never watch", "silent", "half a line"],
    )
    def test_strangers_keep_no_bot_out(self, tmp_path: Path, say: bytes) -> None:
        config = contest(
            contest='login = "10m"\ngames_per_pair = 10',
            server="max_connections = 130",
            bots=KEYED,
            seed=None,
        )
        with Server(config, tmp_path) as server:
            crowd = strangers(server, 200, say)
            players = Players(server.port, HONEST, {"a": "a", "b": "b"}, ONCE)
            # Fewer than the 64 places for log-ins: however slow a bot is, it is not the oldest of them.
            crowd += strangers(server, 60, say)
            assert players.join() == FINISHED
            found = answers(crowd)  # the contest is over, so each has one
            assert found["ERROR full"] + found["reset"] >= 260 - 130
            assert found["ERROR full"] > 0
            for client in crowd:
                client.close()
        assert honest_faults(server) == {}

    def test_a_seat_is_taken_over_while_all_places_are_taken(self, tmp_path: Path) -> None:
        config = contest("a", "b", contest='login = "10m"', server="max_connections = 34")
        with Server(config, tmp_path) as server:
            bots = [LineClient(server.port), LineClient(server.port)]
            keys = []
            for client, name in zip(bots, "ab", strict=True):
                client.send(f"HELLO 1 {name}\n".encode())
                keys.append(client.until("WELCOME").partition(" resume=")[2])
            crowd = strangers(server, 60, b"")
            again = [LineClient(server.port), LineClient(server.port)]
            for client, name, key in zip(again, "ab", keys, strict=True):
                client.send(f"HELLO 1 {name} resume={key}\n".encode())
                assert client.until("WELCOME")
            for client in (*bots, *crowd, *again):
                client.close()

    @pytest.mark.soak
    def test_spectators_of_one_address_keep_no_others_out(self, tmp_path: Path) -> None:
        limits = "max_connections = 100\nmax_spectators = 12\nspectators_per_address = 5"
        with Server(contest("a", "b", contest='login = "10m"', server=limits), tmp_path) as server:
            say = b"HELLO 1 guest role=spectator\nWATCH *\n"
            first = strangers(server, 20, say, "127.0.0.2")
            assert answers(first) == {"WELCOME": 5, "ERROR full": 15}
            second = strangers(server, 20, say, "127.0.0.3")
            assert answers(second) == {"WELCOME": 5, "ERROR full": 15}
            third = strangers(server, 20, say, "127.0.0.4")
            assert answers(third) == {"WELCOME": 2, "ERROR full": 18}
            for client in first:
                client.close()
            second[0].send(b"PING seen\n")  # the server has seen all of this before what comes now
            second[0].until("PONG")
            fourth = strangers(server, 1, say, "127.0.0.5")
            assert answers(fourth) == {"WELCOME": 1}
            for client in (*second, *third, *fourth):
                client.close()

    @pytest.mark.soak
    def test_a_client_that_says_hello_at_once_gets_in(self, tmp_path: Path) -> None:
        """Silent connections give way, the oldest of the address with most of them first."""
        with Server(
            contest("a", "b", contest='login = "10m"', server="max_connections = 26"), tmp_path
        ) as server:
            crowd = strangers(server, 16, b"", "127.0.0.2")
            for client in crowd:
                client.until("ARENA")
            guest = hello(server, "guest", SPECTATOR)
            assert crowd[0].rest() == [
                "ERROR full too many clients have not said HELLO yet; say it at once, or try later"
            ]
            crowd[1].send(b"HELLO 1 other role=spectator\n")
            assert crowd[1].until("WELCOME")
            for client in (*crowd, guest):
                client.close()


@pytest.mark.soak
def test_all_at_once(tmp_path: Path) -> None:
    """Flooders, lorises, deaf readers and guessers together: the honest finish without a fault."""
    with alone(tmp_path, 'login = "2s"') as server:
        stop = threading.Event()
        threads = [
            threading.Thread(target=attack, args=(server.port, how, stop), daemon=True)
            for how in (
                b"MOVE 7\n" * 200, b"HEL", b"\xff" * 5000,
                b"HELLO 1 guest role=spectator\nWATCH *\n" + b"PING x\n" * 2000,
            )
        ]  # fmt: skip
        for thread in threads:
            thread.start()
        players = Players(server.port, HONEST)
        assert players.join() == FINISHED
        stop.set()
        for thread in threads:
            thread.join(PATIENCE_S)
        assert honest_faults(server) == {}
        assert server.end(signal.SIGTERM).code == 0


def _say_for_ever(client: LineClient, what: bytes) -> None:
    while True:
        client.send(what)


def attack(port: int, what: bytes, stop: threading.Event) -> None:
    """Connect, say it, wait for the end, and again."""
    while not stop.is_set():
        try:
            client = LineClient(port)
            client.send(what)
            client.rest()
            client.close()
        except OSError:
            continue
