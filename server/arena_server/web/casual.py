"""Games that a person starts on the page /play. They are no part of the contest and its standings.

    POST start --> CasualGames.start    checks the wish, makes a seat and a link for each person
               --> CasualGame.run       a server of its own for one game, and its engines, as processes
               --> PersonSeat           holds a person's connection to that server

The server of such a game is `arena casual-game`: its contest is in a database of its own, so that the
contest of this server waits for none of its writes, and all its processes have a lower priority. At
most `limit` games run at once, and half of them for one address of another machine. A game none of whose
links has been used gives its place to the next one that is started. A game ends by itself: a player did
not come or was not ready (WAIT_MS), a move took too long (MOVE_MS, where there is no clock), every person
gave up or showed no page of it (person.ABANDONED_S), or LONGEST_S have passed.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from time import strftime
from typing import Any, Final

from arena_protocol.games import GAMES, make_game
from arena_server.core.config import LONGEST_MS, ContestConfig
from arena_server.errors import ArenaError
from arena_server.launch.base import LocalBot, inherited
from arena_server.launch.process import Child
from arena_server.sockets import parse_address
from arena_server.tournament.supervisor import ProgressListener, Tournament, run
from arena_server.web.access import CasualSetup, Invitation, invite
from arena_server.web.person import PersonSeat, SeatError
from arena_server.web.security import is_loopback

#: As the opponent: a second person, with a link of their own.
PERSON: Final = "person"
WAIT_MS: Final = 600_000
MOVE_MS: Final = 1_800_000
LONGEST_S: Final = 3 * 3600.0
#: When every person has left, a game of fast engines may still come to its end in this time.
REST_S: Final = 3.0
#: How long the seats of a game that is over stay, for pages that are loaded again.
KEPT_S: Final = 600.0
#: How long the list of engines may take: their modules are imported.
OFFER_S: Final = 60.0
#: Put before the commands of all processes.
LOW_PRIORITY: Final = ("nice", "-n", "10")


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person wants to play. The person has seat `seat`; without `hints` the page offers none."""

    game: str
    opponent: str
    clock: bool
    seat: int
    hints: bool


def parse_wish(body: Mapping[str, Any]) -> Wish:
    """The wish in the body of a request. Raises SeatError for a value of another type."""
    kinds = {"game": str, "opponent": str, "clock": bool, "seat": int, "hints": bool}
    for key, kind in kinds.items():
        if type(body.get(key)) is not kind:
            raise SeatError(f"expected {key} as a {kind.__name__}, got {body.get(key)!r:.40}")
    return Wish(**{key: body[key] for key in kinds})


