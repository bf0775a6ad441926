"""`arena tournament` as processes: the final table, failing bots, and no process left."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.forked import Arena
from tests.ports import quiet_port
from tests.server.programs import PATIENCE_S, Outcome, arena, contest, engines, inside

from arena_cli.season import SeatedContest
from arena_cli.tournament import TournamentOptions, _server_command
from arena_server.store.ownership import is_played
from arena_server.store.reader import Results
from arena_server.terms.file import parse_contest
from arena_server.terms.stages import SeasonStage


def program(name: str, code: str) -> str:
    """A bot that is a command."""
    command = json.dumps([sys.executable, "-c", code])
    return f"[[bot]]\nname = {json.dumps(name)}\ncommand = {command}\n"


#: A bot in a dozen lines of the standard library; the tournament replaces `{...}`.
HONEST = (
    "import socket\n"
    "sock = socket.create_connection(('{host}', {port})); lines = sock.makefile('rb')\n"
    "say = lambda text: sock.sendall(text.encode() + b'\\n')\n"
    "say('HELLO 1 {name} token={token}')\n"
    "for line in lines:\n"
    "    verb, *rest = line.decode().split()\n"
    "    if verb == 'GAME': say('READY ' + rest[0])\n"
    "    if verb == 'TURN': say('MOVE 6')\n"
)


def play(folder: Path, text: str, *options: str, env: dict[str, str] | None = None) -> Outcome:
    (folder / "c.toml").write_text(text)
    return arena("tournament", "c.toml", *options, cwd=folder, env=env)


@pytest.mark.parametrize(
    ("bot", "given", "absent"),
    [
        ("", "", ["--absent", "30s"]),
        ("", 'absent = "9s"', []),
        (f'submit = true\ntoken_sha256 = "{"0" * 64}"', "", []),
        ("person = true", "", []),
    ],
)
def test_it_waits_for_whoever_takes_a_while(bot: str, given: str, absent: list[str], tmp_path: Path) -> None:
    """The absence of a person, or of a version that is still to be sent, has no default limit."""
    bots = engines("dummy") + f'[[bot]]\nname = "guest"\n{bot}\n'
    path = tmp_path / "c.toml"
    file = parse_contest(contest(bots=bots, contest=given, seed=None), str(path))
    seated = SeatedContest(path, SeasonStage(file, file.contest.name), file)
    command = _server_command(seated, TournamentOptions())
    assert command[-len(absent) :] == absent if absent else "--absent" not in command


@pytest.mark.real
class TestFinalTable:
    def test_engines_scripted_bots_and_commands_play_each_other(self, tmp_path: Path) -> None:
        bots = engines("dummy", "random", "zero-based") + program("mine", "print('hello there')\n" + HONEST)
        outcome = play(tmp_path, contest(contest="probation = 0", bots=bots), "--logs", "logs")
        assert outcome.code == 0, outcome.err
        listening, web, title, *table = outcome.out.splitlines()
        assert re.fullmatch(r"listening on 127\.0\.0\.1:\d+", listening)
        assert re.fullmatch(r"web on http://127\.0\.0\.1:\d+", web)
        assert title == "trial: insertion, 12 of 12 games, scored by points, finished"
        heading = next(line for line in table if "rank" in line)
        assert heading.split() == ["rank", "bot", "points", "games", "mean", "points", "faults"]
        rows = {
            line.split()[1]: line.split() for line in table if line.split()[:1] and line.split()[0].isdigit()
        }
        assert set(rows) == {"dummy", "random", "zero-based", "mine"}
        assert rows["zero-based"][-2:] == ["illegal", "6"]
        assert [rows[name][-1] for name in ("dummy", "random", "mine")] == ["-", "-", "-"]
        assert "compiling" not in outcome.err  # these engines have no compiled functions
        assert "games 12/12" in outcome.err
        with Results(tmp_path / "arena.db") as results:
            assert results.contest().status == "finished"
        assert inside("verify", cwd=tmp_path).out == "verified: 12 games\n"
        logs = {path.name: path.read_text() for path in (tmp_path / "logs").iterdir()}
        assert set(logs) == {"dummy.log", "random.log", "zero-based.log", "mine.log", "_server.log"}
        assert logs["mine.log"] == "hello there\n"
        assert " info over game=g1 " in logs["_server.log"]

    @pytest.mark.soak
    def test_games_start_from_a_library_and_the_records_verify(self, tmp_path: Path) -> None:
        starts = ["53351/34233/13552/44215/44526", "1..../2..../1..../2..../1...."]
        lines = [json.dumps({"game": "insertion", "state": state}) + "\n" for state in starts]
        (tmp_path / "starts.jsonl").write_text("".join(lines))
        # The name of a module, in the folder of the contest: it is none of the server and its engines.
        (tmp_path / "random.py").write_text("raise SystemExit('imported from the working folder')")
        text = contest(contest="games_per_pair = 4", bots=engines("dummy", "random"))
        outcome = play(tmp_path, text, "--library", "starts.jsonl")
        assert outcome.code == 0, outcome.err
        assert inside("verify", cwd=tmp_path).out == "verified: 4 games\n"
        records = [
            json.loads(inside("replay", f"g{game}", "--json", cwd=tmp_path).out) for game in range(1, 5)
        ]
        assert {record["board"] for record in records} <= set(starts)
        assert {record["options"]["board"] for record in records} == {"|".join(starts)}

    def test_json_and_the_same_seed_gives_the_same_games(self, tmp_path: Path) -> None:
        tables = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            text = contest(contest='scoring = "wins"', bots=engines("dummy", "zero-based"))
            outcome = play(tmp_path / name, text, "--json")
            assert outcome.code == 0
            assert outcome.err.startswith("listening on 127.0.0.1:")
            answer = json.loads(outcome.out)
            assert answer["contest"]["games"] == {"played": 2, "total": 2}
            assert answer["contest"]["scoring"] == "wins"
            assert sorted(row["bot"] for row in answer["standings"]) == ["dummy", "zero-based"]
            assert set(answer["standings"][0]) == {"rank", "bot", "points", "games", "mean", "wins", "faults"}
            assert answer == json.loads(inside("standings", "--json", cwd=tmp_path / name).out)
            tables.append(answer["standings"])
        assert tables[0] == tables[1]

    @pytest.mark.soak
    def test_python_is_the_interpreter_of_arena_and_the_file_may_give_the_port(self, tmp_path: Path) -> None:
        """The bot imports arena_client, which only that interpreter can, whatever PATH says."""
        port = quiet_port()
        (tmp_path / "mybot.py").write_text("from arena_client import run\nrun(lambda view: '6')\n")
        bots = engines("dummy") + '[[bot]]\nname = "mine"\ncommand = ["python", "mybot.py"]\n'
        outcome = play(tmp_path, contest(server=f"port = {port}", bots=bots), env={"PATH": "/nowhere"})
        assert outcome.code == 0, outcome.err
        assert outcome.out.startswith(f"listening on 127.0.0.1:{port}\n")
        assert "2 of 2 games" in outcome.out

    def test_a_remote_bot_joins(self, tmp_path: Path) -> None:
        """A bot without engine or command connects by itself, to the port of `--port`."""
        port = quiet_port()
        text = contest(
            bots=engines("dummy") + '[[bot]]\nname = "guest"\n', contest='absent = "30s"', seed=None
        )
        (tmp_path / "c.toml").write_text(text)
        guest = Arena(
            ["bot", "first-legal", "--connect", f"127.0.0.1:{port}", "--name", "guest"],
            stdout=subprocess.PIPE,
        )
        outcome = arena("tournament", "c.toml", "--port", str(port), cwd=tmp_path)
        said, _ = guest.communicate(timeout=PATIENCE_S)
        assert outcome.code == 0, outcome.err
        assert said == "guest leaves: finished\n"
        assert f"listening on 127.0.0.1:{port}\n" in outcome.out
        assert "2 of 2 games" in outcome.out

    @pytest.mark.parametrize("form", [[], ["--json"]])
    @pytest.mark.soak
    def test_a_contest_without_all_its_games_is_incomplete(self, tmp_path: Path, form: list[str]) -> None:
        bots = engines("dummy", "random") + '[[bot]]\nname = "guest"\n'
        outcome = play(tmp_path, contest(contest='absent = "4s"', bots=bots, seed=None), *form)
        assert outcome.code == 1
        reason = "4 of 6 games have no result (4 absent: guest); missing bots: guest"
        assert outcome.err.splitlines()[-1] == f"arena: the contest is incomplete: {reason}"
        if form:
            answer = json.loads(outcome.out)
            assert answer["contest"]["status"] == "incomplete"
            assert (answer["missing"], answer["unplayed"]) == (["guest"], {"absent: guest": 4})
            assert [(row["bot"], row["rank"]) for row in answer["standings"]][-1] == ("guest", None)
        else:
            assert outcome.out.splitlines()[2].endswith("2 of 6 games, scored by points, incomplete")
            assert re.search(r"^ +- +guest ", outcome.out, re.MULTILINE)


@pytest.mark.real
class TestBotsThatFail:
    @pytest.mark.soak
    def test_one_that_cannot_start_ends_the_tournament_with_its_error(self, tmp_path: Path) -> None:
        crash = "print('hello')\nimport no_such_module"
        bots = engines("dummy", "random") + program("mine", crash)
        outcome = play(tmp_path, contest(bots=bots))
        assert outcome.code == 1
        last = "arena: bot mine cannot start: ModuleNotFoundError: No module named 'no_such_module'"
        assert outcome.err.splitlines()[-1] == last
        with Results(tmp_path / "arena.db") as results:
            assert results.contest().status == "stopped"

    @pytest.mark.soak
    def test_one_that_always_crashes_is_started_again_until_it_is_gone(self, tmp_path: Path) -> None:
        crash = HONEST.replace(
            "for line in lines:", "lines.readline(); lines.readline(); exit('boom')\nif 1:"
        )
        crash = "import os; print('token:', len(os.environ['ARENA_TOKEN']))\n" + crash
        bots = engines("dummy", "random") + program("crasher", crash)
        outcome = play(tmp_path, contest(contest='absent = "4s"', bots=bots))
        assert outcome.code == 1
        assert "; missing bots: crasher" in outcome.err.splitlines()[-1]
        assert "bot crasher ended with status 1; starting it again" in outcome.err
        assert "  crasher: boom" in outcome.err
        assert "  crasher: token: 32" in outcome.err
        with Results(tmp_path / "arena.db") as results:
            games = {row.name: row.games for row in results.sums.standings(results.contest())}
        assert games["dummy"] >= 2  # those against random; the crasher may be offered games before it is gone
        assert games["random"] >= 2

    def test_one_that_comes_back_plays_on(self, tmp_path: Path) -> None:
        """It exits at its first TURN and plays after the restart."""
        code = (
            "import pathlib, os, sys\n"
            "first = not os.path.exists('born'); pathlib.Path('born').touch()\n"
            + HONEST.replace(
                "if verb == 'TURN':", "if verb == 'TURN' and first: os._exit(9)\n    if verb == 'TURN':"
            )
        )
        outcome = play(tmp_path, contest(bots=engines("dummy") + program("phoenix", code)))
        assert outcome.code == 0
        assert "bot phoenix ended with status 9; starting it again" in outcome.err
        assert "2 of 2 games" in outcome.out
        assert "phoenix" in outcome.out

    @pytest.mark.soak
    def test_one_that_raises_on_its_first_move_keeps_nobody_waiting(self, tmp_path: Path) -> None:
        """The contest ends long before its clock: after two crashes in a game the referee plays for it."""
        crash = HONEST.replace("if verb == 'TURN': say('MOVE 6')", "if verb == 'TURN': say({}['best'])")
        bots = engines("dummy") + program("crasher", crash)
        text = contest(contest="probation = 0", game='plies = 8\nclock = "100h"', bots=bots)
        outcome = play(tmp_path, text)
        assert outcome.code == 0, outcome.err
        assert [line for line in outcome.err.splitlines() if line.startswith("bot ")] == [
            "bot crasher ended with status 1; starting it again",
            "bot crasher ended with status 1 again; starting it again when g1 is over",
            "bot crasher ended with status 1; starting it again",
            "bot crasher ended with status 1 again; starting it again when g2 is over",
        ]
        trace = [line for line in outcome.err.splitlines() if line.startswith("  crasher: ")]
        assert trace[0] == "  crasher: Traceback (most recent call last):"
        assert trace[-1] == "  crasher: KeyError: 'best'"
        assert sum("Error" in line for line in trace) == 1
        assert "disconnect 2" in outcome.out

    @pytest.mark.soak
    def test_one_killed_by_a_signal_before_its_log_in_is_reported(self, tmp_path: Path) -> None:
        code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
        outcome = play(tmp_path, contest(bots=engines("dummy") + program("victim", code)))
        assert outcome.code == 1
        last = "arena: bot victim cannot start: it ended by signal 9 before it logged in"
        assert outcome.err.splitlines()[-1] == last

    @pytest.mark.soak
    def test_one_that_ignores_bye_and_sigterm_is_killed(self, tmp_path: Path) -> None:
        """It ignores BYE and SIGTERM, and has a child of its own."""
        code = (
            "import signal, subprocess, sys, os\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
            "open('pids', 'w').write(f'{os.getpid()} {child.pid}')\n" + HONEST + "signal.pause()\n"
        )
        outcome = play(tmp_path, contest(bots=engines("dummy") + program("limpet", code)))
        assert outcome.code == 0, outcome.err
        assert "2 of 2 games" in outcome.out
        for pid in (tmp_path / "pids").read_text().split():
            assert not _alive(int(pid))


def _alive(pid: int) -> bool:
    """Whether a process runs; a zombie process (not waited for yet) does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


