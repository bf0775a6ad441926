"""The run of a tournament with servers of a few lines: every way in which one may fail."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena_server.errors import FAILED, MISUSED, ArenaError
from arena_server.tournament import supervisor
from arena_server.tournament.supervisor import (
    INHERITED,
    BotError,
    GameQuestions,
    LocalBot,
    ProgressListener,
    RestartingBot,
    Tournament,
    interrupt_event,
)

pytestmark = [pytest.mark.asyncio, pytest.mark.real]

LISTEN = "print('listening on 127.0.0.1:1', flush=True); "


class Recorder(ProgressListener):
    """A ProgressListener that keeps what it gets."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []
        self.said: list[str] = []
        self.addresses: list[str] = []

    def listening(self, address: str) -> None:
        self.addresses.append(address)

    def report(self, progress: dict[str, Any]) -> None:
        self.reports.append(progress)

    def say(self, line: str) -> None:
        self.said.append(line)


async def run_it(tournament: Tournament, listener: ProgressListener) -> bool:
    return await supervisor.run(tournament, listener, interrupt_event())


def server(code: str, bots: Sequence[LocalBot] = (), logs: Path | None = None) -> Tournament:
    """A tournament whose server is this Python program."""
    return Tournament([sys.executable, "-c", code], dict(os.environ), bots, logs)


async def failure(code: str) -> str:
    with pytest.raises(ArenaError) as caught:
        await run_it(server(code), Recorder())
    return str(caught.value)


async def test_reports_are_passed_on_and_the_end_is_the_servers() -> None:
    recorder = Recorder()
    assert await run_it(
        server(LISTEN + "print('{\"done\": 1}'); print('no json'); print('{\"done\": 2}')"), recorder
    )
    assert recorder.reports == [{"done": 1}, {"done": 2}]


async def test_a_server_that_keeps_its_page_is_stopped_by_the_interrupt() -> None:
    """That is no early end, and its bots are not started again."""
    kept: list[str] = []

    class Keeper(Recorder):
        def page_kept(self) -> None:
            kept.append("kept")
            os.kill(os.getpid(), signal.SIGINT)

    code = LISTEN + """print('{"page": "kept"}', flush=True); import signal; """
    code += "signal.signal(signal.SIGTERM, lambda *_: exit(0)); signal.pause()"
    recorder = Keeper()
    assert await run_it(server(code), recorder)
    assert (kept, recorder.said) == (["kept"], [])


async def test_a_server_that_fails_before_it_listens_is_quoted() -> None:
    code = "import sys; print('log', file=sys.stderr); sys.exit('arena: the port is in use')"
    assert await failure(code) == "the port is in use"


async def test_a_server_that_fails_later_is_quoted() -> None:
    assert await failure(LISTEN + "import sys; sys.exit('arena: the disk is full')") == "the disk is full"


async def test_a_server_that_fails_without_output() -> None:
    assert await failure("import sys; sys.exit(3)") == "the server ended with status 3"


@pytest.mark.parametrize("status", [FAILED, MISUSED])
async def test_a_server_that_fails_gives_its_status(status: int) -> None:
    with pytest.raises(ArenaError, match=r"^no$") as caught:
        await run_it(
            server(f"import sys; print('arena: no', file=sys.stderr); sys.exit({status})"), Recorder()
        )
    assert caught.value.exit_code == status


async def test_a_server_that_never_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "START_S", 0.3)
    assert await failure("import signal; signal.pause()") == "the server did not listen within 0 s"


async def test_a_server_that_does_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "STOP_S", 0.3)
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    code += LISTEN + "print('{\"done\": 1}', flush=True); signal.pause()"
    recorder = Recorder()

    def interrupt(_: dict[str, Any]) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    recorder.report = interrupt  # type: ignore[assignment, method-assign]
    with pytest.raises(ArenaError, match=r"^the server did not stop within 0 s and was killed$"):
        await run_it(server(code), recorder)


