"""Each bot is started in its place; packages add places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena_cli.tournament import bots_to_start
from arena_protocol.plugins import PluginError
from arena_server.errors import ConfigError
from arena_server.places.base import LocalBot
from arena_server.places.launchers import LAUNCHERS, Place, launcher_of
from arena_server.terms.file import load_contest

from ...plugged import install, plugged

PACKAGE = """
from contextlib import asynccontextmanager

happened = []

class There:
    def __init__(self, place):
        self.place = place

    async def start(self, bot):
        happened.append(("start", bot.name, *bot.command_line(self.place.host, self.place.port)))
        return "running"

@asynccontextmanager
async def there(place):
    happened.append(("open", place.contest))
    yield There(place)
    happened.append(("close", place.contest))

number = 3
"""
FILE = """
[contest]
name = "trial"
games_per_pair = 2
[game]
plies = 6
[[bot]]
name = "far"
command = ["host1", "./bot", "{{port}}"]
launcher = "{launcher}"
concurrency = 2
[[bot]]
name = "near"
engine = "dummy"
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path) -> Iterator[None]:
    """A package with a launcher, and one that cannot be used."""
    (tmp_path / "therepack.py").write_text(PACKAGE)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "there-pack"\nversion = "1"\n[project.entry-points."arena.launchers"]\n'
        'there = "therepack:there"\nnumber = "therepack:number"\n'
    )
    install(tmp_path, tmp_path / "pyproject.toml")
    with plugged(tmp_path):
        yield


def contest(folder: Path, launcher: str) -> list[LocalBot]:
    path = folder / "contest.toml"
    path.write_text(FILE.format(launcher=launcher))
    return bots_to_start(load_contest(path), path)


@pytest.mark.asyncio
async def test_a_bot_is_started_by_the_launcher_that_it_names(tmp_path: Path) -> None:
    far, second, near = contest(tmp_path, "there")
    assert (far.launcher, second.slot, near.launcher) == ("there", 2, "")
    async with launcher_of([far, second, near], Place("127.0.0.1", 2006, "trial")) as launcher:
        running: object = await launcher.start(far)
        assert running == "running"
    happened = __import__("therepack").happened
    assert happened == [("open", "trial"), ("start", "far", "host1", "./bot", "2006"), ("close", "trial")]


@pytest.mark.asyncio
async def test_a_place_is_opened_for_a_bot_alone(tmp_path: Path) -> None:
    async with launcher_of([LocalBot("near", ["true"], "t")], Place("127.0.0.1", 2006, "trial")):
        pass
    assert list(LAUNCHERS) == ["there"]
    assert __import__("therepack").happened == []


def test_a_launcher_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        contest(tmp_path, "ssh")
    path = tmp_path / "contest.toml"
    assert str(refused.value) == (
        f"{path}: bot 1: launcher: expected one of an installed package (there), got 'ssh'"
    )
    with pytest.raises(PluginError, match=r"^arena.launchers: number = .*: 3 is no function; expected "):
        contest(tmp_path, "number")


@pytest.mark.parametrize("beside", ['image = "bots/far"', 'engine = "dummy"'])
def test_a_launcher_starts_a_command(tmp_path: Path, beside: str) -> None:
    path = tmp_path / "contest.toml"
    path.write_text(FILE.format(launcher="there").replace('command = ["host1", "./bot", "{port}"]', beside))
    with pytest.raises(ConfigError, match="launcher: expected command beside it, and neither"):
        load_contest(path)
