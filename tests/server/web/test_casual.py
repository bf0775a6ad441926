"""Games of visitors: their contests, places and ends. test_casual_host and test_casual_pages play some."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from tests.slices import all_of

from arena_protocol.games import GAMES
from arena_server.core.formats import format_of
from arena_server.errors import HIDDEN, StoreError
from arena_server.terms.config import (
    ContestConfig,
    check_numbers,
    game_of,
)
from arena_server.terms.terms import LONGEST_MS
from arena_server.web import casual as module
from arena_server.web import casual_game, person
from arena_server.web.casual import parse_name, parse_request
from arena_server.web.casual_game import MOVE_MS, PERSON, GameRequest, config_of
from arena_server.web.person import SeatError
from arena_server.web.streams import Viewer

from .casual_harness import (
    ELSEWHERE,
    HERE,
    LIMIT_S,
    OFFERING,
    THERE,
    WANTED,
    FakeHost,
    end,
    finished,
    games,
    problem_of,
    state_of,
    take_all,
    until,
)
from .spectating import FakeViewer


@all_of("game", sorted(GAMES))
@all_of("clock", [False, True])
def test_the_contest_has_the_clock_of_the_server(game: str, clock: bool) -> None:
    options = {"seats": 3, "start": "empty"} if game == "insertion" else {}
    config = ContestConfig(name="x", seed=1, clock_ms=7_001, increment_ms=5, lag_quota_ms=3, byoyomi_ms=2)
    found = config_of(GameRequest(game, PERSON, clock, 1, hints=True), config, options)
    check_numbers(found)
    assert (found.game, dict(found.options), found.guests) == (game, options, False)
    clocks = (found.clock_ms, found.increment_ms, found.lag_quota_ms, found.byoyomi_ms, found.move_limit_ms)
    assert clocks == ((7_001, 5, 3, 2, 0) if clock else (LONGEST_MS, 0, 0, 0, MOVE_MS))
    seats = game_of(found).seats
    assert format_of(found, ["a-1", "b-2", "c-3"][:seats], seats).total == 1
    assert config_of(WANTED, config, {}).seed != config_of(WANTED, config, {}).seed, "no deal can be foreseen"


def test_the_wish_of_a_request() -> None:
    body = {"game": "xo", "opponent": "xo", "clock": True, "seat": 2, "hints": False}
    assert parse_request(body | {"more": 1}) == GameRequest("xo", "xo", True, 2, False)
    for key in body:
        kind = "(a text|true or false|a whole number)"
        with pytest.raises(SeatError, match=rf"^expected {key}, {kind}, got 1\.5$"):
            parse_request(body | {key: 1.5})
        with pytest.raises(SeatError, match=f"^expected {key}, {kind}, got none$"):
            parse_request({each: body[each] for each in body if each != key})
    assert parse_request(body | {"name": "ann.2"}).name == "ann.2"
    assert parse_request(body | {"name": " Иван  2"}).name == "Иван 2"
    form = "1 to 32 characters, a letter or digit among them, all of which are seen"
    for name, shown in (("a\u202eb", r"'a\u202eb'"), ("a" * 33, "33 characters"), (7, "7")):
        with pytest.raises(SeatError) as refused:
            parse_name(name)
        assert str(refused.value).startswith(f"expected as your name {form}, got {shown}")


@pytest.mark.parametrize(
    ("wanted", "deals"),
    [
        (WANTED, "paired"),
        (replace(WANTED, hints=False), "fresh"),
        (replace(WANTED, opponent=PERSON), "fresh"),
    ],
)
def test_a_deal_stays_hidden_where_a_game_on_it_may_be_played_again(wanted: GameRequest, deals: str) -> None:
    assert config_of(wanted, ContestConfig(name="x", seed=1), {}).deals == deals


class TestGames:
    pytestmark = pytest.mark.asyncio

    @pytest.mark.real
    @pytest.mark.soak
    async def test_engines_that_cannot_be_listed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(SeatError, match=r"^the engines cannot be listed: no numpy here$"):
            await games(tmp_path, "import sys; sys.exit('no numpy here')").offer()
        monkeypatch.setattr(module, "OFFER_S", 0.0)
        with pytest.raises(SeatError, match=r"^the engines cannot be listed: it takes too long$"):
            await games(tmp_path, "import time; time.sleep(60)").offer()

    @pytest.mark.real
    @pytest.mark.soak
    async def test_a_host_that_fails(self, tmp_path: Path) -> None:
        started = games(tmp_path, host=FakeHost(StoreError("arena-play.db: the disk is full")))
        assert (await started.offer())["running"] == 0
        answer = await started.start(WANTED, HERE)
        (link,) = answer["links"]
        assert (link["name"], len(link["key"])) == ("person-1", 32)
        assert answer["contest"].startswith("play-")
        assert (await started.offer())["running"] == 0
        take_all(started)
        assert (await started.offer())["running"] == 1
        assert await finished(started) == f"the game cannot be played: {HIDDEN}"
        assert (await started.offer())["running"] == 0

    @pytest.mark.real
    @pytest.mark.soak
    async def test_the_contest_of_a_game(self, tmp_path: Path) -> None:
        started = games(tmp_path, host=(host := FakeHost()))
        contest = (await started.start(replace(WANTED, seat=2), HERE))["contest"]
        take_all(started)
        await until(lambda: bool(host.played))
        ((spec, (engine,)),) = host.played
        assert (spec.name, spec.listed, spec.new, spec.bot_logs) == (contest, False, True, None)
        assert [entrant.name for entrant in spec.entrants] == ["random-1", "person-2"], "by seat"
        assert all(entrant.token_sha256 for entrant in spec.entrants)
        assert (engine.name, engine.contest) == ("random-1", contest)
        command = list(engine.command)
        assert command[-5:] == ["bot", "random", "--game", "lastcoin", "--steady"]
        assert command[:3] == ["nice", "-n", "10"]
        await end(started)
        await until(lambda: host.left == 1)

    @pytest.mark.real
    @pytest.mark.soak
    async def test_a_person_has_a_name_of_its_own(self, tmp_path: Path) -> None:
        started = games(tmp_path, host=(host := FakeHost(begins=True)))
        text = "^another player is called random-2: choose another name$"
        with pytest.raises(SeatError, match=text):
            await started.start(replace(WANTED, name="random-2"), HERE)
        assert (await started.offer())["running"] == 0
        answer = await started.start(replace(WANTED, name="maria", hints=False), HERE)
        assert [link["name"] for link in answer["links"]] == ["maria"]
        take_all(started)
        await until(lambda: bool(host.played))
        ((spec, (engine,)),) = host.played
        assert [entrant.name for entrant in spec.entrants] == ["maria", "random-2"]
        assert engine.command[-1] == "lastcoin", "no move is taken back"
        (seat,) = started.seats()
        with pytest.raises(SeatError, match=r"^no move can be taken back in this game$"):
            seat.take_back()
        await end(started)

    @pytest.mark.real
    async def test_an_invited_person_chooses_a_name_and_the_game_begins_then(self, tmp_path: Path) -> None:
        started = games(tmp_path, host=(host := FakeHost()))
        answer = await started.start(replace(WANTED, opponent=PERSON, name="ann"), HERE)
        assert [link["name"] for link in answer["links"]] == ["ann", "person-2"]
        ann, guest = started.seats()
        assert (ann.link()["named"], guest.link()["named"]) == (False, True)
        ann.take("not-asked")
        assert state_of(ann) == "waiting"
        with pytest.raises(SeatError, match=r"^another player is called ann: choose another name$"):
            guest.take("ann")
        assert (guest.state, host.played) == ("link", []), "the link is not used up"
        guest.take("bob")
        assert (guest.name, state_of(ann), state_of(guest)) == ("bob", "connecting", "connecting")
        await until(lambda: bool(host.played))
        ((spec, _),) = host.played
        assert [entrant.name for entrant in spec.entrants] == ["ann", "bob"]
        await end(started)

    @pytest.mark.real
    @pytest.mark.soak
    async def test_an_invited_person_that_does_not_come(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(casual_game, "WAIT_MS", 0)
        started = games(tmp_path, host=(host := FakeHost()))
        await started.start(replace(WANTED, opponent=PERSON), HERE)
        assert await finished(started) == "a player has not come"
        assert host.played == []
        await started.start(WANTED, HERE)
        take_all(started)
        await until(lambda: bool(host.played))
        await asyncio.sleep(0)
        assert not started._games[-1].over, "no one else is waited for"
        await end(started)

    @pytest.mark.real
    @pytest.mark.soak
    async def test_the_board_of_each_game_before_it_begins(self, tmp_path: Path) -> None:
        offer = await games(tmp_path).offer()
        previews = {game["name"]: game["preview"] for game in offer["games"]}
        assert previews.keys() == GAMES.keys()
        assert previews["insertion"]["state"].count("/") == 4
        assert all("layout" in each for name, each in previews.items() if name != "insertion")

    @pytest.mark.real
    async def test_a_rematch_has_the_same_players_on_the_next_seats(self, tmp_path: Path) -> None:
        started = games(tmp_path, limit=3, host=(host := FakeHost()))
        await started.start(replace(WANTED, opponent=PERSON, name="ann"), HERE)
        ann, other = started.seats()
        ann.take()
        other.take()
        with pytest.raises(SeatError, match=r"^there is a rematch after a game that was started here$"):
            started.rematch(ann, HERE)
        started._games[0].end("the test is over")
        await problem_of(ann)
        answer = started.rematch(ann, HERE)
        ann2, other2 = started.seats()[2:]
        assert (ann2.name, ann2.place, other2.name, other2.place) == ("ann", 2, "person-1", 1)
        assert answer == {"contest": started._games[1].contest, "key": ann2.key}
        assert (ann.rematch, other.rematch) == (ann2.key, other2.key)
        assert started.rematch(other, HERE)["key"] == other2.key, "both have asked for it"
        other2.take()
        await until(lambda: len(host.played) == 2)
        assert [entrant.name for entrant in host.played[1][0].entrants] == ["person-1", "ann"]
        assert not host.played[1][0].config.details
        await end(started)

    async def test_names_in_any_script_are_those_of_the_pages_alone(self, tmp_path: Path) -> None:
        started = games(tmp_path, host=(host := FakeHost()))
        started._offer = {"games": [{"name": "lastcoin", "engines": []}]}
        answer = await started.start(replace(WANTED, opponent=PERSON, name="Жана"), HERE)
        assert [link["name"] for link in answer["links"]] == ["Жана", "person-2"]
        jana, guest = started.seats()
        jana.take()
        for other in ("ЖАНА", "person-1"):
            with pytest.raises(SeatError, match=f"^another player is called {other}: choose another name$"):
                guest.take(other)
        guest.take("ليلى")
        assert (guest.name, guest.called, guest.link()["name"]) == ("person-2", "ليلى", "ليلى")
        event = json.loads(jana._event().split(b"data: ")[1])
        assert (event["name"], event["called"]) == ("Жана", {"person-1": "Жана", "person-2": "ليلى"})
        await until(lambda: bool(host.played))
        spec = host.played[0][0]
        assert [entrant.name for entrant in spec.entrants] == ["person-1", "person-2"]
        assert spec.config.details == {"person-1": ("Жана", "", ""), "person-2": ("ليلى", "", "")}
        started._games[0].end("the test is over")
        await until(lambda: {jana.state, guest.state} == {"finished"})

    @pytest.mark.real
    @pytest.mark.soak
    async def test_a_rematch_against_an_engine(self, tmp_path: Path) -> None:
        started = games(tmp_path, host=(host := FakeHost()))
        await started.start(replace(WANTED, name="ann"), HERE)
        for place in (2, 1):
            seat = started.seats()[-1]
            seat.take()
            started._games[-1].end("the test is over")
            await problem_of(seat)
            started.rematch(seat, HERE)
            assert (started.seats()[-1].name, started.seats()[-1].place) == ("ann", place)
        take_all(started)
        await until(lambda: len(host.played) == 3)
        names = [[entrant.name for entrant in spec.entrants] for spec, _ in host.played]
        assert names == [["ann", "random-2"], ["random-1", "ann"], ["ann", "random-2"]]
        await end(started)

    @pytest.mark.real
    async def test_the_list_of_engines_inherits_no_secret(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ARENA_ADMIN_TOKEN", "secret")
        monkeypatch.setenv("PGPASSWORD", "secret")
        note = "open('environment', 'a').write(str(dict(os.environ)))"
        await games(tmp_path, f"import os\nos.chdir({str(tmp_path)!r})\n{note}\n{OFFERING}").offer()
        seen = (tmp_path / "environment").read_text()
        assert seen.count("'PATH'") == 1
        assert "secret" not in seen

    @pytest.mark.real
    @pytest.mark.soak
    async def test_a_person_connects_when_the_contest_has_begun(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for begins, problem in ((False, None), (True, "the referee cannot be reached: refused")):
            started = games(tmp_path, host=FakeHost(begins=begins))
            await started.start(WANTED, HERE)
            (seat,) = started.seats()
            seat.take()
            for _ in range(20):
                await asyncio.sleep(0)
            assert json.loads(seat._event().partition(b"data: ")[2])["problem"] == problem
            await end(started)

    @pytest.mark.real
    async def test_games_without_a_player_cost_no_process_and_keep_no_other_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A flood from addresses that look the same, and one that is there to play."""
        monkeypatch.setattr(module, "MOST_UNUSED", 4)
        started = games(tmp_path, host=(host := FakeHost()))
        first = [await started.start(WANTED, HERE) for _ in range(3)]
        own = (await started.start(WANTED, HERE))["links"][0]["key"]
        dropped = started.seats()[0]
        rest = [await started.start(WANTED, HERE) for _ in range(3)]
        assert len({answer["contest"] for answer in (*first, *rest)}) == 6
        assert await problem_of(dropped) == "others have been started since, and none of its links was used"
        assert len(started.seats()) == 4
        assert (host.played, (await started.offer())["running"]) == ([], 0)
        seat = next(seat for seat in started.seats() if seat.key == own)
        seat.take()
        await until(lambda: len(host.played) == 1)
        await end(started)

    @pytest.mark.real
    async def test_a_game_takes_its_place_with_the_first_link_that_is_used(self, tmp_path: Path) -> None:
        started = games(tmp_path)
        for wanted in (WANTED, WANTED, WANTED, replace(WANTED, opponent=PERSON)):
            await started.start(wanted, HERE)
        one, two, three, other, guest = started.seats()
        one.take()
        two.take()
        full = r"^2 games are being played here, as many as may be; try later$"
        for seat, name in ((three, ""), (other, ""), (guest, "bob")):
            with pytest.raises(SeatError, match=full):
                seat.take(name)
            assert seat.key is not None, "the link is good for later"
            assert state_of(seat) == "link"
        with pytest.raises(SeatError, match=full):
            await started.start(WANTED, HERE)
        started._games[0].end("the test is over")
        with pytest.raises(SeatError, match=r"^another player is called person-1: choose another name$"):
            guest.take(other.name)
        guest.take("bob")
        other.take()
        with pytest.raises(SeatError, match=full):
            three.take()
        await end(started)

    @pytest.mark.real
    @pytest.mark.soak
    async def test_an_address_of_another_machine_has_half_of_the_places(self, tmp_path: Path) -> None:
        started = games(tmp_path, limit=3)
        for _ in range(3):
            await started.start(WANTED, THERE)
        first, second, third = started.seats()
        first.take()
        second.take()
        text = r"^2 games of your address are being played here, as many as may be; try later$"
        with pytest.raises(SeatError, match=text):
            third.take()
        with pytest.raises(SeatError, match=text):
            await started.start(WANTED, THERE)
        await started.start(WANTED, ELSEWHERE)
        started.seats()[-1].take()
        with pytest.raises(SeatError, match=r"^3 games are being played here, as many as may be; try later$"):
            await started.start(WANTED, ELSEWHERE)
        await end(started)

    @pytest.mark.real
    async def test_a_game_whose_players_have_left_ends(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(person, "ABANDONED_S", 0.0)
        monkeypatch.setattr(casual_game, "REST_S", 0.0)
        started = games(tmp_path)
        await started.start(GameRequest("lastcoin", PERSON, clock=False, seat=1, hints=True), HERE)
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
    @pytest.mark.soak
    async def test_a_game_that_takes_too_long(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(casual_game, "LONGEST_S", 0.0)
        started = games(tmp_path)
        await started.start(GameRequest("lastcoin", PERSON, clock=False, seat=2, hints=True), HERE)
        assert [seat.name for seat in started.seats()] == ["person-2", "person-1"]
        assert await finished(started) == "the game was ended after 0 hours"