def stopped_early(answer: str) -> str:
    """A server that has its tournament interrupted before it listens; `answer` is what SIGTERM does to it."""
    return (
        f"import os, signal, sys; signal.signal(signal.SIGTERM, {answer}); "
        "os.kill(os.getppid(), signal.SIGINT); signal.pause()"
    )


@pytest.mark.parametrize("answer", ["lambda *_: sys.exit(0)", "lambda *_: sys.exit(130)", "signal.SIG_DFL"])
async def test_a_server_that_is_stopped_early_before_it_listens(answer: str) -> None:
    """These statuses are the end that was asked for, not a failure."""
    recorder = Recorder()
    assert not await run_it(server(stopped_early(answer)), recorder)
    assert recorder.said == ["stopping: running games are void, results so far are kept"]


async def test_a_server_that_fails_while_it_is_stopped_early_is_quoted() -> None:
    assert (
        await failure(stopped_early("lambda *_: sys.exit('arena: the disk is full')")) == "the disk is full"
    )


async def test_bots_get_the_address_and_their_token(tmp_path: Path) -> None:
    """The server copies what the bot writes, which it has from command line and environment."""
    said = tmp_path / "said"
    bot = LocalBot(
        "mine",
        [
            sys.executable,
            "-c",
            "import os, sys; open(sys.argv[1], 'w').write(' '.join([*sys.argv[2:], os.environ['ARENA_HOST'], "
            "os.environ['ARENA_PORT'], os.environ['ARENA_NAME'], os.environ['ARENA_TOKEN']]))",
            str(said),
            "{host}:{port}",
            "--name={name}",
            "{token}",
        ],
        "s3cret",
    )
    await run_it(
        server(
            LISTEN + f"import os\nos.mkfifo({str(said)!r}); open({str(said)!r} + '.copy', 'w')"
            f".write(open({str(said)!r}).read())",
            [bot],
        ),
        Recorder(),
    )
    copy = Path(f"{said}.copy").read_text()
    assert copy == "127.0.0.1:1 --name=mine s3cret 127.0.0.1 1 mine s3cret"


class Games(GameQuestions):
    """Answers by itself: the game of each crash in turn; every abandoned game is over at once."""

    def __init__(self, *games: str) -> None:
        super().__init__(self._answer)
        self._games = list(games)
        self.abandoned: list[str] = []

    def _answer(self, line: bytes) -> None:
        question = json.loads(line)
        if "abandoned" in question:
            self.abandoned.append(question["game"])
            self.answered(question["abandoned"], question["slot"], None)
        else:
            self.answered(question["crashed"], question["slot"], self._games.pop(0) if self._games else None)


def running(
    bot: LocalBot, say: Callable[[str], None] = lambda _: None, games: GameQuestions | None = None
) -> RestartingBot:
    return RestartingBot(bot, "127.0.0.1", 1, None, say, games or Games())


def python(name: str, code: str) -> LocalBot:
    return LocalBot(name, [sys.executable, "-c", code], "token")


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("print('hello'); import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("pass", "it ended with status 0 before it logged in"),
        ("import os; os.kill(os.getpid(), 9)", "it ended by signal 9 before it logged in"),
    ],
)
async def test_a_bot_that_ends_without_a_log_in_cannot_start(
    monkeypatch: pytest.MonkeyPatch, code: str, line: str
) -> None:
    monkeypatch.setattr(supervisor, "RESTARTS_S", (0.0,))
    monkeypatch.setattr(supervisor, "REPORT_S", 0.0)
    with pytest.raises(BotError) as caught:
        await running(python("ghost", code)).run()
    assert str(caught.value) == f"bot ghost cannot start: {line}"
    assert caught.value.exit_code == FAILED


