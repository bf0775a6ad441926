"""Playing on from a ply of a record: what may be asked for, who can sit there, and the contest of it."""

from __future__ import annotations

import re
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena_protocol.record import GameRecord, PlyRecord
from arena_protocol.record_codec import encode
from arena_server.core.deal import Setting
from arena_server.core.formats.base import Pairing
from arena_server.terms.config import ContestConfig, game_of
from arena_server.web import played_on
from arena_server.web.casual import CasualGames
from arena_server.web.casual_game import GameRequest, config_of
from arena_server.web.person import SeatError
from arena_server.web.played_on import SAME, ply_of, read_source, source_of, up_to
from arena_server.web.ports import CasualSetup, MoveScript
from arena_server.web.shown_results import NotFoundError

from ..records import game
from .casual_harness import FakeHost
from .node import Node

KNOWN = ["random", "greedy"]
ENGINES = {
    ("trial", "a"): "greedy",
    ("trial", "b"): "random:seed=3",
    ("trial", "c"): "greedy:memory=notes",
    ("other", "d"): "greedy",
}


def record(names: tuple[str, ...] = ("a", "b"), plies: int = 3) -> GameRecord:
    played = tuple(PlyRecord(i % 2 + 1, str(i + 6), 3, 0, 0, (1, 1), 0, (0, 0), False) for i in range(plies))
    return replace(game(7, names), plies=played, options={"plies": str(plies), "colours": "6"})


@pytest.mark.parametrize(
    "given",
    [
        5,
        [],
        {},
        {"contest": "1", "game": "g7"},
        {"contest": 1, "game": "g7", "ply": 2},
        {"contest": "1", "game": "g7", "ply": True},
    ],
)
def test_what_is_no_place_of_a_record(given: object) -> None:
    with pytest.raises(SeatError, match=r"^expected from as contest, game and ply, got "):
        source_of({"from": given})
    assert source_of({}) is None
    assert source_of({"from": {"contest": "1", "game": "g7", "ply": 2}}) == ("1", "g7", 2)


@pytest.mark.parametrize("text", ["", "-1", "x", "1.0", "٣", "9" * 5000])
def test_what_an_address_has_as_no_ply(text: str) -> None:
    with pytest.raises(SeatError, match=r"^expected a ply as a number, got '"):
        ply_of(text)
    assert ply_of("07") == 7


def test_a_game_up_to_a_ply(monkeypatch: pytest.MonkeyPatch) -> None:
    found = up_to(record(), 2)
    assert (found.moves, found.seed, found.names) == (("6", "7"), 7, ("a", "b"))
    assert found.script == MoveScript(("6", "7"), "played on from ply 2 of g7 of trial")
    for ply in (-1, 3):
        with pytest.raises(
            SeatError, match=f"^expected a ply from 0 to 2, after which a move is to come, got {ply}$"
        ):
            up_to(record(), ply)
    monkeypatch.setattr(played_on, "MOST_PLIES", 1)
    with pytest.raises(SeatError, match=r"^expected a ply from 0 to 1,"):
        up_to(record(), 2)
    with pytest.raises(SeatError, match=r"^insertion: its rules are of epoch 9"):
        up_to(replace(record(), options={"epoch": "9"}), 0)


def test_only_an_engine_that_the_page_offers_can_sit_there() -> None:
    found = replace(up_to(record(), 0), names=("a", "b", "c", "d"))
    seats = [found.engine_at(seat, ENGINES, KNOWN) for seat in range(1, 5)]
    assert seats == ["greedy", "random:seed=3", None, None], (
        "no engine with a file of its own, none of another contest"
    )
    assert found.engine_at(1, ENGINES, ["random"]) is None


@pytest.mark.asyncio
async def test_a_record_that_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SeatError, match=r"^this server has no records to play on from$"):
        await read_source(None, "1", "g7", 0)

    async def hidden(contest: str, name: str) -> bytes:
        raise NotFoundError(f"no game {name} with a result in contest {contest}")

    with pytest.raises(SeatError, match=r"^no game g7 with a result in contest 1$"):
        await read_source(hidden, "1", "g7", 0)

    async def damaged(contest: str, name: str) -> bytes:
        return b"damaged"

    with pytest.raises(SeatError, match=r"^damaged record: "):
        await read_source(damaged, "1", "g7", 0)


