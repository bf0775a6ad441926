"""`arena serve` as a process: from `listening` to its end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from tests.forked import Arena
from tests.ports import quiet_port
from tests.server.lines import LineClient
from tests.server.programs import PATIENCE_S, Players, Server, contest, inside

from arena_cli.options import DIGESTS_VARIABLE
from arena_client.retry import RetryPolicy
from arena_server.store.reader import Results

pytestmark = pytest.mark.real


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.soak
def test_a_server_may_be_stopped_as_soon_as_it_listens(tmp_path: Path, how: int) -> None:
    with Server(contest("a", "b"), tmp_path) as server:
        assert server.end(how).code == 0


def test_a_contest_is_played_and_the_server_stays(tmp_path: Path) -> None:
    with Server(contest("a", "b", "c", contest="probation = 0"), tmp_path) as server:
        players = Players(server.port, [("a", "first-legal"), ("b", "fixed:move=6"), ("c", "zero-based")])
        assert players.join() == {"a": "finished", "b": "finished", "c": "finished"}
        with LineClient(server.port) as late:
            assert late.until("ARENA") == "ARENA 1 insertion-arena/0.1"
        outcome = server.end(signal.SIGTERM)
        assert (outcome.code, outcome.out) == (0, "")
        assert " info stopping why=SIGTERM" in outcome.err
        assert "programs-not-started" not in outcome.err
        with Results(server.database) as results:
            chosen = results.contest()
            assert (chosen.status, results.sums.games_played(chosen), chosen.games) == ("finished", 6, 6)
            faults = {row.name: dict(row.faults) for row in results.sums.standings(chosen)}
            assert faults == {"a": {}, "b": {}, "c": {"illegal": 4}}
        verified = inside("verify", "--database", f"sqlite:///{server.database}")
        assert (verified.code, verified.out) == (0, "verified: 6 games\n")


def test_until_finished_it_exits_with_the_standings(tmp_path: Path) -> None:
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


@pytest.mark.soak
def test_until_finished_a_contest_that_failed_is_status_1_after_the_others(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(contest("c", "d").replace('"trial"', '"other"'))
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "other").touch()
    options = ("--until-finished", "--bot-logs", str(tmp_path / "logs"))
    with Server(contest("a", "b"), tmp_path, *options, str(other)) as server:
        Players(server.port, [("a", "first-legal"), ("b", "fixed:move=6")]).join()
        outcome = server.end()
    assert outcome.code == 1
    assert outcome.out.startswith("trial: insertion, 2 of 2 games, scored by points, finished")
    assert " error contest-failed contest=other error=" in outcome.err
    line = f"arena: bot logs: {tmp_path / 'logs' / 'other'}: cannot be used: File exists"
    assert outcome.err.splitlines()[-1] == line


@pytest.mark.soak
def test_until_finished_a_contest_without_all_its_games_is_status_1(tmp_path: Path) -> None:
    text = contest("a", "b", "c", contest='absent = "4s"')
    with Server(text, tmp_path, "--until-finished", "--log-level", "error") as server:
        Players(server.port, [("a", "first-legal"), ("b", "first-legal")]).join()
        outcome = server.end()
    assert outcome.code == 1
    assert "2 of 6 games, scored by points, incomplete" in outcome.out
    assert outcome.line == (
        "arena: the contest is incomplete: 4 of 6 games have no result (4 absent: c); missing bots: c"
    )
    with Results(server.database) as results:
        assert results.contest().status == "incomplete"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_stopped_in_the_middle_the_next_server_goes_on_with_the_running_game(
    tmp_path: Path, how: int
) -> None:
    text, port = contest("a", "b", contest="games_per_pair = 2"), str(quiet_port())
    with Server(text, tmp_path, "--port", port) as server:
        again = RetryPolicy(delays=lambda: iter([0.05] * 600))
        helper = Players(server.port, [("b", "first-legal")], policy=again)
        with LineClient(server.port) as raw:
            raw.say("HELLO 1 a")
            raw.play()
            assert " end=complete " in raw.until("OVER")
            raw.say("READY " + raw.until("GAME").split()[1])
            raw.until("TURN")
            server.process.send_signal(how)
            with pytest.raises(EOFError):
                raw.until("BYE")
        assert server.end().code == 0
        with Results(server.database) as results:
            chosen = results.contest()
            assert chosen.status == "stopped"
            assert [row["end"] for row in results.games.rows(chosen)] == ["complete"]
    with Server(text, tmp_path, "--port", port, "--until-finished") as server:
        with LineClient(server.port) as raw:
            raw.say("HELLO 1 a")
            assert raw.play_to_the_end().startswith("OVER g2 ")
            raw.until("BYE")
        assert helper.join() == {"b": "finished"}
        assert server.end().code == 0
        with Results(server.database) as results:
            assert [row["end"] for row in results.games.rows(results.contest())] == ["complete"] * 2


def test_tokens_are_required_if_the_environment_has_their_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIGESTS_VARIABLE, json.dumps({"a": sha256(b"s3cret").hexdigest()}))
    with Server(contest("a", "b"), tmp_path) as server:
        for token, verb in (("wrong", "ERROR token"), ("s3cret", "WELCOME a")):
            with LineClient(server.port) as raw:
                raw.say(f"HELLO 1 a token={token}")
                raw.until(verb)


def test_a_supervised_server_ends_with_its_supervisor(tmp_path: Path) -> None:
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


@pytest.mark.soak
def test_little_is_loaded_before_the_port_is_open(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text(contest("a", "b"))
    program = (
        "import sys; from pathlib import Path; from arena_cli.app import app\n"
        "from arena_cli.prepare import prepare\n"
        "from arena_cli.serve_options import ServeOptions\n"
        f"options = ServeOptions(port=0, database='sqlite:///{tmp_path}/arena.db')\n"
        f"prepare([Path({str(config)!r})], options).close()\n"
        "late = {'asyncio', 'sqlalchemy', 'rich', 'msgpack', 'arena_server.core.contest'}\n"
        "print(*sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