class TestRefusals:
    """Nothing is started; the error is one line."""

    def play(self, folder: Path, text: str, *options: str) -> Outcome:
        (folder / "c.toml").write_text(text)
        return inside("tournament", "c.toml", *options, cwd=folder)

    @pytest.mark.parametrize(
        ("bots", "line"),
        [
            (
                engines("dummy") + '[[bot]]\nname = "x"\ncommand = ["./no-such-bot"]\n',
                "arena: c.toml: bot 2: command: no program './no-such-bot' here or on the path",
            ),
            (
                engines("dummy") + '[[bot]]\nname = "x"\nengine = "greedy:depth=2"\n',
                "arena: c.toml: bot 2: engine: engine greedy has no parameter 'depth'; it takes none",
            ),
            (
                engines("dummy") + '[[bot]]\nname = "x"\nengine = "zero-based:size=2"\n',
                "arena: c.toml: bot 2: engine: zero-based has no parameter 'size'; it has: none",
            ),
        ],
    )
    def test_bots_that_cannot_be_started(self, tmp_path: Path, bots: str, line: str) -> None:
        outcome = self.play(tmp_path, contest(bots=bots))
        assert (outcome.code, outcome.out, outcome.line) == (2, "", line)
        assert not (tmp_path / "arena.db").exists()

    def test_an_engine_that_does_not_exist(self, tmp_path: Path) -> None:
        outcome = self.play(tmp_path, contest(bots=engines("dummy", "chmapion")))
        assert outcome.code == 2
        assert outcome.line.startswith(
            "arena: c.toml: bot 2: engine: no engine 'chmapion' for insertion; there are: "
        )
        assert "champion" in outcome.line
        assert "; scripted bots: first-legal, " in outcome.line

    def test_a_missing_file(self, tmp_path: Path) -> None:
        outcome = inside("tournament", "nowhere.toml", cwd=tmp_path)
        assert (outcome.code, outcome.line) == (2, "arena: nowhere.toml: no such file")

    def test_a_folder_for_logs_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "taken").touch()
        outcome = self.play(tmp_path, contest(bots=engines("dummy", "random")), "--logs", "taken")
        assert (outcome.code, outcome.line) == (1, "arena: --logs: taken: cannot be made: File exists")

    @pytest.mark.real
    @pytest.mark.soak
    def test_an_error_of_the_server_is_quoted(self, tmp_path: Path) -> None:
        bots = program("mine", HONEST) + program("other", HONEST)
        outcome = play(tmp_path, contest(bots=bots), "--host", "a b")
        assert outcome.code == 1
        assert outcome.line == "arena: cannot listen on a b:0: Name or service not known"

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_file_that_is_no_database(self, tmp_path: Path) -> None:
        (tmp_path / "arena.db").write_bytes(b"not a database, just text" * 100)
        outcome = play(tmp_path, contest(bots=engines("dummy", "random")))
        assert outcome.code == 1
        assert outcome.line.startswith("arena: arena.db: the database is damaged (file is not a database)")