def test_the_game_has_the_deal_of_the_record() -> None:
    found = up_to(record(), 2)
    wanted = GameRequest("insertion", SAME, clock=False, seat=1, hints=True, source=found)
    config = config_of(wanted, ContestConfig(name="x", seed=1), found.options)
    assert (config.played_on, config.deals, config.rated) == (
        "played on from ply 2 of g7 of trial",
        "paired",
        False,
    )
    setting = Setting.of(config, game_of(config), Pairing(1, ("ann", "b"), 1))
    assert (setting.seed, len(setting.nonce)) == (found.seed, 32)
    assert config_of(wanted, config, found.options).dealt != config.dealt, "the nonce is fresh"
    plain = config_of(replace(wanted, source=None), config, {})
    assert (plain.dealt, plain.played_on) == (None, "")


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CasualGames:
    """Games whose contests are only noted, in `host.played`; no game is run."""

    async def read(contest: str, name: str) -> bytes:
        if (contest, name) != ("1", "g7"):
            raise NotFoundError("no such game")
        return encode(record())

    async def offer(_: CasualGames) -> dict[str, Any]:
        return {"games": [{"name": "insertion", "seats": 2, "engines": KNOWN}]}

    monkeypatch.setattr(CasualGames, "offer", offer)
    setup = CasualSetup(2, tmp_path / "play.db", ("arena",), socket.socket(), ENGINES)
    setup.sock.close()
    return CasualGames(setup, ContestConfig(name="x", seed=1), FakeHost(), read)


WANTED = GameRequest("insertion", SAME, clock=False, seat=2, hints=True, name="ann")
PLACE = ("1", "g7", 2)


@pytest.mark.asyncio
async def test_who_sat_where(started: CasualGames) -> None:
    assert await started.source(*PLACE) == {"game": "insertion", "names": ("a", "b"), "same": [True, True]}
    with pytest.raises(SeatError, match=r"^no such game$"):
        await started.source("1", "g8", 2)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("opponent", "name", "engine"), [(SAME, "a", "greedy"), ("random", "random-1", "random")]
)
async def test_the_players_and_what_they_begin_with(
    started: CasualGames, opponent: str, name: str, engine: str
) -> None:
    answer = await started.start(replace(WANTED, opponent=opponent), "127.0.0.1", PLACE)
    (begun,) = started._games
    assert [link["name"] for link in answer["links"]] == ["ann"]
    assert [player.name_at(seat) for seat, player in enumerate(begun.players, 1)] == [name, "ann"]
    (bot,) = begun._bots
    words = [*bot.command][-7:]
    assert words == ["bot", engine, "--game", "insertion", "--steady", "--opening", "6 7"]
    (seat,) = begun.seats
    assert seat._script == MoveScript(("6", "7"), "played on from ply 2 of g7 of trial")
    begun.end("the test is over")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (replace(WANTED, opponent="person"), "no engine 'person' for insertion; there are: random, greedy"),
        (replace(WANTED, seat=3), "expected a seat from 1 to 2, got 3"),
        (replace(WANTED, name="a"), "another player is called a: choose another name"),
    ],
)
async def test_what_cannot_be_played_on(started: CasualGames, wanted: GameRequest, text: str) -> None:
    with pytest.raises(SeatError, match=f"^{re.escape(text)}$"):
        await started.start(wanted, "127.0.0.1", PLACE)


@pytest.mark.asyncio
async def test_a_bot_that_is_no_engine_of_the_house(
    started: CasualGames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(ENGINES, ("trial", "a"))
    with pytest.raises(SeatError, match=r"^a is no engine that this server can start$"):
        await started.start(WANTED, "127.0.0.1", PLACE)


def test_the_address_of_the_form(node: Node) -> None:
    wish = {"contest": "1", "game": "g7", "ply": 24, "seat": None}
    assert node("playOn", search="?contest=1&game=g7&ply=24") == wish
    assert node("playOn", search="?contest=1&game=g7&ply=24&seat=2") == wish | {"seat": 2}
    for other in ("", "?contest=1&game=g7", "?contest=1&game=g7&ply=x", "?game=g7&ply=1"):
        assert node("playOn", search=other) is None


@pytest.mark.parametrize(("seat", "same", "known"), [(1, [False, True], True), (2, [False, True], False)])
def test_who_can_be_played_against(node: Node, seat: int, same: list[bool], known: bool) -> None:
    source = {"names": ["a", "b"], "same": same}
    assert node("opponents", source=source, seat=seat) == {
        "names": "ab"[2 - seat],
        "known": known,
        "lacking": "" if known else "ab"[2 - seat],
    }
