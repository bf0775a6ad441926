"""`arena match` with programs, as processes."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from tests.forked import Arena
from tests.server.programs import PATIENCE_S, Outcome, inside

from arena_protocol.record_codec import decode
from arena_server.places.base import BotError
from arena_server.places.local import LocalRun
from arena_server.places.supervisor import ProgressListener
from arena_server.store.reader import Results

BOT = "from arena_client import run\nrun(lambda view: '6')\n"
SHORT = ("--option", "plies=10", "--clock", "20s")
SMALLEST = Path(__file__).resolve().parents[2] / "client" / "starters" / "python" / "bot.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mybot.py").write_text(BOT)
    return tmp_path


@pytest.mark.slow
class TestMatch:
    @pytest.mark.real
    @pytest.mark.soak
    def test_a_league_of_programs_is_a_contest_a_pair_and_goes_on(self, folder: Path) -> None:
        match = ("match", "python mybot.py", "greedy", "dummy", *SHORT, "--deals", "2", "--keep", "m.db")
        outcome = inside(*match, "--json", cwd=folder)
        assert outcome.code == 0, outcome.err
        answer = json.loads(outcome.out)
        assert answer["standings"][0]["engine"] == "greedy"
        pairs = [
            (one, other) for one in range(3) for other in range(3) if answer["table"][one][other] is None
        ]
        assert pairs == [(0, 0), (1, 1), (2, 2)]
        with Results(folder / "m.db") as results:
            names = [contest.name for contest in results.contests()]
        assert sorted(names) == ["match-1-2", "match-1-3", "match-2-3"]
        assert outcome.err.count("match-2-3 g") == 4

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_page_shows_the_games_while_they_are_played(self, folder: Path) -> None:
        match = ("match", "python mybot.py", "greedy", "--deals", "10000", "--web", "--web-port", "0")
        with Arena(list(match), cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as running:
            assert running.stderr is not None
            head = running.stderr.readline()
            address = head.removeprefix("web on ").strip()
            assert running.stderr.readline().startswith("g1: ")
            with urlopen(f"{address}/api/v1/live/boards") as stream:
                found = next(line for line in stream if b'"names"' in line)
            with urlopen(f"{address}/api/v1/contests.json") as answer:
                contests = json.load(answer)
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=PATIENCE_S)
        assert b"mybot" in found
        assert "match" in json.dumps(contests)
        assert running.returncode == 130

    @pytest.mark.real
    def test_two_pairs_of_processes_at_once_with_records_to_replay(self, folder: Path) -> None:
        arguments = (
            "python mybot.py",
            "zero-based",
            "--concurrency",
            "2",
            "--keep",
            "m.db",
            "--logs",
            "logs",
        )
        outcome = inside("match", *arguments, *SHORT, "--deals", "4", cwd=folder)
        assert outcome.code == 0, outcome.err
        table = outcome.out.splitlines()
        assert table[1].split()[:2] == ["python", "mybot.py"]
        assert table[1].split()[-1] == "0"
        assert table[2].split()[0] == "zero-based"
        assert table[2].split()[-1] == "8"
        assert " in 8 games" in table[3]
        assert table[4].startswith("no Elo difference before 5 pairs; pairs won ")
        assert table[-1] == "replay a game: arena replay g1 --contest match --database sqlite:///m.db"
        lines = [line for line in outcome.err.splitlines() if " | " in line]
        assert sorted(line.partition(":")[0] for line in lines) == [f"g{number}" for number in range(1, 9)]
        assert re.fullmatch(r"g\d: [a-z.2-]+ \d+, [a-z.2-]+ \d+ \| 4 of 4 deals, points .*", lines[-1])
        faults = [line for line in outcome.err.splitlines() if "illegal move" in line]
        assert len(faults) == 8
        assert inside("verify", "--database", "sqlite:///m.db", cwd=folder).out == "verified: 8 games\n"
        with Results(folder / "m.db") as results:
            records = [decode(row["record"]) for row in results.games.rows(results.contest())]
        assert len(records) == 8
        assert {name for record in records for name in record.names} == {"mybot", "zero-based"}
        replayed = inside("replay", "g3", "--contest", "match", "--database", "sqlite:///m.db", cwd=folder)
        assert "mybot" in replayed.out
        assert {path.name for path in (folder / "logs").iterdir()} == {
            "mybot.log",
            "mybot@2.log",
            "zero-based.log",
            "zero-based@2.log",
            "_server.log",
        }

    @pytest.mark.real
    def test_a_bot_that_knows_no_slots_plays_two_games_at_once(self, folder: Path) -> None:
        """It gets no `name-taken`: the token of its second process is for the second slot."""
        code = SMALLEST.read_text(encoding="utf-8").replace(
            "\n        verb,", "\n        print(line)\n        verb,"
        )
        (folder / "smallest.py").write_text(code)
        players = ("python smallest.py", "dummy")
        outcome = inside(
            "match", *players, "--concurrency", "2", "--logs", "logs", *SHORT, "--deals", "4", cwd=folder
        )
        assert outcome.code == 0, outcome.err
        assert " in 8 games" in outcome.out
        assert [line for line in outcome.err.splitlines() if " | " not in line] == []
        logs = [(folder / "logs" / name).read_text() for name in ("smallest.log", "smallest@2.log")]
        assert "WELCOME" in logs[0] + logs[1]
        assert not any("ERROR" in log for log in logs)

    @pytest.mark.real
    @pytest.mark.soak
    def test_the_sequential_test_ends_the_match(self, folder: Path) -> None:
        arguments = ("greedy", "python mybot.py", "--sprt", "--elo1", "300", "--deals", "500", "--json")
        outcome = inside("match", *arguments, *SHORT, "--option", "plies=20", cwd=folder)
        assert outcome.code == 0, outcome.err
        answer = json.loads(outcome.out)
        assert answer["verdict"] == "better"
        assert answer["llr"] >= answer["bounds"][1]
        assert answer["deals"] == sum(answer["pairs"]) < 500
        assert answer["games"] == 2 * answer["deals"]
        assert (answer["alpha"], answer["beta"]) == (0.05, 0.05)
        assert "stopping" not in outcome.err

    @pytest.mark.real
    @pytest.mark.soak
    def test_engines_of_this_process_play_the_games_that_the_referee_seats(self, folder: Path) -> None:
        match = ("match", "greedy", "minimax:depth=2", *SHORT, "--deals", "3", "--seed", "5", "--json")
        here = json.loads(inside(*match).out)
        seated = json.loads(inside(*match, "--keep", "m.db", cwd=folder).out)
        for key in ("points", "pairs", "interval", "games", "faults", "engines"):
            assert here[key] == seated[key]
        assert here["points"][0] != here["points"][1]
        rated = json.loads(inside("ratings", "--database", "sqlite:///m.db", "--json", cwd=folder).out)
        elo = {row["bot"]: row["rating"] for row in rated["ratings"]}
        assert elo["greedy"] - elo["minimax-depth-2"] == pytest.approx(here["elo"], abs=0.2), "one scale"

    @pytest.mark.real
    @pytest.mark.soak
    def test_three_seats(self, folder: Path) -> None:
        players = ("greedy", "python mybot.py", "dummy")
        outcome = inside(
            "match", *players, *SHORT, "--option", "seats=3", "--deals", "2", "--json", cwd=folder
        )
        assert outcome.code == 0, outcome.err
        answer = json.loads(outcome.out)
        assert (answer["deals"], answer["games"], len(answer["points"])) == (2, 6, 3)
        assert "elo" not in answer

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_scripted_bot_is_seated_by_the_referee_too(self, folder: Path) -> None:
        outcome = inside("match", "greedy", "zero-based", *SHORT, "--deals", "1", cwd=folder)
        assert outcome.code == 0, outcome.err
        assert "zero-based sent an illegal move" in outcome.err

    @pytest.mark.real
    def test_a_program_has_its_arguments_and_the_chosen_variables(self, folder: Path) -> None:
        code = "import os, sys\nassert (sys.argv[1:], os.environ['DEEP']) == (['--depth', '3'], 'yes')\n"
        (folder / "own.py").write_text(code + BOT)
        players = ("python own.py --depth 3", "dummy")
        outcome = inside("match", *players, "--env", "DEEP=yes", *SHORT, "--deals", "1", cwd=folder)
        assert outcome.code == 0, outcome.err
        assert " in 2 games" in outcome.out

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_program_that_crashes_at_its_start_is_one_line(self, folder: Path) -> None:
        (folder / "crash.py").write_text("import no_such_module\n")
        outcome = inside("match", "python crash.py", "dummy", cwd=folder)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.line == (
            "arena: bot crash cannot start: ModuleNotFoundError: No module named 'no_such_module'"
        )

    @pytest.mark.real
    def test_ctrl_c_prints_the_table_so_far(self, folder: Path) -> None:
        running = Arena(
            ["match", "python mybot.py", "dummy", *SHORT, "--deals", "9999"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert running.stderr is not None
        try:
            for line in running.stderr:
                if " | 1 of 9999 deals" in line:
                    running.send_signal(signal.SIGINT)
                    break
            out, err = running.communicate(timeout=PATIENCE_S)
        finally:
            running.kill()
        assert running.returncode == 130
        assert out.startswith("engine ")
        assert "stopping: running games are void" in err
        assert "Traceback" not in err


class TestEnds:
    """The server and the programs are replaced by a script of reports."""

    def end(self, monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str, **progress: Any) -> Outcome:
        faulty, played = progress.pop("faulty", ()), progress.pop("played", 2)
        fault = {"kind": "illegal", "ply": 3, "line": b"MOVE 0".hex()}

        async def script(local: LocalRun, listener: ProgressListener, stop: asyncio.Event) -> bool:
            games = [(("mybot", "dummy"), (90, 10)), (("dummy", "mybot"), (0, 80))]
            for number, (names, totals) in enumerate(games[:played], start=1):
                faults = [{**fault, "seat": number}] if number in faulty else []
                told = {"deal": "x", "totals": list(totals), "used_ms": [5] * len(totals), "faults": faults}
                listener.result({"game": f"g{number}", "names": list(names), "end": "complete", **told})
            if progress["ended"] == "failed":
                raise BotError("bot mybot slot 2 cannot start: no luck")
            if progress["ended"] == "aborted":
                await local.decided.wait()
                listener.say("stopping")
            listener.report({"done": 2, "missing": [], "unplayed": {}, **progress})
            return not stop.is_set()

        monkeypatch.setattr("arena_cli.local_contest.run_local", script)
        return inside("match", "python mybot.py", "dummy", "--deals", "3", *arguments, cwd=folder)

    def test_games_that_could_not_be_played(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        outcome = self.end(
            monkeypatch, folder, ended="incomplete", total=6, missing=["mybot"], unplayed={"absent: mybot": 4}
        )
        assert outcome.code == 1
        assert " in 2 games" in outcome.out
        assert outcome.err.splitlines()[-1] == (
            "arena: the contest is incomplete: 4 of 6 games have no result (4 absent: mybot); "
            "missing bots: mybot"
        )

    def test_all_games(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        outcome = self.end(monkeypatch, folder, ended="finished", total=2)
        assert outcome.code == 0
        assert outcome.err.splitlines() == [
            "g1: mybot 90, dummy 10 | 0 of 3 deals",
            "g2: dummy 0, mybot 80 | 1 of 3 deals, points 85 : 5.00",
        ]

    @pytest.mark.parametrize("form", [(), ("--json",)])
    @pytest.mark.parametrize(("played", "games"), [(0, None), (1, 0), (2, 2)])
    def test_what_was_played_is_printed_also_after_an_error(
        self,
        monkeypatch: pytest.MonkeyPatch,
        folder: Path,
        form: tuple[str, ...],
        played: int,
        games: int | None,
    ) -> None:
        outcome = self.end(monkeypatch, folder, *form, ended="failed", played=played)
        assert outcome.code == 1
        assert outcome.err.splitlines()[-1] == "arena: bot mybot slot 2 cannot start: no luck"
        if games is None:
            assert outcome.out == ""
        elif form:
            assert json.loads(outcome.out)["games"] == games
        else:
            assert f" in {games} games" in outcome.out

    @pytest.mark.parametrize(
        ("played", "faulty", "line"),
        [
            (2, (1, 2), "mybot was at fault in each of the 2 games; the first time: g1: "),
            (1, (1,), "mybot was at fault in the only game; the first time: g1: "),
            (2, (2,), None),
            (0, (), None),
        ],
    )
    def test_a_first_player_at_fault_in_every_game_is_a_negative_result(
        self,
        monkeypatch: pytest.MonkeyPatch,
        folder: Path,
        played: int,
        faulty: tuple[int, ...],
        line: str | None,
    ) -> None:
        outcome = self.end(monkeypatch, folder, ended="finished", total=2, played=played, faulty=faulty)
        assert outcome.code == (0 if line is None else 1)
        assert outcome.out.startswith("engine ")
        if line is not None:
            sent = 'mybot sent an illegal move "0" at ply 3'
            assert outcome.err.splitlines()[-1].startswith(f"arena: {line}{sent}")

    def test_a_decided_match_is_finished(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        arguments = ("--sprt", "--elo1", "2000", "--alpha", "0.4", "--beta", "0.4", "--json")
        outcome = self.end(monkeypatch, folder, *arguments, ended="aborted", total=6)
        assert outcome.code == 0
        assert json.loads(outcome.out)["verdict"] == "better"
        assert "stopping" not in outcome.err
        assert outcome.err.splitlines()[-1].endswith(", LLR +0.67 (-0.41 to 0.41)")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("./no-such-bot", "dummy"), "match: no program './no-such-bot' here or on the path"),
        (
            ("mybot.py", "dummy"),
            "match: no program 'mybot.py' on the path; for the file here: write python mybot.py",
        ),
        (
            ("./mybot.py --fast", "dummy"),
            "match: './mybot.py' has no permission to run: write python ./mybot.py",
        ),
        (("python 'x", "dummy"), 'match: "python \'x": no closing quotation'),
        (("python x.py", "dmumy"), "no engine 'dmumy' for insertion"),
        (
            ("python x.py", "dummy", "--option", "seats=3"),
            "match: expected 3 players for 3 seats, got 2",
        ),
        (
            ("greedy", "dummy", "random", "--on", "local:2"),
            "match: expected 2 players for 2 seats with --on, got 3; arena tournament plays a round-robin",
        ),
        (
            ("greedy", "dummy", "--concurrency", "0"),
            "'--concurrency': Input should be greater than or equal to 1",
        ),
        (("greedy", "dummy", "--sprt", "--elo0", "60"), "--elo0: expected less than --elo1, 50, got 60"),
        (("greedy", "dummy", "--elo1", "9"), "--elo1: expected with --sprt, whose test it describes"),
        (("greedy", "dummy", "--margin", "0.1"), "--margin: expected with --sprt, whose test it describes"),
        (
            ("greedy", "dummy", "--sprt", "--margin", "0.1", "--elo0", "5"),
            "--elo0: with --margin --sprt tests a lead in points, not a difference of Elo; leave it out",
        ),
        (
            ("greedy", "dummy", "random", "--sprt", "--elo1", "9", "--option", "seats=3"),
            "--elo1: with 3 players --sprt tests a lead in points, not a difference of Elo; leave it out",
        ),
        (("python x.py", "dummy", "--env", "DEPTH 3"), "--env: expected NAME=VALUE or NAME, got 'DEPTH 3'"),
        (
            ("greedy", "dummy", "--env", "DEPTH=3"),
            "--env: expected with a program; engines have parameters, as in champion:depth=5",
        ),
        (("python x.py", "dummy", "--clock", "soon"), "--clock: expected a duration such as"),
    ],
)
def test_wrong_input_is_one_line(folder: Path, arguments: tuple[str, ...], line: str) -> None:
    outcome = inside("match", *arguments, cwd=folder)
    assert outcome.code == 2
    assert line in outcome.line
