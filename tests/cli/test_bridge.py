"""`arena bridge` and `arena brain`: programs on stdin and stdout in a real contest, one defect each."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.server.programs import ARENA, Outcome, Players, Server, Shell, arena, contest, inside

BRAINS = Path(__file__).resolve().parents[1] / "client" / "bridges" / "brains.py"

#: A program that plays by the lines of PROTOCOL.md. With a file as argument it ends once, and creates it.
PLAIN = """
import os, sys
turns = 0
for line in sys.stdin:
    word, *fields = line.split()
    if word == "NEXT":
        print(f"READY {game}", flush=True)
    elif word == "GAME":
        game = fields[0]
    elif word == "TURN":
        turns += 1
        if turns == 2 and sys.argv[1:] and not os.path.exists(sys.argv[1]):
            open(sys.argv[1], "w").close()
            sys.exit("out of ideas")
        print("MOVE 6", flush=True)
    elif word == "OVER":
        print("a game is over", file=sys.stderr, flush=True)
"""


def play(
    folder: Path, program: list[str], *options: str, game: str = "xo", clock: str = "20s", games: int = 2
) -> tuple[Outcome, dict[str, Any]]:
    """Play `games` against the bot first-legal; return the end of the bridge and its row of the table."""
    own = f'clock = "{clock}"' + ("\nplies = 6" if game == "insertion" else "")
    table = f'game = "{game}"\ngames_per_pair = {games}\nprobation = 0'
    text = contest("mine", "rival", contest=table, game=own, seed=None)
    with Server(text, folder, "--until-finished") as server:
        players = Players(server.port, [("rival", "first-legal")])
        where = ("--connect", f"127.0.0.1:{server.port}", "--name", "mine")
        outcome = arena("bridge", *where, *options, "--", *program)
        if outcome.code != 0:
            return outcome, {}
        assert players.join() == {"rival": "finished"}
        assert server.end().code == 0
    table = json.loads(inside("standings", "--database", f"sqlite:///{server.database}", "--json").out)
    (row,) = [row for row in table["standings"] if row["bot"] == "mine"]
    return outcome, row


def brain(defect: str, *once: Path) -> list[str]:
    return [sys.executable, str(BRAINS), defect, *map(str, once)]


@pytest.mark.slow
class TestBrains:
    @pytest.mark.real
    @pytest.mark.parametrize("ending", ["cr", "crlf"])
    def test_a_brain_plays_two_games_whatever_ends_its_lines(self, tmp_path: Path, ending: str) -> None:
        done, row = play(tmp_path, brain(ending), "--piskvork")
        assert (done.code, done.out) == (0, "mine leaves: finished\n"), done.err
        assert (row["games"], row["faults"]) == (2, {})
        assert 'mine: the brain is name="Fake", version="1"' in done.err

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_brain_that_ends_in_a_game_loses_it_by_quit_and_plays_the_next(self, tmp_path: Path) -> None:
        done, row = play(tmp_path, brain("ends-at-move", tmp_path / "once"), "--piskvork")
        assert done.code == 0, done.err
        assert (row["games"], row["faults"]) == (2, {"quit": 1})
        assert "mine: the program ended by itself in game " in done.err
        assert "(exit status 3): leaving with 3" in done.err

    @pytest.mark.real
    def test_a_brain_that_fails_is_reported_and_started_again(self, tmp_path: Path) -> None:
        done, row = play(tmp_path, brain("no-coordinates", tmp_path / "once"), "--piskvork")
        assert done.code == 0, done.err
        assert (row["games"], row["faults"]) == (2, {"quit": 1})
        assert "mine: the program failed: expected X,Y, got 'resign' in game " in done.err

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_silent_brain_loses_on_time_and_is_started_again(self, tmp_path: Path) -> None:
        done, row = play(tmp_path, brain("silent"), "--piskvork", clock="1s")
        assert done.code == 0, done.err
        assert row["faults"] == {"timeout": 2}
        assert "mine: the program has not answered in this game; it is started again" in done.err

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_brain_that_ends_at_the_start_of_each_game_is_given_up_in_the_third(
        self, tmp_path: Path
    ) -> None:
        done, _ = play(tmp_path, brain("ends-at-start"), "--piskvork", games=4)
        assert done.code == 1
        assert done.err.splitlines()[-1].endswith(": leaving with 4; given up after 3 times")

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_brain_that_never_runs_is_given_up_with_its_stderr(self, tmp_path: Path) -> None:
        # It ends in the lobby or in a game, as it happens: in no game more than once.
        done, _ = play(tmp_path, brain("ends-at-once"), "--piskvork", games=4)
        assert done.code == 1
        last = done.err.splitlines()[-1]
        assert last.startswith("arena: mine: the program ended by itself")
        assert last.endswith("(exit status 7): no licence file; given up after 3 times")

    @pytest.mark.real
    @pytest.mark.soak
    def test_our_own_engine_is_a_brain(self, tmp_path: Path) -> None:
        done, row = play(tmp_path, [*ARENA, "brain", "xo1970"], "--piskvork", "--turn", "1s")
        assert done.code == 0, done.err
        assert (row["games"], row["faults"]) == (2, {})
        assert 'the brain is name="xo1970:' in done.err


@pytest.mark.slow
class TestPlainPrograms:
    @pytest.mark.real
    def test_a_program_plays_by_the_lines_of_the_protocol(self, tmp_path: Path) -> None:
        log = tmp_path / "program.log"
        program = [sys.executable, "-c", PLAIN]
        done, row = play(tmp_path, program, "--stderr", str(log), game="insertion")
        assert (done.code, done.out) == (0, "mine leaves: finished\n"), done.err
        assert (row["games"], row["faults"]) == (2, {})
        assert log.read_text().splitlines() == ["a game is over"] * 2
        assert done.err == ""

    @pytest.mark.real
    @pytest.mark.soak
    def test_a_program_that_ends_is_started_again_for_the_next_game(self, tmp_path: Path) -> None:
        program = [sys.executable, "-c", PLAIN, str(tmp_path / "once")]
        done, row = play(tmp_path, program, game="insertion")
        assert done.code == 0, done.err
        assert (row["games"], row["faults"]) == (2, {"quit": 1})
        assert "after ply 2 (exit status 1): out of ideas" in done.err


class TestErrors:
    @pytest.mark.real
    @pytest.mark.parametrize(
        ("arguments", "line"),
        [
            (["--name", "a", "--", "x"], "say where to play: --connect HOST:PORT, or ARENA_HOST"),
            (["--connect", "h:1", "--", "x"], "say who plays: --name NAME, or ARENA_NAME set"),
            (
                ["--connect", "h:1", "--name", "a", "--", "./none"],
                "cannot start ./none: No such file or directory",
            ),
            (
                ["--connect", "h:1", "--name", "a b", "--", "x"],
                "this log-in cannot be sent: HELLO: name must be",
            ),
            (
                ["--connect", "h:1", "--name", "a", "--stderr", "/", "--", "x"],
                "--stderr: /: Is a directory",
            ),
            (
                ["--connect", "h:1", "--name", "a", "--piskvork", "--turn", "soon", "--", "x"],
                "--turn: ",
            ),
        ],
    )
    def test_one_line(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str
    ) -> None:
        for key in ("ARENA_HOST", "ARENA_PORT", "ARENA_NAME"):
            monkeypatch.delenv(key, raising=False)
        done = shell("bridge", *arguments)
        assert done.code in (1, 2)
        assert done.line.startswith("arena: ")
        assert line in done.line

    def test_brain_names_the_engines_of_xo(self, shell: Shell) -> None:
        done = shell("brain", "greedy")
        assert done.code == 2
        assert done.line == "arena: no engine 'greedy' for xo; there are: random, xo1970, xo"
