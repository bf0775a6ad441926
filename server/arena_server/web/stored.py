"""The documents of the public API that come from a database; `site.py` has the list of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena_protocol.record import RecordError
from arena_server.errors import ArenaError
from arena_server.terms.about import apart
from arena_server.web.archive import Archive
from arena_server.web.bots import BotDocuments, RatingHistories
from arena_server.web.documents import stored_record_json
from arena_server.web.following import News, atom_text, calendar_text, newest, news_of
from arena_server.web.highlights import HighlightDocuments
from arena_server.web.pages import address_of_site
from arena_server.web.previews import (
    CALENDAR,
    FEED,
    FEED_KINDS,
    PICTURE_RETRY_S,
    PLAIN,
    Painter,
    Pictures,
    Preview,
    bot_preview,
    contest_preview,
    game_preview,
    place_of,
    site_preview,
    tv_preview,
    withheld_preview,
)
from arena_server.web.ratings import RatingDocuments
from arena_server.web.security import small_number
from arena_server.web.shared_reads import Endpoint, SharedReads
from arena_server.web.shown_results import WITHHELD, NotFoundError

#: Games of visitors in a list.
RECENT: Final = 20


class StoredDocuments:
    """What the archives have of contests; without a `painter` there are no pictures."""

    def __init__(self, reads: SharedReads, painter: Painter | None = None) -> None:
        self._reads = reads
        self._pictures = None if painter is None else Pictures(painter)
        self._rated = RatingDocuments()
        self._bots = BotDocuments()
        self._histories = RatingHistories()
        self._found = HighlightDocuments()

    def endpoints(self) -> dict[str, Endpoint]:
        """The endpoint of each path below the API."""
        of_contest: dict[str, Endpoint] = {
            ".json": self._of_contest(Archive.contest),
            "/games-{chunk}.json": self._of_contest(Archive.games, "chunk"),
            "/schedule-{chunk}.json": self._of_contest(Archive.schedule, "chunk"),
            "/chain-{chunk}.json": self._of_contest(Archive.chain, "chunk"),
            "/pairs-{chunk}.json": self._of_contest(Archive.pairs, "chunk"),
            "/rounds.json": self._of_contest(Archive.rounds),
            "/faults.json": self._of_contest(Archive.faults),
            "/ratings.json": self._ratings,
            "/highlights.json": self._highlights,
            "/bots/{place}.json": self._bot,
            "/history-{place}.json": self._history,
            "/records/{game}.json": self._record,
            "/records/{game}.record": self._record_file,
            "/pictures/{name}.png": self._picture,
            "/bots/{place}.atom": self._feed,
            "/bots/{place}.ics": self._calendar,
            f"/{FEED}": self._feed,
            f"/{CALENDAR}": self._calendar,
        }
        return {
            "contests.json": self._contests,
            "bots/{bot}.json": self._bot_contests,
            "played.json": self._recent,
            **{f"contests/{{number}}{path}": endpoint for path, endpoint in of_contest.items()},
        }

    def _of_contest(self, method: Callable[..., Any], *numbers: str) -> Endpoint:
        """An endpoint for what `method` of an archive returns, with these numbers of the path."""

        async def endpoint(request: Request) -> Response:
            given = [number_in(request, key) for key in numbers]
            found = await self._reads.of(request.path_params["number"], method, *given)
            # Chunks are kept as bytes: they need not be encoded again.
            encoded = isinstance(found, bytes)
            return Response(found, media_type="application/json") if encoded else JSONResponse(found)

        return endpoint

    async def _contests(self, _: Request) -> Response:
        return JSONResponse({"contests": await self._reads.run(self._reads.archive.contests)})

    async def _recent(self, _: Request) -> Response:
        def read() -> list[dict[str, Any]]:
            played = self._reads.played
            return [] if played is None or not played.exists() else played.recent(RECENT)

        return JSONResponse({"contests": await self._reads.run(read)})

    async def _ratings(self, request: Request) -> Response:
        found = await self._reads.run(self._reads.find, request.path_params["number"])
        return JSONResponse(await self._rated.get(*found))

    async def _highlights(self, request: Request) -> Response:
        archive, number = await self._reads.run(self._reads.find, request.path_params["number"])
        document = await self._reads.of(request.path_params["number"], Archive.contest)
        rated: dict[str, Any] = {}
        with suppress(NotFoundError):  # practice, or a server without numpy
            rated = await self._rated.get(archive, number)
        return JSONResponse(await self._found.get(archive, number, rated, document))

    async def _bot(self, request: Request) -> Response:
        found = await self._reads.run(self._reads.find, request.path_params["number"])
        return JSONResponse(await self._bots.get(*found, number_in(request, "place")))

    async def _history(self, request: Request) -> Response:
        archive, number = await self._reads.run(self._reads.find, request.path_params["number"])
        name = await self._reads.run(archive.name, number, number_in(request, "place"))
        return JSONResponse(await self._histories.get(archive, number, name))

    async def _bot_contests(self, request: Request) -> Response:
        name = request.path_params["bot"]
        read = partial(self._reads.archive.bot_contests, name)
        return JSONResponse(await self._reads.share(("bots", name), read))

    async def record(self, contest: str, game: str) -> bytes:
        """The record of a game that may be shown. Raises NotFoundError and StoreError."""
        return await self._reads.of(contest, Archive.record, game)

    async def _record_of(self, request: Request, game: str) -> bytes:
        return await self.record(request.path_params["number"], game)

    async def _record(self, request: Request) -> Response:
        data = await self._record_of(request, request.path_params["game"])
        return JSONResponse(await self._reads.run(stored_record_json, data))

    async def _record_file(self, request: Request) -> Response:
        game = request.path_params["game"]
        headers = {"Content-Disposition": f'attachment; filename="{game}.record"'}
        data = await self._record_of(request, game)
        return Response(data, media_type="application/octet-stream", headers=headers)

    async def _picture(self, request: Request) -> Response:
        place = place_of(request.path_params["name"])
        if self._pictures is None or place is None:
            raise NotFoundError("no picture")
        game, ply = place
        record = await self._reads.of(request.path_params["number"], Archive.called_record, game)
        try:
            picture = await self._pictures.get(request.path_params["number"], game, record, ply)
        except IndexError:
            raise NotFoundError(f"game {game} has no ply {ply}") from None
        if picture is None:
            error = {"error": "too many pictures are being drawn; try later"}
            return JSONResponse(error, 503, {"Retry-After": str(PICTURE_RETRY_S)})
        return Response(picture, media_type="image/png", headers={"Cache-Control": "public, max-age=86400"})

    async def _news(self, request: Request) -> News:
        places = [number_in(request, "place")] if "place" in request.path_params else []
        return await self._reads.of(request.path_params["number"], news_of, *places)

    async def _feed(self, request: Request) -> Response:
        text = atom_text(await self._news(request), address_of_site(request))
        return Response(text, media_type=f"{FEED_KINDS['atom']}; charset=utf-8")

    async def _calendar(self, request: Request) -> Response:
        text = calendar_text(await self._news(request), address_of_site(request), datetime.now(UTC))
        return Response(text, media_type=f"{FEED_KINDS['ics']}; charset=utf-8")

    async def preview(self, page: str, query: Mapping[str, str], text: str = "") -> Preview | None:
        """What a link to a page of PREVIEWED shows of itself; None if it is only a page.

        `text` is what the organiser says of the site.
        """
        if page in PLAIN:
            return PLAIN[page]
        contest = query.get("id" if page == "contest" else "contest")
        name, ply = query.get("bot" if page == "bot" else "game", ""), small_number(query.get("ply", ""))

        def read() -> Preview | None:
            if page in ("index", "tv"):
                contests = self._reads.archive.contests()
                return site_preview(contests, text) if page == "index" else tv_preview(contests, contest)
            archive, number = self._reads.find(contest or "")
            if page == "game":
                return self._preview_of_game(archive, number, contest or "", name, ply)
            document = archive.contest(number)
            bot = document.get("called", {}).get(name, name)
            return contest_preview(document) if page == "contest" else bot_preview(document, bot)

        try:
            return await self._reads.share(("preview", page, contest, name, ply), read)
        except (NotFoundError, ArenaError, RecordError):
            return None  # the page says what is wrong

    def _preview_of_game(
        self, archive: Archive, number: int, contest: str, name: str, ply: int | None
    ) -> Preview | None:
        if archive.state(number, name) != WITHHELD:
            record = archive.called_record(number, name)
            found = game_preview(contest, replace(record, names=tuple(map(apart, record.names))), ply)
            return found if self._pictures is not None else replace(found, picture=None)
        document, rows = newest(archive, number)
        row = next((each for each in rows if each[0] == name), None)
        if row is None:
            return None
        return withheld_preview(contest, name, document["game"], row, document["bots"])


def number_in(request: Request, key: str) -> int:
    """The number of the path that is called `key`. Raises NotFoundError."""
    text = request.path_params[key]
    number = small_number(text)
    if number is None or str(number) != text:  # one document has one address
        raise NotFoundError(f"no {key} {text:.40}")
    return number
