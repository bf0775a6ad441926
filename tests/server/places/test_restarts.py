"""Bots that crash, and are started again or not."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena_server.errors import FAILED
from arena_server.places import restarts
from arena_server.places.base import (
    INHERITED,
    BotEnded,
    BotError,
    LocalBot,
    Running,
)
from arena_server.places.process import ProcessLauncher
from arena_server.places.restarts import BotGroup, RestartingBot

pytestmark = pytest.mark.asyncio


class Games:
    """The game of each crash in turn; every abandoned game is over at once."""

    def __init__(self, *games: str) -> None:
        self._games = list(games)
        self.abandoned: list[str] = []

    async def game_of(self, name: str, slot: int) -> str | None:
        return self._games.pop(0) if self._games else None

    async def abandon(self, name: str, slot: int, game: str, exceeded: str) -> None:
        self.abandoned.append(f"{game} {exceeded}".strip())


class Limited:
    """Starts programs that a limit stops at once (`base.Launcher` and `base.Running`)."""

    async def start(self, bot: LocalBot) -> Running:
        return self

    async def wait(self) -> BotEnded:
        return BotEnded(137, "it was too large", (), (), "too much")

    async def end(self) -> None:
        pass

    async def set_frozen(self, frozen: bool) -> None:
        pass

    async def cpu_time(self) -> None:
        pass


class SilentGames(Games):
    """Never answers."""

    async def game_of(self, name: str, slot: int) -> str | None:
        await asyncio.Event().wait()
        return None


def running(
    bot: LocalBot, say: Callable[[str], None] = lambda _: None, games: Games | None = None
) -> RestartingBot:
    return RestartingBot(bot, ProcessLauncher("127.0.0.1", 1), games or Games(), say)


def python(name: str, code: str) -> LocalBot:
    return LocalBot(name, [sys.executable, "-c", code], "token")


@pytest.mark.real
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
    monkeypatch.setattr(restarts, "RESTARTS_S", (0.0,))
    monkeypatch.setattr(restarts, "REPORT_S", 0.0)
    with pytest.raises(BotError) as caught:
        await running(python("ghost", code)).run()
    assert str(caught.value) == f"bot ghost cannot start: {line}"
    assert caught.value.exit_code == FAILED


@pytest.mark.real
@pytest.mark.parametrize(
    ("script", "mode", "reason"),
    [
        (None, 0, "No such file or directory"),
        ("#!/no/such/python\n", 0o700, "the interpreter that its first line names does not exist"),
        ("print(1)\n", 0o700, "not a program: its first line names no interpreter (#!)"),
        ("#!/bin/sh\n", 0o600, "Permission denied"),
    ],
)
@pytest.mark.soak
async def test_a_program_that_cannot_be_executed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str | None, mode: int, reason: str
) -> None:
    monkeypatch.setattr(restarts, "RESTARTS_S", (0.0,))
    monkeypatch.setattr(restarts, "REPORT_S", 0.0)
    program = tmp_path / "bot"
    if script is not None:
        program.write_text(script)
        program.chmod(mode)
    with pytest.raises(BotError) as caught:
        await running(LocalBot("ghost", [str(program)], "token")).run()
    assert str(caught.value) == f"bot ghost cannot start: {program}: {reason}"


class TestCrashes:
    """A bot that logged in, and whose processes crash by one cause after the other."""

    @pytest.fixture(autouse=True)
    def no_waiting(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(restarts, "RESTARTS_S", (0.0,))
        monkeypatch.setattr(restarts, "LEAVE_S", 0.0)

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

    @pytest.mark.real
    @pytest.mark.soak
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
        assert [line[:20] for line in traces if line.startswith("  b: KeyError")] == [
            "  b: KeyError: ('x',",
            "  b: KeyError: ('y',",
        ]

    @pytest.mark.real
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

    @pytest.mark.real
    @pytest.mark.parametrize(
        ("causes", "games"),
        [("xyxy", ("g1",) * 4), ("xx", ("g1", "g2")), ("xxx", ()), ("xyx", ("g1", "g1", "g1"))],
    )
    @pytest.mark.soak
    async def test_other_crashes_have_it_back_in_its_game(
        self, tmp_path: Path, causes: str, games: tuple[str, ...]
    ) -> None:
        answers = Games(*games)
        said = await self.said(tmp_path, causes, answers)
        assert answers.abandoned == []
        assert sum(line == "bot b ended with status 1; starting it again" for line in said) == len(causes)

    async def test_after_a_crash_by_a_limit_it_waits_for_the_next_game_at_once(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(restarts, "RESTARTS_S", (0.0,))
        games, said = Games("g1", "g2"), list[str]()
        large = RestartingBot(python("b", ""), Limited(), games, said.append)
        large.logged_in.set()
        running = asyncio.ensure_future(large.run())
        while len(games.abandoned) < 2:
            await asyncio.sleep(0)
        large.contest_over()
        await running
        assert games.abandoned[:2] == ["g1 too much", "g2 too much"]
        assert said[0] == "bot b ended with status 137; starting it again when g1 is over"

    @pytest.mark.real
    @pytest.mark.soak
    async def test_a_server_that_does_not_answer_delays_no_restart(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(restarts, "REPORT_S", 0.0)
        assert len(await self.said(tmp_path, "xy", SilentGames())) > 2


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


async def test_the_variables_of_a_bot_do_not_hide_those_of_the_referee() -> None:
    bot = LocalBot("a", ["true"], "t0ken", variables={"DEPTH": "3", "PATH": "/mine", "ARENA_NAME": "b"})
    own = bot.environment("::1", 2006, {"PATH": "/bin", "DEPTH": "9"})
    assert (own["DEPTH"], own["PATH"], own["ARENA_NAME"]) == ("3", "/mine", "a")


async def test_the_token_of_a_slot_names_it() -> None:
    bot = LocalBot("a", ["bot", "{token}", "{slot}"], "t0ken", slot=2)
    own = bot.environment("::1", 2006, {})
    assert (own["ARENA_SLOT"], own["ARENA_TOKEN"]) == ("2", "t0ken.2")
    assert bot.command_line("::1", 2006) == ["bot", "t0ken.2", "2"]


@pytest.mark.real
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


@pytest.mark.real
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit('no attribute')", ["bot b ended with status 1", "  b: no attribute"]),
        ("print('bye')", []),
    ],
)
@pytest.mark.soak
async def test_a_bot_that_crashes_as_the_contest_ends_is_quoted_all_the_same(
    code: str, said: list[str]
) -> None:
    """The crash may be why the contest ended, so its author needs the output."""
    lines: list[str] = []
    bot = running(python("b", code), lines.append)
    bot.contest_over()
    await bot.run()
    assert lines == said


class Hanging:
    """Starts programs that do nothing (`base.Launcher` and `base.Running`), and notes it."""

    def __init__(self) -> None:
        self.log: asyncio.Queue[str] = asyncio.Queue()

    async def start(self, bot: LocalBot) -> Running:
        self.log.put_nowait("start")
        return self

    async def wait(self) -> BotEnded:
        await asyncio.Event().wait()
        raise AssertionError

    async def end(self) -> None:
        self.log.put_nowait("end")

    async def set_frozen(self, frozen: bool) -> None:
        pass

    async def cpu_time(self) -> None:
        pass


async def test_a_bot_that_is_silent_is_ended_and_started_again_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(restarts, "LEAVE_S", 0)
    launcher, said = Hanging(), list[str]()
    group = BotGroup([LocalBot("mine", [], ""), LocalBot("mine", [], "", 2)], launcher, Games(), said.append)
    serving: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    playing = asyncio.ensure_future(group.run_beside(serving, lambda: None))
    seen = [await launcher.log.get() for _ in range(2)]
    group.silent("mine", 2, "g7")
    group.silent("other", 1, "g7")
    seen += [await launcher.log.get() for _ in range(2)]
    assert seen == ["start", "start", "end", "start"]
    assert said == ["bot mine slot 2 does not answer since g7; starting it again"]
    group.contest_over()
    serving.set_result(0)
    assert await playing == 0