@pytest.mark.real
class TestInterrupted:
    @pytest.mark.parametrize(
        "how",
        [
            signal.SIGINT,
            *(
                pytest.param(each, marks=pytest.mark.soak)
                for each in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT)
            ),
        ],
    )
    def test_results_so_far_are_kept_and_printed(self, tmp_path: Path, how: int) -> None:
        tournament = self.begin(tmp_path)
        assert tournament.stderr is not None
        _wait_for(tournament, "games ", lambda line: not line.startswith("games 0/"))
        tournament.send_signal(how)
        out, err = tournament.communicate(timeout=PATIENCE_S)
        assert tournament.returncode == 130, err
        assert "stopping: results are kept, and running games go on with --resume" in err
        assert out.splitlines()[2].endswith(", stopped")
        with Results(tmp_path / "arena.db") as results:
            chosen = results.contest()
            assert chosen.status == "stopped"
            assert results.sums.games_played(chosen) > 0

    @pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
    def test_killed_it_takes_server_and_bots_with_it(self, tmp_path: Path) -> None:
        tournament = self.begin(tmp_path)
        _wait_for(tournament, "games ", lambda line: "2 of 2 bots connected" in line)
        children = _children(tournament.pid)
        assert len(children) == 4, "the server, the bots and the sweeper"
        tournament.kill()
        tournament.communicate(timeout=PATIENCE_S)
        for pid in children:
            _wait_for_end(pid)

    def begin(self, folder: Path) -> Arena:
        """A tournament of 50,000 games."""
        text = contest(contest="games_per_pair = 50000", bots=engines("dummy", "first-legal"))
        (folder / "c.toml").write_text(text)
        return Arena(["tournament", "c.toml"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _wait_for(process: subprocess.Popen[str], start: str, wanted: object) -> None:
    """Read its stderr up to a wanted line."""
    assert process.stderr is not None
    assert callable(wanted)
    for line in process.stderr:
        if line.startswith(start) and wanted(line):
            return
    raise EOFError(start)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _wait_for_end(pid: int) -> None:
    """Wait for the end of a process that is not our child, without polling."""
    import select

    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([watch], [], [], PATIENCE_S)[0], f"process {pid} lives on"
    finally:
        os.close(watch)


def test_errors_name_no_option_that_it_has_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(*_: object) -> None:
        raise is_played(Path("x.db"), 1)

    monkeypatch.setattr("arena_cli.tournament.play_contest", raises)
    (tmp_path / "c.toml").write_text(contest(bots=engines("random", "greedy")))
    assert inside("tournament", "c.toml", "--resume", cwd=tmp_path).line == (
        "arena: x.db: contest 1 is being played by another server; stop that one, "
        "or begin a new contest without --resume"
    )