class CasualGames:
    """Starts games and knows their seats. Every method runs on the web thread's loop."""

    def __init__(self, setup: CasualSetup, config: ContestConfig) -> None:
        """`config` is that of the server's contest: games of the same kind have its options and clock."""
        self._setup = setup
        self._config = config
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
        child = await Child.start([*_priority(), *self._setup.arena, "casual-offer"], inherited(os.environ))
        try:
            async with asyncio.timeout(OFFER_S):
                if await child.wait():
                    raise SeatError(f"the engines cannot be listed: {child.last_error()}")
        except TimeoutError:
            raise SeatError("the engines cannot be listed: it takes too long") from None
        finally:
            await child.end()
        known: dict[str, list[str]] = json.loads(child.last_lines(1)[0])
        config = self._config
        games = [
            {"name": name, "seats": self._rules(name).seats, "engines": known.get(name, [])}
            for name in sorted(GAMES, key=lambda name: (name != config.game, name))
        ]
        clock = {"clock_ms": config.clock_ms, "increment_ms": config.increment_ms}
        return {"games": games, **clock}

    def _rules(self, game: str) -> Any:
        return make_game(game, self._options(game))

    def _options(self, game: str) -> Mapping[str, object]:
        return self._config.options if game == self._config.game else {}

    def _running(self) -> int:
        return sum(not game.over for game in self._games)

    async def start(self, wish: Wish, address: str) -> dict[str, Any]:
        """Start a game for `address`; return its contest and the links of its persons. Raises SeatError."""
        offered = {game["name"]: game for game in (await self.offer())["games"]}
        game = offered.get(wish.game)
        if game is None:
            raise SeatError(f"no game {wish.game!r:.40}; there are: {', '.join(offered)}")
        if wish.opponent not in (PERSON, *game["engines"]):
            raise SeatError(
                f"no engine {wish.opponent!r:.40} for {wish.game}; there are: {', '.join(game['engines'])}"
            )
        if not 1 <= wish.seat <= game["seats"]:
            raise SeatError(f"expected a seat from 1 to {game['seats']}, got {wish.seat}")
        self._make_room(address)
        options = self._options(wish.game)
        started = CasualGame(self._setup, self._config, options, wish, game["seats"], address)
        self._games.append(started)
        task = asyncio.create_task(started.run())
        task.add_done_callback(partial(self._ended, started))
        return {"contest": started.contest, "links": started.links()}

    def _make_room(self, address: str) -> None:
        """Find a place for a game that `address` starts. Raises SeatError if there is none."""
        running = [game for game in self._games if not game.over]
        own = [game for game in running if game.address == address]
        full = len(running) >= self._setup.limit
        has_share = len(own) >= -(-self._setup.limit // 2) and not is_loopback(address)
        if not full and not has_share:
            return
        # A start without a player costs a stranger one request: it keeps no one else out.
        unused = next((game for game in (own if has_share else running) if not game.used), None)
        if unused is None:
            who = "of your address " if has_share and not full else ""
            number = len(running if full else own)
            raise SeatError(f"{number} games {who}are being played here, as many as may be; try later")
        unused.end("another game has taken its place, because none of its links was used")

    def _ended(self, game: CasualGame, task: asyncio.Task[None]) -> None:
        loop = task.get_loop()
        loop.call_later(KEPT_S, self._games.remove, game)
        if not task.cancelled() and (error := task.exception()) is not None:
            loop.call_exception_handler({"message": "a casual game has failed", "exception": error})


class CasualGame(ProgressListener):
    """One game with its server, engines and persons."""

    def __init__(
        self,
        setup: CasualSetup,
        config: ContestConfig,
        options: Mapping[str, object],
        wish: Wish,
        seats: int,
        address: str,
    ) -> None:
        self.contest = f"play-{strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        #: Whether it has no place any more.
        self.over = False
        #: Who started it.
        self.address = address
        self._stop = asyncio.Event()
        self._timers: list[asyncio.TimerHandle] = []
        self._problem: str | None = None
        self._setup = setup
        self._address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        persons: list[Invitation] = []
        self._bots: list[LocalBot] = []
        names = []
        for seat in range(1, seats + 1):
            if seat == wish.seat or wish.opponent == PERSON:
                persons.append(invite(f"person-{seat}", self.contest, wish.game))
                names.append(persons[-1].name)
            else:
                names.append(f"{wish.opponent}-{seat}")
                command = [*_priority(), *setup.arena, "bot", wish.opponent, "--game", wish.game]
                self._bots.append(LocalBot(names[-1], command, secrets.token_hex(16)))
        persons.sort(key=lambda person: person.name != f"person-{wish.seat}")
        tokens = {bot.name: bot.token for bot in self._bots}
        tokens |= {person.name: person.token for person in persons}
        digests = {name: sha256(token.encode("ascii")).hexdigest() for name, token in tokens.items()}
        self._environment = inherited(os.environ) | {setup.digests_variable: json.dumps(digests)}
        self._text = config_text(self.contest, config, options, wish, names)
        self._keys = [(person.name, person.key) for person in persons]
        self.seats = [
            PersonSeat(
                person,
                self._connect,
                contest=self.contest,
                hints=wish.hints,
                finished=self._left,
            )
            for person in persons
        ]

    def links(self) -> list[dict[str, str]]:
        """Name and key of each person's link, that of the one who starts the game first."""
        return [{"name": name, "key": str(key)} for name, key in self._keys]

    @property
    def used(self) -> bool:
        """Whether a person has taken a seat."""
        return any(seat.state != "link" for seat in self.seats)

    def end(self, problem: str) -> None:
        """Let `run` end early; the seats show `problem`."""
        self.over = True
        self._problem = problem
        self._stop.set()

    def _left(self) -> None:
        """A person has left; without another one the rest of the game is not played."""
        if not self.over and all(seat.state in ("link", "finished") for seat in self.seats):
            loop = asyncio.get_running_loop()
            self._timers.append(loop.call_later(REST_S, self.end, "every player has left"))

    def listening(self, address: str) -> None:
        self._address.set_result(address)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = parse_address(await asyncio.shield(self._address), "the server")
        return await asyncio.open_connection(host, port)

    async def run(self) -> None:
        """Play the game to its end; no process is left. The seats show what went wrong."""
        too_long = f"the game was ended after {LONGEST_S / 3600:g} hours"
        self._timers.append(asyncio.get_running_loop().call_later(LONGEST_S, self.end, too_long))
        try:
            with TemporaryDirectory(prefix="arena-play-") as folder:
                path = Path(folder) / "play.toml"
                path.write_text(self._text, encoding="utf-8")
                server = [*_priority(), *self._setup.arena, "casual-game", str(path)]
                server += ["--database", f"sqlite:///{self._setup.database.absolute()}"]
                await run(Tournament(server, self._environment, self._bots), self, self._stop)
        except (ArenaError, OSError) as error:
            self._problem = self._problem or f"the game cannot be played: {error}"
        finally:
            self.over = True
            for timer in self._timers:
                timer.cancel()
            self._address.cancel()
            for seat in self.seats:
                seat.close(self._problem)


def config_text(
    contest: str, config: ContestConfig, options: Mapping[str, object], wish: Wish, names: Sequence[str]
) -> str:
    """The contest of one game as a file; bots in the order of their seats.

    A file has games for every seat of a bot; `arena casual-game` plays the first one.
    """
    clocks = {"clock": LONGEST_MS, "move_limit": MOVE_MS}
    if wish.clock:
        keys = ("clock", "increment", "margin", "move_limit", "first_move_limit", "byoyomi", "lag_quota")
        clocks = {key: getattr(config, f"{key}_ms") for key in keys}
    lines = [
        "[contest]",
        f'name = "{contest}"',
        f'game = "{wish.game}"',
        f"games_per_pair = {len(names)}",
        f'ready = "{WAIT_MS}ms"',
        f'absent = "{WAIT_MS}ms"',
        'spectator_delay = "0s"',
        "probation = 0",
        "[game]",
        *(f'{key} = "{value}ms"' for key, value in clocks.items() if value),
        *(f"{key} = {json.dumps(value)}" for key, value in options.items()),
    ]
    for name in names:
        lines += ["[[bot]]", f'name = "{name}"']
    return "\n".join(lines) + "\n"


def _priority() -> tuple[str, ...]:
    return LOW_PRIORITY if which(LOW_PRIORITY[0]) else ()
