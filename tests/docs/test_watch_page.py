"""docs/watch.md: options and files exist, the schema is what the server sends, the example shows a game."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.client.test_spectator import GAME_LINES
from tests.protocol.records import a_record
from tests.server.programs import inside
from tests.server.records import Kept, game, opening, tomorrow
from tests.server.store import test_drawn as drawn
from tests.server.web.spectating import ScriptedFeed
from tests.server.web.test_scenes import stream_of

from arena_server.core.life import CLOSED, WAITING, Hold
from arena_server.core.overview import Awaited
from arena_server.host.waiting import held_now
from arena_server.web.archive import Archive
from arena_server.web.gamestream import LineStream
from arena_server.web.live import LiveHub
from arena_server.web.pages import API
from arena_server.web.site import PublicApi

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "watch.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "docs" / "live.schema.json").read_text(encoding="utf-8"))
EXAMPLE = ROOT / "examples" / "live.html"

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "number": float, "null": type(None)}


def breaches(value: Any, schema: dict[str, Any], place: str = "") -> Iterator[str]:
    """What of `value` is not of the schema; the keywords that live.schema.json uses."""
    if "$ref" in schema:
        yield from breaches(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], place)
        return
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not any(_is(value, kind) for kind in kinds):
        yield f"{place}: {value!r} is not {kinds}"
    elif isinstance(value, dict):
        properties = schema.get("properties", {})
        yield from (f"{place}.{name} is missing" for name in schema.get("required", ()) if name not in value)
        if schema.get("additionalProperties", True) is False:
            yield from (f"{place}.{name} is not in the schema" for name in value.keys() - properties.keys())
        more = schema.get("additionalProperties")
        for name in value:
            if (held := properties.get(name, more)) and held is not True:
                yield from breaches(value[name], held, f"{place}.{name}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from breaches(each, schema.get("items", {"type": list(TYPES)}), f"{place}[{number}]")


def _is(value: Any, kind: str) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind]) or (kind == "number" and _is(value, "integer"))


class Sent:
    """A viewer that keeps what is published."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    def publish(self, data: bytes) -> None:
        self.events += self.events_in(data)

    @staticmethod
    def events_in(data: bytes) -> list[tuple[str, Any]]:
        found = []
        for text in data.decode().split("\n\n")[:-1]:
            lines = dict(line.split(": ", 1) for line in text.split("\n"))
            found.append((lines["event"], json.loads(lines["data"])))
        return found

    viewers: frozenset[object] = frozenset({1})


def test_every_event_of_a_game_is_of_the_schema() -> None:
    sent = Sent()
    game = LineStream("g1", "e", sent)  # type: ignore[arg-type]  # publishes only
    before, after = game.snapshot(), None
    notes = b"INFO game=g1 ply=3 seat=1 depth=2 eval=-3 nodes=9 line=6,7 text=hm\nINFO game=g1 ply=3 seat=2\n"
    for line in (
        GAME_LINES[GAME_LINES.index(b"GAME") :].replace(b"PLAYED 3", notes + b"PLAYED 3").splitlines()
    ):
        if b"game=g77" not in line:
            game.add(line)
            after = game.snapshot()
            sent.publish(game.sync())
    assert after is not None
    assert {kind for kind, _ in sent.events} == {"started", "played", "zombie", "info", "over", "sync"}
    for kind, data in sent.events:
        assert list(breaches(data, SCHEMA["$defs"][kind], kind)) == []
    assert list(breaches(after, SCHEMA["$defs"]["snapshot"])) == []
    boards = {"changed": [game.summary()], "shown": ["g1"], "live": None}
    assert list(breaches(boards, SCHEMA["$defs"]["boards"])) == []
    # Before GAME there is nothing to describe; the schema says so.
    assert list(breaches(before, SCHEMA["$defs"]["snapshot"])) != []


@pytest.mark.parametrize("game", ["xo", "disc", "lastcoin"])
def test_every_event_of_a_game_of_scenes_is_of_the_schema(game: str) -> None:
    sent = Sent()
    stream, lines = stream_of(a_record(game, {}))
    stream.channel = sent  # type: ignore[assignment]  # publishes only
    for line in lines:
        stream.add(line)
    assert {kind for kind, _ in sent.events} == {"started", "played"}
    for kind, data in [*sent.events, ("snapshot", stream.snapshot())]:
        assert list(breaches(data, SCHEMA["$defs"][kind], kind)) == []
    assert all({"scene", "to_move"} <= data.keys() for kind, data in sent.events if kind == "played")
    boards = {"changed": [stream.summary()], "shown": [], "live": None}
    assert list(breaches(boards, SCHEMA["$defs"]["boards"])) == []
    wrong = {"changed": [stream.summary() | {"scene": {"marks": {"last": ["x"]}}}], "shown": [], "live": None}
    assert list(breaches(wrong, SCHEMA["$defs"]["boards"])) != []


