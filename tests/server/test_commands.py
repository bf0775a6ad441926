"""The commands that read results, as a person types them: what they print, refuse and how they exit."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena_client.bot import Bot
from arena_engines.engine import EngineError
from arena_protocol.messages import VERSION
from arena_protocol.record import FaultRecord, PlyRecord, decode
from arena_server import cli
from arena_server.cli import main, replay, spoken

from .programs import ARENA, Outcome, Players, Server, arena, contest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of a contest of three bots, one of which counts from zero."""
    folder = tmp_path_factory.mktemp("played")
    text = contest("first", "six", "zero", contest="probation = 0", game='plies = 8\nclock = "10s"')
    with Server(text, folder, "--until-finished") as server:
        Players(
            server.port, [("first", "first-legal"), ("six", "fixed:move=6"), ("zero", "zero-based")]
        ).join()
        assert server.end().code == 0
    return folder


@pytest.fixture
def here(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, to be spoilt, as the current folder."""
    shutil.copy(played / "arena.db", tmp_path / "arena.db")
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Shell:
    """Runs commands in this process, through the program's own `main`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Outcome:
        self._monkeypatch.setattr(sys, "argv", ["arena", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = self._capsys.readouterr()
        return Outcome(int(end.value.code or 0), out, err)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


def change(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / "arena.db")) as database:
        assert database.execute(statement, values).rowcount == 1
        database.commit()


class TestStandings:
    def test_for_people(self, here: Path, shell: Shell) -> None:
        outcome = shell("standings")
        assert outcome.code == 0
        assert outcome.out.startswith("trial: insertion, 6 of 6 games, scored by points, finished\n")
        assert re.search(r"^ +\d +zero .*illegal 4 *$", outcome.out, re.MULTILINE)

    def test_for_programs(self, here: Path, shell: Shell) -> None:
        told = json.loads(shell("standings", "--contest", "trial", "--json").out)
        assert told["contest"]["status"] == "finished"
        assert told["contest"]["games"] == {"played": 6, "total": 6}
        assert [row["games"] for row in told["standings"]] == [4, 4, 4]
        ranks = [row["rank"] for row in told["standings"]]
        assert ranks == sorted(ranks)
        assert ranks[0] == 1

    def test_a_contest_that_is_not_there(self, here: Path, shell: Shell) -> None:
        outcome = shell("standings", "--contest", "other")
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.line == "arena: arena.db: no contest 'other' here; there are: 1 trial"

    def test_no_database(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell) -> None:
        monkeypatch.chdir(tmp_path)
        outcome = shell("standings")
        assert outcome.code == 1
        assert (
            outcome.line
            == "arena: arena.db: no such database; has a contest been played here? Try --database"
        )


class TestVerify:
    def test_all_games_one_game_and_a_file(self, here: Path, shell: Shell) -> None:
        assert shell("verify").out == "verified: 6 games\n"
        assert shell("verify", "g3").out == "verified: 1 game\n"
        assert shell("export", "records").code == 0
        assert shell("verify", "records/g6.record").out == "verified: 1 game\n"
        told = json.loads(shell("verify", "--json").out)
        assert len(told.pop("head")) == 64
        assert told == {"games": 6, "verified": 6, "wrong": []}

    @pytest.mark.parametrize("place", [0, 1, 40, 300, -33, -32, -1])
    def test_any_changed_byte_is_refused(self, here: Path, shell: Shell, place: int) -> None:
        shell("export", "records")
        path = here / "records" / "g2.record"
        data = bytearray(path.read_bytes())
        data[place] ^= 0x01
        path.write_bytes(data)
        outcome = shell("verify", str(path))
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.line.startswith(f"arena: not verified: game {path}: damaged record: ")
        change(here, "UPDATE games SET record = ? WHERE game_id = 'g2'", bytes(data))
        outcome = shell("verify")
        assert outcome.code == 1
        assert outcome.line.startswith("arena: not verified: game g2: damaged record: ")

    @pytest.mark.parametrize(
        ("column", "value", "words"),
        [
            ("totals", "[9999, 0]", "totals: expected "),
            ("names", '["six", "six"]', "names: expected "),
            ("end", "won", "end: expected 'complete', found 'won'"),
            ("plies", 3, "plies: expected 8, found 3"),
        ],
    )
    def test_a_changed_column_is_refused_too(
        self, here: Path, shell: Shell, column: str, value: object, words: str
    ) -> None:
        change(here, f"UPDATE games SET {column} = ? WHERE game_id = 'g1'", value)
        outcome = shell("verify")
        assert outcome.code == 1
        assert outcome.line.startswith("arena: not verified: game g1, database: ")
        assert words in outcome.line

    def test_a_fault_struck_out_is_missed(self, here: Path, shell: Shell) -> None:
        change(here, "DELETE FROM faults WHERE id = (SELECT min(id) FROM faults)")
        assert ", database: faults: expected [(" in shell("verify").line

    def test_a_column_that_is_no_json(self, here: Path, shell: Shell) -> None:
        change(here, "UPDATE games SET totals = 'nonsense' WHERE game_id = 'g1'")
        outcome = shell("verify")
        assert outcome.code == 1
        assert outcome.line.startswith("arena: arena.db: the database is damaged (")

    def test_several_wrong_games_are_counted(self, here: Path, shell: Shell) -> None:
        change(here, "UPDATE games SET plies = 3 WHERE game_id = 'g1'")
        change(here, "UPDATE games SET plies = 3 WHERE game_id = 'g4'")
        outcome = shell("verify", "--json")
        assert outcome.code == 1
        assert outcome.line.endswith("(and 1 more games)")
        told = json.loads(outcome.out)
        assert (told["games"], told["verified"]) == (6, 4)
        assert [wrong["game"] for wrong in told["wrong"]] == ["g1", "g4"]

    def test_a_game_that_is_not_there(self, here: Path, shell: Shell) -> None:
        outcome = shell("verify", "g99")
        assert (outcome.code, outcome.line) == (1, "arena: arena.db: no game 'g99' in contest 1 trial")


class TestExport:
    def test_a_file_a_game_with_the_very_bytes(self, here: Path, shell: Shell) -> None:
        outcome = shell("export", "records")
        assert outcome.out.startswith("exported: 6 games of trial to records\nhead: ")
        names = sorted(path.name for path in (here / "records").glob("*.record"))
        assert names == [f"g{number}.record" for number in range(1, 7)]
        record = decode((here / "records" / "g1.record").read_bytes())
        assert (record.game_id, record.contest, len(record.plies)) == ("g1", "trial", 8)
        told = json.loads(shell("export", "records", "--json").out)
        assert told["contest"] == "trial"
        assert len(told["files"]) == 6

    def test_a_folder_that_cannot_be(self, here: Path, shell: Shell) -> None:
        (here / "taken").touch()
        outcome = shell("export", "taken")
        assert (outcome.code, outcome.line) == (1, "arena: taken: cannot be written: File exists")


class TestWhereNobodyMayWrite:
    def test_results_are_read_as_they_are(
        self, here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whoever runs the tests may write everywhere, so the system is asked on behalf of somebody else."""
        folder = here / "published results"
        folder.mkdir()
        (here / "arena.db").rename(folder / "arena.db")
        told: list[Path] = []

        def access(path: Path, _: int) -> bool:
            told.append(path)
            return path != folder

        monkeypatch.setattr("arena_server.store.probe.os.access", access)
        seen: list[list[str]] = []
        monkeypatch.setattr(
            "arena_server.cli.table.print_standings",
            lambda *_: seen.append(sorted(path.name for path in folder.iterdir())),
        )
        assert shell("standings", "--database", f"sqlite:///{folder}/arena.db").code == 0
        assert seen == [["arena.db"]], "read without any file beside it"
        assert folder in told
        assert shell("verify", "--database", f"sqlite:///{folder}/arena.db").out == "verified: 6 games\n"


class TestReplay:
    def test_in_a_pipe_all_plies_come_at_once_and_plain(self, here: Path, shell: Shell) -> None:
        outcome = shell("replay", "g1")
        assert outcome.code == 0
        assert "\x1b" not in outcome.out
        heads = [line for line in outcome.out.splitlines() if line.startswith("trial g1: ")]
        assert [head.rpartition("ply ")[2] for head in heads] == [f"{ply} of 8" for ply in range(9)]
        assert outcome.out.count("end: complete") == 1

    def test_one_ply(self, here: Path, shell: Shell) -> None:
        outcome = shell("replay", "g1", "--ply", "2")
        lines = outcome.out.splitlines()
        assert lines[0].endswith("ply 2 of 8")
        assert " plays " in lines[1]
        assert lines[3].split() == ["6", "7", "8", "9", "10"]
        board = lines[4:9]
        assert all(re.fullmatch(r"[1-5] \| [1-6.](  [1-6.]){4}  \| 1[1-5]", row) for row in board)
        assert lines[10].startswith("next   ")

    def test_a_ply_that_was_not_played(self, here: Path, shell: Shell) -> None:
        assert shell("replay", "g1", "--ply", "9").line == "arena: game g1 has 8 plies, not 9"

    def test_a_record_file_needs_no_database(self, here: Path, shell: Shell) -> None:
        shell("export", "records")
        (here / "arena.db").unlink()
        assert shell("replay", "records/g5.record", "--ply", "0").out.startswith("trial g5: ")

    def test_json_is_the_whole_record(self, here: Path, shell: Shell) -> None:
        shell("export", "records")
        for number in range(1, 7):
            record = decode((here / "records" / f"g{number}.record").read_bytes())
            told = json.loads(shell("replay", f"g{number}", "--json").out)
            assert told.keys() == set(record.__slots__)
            assert told["options"] == record.options
            assert (tuple(told["names"]), told["seed"], told["end"]) == (
                record.names,
                record.seed,
                "complete",
            )
            assert [PlyRecord(**ply | {"clock": tuple(ply["clock"]), "total": tuple(ply["total"])})
                    for ply in told["plies"]] == list(record.plies)  # fmt: skip
            assert [FaultRecord(**fault | {"line": bytes.fromhex(fault["line"])})
                    for fault in told["faults"]] == list(record.faults)  # fmt: skip
            assert tuple(told["totals"]) == record.totals

    def test_a_zombies_moves_are_marked(self, here: Path, shell: Shell) -> None:
        text = "".join(shell("replay", f"g{number}").out for number in range(1, 7))
        assert "zero plays 6, for a zombie: " in text

    def test_in_a_terminal_it_takes_its_time(
        self, here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pauses: list[float] = []
        monkeypatch.setattr(replay.time, "sleep", pauses.append)
        monkeypatch.setattr("arena_server.cli.replay.is_terminal", lambda: True)
        outcome = shell("replay", "g1", "--delay", "0.25")
        assert pauses == [0.25] * 8
        assert outcome.out.count(replay.CLEAR) == 9
        assert "\x1b[30;4" in outcome.out
        plain = shell("replay", "g1", "--no-color", "--delay", "0")
        assert "\x1b" not in plain.out
        monkeypatch.setenv("NO_COLOR", "1")
        assert "\x1b" not in shell("replay", "g1", "--delay", "0").out

    def test_a_damaged_file(self, here: Path, shell: Shell) -> None:
        (here / "x.record").write_bytes(b"what is this")
        outcome = shell("replay", "x.record")
        assert outcome.code == 1
        assert outcome.line.startswith("arena: x.record: damaged record: ")


class TestBot:
    def test_what_is_to_be_compiled_is_so_before_the_bot_logs_in(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        done: list[str] = []

        def run(*_: object, **__: object) -> str:
            done.append("logged in")
            return "finished"

        monkeypatch.setattr(
            "arena_engines.insertion.simple.Greedy.warm_up", lambda _: done.append("compiled")
        )
        monkeypatch.setattr("arena_client.asyncio_shell.run", run)
        assert shell("bot", "greedy", "--connect", "here:1", "--name", "a").out == "a leaves: finished\n"
        assert done == ["compiled", "logged in"]

    @pytest.mark.parametrize(
        ("arguments", "games"),
        [
            (["xo1970"], ["xo"]),
            (["perfect"], ["tictactoe", "disc", "lastcoin"]),
            (["perfect", "--game", "disc"], ["disc"]),
            (["random:seed=1"], ["insertion", "xo", "tictactoe", "disc", "lastcoin"]),
        ],
    )
    def test_an_engine_offers_every_game_that_it_can_play(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str], games: list[str]
    ) -> None:
        offered: list[str] = []

        def run(bot: Bot, *_: object, **__: object) -> str:
            offered.extend(bot.games)
            return "finished"

        monkeypatch.setattr("arena_client.asyncio_shell.run", run)
        assert shell("bot", *arguments, "--connect", "here:1", "--name", "a").code == 0
        assert offered == games

    @pytest.mark.parametrize(
        ("arguments", "line"),
        [
            (["dummy"], "say where to play: --connect HOST:PORT, or ARENA_HOST and ARENA_PORT set"),
            (["dummy", "--connect", "localhost"], "--connect: expected HOST:PORT, got 'localhost'"),
            (["dummy", "--connect", "localhost:0"], "--connect: expected HOST:PORT, got 'localhost:0'"),
            (["dummy", "--connect", ":2006"], "--connect: expected HOST:PORT, got ':2006'"),
        ],
    )
    def test_nowhere_to_play(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str
    ) -> None:
        monkeypatch.delenv("ARENA_HOST", raising=False)
        outcome = shell("bot", *arguments)
        assert (outcome.code, outcome.line) == (2, f"arena: {line}")

    def test_nobody_of_that_name(self, shell: Shell) -> None:
        outcome = shell("bot", "chmapion", "--connect", "localhost:2006")
        assert outcome.code == 2
        assert outcome.line.startswith("arena: no engine 'chmapion' for insertion; there are: dummy, ")

    def test_a_name_that_the_server_does_not_know(self, tmp_path: Path) -> None:
        with Server(contest("a", "b"), tmp_path) as server:
            address = f"127.0.0.1:{server.port}"
            outcome = arena("bot", "dummy", "--connect", address, "--name", "c", "--token", "x")
            assert outcome.code == 1
            assert outcome.line.startswith("arena: the server refuses c: token: ")

    def test_where_to_play_comes_from_the_environment(self, tmp_path: Path) -> None:
        with Server(contest("dummy", "b"), tmp_path, "--until-finished") as server:
            other = Players(server.port, [("b", "first-legal")])
            env = {"ARENA_HOST": "127.0.0.1", "ARENA_PORT": str(server.port)}
            outcome = arena("bot", "dummy", env=env)
            assert (outcome.code, outcome.out) == (0, "dummy leaves: finished\n")
            assert other.join() == {"b": "finished"}


class TestAnalyse:
    POSITION = "53351/34233/13552/44215/44526 61634513435625445315"

    def test_as_the_house_has_it(self, tmp_path: Path, shell: Shell) -> None:
        path = tmp_path / "positions"
        path.write_text(f"{self.POSITION}\n")
        outcome = shell(
            "analyse", "insertion", "--engine", "minimax", "--depth", "1", "--positions", str(path), "--json"
        )
        told = json.loads(outcome.out)
        (answer,) = told["positions"]
        assert 1 <= answer["move"] <= 15
        assert len(answer["eval"]) == 3
        assert answer["nodes"] >= 1
        assert told["seconds"] >= 0
        assert shell("analyse", "insertion", "--depth", "1", "--positions", str(path)).code == 0

    def test_a_bad_line_is_named(self, tmp_path: Path, shell: Shell) -> None:
        path = tmp_path / "positions"
        path.write_text("nonsense\n")
        outcome = shell("analyse", "insertion", "--positions", str(path))
        assert outcome.code == 2
        assert outcome.line.startswith(f"arena: {path}:1: expected `<board> <visible sequence>`")

    def test_a_file_without_positions(self, tmp_path: Path, shell: Shell) -> None:
        path = tmp_path / "positions"
        path.write_text("# none yet\n\n")
        outcome = shell("analyse", "insertion", "--positions", str(path))
        assert outcome.code == 2
        assert outcome.line == (
            f"arena: {path}: no positions; expected a line `<board> <visible sequence>` for each"
        )

    @pytest.mark.parametrize(
        ("command", "place"),
        [
            (("analyse", "insertion", "--positions", "positions"), "arena_engines.analyse.analyse_file"),
            (("bench", "search"), "arena_engines.bench.search_bench"),
            (("match", "greedy", "dummy"), "arena_server.cli.match.games.match"),
            (("play", "insertion"), "arena_server.cli.play.play_game"),
        ],
    )
    def test_ctrl_c_ends_a_search_that_hears_no_signal_of_pythons(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], place: str
    ) -> None:
        before = signal.getsignal(signal.SIGINT)
        during: list[object] = []

        def searching(*_: object, **__: object) -> object:
            during.append(signal.getsignal(signal.SIGINT))
            raise EngineError("enough")

        monkeypatch.setattr(place, searching)
        assert shell(*command).line == "arena: enough"
        assert during == [signal.SIG_DFL]
        assert signal.getsignal(signal.SIGINT) is before


class TestTheProgram:
    def test_its_version(self, shell: Shell) -> None:
        outcome = shell("--version")
        assert outcome.code == 0
        assert re.fullmatch(rf"arena \d+\.\d+\.\d+, protocol {VERSION}\n", outcome.out)

    def test_every_command_has_help_with_an_example(self) -> None:
        from typer.main import get_command

        from arena_server.cli.app import app

        def leaves(command: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
            if not hasattr(command, "list_commands"):
                return [(path, command)]
            inner = {name: command.get_command(None, name) for name in command.list_commands(None)}
            return [leaf for name, each in inner.items() for leaf in leaves(each, (*path, name))]

        root = get_command(app)
        groups = [(), ("bench",), ("explain",)]
        for path in groups:
            group = root.get_command(None, path[0]) if path else root
            assert f"Example: arena {' '.join(path)}" in group.help, path
        shown = [(path, each) for path, each in leaves(root, ()) if not each.hidden]
        assert len(shown) >= 10
        for path, command in shown:
            assert f"Example: arena {' '.join(path)}" in command.help, path

    def test_a_command_that_is_not_there(self, shell: Shell) -> None:
        outcome = shell("sreve")
        assert (outcome.code, outcome.line) == (2, "arena: no such command 'sreve' (see arena -h)")

    @pytest.mark.parametrize(
        ("command", "line"),
        [
            (("serve",), "missing argument 'CONFIG' (see arena serve -h)"),
            (("bench", "nope"), "no such command 'nope' (see arena bench -h)"),
            (("standings", "--nope"), "no such option: --nope (see arena standings -h)"),
            (("replay", "g1", "--ply", "-1"), "invalid value for '--ply': "),
            (("serve", "c.toml", "--port", "70000"), "invalid value for '--port': "),
            (("admin",), "missing argument 'COMMAND'. Choose from: status, pause, "),
        ],
    )
    def test_a_command_line_that_cannot_be_is_one_line(
        self, shell: Shell, command: tuple[str, ...], line: str
    ) -> None:
        outcome = shell(*command)
        assert outcome.code == 2
        assert outcome.line.startswith(f"arena: {line}")
        assert outcome.line.endswith(" -h)")

    @pytest.mark.parametrize("command", [(), ("bench",), ("explain",)])
    def test_without_a_command_it_is_told_what_there_is(self, shell: Shell, command: tuple[str, ...]) -> None:
        outcome = shell(*command)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith(f"Usage: {' '.join(('arena', *command))} ")
        assert "Example: arena " in outcome.err

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
    def test_output_that_finds_no_room_is_one_line(self, here: Path) -> None:
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [*ARENA, "standings"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 1
        assert done.stderr == "arena: the output cannot be written: No space left on device\n"

    @pytest.mark.parametrize(
        ("ended", "code"),
        [(KeyboardInterrupt(), 130), (BaseExceptionGroup("trio", [KeyboardInterrupt()]), 130)],
    )
    def test_an_interrupted_command_says_nothing(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, ended: BaseException, code: int
    ) -> None:
        def command(*_: object, **__: object) -> None:
            raise ended

        monkeypatch.setattr("arena_server.cli.results.open_results", command)
        outcome = shell("standings")
        assert (outcome.code, outcome.out, outcome.err) == (code, "", "")

    def test_a_group_with_a_fault_of_ours_in_it_is_not_hushed_up(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def command(*_: object, **__: object) -> None:
            raise BaseExceptionGroup("trio", [KeyboardInterrupt(), ZeroDivisionError()])

        monkeypatch.setattr("arena_server.cli.results.open_results", command)
        monkeypatch.setattr(sys, "argv", ["arena", "standings"])
        with pytest.raises(BaseExceptionGroup, match="trio"):
            main()

    @pytest.mark.parametrize(
        ("library", "extra"),
        [("typer", "server"), ("numba", "engines"), ("trio", "trio"), ("sqlalchemy", "server")],
    )
    def test_a_missing_extra_is_one_line(self, library: str, extra: str) -> None:
        assert spoken(ModuleNotFoundError("...", name=f"{library}.inner")) == (
            f'this command needs more than is installed: pip install "insertion-arena[{extra}]"'
        )

    def test_a_missing_extra_is_seen_through_a_wrapped_error(self) -> None:
        outer = ImportError("our own words")
        outer.__cause__ = ModuleNotFoundError("...", name="trio")
        assert (
            spoken(outer) == 'this command needs more than is installed: pip install "insertion-arena[trio]"'
        )

    def test_without_its_libraries_the_program_says_which_extra_it_needs(self, tmp_path: Path) -> None:
        (tmp_path / "typer.py").write_text("raise ModuleNotFoundError('no typer', name='typer')")
        program = (
            f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from arena_server.cli import main; main()"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, "standings"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert done.stderr == (
            'arena: this command needs more than is installed: pip install "insertion-arena[server]"\n'
        )

    def test_a_fault_of_ours_is_not_hidden(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        def fault(*_: object, **__: object) -> None:
            raise RuntimeError("a bug")

        monkeypatch.setattr("arena_server.cli.app.app", fault)
        monkeypatch.setattr(sys, "argv", ["arena"])
        with pytest.raises(RuntimeError, match="a bug"):
            cli.main()

    def test_ctrl_c_ends_it_with_130(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("arena_server.cli.app.app", interrupted)
        outcome = shell()
        assert (outcome.code, outcome.err) == (130, "")

    def test_a_reader_that_has_seen_enough_hears_no_complaint(self, here: Path) -> None:
        reading = subprocess.Popen(
            [*ARENA, "replay", "g1"], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert reading.stdout is not None
        reading.stdout.close()
        assert reading.stderr is not None
        with reading.stderr:
            assert reading.stderr.read() == ""
        reading.wait()
