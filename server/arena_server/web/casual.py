"""Games that a person starts on the page /play. They are no part of the contest and its standings.

    POST start --> CasualGames.start    checks the request, makes a seat and a link for each person
               --> CasualGame.run       when each invited person has used the link, and chosen a name: a
                                        contest of its own for one game, on the same host (`casual_host.py`)
               --> PersonSeat           holds a person's connection to that host
    GET  on.json --> CasualGames.source    from which ply of a record a game is played on: see `played_on.py`
    POST undo  --> PersonSeat.take_back --> the order `replay` of that contest: see `person.py`
    POST rematch --> CasualGames.rematch   the same players, each on the next seat, in another contest

Such a contest is in a database of its own, so that the contest of this server waits for none of its
writes, and its engines are processes with a lower priority. At most `limit` games run at once, and half
of them for one address of another machine. A game takes its place when the first of its links is used: one
that is only started costs no process and keeps no other out. `casual_game.py` has one game, and its end.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from arena_protocol.games import GAMES, make_game, printed_options, title_of
from arena_protocol.games.base import Game
from arena_server.places.base import inherited
from arena_server.places.process import Child
from arena_server.terms.config import ContestConfig
from arena_server.terms.people import meaning, person_name
from arena_server.web.casual_game import PERSON, CasualGame, GameRequest, Player, check_names, config_of
from arena_server.web.casual_host import CasualHost
from arena_server.web.person import PersonSeat, SeatError
from arena_server.web.played_on import SAME, PlayedOn, ReadRecord, read_source
from arena_server.web.ports import CasualSetup
from arena_server.web.scenes import SceneWriter
from arena_server.web.security import is_loopback

#: How long the seats of a game that is over stay, for pages that are loaded again.
KEPT_S: Final = 600.0
#: Games of which no link has been used yet; one more, and the oldest goes.
MOST_UNUSED: Final = 1000
#: How long the list of engines may take: their modules are imported; and how many lines it may have.
OFFER_S: Final = 60.0
OFFER_LINES: Final = 1000

#: The types of a request's values, as who writes JSON calls them.
WORDS: Final[Mapping[type, str]] = {str: "a text", bool: "true or false", int: "a whole number"}


def parse_request(body: Mapping[str, Any]) -> GameRequest:
    """The game that a body asks for. Raises SeatError for a value of another type, and for a name."""
    kinds = {"game": str, "opponent": str, "clock": bool, "seat": int, "hints": bool, "name": str}
    given = {"name": "", **body}
    for key, kind in kinds.items():
        if key not in given:
            raise SeatError(f"expected {key}, {WORDS[kind]}, got none")
        if type(given[key]) is not kind:
            raise SeatError(f"expected {key}, {WORDS[kind]}, got {json.dumps(given[key]):.40}")
    given["name"] = parse_name(given["name"])
    return GameRequest(**{key: given[key] for key in kinds})


def parse_name(given: object) -> str:
    """The name in a request, in any script; empty for none. Raises SeatError."""
    if not isinstance(given, str):
        raise SeatError(f"expected as your name {meaning()}, got {given!a:.40}")
    try:
        return person_name(given) if given else given
    except ValueError as error:
        raise SeatError(str(error).replace("expected", "expected as your name", 1)) from None


class CasualGames:
    """Starts games and knows their seats. Every method runs on the web thread's loop."""

    def __init__(
        self, setup: CasualSetup, config: ContestConfig, host: CasualHost, read: ReadRecord | None = None
    ) -> None:
        """`config` is that of the server's contest: games of the same kind have its options and clock.

        Games are played on from the records of `read`.
        """
        self._setup = setup
        self._read = read
        self._config = config
        self._host = host
        self._games: list[CasualGame] = []
        self._offer: dict[str, Any] | None = None
        self._reading = asyncio.Lock()

    def seats(self) -> list[PersonSeat]:
        """The seats of all persons."""
        return [seat for game in self._games for seat in game.seats]

    async def offer(self) -> dict[str, Any]:
        """The document that the form is made of. Raises SeatError."""
        async with self._reading:
            if self._offer is None:
                self._offer = await self._read_offer()
        return self._offer | {"limit": self._setup.limit, "running": self._running()}

    async def _read_offer(self) -> dict[str, Any]:
        # In a process: importing all engines here would keep the referee from running.
        child = await Child.start([*self._setup.arena, "engines", "--json"], inherited(os.environ))
        try:
            async with asyncio.timeout(OFFER_S):
                if await child.wait():
                    raise SeatError(f"the engines cannot be listed: {child.last_error()}")
        except TimeoutError:
            raise SeatError("the engines cannot be listed: it takes too long") from None
        finally:
            await child.end()
        known: dict[str, list[str]] = json.loads("".join(child.last_lines(OFFER_LINES)))
        config = self._config
        games = [
            {
                "name": name,
                "title": title_of(name),
                "seats": rules.seats,
                "engines": known.get(name, []),
                "preview": _preview(rules),
            }
            for name in sorted(GAMES, key=lambda name: (name != config.game, name))
            for rules in [self._rules(name)]
        ]
        clock = {"clock_ms": config.clock_ms, "increment_ms": config.increment_ms}
        return {"games": games, **clock}

    def _rules(self, game: str) -> Any:
        return make_game(game, self._options(game))

    def _options(self, game: str) -> Mapping[str, object]:
        return self._config.options if game == self._config.game else {}

    def _running(self) -> int:
        return len(self._playing())

    def _playing(self) -> list[CasualGame]:
        """The games that have a place."""
        return [game for game in self._games if game.used and not game.over]

    async def source(self, contest: str, game: str, ply: int) -> dict[str, Any]:
        """What the form to play on from a ply is made of: who sat where, and which of them is an engine here.

        Raises SeatError.
        """
        found = await read_source(self._read, contest, game, ply)
        known = await self._engines(found.game)
        same = [found.engine_at(seat, self._setup.engines, known) for seat in range(1, len(found.names) + 1)]
        return {"game": found.game, "names": found.names, "same": [each is not None for each in same]}

    async def _engines(self, game: str) -> list[str]:
        """The engines of a game. Raises SeatError."""
        offered: dict[str, list[str]] = {
            each["name"]: each["engines"] for each in (await self.offer())["games"]
        }
        if game not in offered:
            raise SeatError(f"no game {game!r:.40}; there are: {', '.join(offered)}")
        return offered[game]

    async def start(
        self, wanted: GameRequest, address: str, source: tuple[str, str, int] | None = None
    ) -> dict[str, Any]:
        """Start a game for `address`; return its contest and the links of its persons. Raises SeatError.

        `source`: contest, game and ply that it is played on from.
        """
        found = None if source is None else await read_source(self._read, *source)
        engines = await self._engines(wanted.game if found is None else found.game)
        if found is not None:
            wanted = replace(wanted, game=found.game, source=found)
        seats = self._rules(wanted.game).seats if found is None else len(found.names)
        if not 1 <= wanted.seat <= seats:
            raise SeatError(f"expected a seat from 1 to {seats}, got {wanted.seat}")
        if found is not None and wanted.opponent == SAME:
            return self._begin(wanted, self._same_players(wanted, found, engines), address).answer()
        choices = engines if found is not None else [PERSON, *engines]
        if wanted.opponent not in choices:
            raise SeatError(
                f"no engine {wanted.opponent!r:.40} for {wanted.game}; there are: {', '.join(engines)}"
            )
        return self._begin(wanted, wanted.players(seats), address).answer()

    def _same_players(self, wanted: GameRequest, found: PlayedOn, known: Sequence[str]) -> list[Player]:
        """Those of the record, the person in one of its seats. Raises SeatError."""
        players = []
        for seat, name in enumerate(found.names, 1):
            engine = found.engine_at(seat, self._setup.engines, known)
            if seat == wanted.seat:
                players.append(Player(None, wanted.name))
            elif engine is None:
                raise SeatError(f"{name} is no engine that this server can start")
            else:
                players.append(Player(engine, name))
        return players

    def rematch(self, seat: PersonSeat, address: str) -> dict[str, Any]:
        """The same players again, each on the next seat; returns the link of the person of `seat`.

        The others get theirs by the events of their seats. Raises SeatError.
        """
        game = next((game for game in self._games if seat in game.seats), None)
        if game is None or seat.state != "finished":
            raise SeatError("there is a rematch after a game that was started here")
        # The first player who asks begins it, and the others come into the same one.
        if game.rematch is None or game.rematch.over:
            players = (*game.players[-1:], *game.players[:-1])
            place = game.wanted.seat % len(players) + 1
            game.rematch = self._begin(replace(game.wanted, seat=place), players, address)
            for person in game.seats:
                person.offer_rematch(game.rematch.key_at(person.place % len(players) + 1))
        return {"contest": game.rematch.contest, "key": seat.rematch}

    def _begin(self, wanted: GameRequest, players: Sequence[Player], address: str) -> CasualGame:
        check_names(players, wanted.name)
        self._admit(address)
        options = self._options(wanted.game) if wanted.source is None else wanted.source.options
        config = config_of(wanted, self._config, options)
        started = CasualGame(self._setup.arena, config, wanted, players, address, self._admit)
        self._games.append(started)
        self._drop_unused()
        task = asyncio.create_task(started.run(self._host))
        task.add_done_callback(partial(self._ended, started))
        return started

    def _admit(self, address: str) -> None:
        """Raises SeatError if there is no place for a game that `address` starts."""
        playing = self._playing()
        own = [game for game in playing if game.address == address]
        full = len(playing) >= self._setup.limit
        # Rounded up: a single place is open to all. Behind a proxy all have the address of loopback.
        has_share = len(own) >= -(-self._setup.limit // 2) and not is_loopback(address)
        if full or has_share:
            who = "" if full else "of your address "
            number = len(playing if full else own)
            raise SeatError(f"{number} games {who}are being played here, as many as may be; try later")

    def _drop_unused(self) -> None:
        """Keep MOST_UNUSED games without a player: a stranger may start any number of them."""
        unused = [game for game in self._games if not game.used and not game.over]
        for game in unused[: max(0, len(unused) - MOST_UNUSED)]:
            game.end("others have been started since, and none of its links was used")
            self._games.remove(game)

    def _ended(self, game: CasualGame, task: asyncio.Task[None]) -> None:
        loop = task.get_loop()
        if game in self._games:
            loop.call_later(KEPT_S, self._forget, game)
        if not task.cancelled() and (error := task.exception()) is not None:
            loop.call_exception_handler({"message": "a casual game has failed", "exception": error})

    def _forget(self, game: CasualGame) -> None:
        self._games.remove(game)
        for seat in game.seats:
            seat.forget()


def _preview(rules: Game[Any]) -> dict[str, Any]:
    """How a game may begin, as a board of the wall: on a deal of no contest."""
    position = rules.start(rules.deal(0))
    writer = SceneWriter(rules)
    writer.start(position)
    shown = {"state": rules.state_text(position), "visible": rules.preview(rules.deal(0)) or ""}
    start = {"totals": [0] * rules.seats, "last": None, "options": printed_options(rules)}
    return {"game": rules.name, **start, **shown, **writer.small()}