@pytest.mark.parametrize(
    ("script", "mode", "reason"),
    [
        (None, 0, "No such file or directory"),
        ("#!/no/such/python\n", 0o700, "the interpreter that its first line names does not exist"),
        ("print(1)\n", 0o700, "not a program: its first line names no interpreter (#!)"),
        ("#!/bin/sh\n", 0o600, "Permission denied"),
    ],
)
async def test_a_program_that_cannot_be_executed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str | None, mode: int, reason: str
) -> None:
    monkeypatch.setattr(supervisor, "RESTARTS_S", (0.0,))
    monkeypatch.setattr(supervisor, "REPORT_S", 0.0)
    program = tmp_path / "bot"
    if script is not None:
        program.write_text(script)
        program.chmod(mode)
    with pytest.raises(BotError) as caught:
        await running(LocalBot("ghost", [str(program)], "token")).run()
    assert str(caught.value) == f"bot ghost cannot start: {program}: {reason}"


async def test_a_bot_that_cannot_start_stops_the_tournament() -> None:
    """The server gets SIGTERM, and its own status is not an error."""
    code = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); "
    recorder = Recorder()
    with pytest.raises(BotError, match=r"^bot b cannot start: SyntaxError: "):
        await run_it(server(code + LISTEN + "signal.pause()", [python("b", "1 +")]), recorder)
    assert recorder.addresses == ["127.0.0.1:1"]