@pytest.mark.real  # the hub sends its boards twice a second
@pytest.mark.asyncio
@pytest.mark.parametrize("status", [None, "finished"])
async def test_every_event_of_a_contest_is_of_the_schema(tmp_path: Path, status: str | None) -> None:
    kept = Kept(tmp_path / "arena.db", opening("trial"))
    kept.start()
    kept.writer.store("g1", game(1, ("a", "b"), (30, 10)))
    kept.close(status)
    feed = ScriptedFeed()

    async def held(name: str) -> Mapping[str, list[dict[str, Any]]]:
        lists = {"trial": (Awaited("a", "away", 4, 0), Awaited("b", "never-connected", None, 0))}
        return held_now((Hold(CLOSED, 1_000), Hold(WAITING)), lists[name])

    api = PublicApi(Archive(tmp_path / "arena.db", tomorrow), {"names": ["trial"]}, held=held)
    hub = LiveHub(feed, lambda: api.live.document("trial"), "e")
    api.live.connect("trial", hub)
    hub.arrive()
    feed.put(GAME_LINES[GAME_LINES.index(b"GAME") :].splitlines()[:6])
    feed.put([])
    await hub.ready()
    (event,) = Sent.events_in(await hub.contest_event())
    hub.stop()
    assert event[0] == "contest"
    assert len(event[1]["running"]) == 1
    assert event[1]["contest"]["games_played"] == 1
    assert [each["bot"] for each in event[1]["waiting"]] == ["a", "b"]
    assert [each["hold"] for each in event[1]["holds"]] == ["closed", "waiting"]
    assert list(breaches(event[1], SCHEMA["$defs"]["contest"])) == []
    nothing = await PublicApi(Archive(tmp_path / "arena.db"), {"names": ["other"]}).live.document("other")
    assert list(breaches(nothing | {"running": []}, SCHEMA["$defs"]["contest"])) == []


@pytest.mark.asyncio
@pytest.mark.parametrize("games", [3, 0])
async def test_the_document_of_a_bracket_or_an_open_contest_is_of_the_schema(
    tmp_path: Path, games: int
) -> None:
    if games:
        drawn.play(tmp_path / "arena.db", end=None)
    else:
        header = opening("trial")
        config = replace(header.config, format="ladder", tie_breaks=("lot",))
        kept = Kept(tmp_path / "arena.db", replace(header, config=config, games=0))
        kept.start()
        kept.close(None)
    api = PublicApi(Archive(tmp_path / "arena.db"), {"names": ["trial"]})
    event = await api.live.document("trial")
    assert (event["contest"]["games"], "ranked_by" in event["contest"]) == (games or None, bool(games))
    assert list(breaches(event | {"running": []}, SCHEMA["$defs"]["contest"])) == []


def test_the_table_has_every_document_and_stream() -> None:
    api = PublicApi(None, {})  # type: ignore[arg-type]  # only its routes
    routes = {re.sub(r"\{\w+(:int)?\}", "*", route.path.removeprefix(f"{API}/")) for route in api.routes()}  # type: ignore[attr-defined]
    table = set(re.findall(r"^\| `(\S+)` \|", PAGE.partition("## The API")[2], re.MULTILINE))
    assert {re.sub(r"gM|\bN\b|\bK\b|\bNAME\b", "*", path) for path in table} == routes


def test_every_picture_and_file_of_the_page_is_there() -> None:
    names = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert "pictures/game.svg" in names
    for name in names:
        assert (ROOT / "docs" / name).is_file(), name
    assert "(docs/pictures/game.svg)" in (ROOT / "README.md").read_text(encoding="utf-8")[:400]


@pytest.mark.parametrize("command", ["site", "replay", "watch"])
def test_the_options_of_the_page_are_those_of_the_command(command: str) -> None:
    text = inside(command, "--help").out
    lines = re.findall(rf"arena {command}\b[^`\n]*", PAGE)
    assert lines
    for option in re.findall(r" (--[a-z-]+)", " ".join(lines)):
        assert option in text, option


def test_the_example_is_as_long_as_the_page_says() -> None:
    lines = len(EXAMPLE.read_text(encoding="utf-8").splitlines())
    assert f"a page of {lines} lines" in PAGE
    assert lines < 100
