"""What a link to a page shows of itself: the tags of its head, and pictures of plies."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from starlette.types import ASGIApp
from tests.slices import all_of

from arena_protocol.record import GameRecord
from arena_server.core.ratelimit import SECOND, Budget
from arena_server.store.schema import ContestRow
from arena_server.web import previews
from arena_server.web.app import application
from arena_server.web.archive import Archive
from arena_server.web.identity import SiteIdentity
from arena_server.web.pages import API, Pages
from arena_server.web.previews import (
    PICTURE_RETRY_S,
    WAITING,
    Painter,
    place_of,
    running_preview,
    site_preview,
    tv_preview,
)
from arena_server.web.site import PublicApi

from ..records import Kept, game, opening
from .running import LIMIT_S, Running, running

PAGES = ("index", "contest", "bot", "game", "tv", "play", "replay", "register")
PICTURE = f"{API}/contests/1/pictures"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contest with the games g1, won by a, and g2, a draw."""
    path = tmp_path_factory.mktemp("previews") / "arena.db"
    kept = Kept(path, opening("<trial>"))
    kept.start()
    kept.writer.store("g1", game(1))
    kept.writer.store("g2", game(2, ("b", "a"), (20, 20)))
    kept.close("finished")
    return path


def painted(record: GameRecord, ply: int | None) -> bytes:
    """No picture, but what it would be of."""
    if ply is not None:
        record.plies[ply - 1]
    return f"{record.game_id} {ply}".encode()


@contextmanager
def site(database: Path, painter: Painter | None = painted, title: str | None = None) -> Iterator[Running]:
    def make() -> ASGIApp:
        # Past any delay.
        archive = Archive(database, clock=lambda: datetime.now(UTC).replace(tzinfo=None) + timedelta(days=1))
        public = PublicApi(archive, {}, 4, painter=painter)
        pages = Pages(PAGES, PAGES[:1], SiteIdentity(title), public.stored.preview)
        return application([*public.routes(), *pages.routes()])

    with running(make) as server:
        yield server


def tags_of(server: Running, address: str) -> dict[str, str]:
    """The title and the tags of a page."""
    status, _, html = server.ask(f"GET {address}")
    assert status == 200
    found = {
        name: unescape(text)
        for name, text in re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)"', html)
    }
    (title,) = re.findall("<title>(.*)</title>", html)
    return found | {"title": unescape(title)}


def test_a_contest_a_bot_and_a_game(database: Path) -> None:
    with site(database, title="Friday & Co") as server:
        base = f"http://{server.address}"
        contest = tags_of(server, "/contest.html?id=1")
        assert contest["title"] == "<trial> · Friday & Co"
        text = "Insertion, round-robin, finished: 2 of 6 games; a is first"
        assert contest["description"] == contest["og:description"] == contest["twitter:description"] == text
        assert contest["og:url"] == f"{base}/contest.html?id=1"
        assert contest["twitter:card"] == "summary"
        first = tags_of(server, "/?x=1")
        assert first["title"] == first["og:title"] == "Friday & Co"
        assert first["description"] == "1 contest, 2 games."
        assert (first["og:url"], tags_of(server, "/index.html")["og:url"]) == (
            f"{base}/",
            f"{base}/index.html",
        )
        tv = tags_of(server, "/tv?contest=1&x=1")
        assert tv["title"] == "TV · Friday & Co"
        assert tv["description"] == "Running games, one after the other: no contest is running."
        assert tv["og:url"] == f"{base}/tv?contest=1"
        assert "x" not in tags_of(server, "/tv?contest=x")["og:url"].partition("/tv")[2]
        # What is behind the parameter of a link to a seat is a secret.
        assert tags_of(server, "/play.html?seat=abc")["og:url"] == f"{base}/play.html"
        for name in ("play", "replay", "register"):
            assert tags_of(server, f"/{name}.html")["og:description"]
        assert "og:image" not in contest
        bot = tags_of(server, "/bot.html?contest=1&bot=a&x=1")
        assert bot["og:title"] == "a, <trial>"
        assert bot["description"] == "rank 1 of 3: 50 points in 2 games, 1 won"
        assert bot["og:url"] == f"{base}/bot.html?contest=1&bot=a"
        assert tags_of(server, "/bot.html?contest=1&bot=c")["description"].startswith("no rank yet: 0 points")
        end = tags_of(server, "/game.html?contest=1&game=g1")
        assert end["og:title"] == end["twitter:title"] == "a – b, g1"
        assert end["description"] == "Insertion, a wins 30 : 10"
        assert end["og:image"] == end["twitter:image"] == f"{base}{PICTURE}/g1.png"
        assert end["twitter:card"] == "summary_large_image"
        assert tags_of(server, "/game.html?contest=1&game=g1&ply=1") == end, "its last ply"
        _, _, html = server.ask("GET /game.html?contest=1&game=g1", "X-Forwarded-Proto: https\n")
        assert f'"og:image" content="https://{server.address}{PICTURE}/g1.png"' in html
        start = tags_of(server, "/game.html?contest=1&game=g2&ply=0&embed=1")
        assert start["description"] == "Insertion, ply 0 of 1"
        assert start["og:url"] == f"{base}/game.html?contest=1&game=g2&ply=0"
        assert start["og:image"] == f"{base}{PICTURE}/g2-0.png"


