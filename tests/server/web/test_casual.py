"""Games of visitors: their configuration, and processes that fail. test_casual_pages plays some."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import cast

import pytest

from arena_protocol.games import GAMES
from arena_server.config_file import config_of, parse_contest
from arena_server.core.config import LONGEST_MS, ContestConfig
from arena_server.web import casual as module
from arena_server.web import person
from arena_server.web.access import CasualSetup
from arena_server.web.casual import MOVE_MS, PERSON, CasualGames, Wish, config_text, parse_wish
from arena_server.web.person import PersonSeat, SeatError
from arena_server.web.streams import Viewer

from .test_live import FakeViewer

WISH = Wish("lastcoin", "random", clock=False, seat=1, hints=True)
OFFER = {"lastcoin": ["random"]}
HERE, THERE, ELSEWHERE = "127.0.0.1", "192.0.2.1", "192.0.2.2"
LIMIT_S = 60.0


def fake(otherwise: str) -> str:
    """A script that lists engines, and does something else for every other command."""
    return f"import sys, time\nif 'casual-offer' in sys.argv: print({json.dumps(OFFER)!r})\nelse: {otherwise}"


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize("clock", [False, True])
def test_the_file_is_a_contest_with_the_clock_of_the_server(game: str, clock: bool) -> None:
    options = {"seats": 3, "start": "empty"} if game == "insertion" else {}
    config = ContestConfig(name="x", seed=1, clock_ms=7_001, increment_ms=5, lag_quota_ms=3, byoyomi_ms=2)
    names = ["a-1", "b-2", "c-3"][: 3 if game == "insertion" else 2]
    wish = Wish(game, PERSON, clock, 1, hints=True)
    found = config_of(parse_contest(config_text("play-1", config, options, wish, names), "play.toml"))
    assert (found.name, found.game, dict(found.options)) == ("play-1", game, options)
    clocks = (found.clock_ms, found.increment_ms, found.lag_quota_ms, found.byoyomi_ms, found.move_limit_ms)
    assert clocks == ((7_001, 5, 3, 2, 0) if clock else (LONGEST_MS, 0, 0, 0, MOVE_MS))


def test_the_wish_of_a_request() -> None:
    body = {"game": "xo", "opponent": "xo", "clock": True, "seat": 2, "hints": False}
    assert parse_wish(body | {"more": 1}) == Wish("xo", "xo", True, 2, False)
    for key in body:
        with pytest.raises(SeatError, match=f"^expected {key} as a (str|bool|int), got "):
            parse_wish(body | {key: 1.5})


def games(folder: Path, script: str, limit: int = 2) -> CasualGames:
    """Started by a Python script in the place of the command arena."""
    program = folder / "arena.py"
    program.write_text(script)
    setup = CasualSetup(limit, folder / "play.db", (sys.executable, str(program)), "DIGESTS")
    return CasualGames(setup, ContestConfig(name="x", seed=1))


async def finished(started: CasualGames) -> str | None:
    """The problem that the seats show once the game is over."""
    async with asyncio.timeout(LIMIT_S):
        while any(seat.state != "finished" for seat in started.seats()):
            await asyncio.sleep(0.01)
    events = [json.loads(seat._event().partition(b"data: ")[2]) for seat in started.seats()]
    problems: set[str | None] = {event["problem"] for event in events}
    (problem,) = problems
    return problem


async def end(started: CasualGames) -> None:
    for game in started._games:
        game.end("the test is over")
    for seat in started.seats():
        await problem_of(seat)


async def problem_of(seat: PersonSeat) -> str | None:
    async with asyncio.timeout(LIMIT_S):
        while seat.state != "finished":
            await asyncio.sleep(0.01)
    return str(json.loads(seat._event().partition(b"data: ")[2])["problem"])


class TestProcesses:
    pytestmark = pytest.mark.asyncio

    @pytest.mark.real
    async def test_engines_that_cannot_be_listed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(SeatError, match=r"^the engines cannot be listed: no numpy here$"):
            await games(tmp_path, "import sys; sys.exit('no numpy here')").offer()
        monkeypatch.setattr(module, "OFFER_S", 0.0)
        with pytest.raises(SeatError, match=r"^the engines cannot be listed: it takes too long$"):
            await games(tmp_path, "import time; time.sleep(60)").offer()

    @pytest.mark.real
    async def test_a_server_that_fails(self, tmp_path: Path) -> None:
        started = games(tmp_path, fake("sys.exit('the disk is full')"))
        assert (await started.offer())["running"] == 0
        answer = await started.start(WISH, HERE)
        (link,) = answer["links"]
        assert (link["name"], len(link["key"])) == ("person-1", 32)
        assert answer["contest"].startswith("play-")
        assert (await started.offer())["running"] == 1
        assert await finished(started) == "the game cannot be played: the disk is full"
        assert (await started.offer())["running"] == 0

    @pytest.mark.real
    async def test_no_process_inherits_a_secret(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ARENA_ADMIN_TOKEN", "secret")
        monkeypatch.setenv("PGPASSWORD", "secret")
        note = "open('environment', 'a').write(str(dict(os.environ)))"
        script = f"import os\nos.chdir({str(tmp_path)!r})\n{note}\n{fake('sys.exit(1)')}"
        started = games(tmp_path, script)
        await started.start(WISH, HERE)
        await finished(started)
        seen = (tmp_path / "environment").read_text()
        assert seen.count("'PATH'") == 2, "the list of engines, and the server of the game"
        assert "DIGESTS" in seen
        assert "secret" not in seen

    @pytest.mark.real
    async def test_a_game_without_a_player_gives_its_place_to_another(self, tmp_path: Path) -> None:
        started = games(tmp_path, fake("time.sleep(60)"))
        contests = [(await started.start(WISH, HERE))["contest"] for _ in range(3)]
        first, second, third = started.seats()
        assert (await started.offer())["running"] == 2
        assert await problem_of(first) == (
            "another game has taken its place, because none of its links was used"
        )
        second.take()
        third.take()
        with pytest.raises(SeatError, match=r"^2 games are being played here, as many as may be; try later$"):
            await started.start(WISH, HERE)
        assert len(set(contests)) == 3
        await end(started)

    @pytest.mark.real
    async def test_an_address_of_another_machine_has_half_of_the_places(self, tmp_path: Path) -> None:
        started = games(tmp_path, fake("time.sleep(60)"), limit=3)
        for _ in range(5):
            await started.start(WISH, THERE)
        assert (await started.offer())["running"] == 2
        for seat in started.seats()[-2:]:
            seat.take()
        text = r"^2 games of your address are being played here, as many as may be; try later$"
        with pytest.raises(SeatError, match=text):
            await started.start(WISH, THERE)
        await started.start(WISH, ELSEWHERE)
        started.seats()[-1].take()
        with pytest.raises(SeatError, match=r"^3 games are being played here, as many as may be; try later$"):
            await started.start(WISH, ELSEWHERE)
        await end(started)

    @pytest.mark.real
    async def test_a_game_whose_players_have_left_ends(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(person, "ABANDONED_S", 0.0)
        monkeypatch.setattr(module, "REST_S", 0.0)
        started = games(tmp_path, fake("time.sleep(60)"))
        await started.start(Wish("lastcoin", PERSON, clock=False, seat=1, hints=True), HERE)
        first, second = started.seats()
        viewer = cast(Viewer, FakeViewer())
        second.take()
        second.join(viewer)
        first.take()
        assert await problem_of(first) == "no page showed this seat"
        assert (await started.offer())["running"] == 1, "the other one is still there"
        second.leave(viewer)
        await problem_of(second)
        (game,) = started._games
        async with asyncio.timeout(LIMIT_S):
            while not game.over:
                await asyncio.sleep(0)
        assert (await started.offer())["running"] == 0
        await end(started)

    @pytest.mark.real
    async def test_a_game_that_takes_too_long(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "LONGEST_S", 0.0)
        started = games(tmp_path, fake("time.sleep(60)"))
        await started.start(Wish("lastcoin", PERSON, clock=False, seat=2, hints=True), HERE)
        assert [seat.name for seat in started.seats()] == ["person-2", "person-1"]
        assert await finished(started) == "the game was ended after 0 hours"
