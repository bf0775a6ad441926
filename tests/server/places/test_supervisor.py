"""The run of a tournament with servers of a few lines: every way in which one may fail."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from arena_server.errors import FAILED, MISUSED, ArenaError
from arena_server.places import restarts, supervisor
from arena_server.places.base import BotError, LocalBot
from arena_server.places.process import Child
from arena_server.places.supervisor import (
    PipedGames,
    ProgressListener,
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


@pytest.mark.soak
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


@pytest.mark.soak
async def test_a_server_that_fails_later_is_quoted() -> None:
    assert await failure(LISTEN + "import sys; sys.exit('arena: the disk is full')") == "the disk is full"


@pytest.mark.soak
async def test_a_server_that_fails_without_output() -> None:
    assert await failure("import sys; sys.exit(3)") == "the server ended with status 3"


@pytest.mark.soak
async def test_a_server_that_is_killed_is_not_quoted() -> None:
    """Its last line is one of its log, and the contest is not lost."""
    code = "import os, sys; print('game=g7', file=sys.stderr, flush=True); os.kill(os.getpid(), 9)"
    expected = "the server was killed (SIGKILL); all results are kept, and --resume continues the contest"
    assert await failure(LISTEN + code) == await failure(code) == expected


@pytest.mark.parametrize("status", [FAILED, MISUSED])
@pytest.mark.soak
async def test_a_server_that_fails_gives_its_status(status: int) -> None:
    with pytest.raises(ArenaError, match=r"^no$") as caught:
        await run_it(
            server(f"import sys; print('arena: no', file=sys.stderr); sys.exit({status})"), Recorder()
        )
    assert caught.value.exit_code == status


@pytest.mark.soak
async def test_a_server_that_never_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "START_S", 0.3)
    assert await failure("import signal; signal.pause()") == "the server did not listen within 0 s"


@pytest.mark.soak
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
@pytest.mark.soak
async def test_a_server_that_is_stopped_early_before_it_listens(answer: str) -> None:
    """These statuses are the end that was asked for, not a failure."""
    recorder = Recorder()
    assert not await run_it(server(stopped_early(answer)), recorder)
    assert recorder.said == ["stopping: results are kept, and running games go on with --resume"]


@pytest.mark.soak
async def test_a_server_that_fails_while_it_is_stopped_early_is_quoted() -> None:
    assert (
        await failure(stopped_early("lambda *_: sys.exit('arena: the disk is full')")) == "the disk is full"
    )


@pytest.mark.soak
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


def python(name: str, code: str) -> LocalBot:
    return LocalBot(name, [sys.executable, "-c", code], "token")


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
    monkeypatch.setattr(restarts, "RESTARTS_S", (0.0,))
    monkeypatch.setattr(restarts, "LEAVE_S", 0.0)
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
        # In one piece: it has logged in before it is started.
        'print(\'listening on 127.0.0.1:1\\n{"login": "b", "slot": 1}\', flush=True); '
        f"open({str(tmp_path / 'third')!r}).read()"
    )
    assert await run_it(server(code, [bot]), recorder)
    assert recorder.reports == []
    assert recorder.said == [
        "bot b ended with status 1; starting it again",
        "  b: boom 1",
        "bot b ended with status 1; starting it again",
        "  b: boom 2",
    ]


@pytest.mark.soak
async def test_a_bot_that_ends_after_the_contest_is_not_started_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The server says that the contest is over, and ends a while after the bot."""
    monkeypatch.setattr(restarts, "RESTARTS_S", (0.0,))
    monkeypatch.setattr(restarts, "REPORT_S", 0.0)
    os.mkfifo(tmp_path / "over")
    bot = python("b", f"open({str(tmp_path / 'over')!r}).read()")
    recorder = Recorder()
    code = (
        'print(\'listening on 127.0.0.1:1\\n{"login": "b", "slot": 1}\\n{"done": 1, "ended": "finished"}\', '
        f"flush=True); open({str(tmp_path / 'over')!r}, 'w').close(); import time; time.sleep(0.3)"
    )
    assert await run_it(server(code, [bot]), recorder)
    assert (len(recorder.reports), recorder.said) == (1, [])


@pytest.mark.parametrize(("host", "reached"), [("0.0.0.0", "127.0.0.1"), ("[::]", "::1"), ("[::1]", "::1")])
@pytest.mark.soak
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


async def test_questions_about_games_are_lines_and_only_the_last_one_is_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    written: list[bytes] = []
    games = PipedGames(written.append)
    asked = asyncio.create_task(games.game_of("ann", 2))
    await asyncio.sleep(0)
    games.answered("bob", 2, "g1")
    games.answered("ann", 2, "g7")
    games.answered("ann", 2, "g8")
    assert await asked == "g7"
    left = asyncio.create_task(games.abandon("ann", 2, "g7", ""))
    await asyncio.sleep(0)
    assert not left.done()
    games.answered("ann", 2, None)
    await left
    assert [json.loads(line) for line in written] == [
        {"crashed": "ann", "slot": 2},
        {"abandoned": "ann", "slot": 2, "game": "g7", "exceeded": ""},
    ]
    # Nothing is written to a server that has ended.
    ended = await Child.start(["true"], dict(os.environ), stdin=asyncio.subprocess.PIPE)
    await ended.wait()
    for _ in range(10):
        supervisor._tell(ended, b"{}\n")
    assert caplog.text == ""