@pytest.mark.parametrize(
    "address",
    [
        *("/contest.html", "/contest.html?id=7", "/contest.html?id=x"),
        *("/bot.html?contest=1&bot=x", "/game.html?contest=1", "/game.html?contest=1&game=g3"),
    ],
)
def test_a_page_without_anything_to_show_is_the_page(database: Path, address: str) -> None:
    with site(database) as server:
        assert tags_of(server, address).keys() == {"title", "viewport"}


def test_pictures_are_drawn_once_and_of_what_may_be_shown(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    # A visitor's name is none of the protocol: a picture has what the page has.
    monkeypatch.setattr(ContestRow, "called", {"b": "Мария"})

    def noted(record: GameRecord, ply: int | None) -> bytes:
        drawn.append((record.names, ply))
        return painted(record, ply)

    with site(database, noted) as server:
        for _ in range(2):
            status, headers, text = server.ask(f"GET {PICTURE}/g1.png")
            assert (status, headers["content-type"], text) == (200, "image/png", "g1 None")
        assert server.ask(f"GET {PICTURE}/g1-1.png")[2] == "g1 1"
        assert drawn == [(("a", "Мария"), None), (("a", "Мария"), 1)]
        for name, error in (
            ("g1-2", "game g1 has no ply 2"),
            ("g3", "no game g3 with a result in contest 1"),
            ("g1-", "no picture"),
        ):
            status, _, text = server.ask(f"GET {PICTURE}/{name}.png")
            assert (status, json.loads(text)) == (404, {"error": error})
    with site(database, None) as server:
        assert "og:image" not in tags_of(server, "/game.html?contest=1&game=g1")
        assert server.ask(f"GET {PICTURE}/g1.png")[0] == 404


def test_more_pictures_than_can_wait_are_refused(database: Path) -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()

    def slow(record: GameRecord, ply: int | None) -> bytes:
        begun.release()
        assert go_on.wait(LIMIT_S)
        return b"" if ply else painted(record, ply)

    with site(database, slow) as server, ThreadPoolExecutor(WAITING + 1) as pool:
        asked = [pool.submit(server.ask, f"GET {PICTURE}/g1-{ply}.png") for ply in range(WAITING + 1)]
        assert begun.acquire(timeout=LIMIT_S)
        refused = next(each for each in iter(lambda: next((a for a in asked if a.done()), None), 0) if each)
        status, headers, text = refused.result()
        assert (status, headers["retry-after"]) == (503, str(PICTURE_RETRY_S))
        assert json.loads(text) == {"error": "too many pictures are being drawn; try later"}
        go_on.set()
        assert sorted(each.result()[0] for each in asked) == [200] * WAITING + [503]


def test_drawings_have_a_budget(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "DRAWINGS", Budget(1, 3600 * SECOND))
    with site(database) as server:
        asked = [server.ask(f"GET {PICTURE}/{name}.png")[0] for name in ("g1", "g1-1", "g1")]
    assert asked == [200, 503, 200], "what is kept costs nothing"


@all_of(
    ("name", "place"),
    [
        ("g7", ("g7", None)),
        ("g7-71", ("g7", 71)),
        ("g7-", None),
        ("g7-1234567", None),
        ("../g7", None),
        ("g7-٣", None),
    ],
)
def test_the_names_of_pictures(name: str, place: tuple[str, int | None] | None) -> None:
    assert place_of(name) == place


def test_the_first_page_says_what_runs() -> None:
    def contest(number: int, status: str = "running", **about: str) -> dict[str, object]:
        return {"id": number, "name": f"c{number}", "status": status, "games_played": 600, "about": about}

    assert site_preview([], "").description == "No contest yet."
    some = [contest(2, title="Cup"), contest(1, "finished")]
    said = "Of our school. 2 contests, 1,200 games; Cup (c2) runs now."
    assert site_preview(some, "Of our school.").description == said
    many = [contest(number) for number in (5, 4, 3, 2, 1)]
    assert site_preview(many, "").description == "5 contests, 3,000 games; c5, c4, c3 and 2 more run now."
    assert tv_preview(many, "3").description == "Running games, one after the other: c3 runs now."
    assert (tv_preview(many, "3").query, tv_preview(many, "9").query) == ({"contest": "3"}, {})


def test_a_record_that_is_withheld_is_named_with_its_result(tmp_path: Path) -> None:
    """Its moves are those of a deal that is still played: the list has names and result."""
    header = opening(names=("a", "b"))
    header = replace(header, config=replace(header.config, deals="paired", games_per_pair=2), games=2)
    kept = Kept(tmp_path / "arena.db", header)
    kept.start()
    kept.append((1, "offer", ("a", "b"), 1, ()))
    kept.writer.store("g1", game(1))
    kept.close("stopped")
    with site(tmp_path / "arena.db") as server:
        shown = tags_of(server, "/game.html?contest=1&game=g1&ply=1")
        assert shown["og:title"] == "a – b, g1"
        assert shown["description"] == "Insertion, a wins 30 : 10"
        assert "og:image" not in shown
        assert server.ask(f"GET {PICTURE}/g1.png")[0] == 404


def test_a_game_that_runs_is_named_once_it_has_seats() -> None:
    summary = {"game": "insertion", "game_id": "g7", "ply": 12, "names": ["a", "b"]}
    shown = running_preview("3", summary)
    assert shown is not None
    assert (shown.title, shown.description) == ("a – b, g7", "Insertion, running: ply 12")
    assert (dict(shown.query), shown.picture) == ({"contest": "3", "game": "g7"}, None)
    assert running_preview("3", summary | {"names": None}) is None
