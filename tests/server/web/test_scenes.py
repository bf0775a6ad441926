"""Scenes for the pages: the same live and from a record, small, and never more than a spectator was shown."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protocol.records import RECORD, a_record

from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Deal
from arena_protocol.record import GameRecord
from arena_server.web import scenes
from arena_server.web.documents import record_json
from arena_server.web.gamestream import LineStream
from arena_server.web.scenes import IN_PAGES, is_decided, record_scenes
from arena_server.web.streams import Channel

#: Bytes of a ply's event that are not its position: numbers of two seats, move, id.
REST = 300


def stream_of(record: GameRecord) -> tuple[LineStream, list[bytes]]:
    """A record as a spectator's lines, and the stream of them; nothing is read yet."""
    rules = make_game(record.game, {**record.options, "seats": len(record.names)})
    deal = Deal(record.board, record.sequence)
    options = " ".join(f"{key}={value}" for key, value in record.options.items())
    seats = f"seat=0 seats={len(record.names)} names={','.join(record.names)}"
    lines = [
        f"GAME g1 {record.game} {seats} {options} clock=1000 increment=0",
        f"STATE {record.board} game=g1",
    ]
    if (shown := rules.preview(deal)) is not None:
        lines.append(f"NEXT {shown} game=g1")
    lines.append("START g1")
    for number, ply in enumerate(record.plies, start=1):
        reveal = rules.reveal(deal, number)
        clocks, totals = (",".join(map(str, each)) for each in (ply.clock, ply.total))
        line = f"PLAYED {number} seat={ply.seat} move={ply.move} time=1 clock={clocks} points={ply.points}"
        lines.append(f"{line} total={totals}{f' reveal={reveal}' if reveal else ''} game=g1")
    return LineStream("g1", "e", Channel()), [line.encode() for line in lines]


def whole(record: GameRecord) -> LineStream:
    stream, lines = stream_of(record)
    for line in lines:
        stream.add(line)
    return stream


@pytest.mark.parametrize("game", sorted(set(GAMES) - IN_PAGES))
def test_a_running_game_has_the_scenes_of_its_record(game: str) -> None:
    record = a_record(game, {})
    wanted: Any = record_scenes(record)
    stream = whole(record)
    found = stream.snapshot()
    assert {key: found["game"][key] for key in ("layout", "scene", "to_move", "decided")} == {
        key: wanted[key] for key in ("layout", "scene", "to_move", "decided")
    }
    assert [{"scene": ply["scene"], "to_move": ply["to_move"]} for ply in found["plies"]] == wanted["after"]
    assert len(wanted["after"]) == len(record.plies)
    assert wanted["after"][-1]["to_move"] is None
    board = stream.summary()
    assert board["scene"] == wanted["after"][-1]["scene"]
    assert board["decided"] == wanted["decided"] == is_decided(game)
    assert not board["layout"].keys() & {"moves", "labels"}
    assert record_json(record)["scenes"] == wanted
    assert stream.legal_moves() == []


@pytest.mark.parametrize(
    ("game", "options", "limit"),
    [("xo", {"size": 14}, 14 * 14), ("tictactoe", {}, 9), ("lastcoin", {"coins": 1000}, 300)],
)
def test_the_event_of_a_ply_is_bounded(game: str, options: dict[str, object], limit: int) -> None:
    """Two signs a cell: STATE and the scene."""
    plies = whole(a_record(game, options)).snapshot()["plies"]
    assert max(len(json.dumps(ply, separators=(",", ":"))) for ply in plies) < limit + REST


def test_a_game_whose_rules_the_pages_have_gets_none() -> None:
    assert record_scenes(RECORD) is None
    assert "scenes" not in record_json(RECORD)
    found = whole(RECORD)
    assert "layout" not in found.snapshot()["game"]
    assert all("scene" not in ply for ply in found.snapshot()["plies"])
    assert "scene" not in found.summary()


def test_scenes_of_a_record_end_before_what_the_rules_refuse() -> None:
    record = a_record("xo", {})
    bad = replace(record, plies=(*record.plies[:3], record.plies[3]._replace(move="z"), *record.plies[4:]))
    found: Any = record_scenes(bad)
    assert len(found["after"]) == 3
    assert record_scenes(replace(record, board="x")) is None
    assert record_scenes(replace(record, game="chess")) is None
    assert record_scenes(replace(record, options={"size": "99"})) is None


def test_legal_moves_are_those_of_the_last_position() -> None:
    stream, lines = stream_of(a_record("tictactoe", {}))
    assert stream.legal_moves() == []
    for line in lines[:4]:
        stream.add(line)
    rules = make_game("tictactoe", {})
    position = rules.play(rules.start(rules.deal(0)), lines[3].decode().split("move=")[1].split()[0]).position
    assert stream.legal_moves() == list(rules.legal_moves(position))


class Lines:
    """A viewer that keeps what it is sent."""

    def __init__(self) -> None:
        self.data = b""

    def send(self, event: bytes) -> None:
        self.data += event


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**64), st.integers(12, 20), st.randoms(use_true_random=False))
def test_a_scene_shows_no_picture_that_no_line_has_shown(seed: int, sight: int, chance: Any) -> None:
    """Were insertion a game of scenes, its pages would know the deal no earlier."""
    rules = make_game("insertion", {"plies": 30, "lookahead": sight})
    record = a_record("insertion", rules.options(), seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scenes, "IN_PAGES", frozenset())
        stream, lines = stream_of(record)
        viewer = Lines()
        stream.channel.viewers.add(viewer)  # type: ignore[arg-type]  # sends only
        ply = -1
        for line in lines:
            viewer.data = b""
            stream.add(line)
            ply += line.startswith((b"START ", b"PLAYED "))
            if line.startswith(b"PLAYED "):
                assert (
                    json.loads(viewer.data.partition(b"data: ")[2])["scene"].get("coming", "")
                    == (record.sequence[ply : ply + sight])
                )
            if chance.random() < 0.2:
                for text in (json.dumps(stream.snapshot()), json.dumps(stream.summary())):
                    # As many pictures in a row are no chance.
                    more = record.sequence[max(ply, 0) :][: sight + 1]
                    assert len(more) <= sight or more not in text
        found: Any = record_scenes(record)
        assert all(len(each["scene"].get("coming", "")) <= sight for each in found["after"])