async def test_a_bot_that_crashes_after_its_log_in_is_started_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It crashes twice, its third process waits; the server ends when that one runs."""
    monkeypatch.setattr(supervisor, "RESTARTS_S", (0.0,))
    monkeypatch.setattr(supervisor, "LEAVE_S", 0.0)
    lives = tmp_path / "lives"
    os.mkfifo(tmp_path / "third")
    bot = python(
        "b",
        f"import signal, sys; lives = open({str(lives)!r}, 'a+'); lives.write('x'); lives.flush(); "
        f"lives.seek(0); n = len(lives.read()); n < 3 and sys.exit(f'boom {{n}}'); "
        f"open({str(tmp_path / 'third')!r}, 'w').close(); signal.pause()",
    )
    recorder = Recorder()
    code = (
        LISTEN
        + 'print(\'{"login": "b", "slot": 1}\', flush=True); '
        + f"open({str(tmp_path / 'third')!r}).read()"
    )
    assert await run_it(server(code, [bot]), recorder)
    assert recorder.reports == []
    assert recorder.said == [
        "bot b ended with status 1; starting it again",
        "  b: boom 1",
        "bot b ended with status 1; starting it again",
        "  b: boom 2",
    ]


class TestCrashes:
    """A bot that logged in, and whose processes crash by one cause after the other."""

    @pytest.fixture(autouse=True)
    def no_waiting(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(supervisor, "RESTARTS_S", (0.0,))
        monkeypatch.setattr(supervisor, "LEAVE_S", 0.0)

    async def said(self, folder: Path, causes: str, games: Games) -> list[str]:
        """What is said of the crashes, a letter each; the contest is over with the last."""
        (folder / "causes").write_text(causes)
        code = (
            f"import os; os.chdir({str(folder)!r}); causes = open('causes').read()\n"
            "open('causes', 'w').write(causes[1:])\n"
            "def choose(): raise KeyError(causes[0], object())\n"
            "choose()"
        )
        said: list[str] = []

        def say(line: str) -> None:
            said.append(line)
            if sum(each.startswith("bot ") for each in said) == len(causes):
                bot.contest_over()

        bot = running(python("b", code), say, games)
        bot.logged_in.set()
        await bot.run()
        return said

    async def test_the_traceback_is_printed_once_and_from_its_beginning(self, tmp_path: Path) -> None:
        said = await self.said(tmp_path, "xxyx", Games())
        traces = [line for line in said if line.startswith("  b: ")]
        assert [line for line in said if line.startswith("bot ")] == [
            "bot b ended with status 1; starting it again"
        ] * 4
        assert traces[:2] == [
            "  b: Traceback (most recent call last):",
            '  b:   File "<string>", line 4, in <module>',
        ]
        assert [line[:20] for line in traces if "Error" in line] == [
            "  b: KeyError: ('x',",
            "  b: KeyError: ('y',",
        ]

    async def test_after_two_equal_crashes_in_a_game_it_waits_for_the_next(self, tmp_path: Path) -> None:
        games = Games("g1", "g1", "g2", "g2")
        said = await self.said(tmp_path, "xxxx", games)
        assert [line for line in said if line.startswith("bot ")] == [
            "bot b ended with status 1; starting it again",
            "bot b ended with status 1 again; starting it again when g1 is over",
            "bot b ended with status 1; starting it again",
            "bot b ended with status 1 again; starting it again when g2 is over",
        ]
        assert games.abandoned[0] == "g1"

    @pytest.mark.parametrize(
        ("causes", "games"),
        [("xyxy", ("g1",) * 4), ("xx", ("g1", "g2")), ("xxx", ()), ("xyx", ("g1", "g1", "g1"))],
    )
    async def test_other_crashes_have_it_back_in_its_game(
        self, tmp_path: Path, causes: str, games: tuple[str, ...]
    ) -> None:
        answers = Games(*games)
        said = await self.said(tmp_path, causes, answers)
        assert answers.abandoned == []
        assert sum(line == "bot b ended with status 1; starting it again" for line in said) == len(causes)

    async def test_a_server_that_does_not_answer_delays_no_restart(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(supervisor, "REPORT_S", 0.0)
        games = Games()
        monkeypatch.setattr(games, "_write", lambda line: None)
        assert len(await self.said(tmp_path, "xy", games)) > 2


async def test_a_bot_inherits_only_a_list_of_variables() -> None:
    own = {"PATH": "/bin", "HOME": "/home/o", "ARENA_ADMIN_TOKEN": "secret", "PGPASSWORD": "secret"}
    assert LocalBot("a", ["true"], "t0ken").environment("::1", 2006, own) == {
        "PATH": "/bin",
        "HOME": "/home/o",
        "ARENA_HOST": "::1",
        "ARENA_PORT": "2006",
        "ARENA_NAME": "a",
        "ARENA_TOKEN": "t0ken",
    }


async def test_a_bot_process_has_only_that_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", "secret")
    seen = tmp_path / "seen"
    code = f"import os; open({str(seen)!r}, 'w').write(' '.join(os.environ))"
    bot = running(python("b", code))
    bot.contest_over()
    await bot.run()
    names = set(seen.read_text().split())
    assert names - {"LC_CTYPE"} <= {*INHERITED, "ARENA_HOST", "ARENA_PORT", "ARENA_NAME", "ARENA_TOKEN"}
    assert {"PATH", "ARENA_TOKEN"} <= names


@pytest.mark.parametrize(("host", "reached"), [("0.0.0.0", "127.0.0.1"), ("[::]", "::1"), ("[::1]", "::1")])
async def test_a_server_that_listens_everywhere_is_reached_here(
    host: str, reached: str, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    bot = LocalBot("a", [sys.executable, "-c", f"open({str(seen)!r}, 'w').write('{{host}}')"], "t")
    code = (
        f"import os, select; os.mkfifo({str(seen)!r}); print('listening on {host}:1', flush=True); "
        f"open({str(seen)!r} + '.copy', 'w').write(open({str(seen)!r}).read())"
    )
    await run_it(server(code, [bot]), Recorder())
    assert Path(f"{seen}.copy").read_text() == reached


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit('no attribute')", ["bot b ended with status 1", "  b: no attribute"]),
        ("print('bye')", []),
    ],
)
async def test_a_bot_that_crashes_as_the_contest_ends_is_quoted_all_the_same(
    code: str, said: list[str]
) -> None:
    """The crash may be why the contest ended, so its author needs the output."""
    recorder = Recorder()
    bot = running(python("b", code), recorder.say)
    bot.contest_over()
    await bot.run()
    assert recorder.said == said
