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
that is only started costs no process and keeps no other out. A game ends by itself: a player did not come or
was not ready (WAIT_MS), a move took too long (MOVE_MS, where there is no clock), every person gave up or
showed no page of it (person.ABANDONED_S), or LONGEST_S have passed.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from shutil import which
from time import strftime
from typing import Any, Final

from arena_protocol.codec import NAME, valid_name
from arena_protocol.games import GAMES, make_game, printed_options
from arena_protocol.games.base import Game
from arena_server.core.formats.matches import Single
from arena_server.errors import ArenaError, public_text
from arena_server.places.base import LocalBot, inherited
from arena_server.places.process import Child
from arena_server.terms.config import ContestConfig, contest_of
from arena_server.terms.spec import ContestSpec, entrant_of, fresh_seed
from arena_server.terms.terms import LONGEST_MS, GameTerms
from arena_server.web.casual_host import CasualHost, Replay, Streams
from arena_server.web.person import PersonSeat, SeatError
from arena_server.web.played_on import SAME, PlayedOn, ReadRecord, read_source
from arena_server.web.ports import CasualSetup, Invitation, invite
from arena_server.web.scenes import SceneWriter
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
#: Games of which no link has been used yet; one more, and the oldest goes.
MOST_UNUSED: Final = 1000
#: How long the list of engines may take: their modules are imported; and how many lines it may have.
OFFER_S: Final = 60.0
OFFER_LINES: Final = 1000
#: A move has a limit all the same: the game of a person who has gone away comes to its end.
NO_CLOCK: Final = GameTerms(clock_ms=LONGEST_MS, move_limit_ms=MOVE_MS)
#: The nonce of a deal that follows from no secret of the contest, as PROTOCOL.md has it.
NONCE_BYTES: Final = 16
#: Put before the commands of all processes.
LOW_PRIORITY: Final = ("nice", "-n", "10")


@dataclass(frozen=True, slots=True)
class GameRequest:
    """What a person wants to play. The person has seat `seat`, and is called `name` (empty: after the seat).

    With `hints` the page offers some, and moves against engines may be taken back.
    """

    game: str
    opponent: str
    clock: bool
    seat: int
    hints: bool
    name: str = ""
    #: The ply of another game that it is played on from.
    source: PlayedOn | None = None

    @property
    def takes_back(self) -> bool:
        """Whether moves may be taken back: not against another person."""
        return self.hints and self.opponent != PERSON

    def players(self, seats: int) -> tuple[Player, ...]:
        """Who sits where."""
        other = None if self.opponent == PERSON else self.opponent
        return tuple(
            Player(None, self.name) if seat == self.seat else Player(other) for seat in range(1, seats + 1)
        )


@dataclass(frozen=True, slots=True)
class Player:
    """An engine, or a person; without a `name` it is called after its seat."""

    engine: str | None
    name: str = ""

    def name_at(self, seat: int) -> str:
        return self.name or f"{self.engine or PERSON}-{seat}"


def parse_request(body: Mapping[str, Any]) -> GameRequest:
    """The game that a body asks for. Raises SeatError for a value of another type, and for a name."""
    kinds = {"game": str, "opponent": str, "clock": bool, "seat": int, "hints": bool, "name": str}
    given = {"name": "", **body}
    for key, kind in kinds.items():
        if type(given.get(key)) is not kind:
            raise SeatError(f"expected {key} as a {kind.__name__}, got {given.get(key)!r:.40}")
    parse_name(given["name"])
    return GameRequest(**{key: given[key] for key in kinds})


def parse_name(given: object) -> str:
    """The name in a request, empty for none. Raises SeatError."""
    if isinstance(given, str) and (not given or valid_name(given)):
        return given
    raise SeatError(f"expected as your name {NAME.meaning}, got {given!a:.40}")


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
            {"name": name, "seats": rules.seats, "engines": known.get(name, []), "preview": _preview(rules)}
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
        _check_names([player.name_at(seat) for seat, player in enumerate(players, 1)], wanted.name)
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


class CasualGame:
    """One game with its engines and persons."""

    def __init__(
        self,
        arena: Sequence[str],
        config: ContestConfig,
        wanted: GameRequest,
        players: Sequence[Player],
        address: str,
        admit: Callable[[str], None],
    ) -> None:
        """`arena` is the command line of the command arena; `address` has started the game.

        `admit` raises SeatError if there is no place for a game of an address.
        """
        self.contest = config.name
        self.wanted = wanted
        #: In the order of the seats.
        self.players = tuple(players)
        #: The game that the players have begun after this one.
        self.rematch: CasualGame | None = None
        #: Whether it has no place any more.
        self.over = False
        #: Who started it.
        self.address = address
        self._admit = admit
        #: Set once a person has taken a seat. Before, nothing is started: no contest, and no process.
        self._used = asyncio.Event()
        self._stop = asyncio.Event()
        self._timers: list[asyncio.TimerHandle] = []
        self._problem: str | None = None
        self._host: asyncio.Future[CasualHost] = asyncio.get_running_loop().create_future()
        self._replay: Replay | None = None
        self._config = config
        self._bots: list[LocalBot] = []
        self.seats: list[PersonSeat] = []
        for seat, player in enumerate(players, 1):
            name = player.name_at(seat)
            if player.engine is None:
                self.seats.append(self._person(invite(name, self.contest, wanted.game), seat, player))
            else:
                token = secrets.token_hex(16)
                options = ["--game", wanted.game, *(("--steady",) if wanted.takes_back else ())]
                if wanted.source is not None and wanted.source.moves:
                    options += ["--opening", " ".join(wanted.source.moves)]
                command = [*_priority(), *arena, "bot", player.engine, *options]
                self._bots.append(LocalBot(name, command, token, contest=self.contest))
        # Who has started the game comes first in the answer.
        self.seats.sort(key=lambda seat: seat.place != wanted.seat)
        self._keys = {seat.place: str(seat.key) for seat in self.seats}
        #: The seats of invited persons that have not come: their names are not known.
        self._guests = {seat.place for seat in self.seats if seat.is_named_late}
        self._complete = asyncio.Event()
        self._look_for_guests()

    def _person(self, invitation: Invitation, place: int, player: Player) -> PersonSeat:
        return PersonSeat(
            invitation,
            self._connect,
            contest=self.contest,
            place=place,
            hints=self.wanted.hints,
            alone=self.wanted.opponent != PERSON,
            replay=self._play_again if self.wanted.takes_back else None,
            script=None if self.wanted.source is None else self.wanted.source.script,
            named=partial(self._name, place) if place != self.wanted.seat and not player.name else None,
            taken=self._take,
            finished=self._left,
        )

    def _take(self) -> None:
        """A person takes a seat, and with the first one the game takes a place. Raises SeatError."""
        if not self.used:
            self._admit(self.address)
            self._used.set()

    def _name(self, place: int, name: str) -> None:
        """An invited person has come, and is called `name`.

        Raises SeatError for that of another player, and without a place for the game.
        """
        players = list(self.players)
        players[place - 1] = Player(None, name)
        _check_names([player.name_at(seat) for seat, player in enumerate(players, 1)], name)
        self._take()
        self.players = tuple(players)
        self._guests.discard(place)
        self._look_for_guests()

    def _look_for_guests(self) -> None:
        for seat in self.seats:
            seat.wait_for_others(waits=bool(self._guests))
        if not self._guests:
            self._complete.set()

    def _spec(self) -> ContestSpec:
        """The contest, its entrants in the order of the seats."""
        tokens = {each.name: each.token for each in self._bots}
        tokens |= {seat.name: seat.invitation.token for seat in self.seats}
        names = [player.name_at(seat) for seat, player in enumerate(self.players, 1)]
        entrants = [entrant_of(name, tokens[name]) for name in names]
        return ContestSpec(config=self._config, entrants=entrants, new=True, listed=False)

    def _play_again(self, game_id: str, who: str, reason: str) -> None:
        if self._replay is not None:
            self._replay(game_id, who, reason)

    def answer(self) -> dict[str, Any]:
        """Its contest, and name and key of each person's link, that of the one who starts the game first."""
        links = [{"name": seat.name, "key": self._keys[seat.place]} for seat in self.seats]
        return {"contest": self.contest, "links": links}

    def key_at(self, place: int) -> str:
        """The key of the link of the person on this seat."""
        return self._keys[place]

    @property
    def used(self) -> bool:
        """Whether a person has taken a seat."""
        return self._used.is_set()

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

    def _give_up_waiting(self) -> None:
        if self._guests or not self.used:
            self.end("a player has not come")

    async def _connect(self) -> Streams:
        return await (await asyncio.shield(self._host)).connect()

    async def run(self, host: CasualHost) -> None:
        """Play the game to its end; no process is left. The seats show what went wrong."""
        loop = asyncio.get_running_loop()
        self._timers += [
            loop.call_later(LONGEST_S, self.end, f"the game was ended after {LONGEST_S / 3600:g} hours"),
            loop.call_later(WAIT_MS / 1000, self._give_up_waiting),
        ]

        def begun(replay: Replay) -> None:
            self._replay = replay
            self._host.set_result(host)

        async def play() -> None:
            await self._used.wait()
            await self._complete.wait()
            await host.play(self._spec(), self._bots, begun)

        playing = asyncio.ensure_future(play())
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait([playing, stopping], return_when=asyncio.FIRST_COMPLETED)
            if playing.done():
                await playing
        except (ArenaError, OSError) as error:
            self._problem = self._problem or f"the game cannot be played: {public_text(error)}"
        finally:
            self.over = True
            for timer in self._timers:
                timer.cancel()
            self._host.cancel()
            for seat in self.seats:
                seat.close(self._problem)
            for task in (stopping, playing):
                task.cancel()
            await asyncio.gather(stopping, playing, return_exceptions=True)


def config_of(wanted: GameRequest, config: ContestConfig, options: Mapping[str, object]) -> ContestConfig:
    """The contest of one game, with the clock of the server's contest `config` or without any.

    It has no spectators; its players see all of it at once.
    """
    terms: GameTerms = config if wanted.clock else replace(NO_CLOCK, software=config.software)
    source = wanted.source
    return contest_of(
        replace(terms, game=wanted.game, options=options, ready_ms=WAIT_MS),
        name=f"play-{strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}",
        seed=fresh_seed(),
        format=Single.NAME,
        games_per_pair=1,
        # A game is played again on its deal when a move is taken back: till its end nothing shows the deal.
        deals="paired" if wanted.takes_back else "fresh",
        absent_ms=WAIT_MS,
        probation=0,
        spectator_delay_ms=0,
        guests=False,
        rated=False,
        dealt=None if source is None else (source.seed, secrets.token_hex(NONCE_BYTES)),
        played_on="" if source is None else source.note,
    )


def _check_names(names: Sequence[str], chosen: str) -> None:
    """Raise SeatError unless the names of the players differ."""
    if len(set(names)) < len(names):
        raise SeatError(f"another player is called {chosen}: choose another name")


def _preview(rules: Game[Any]) -> dict[str, Any]:
    """How a game may begin, as a board of the wall: on a deal of no contest."""
    position = rules.start(rules.deal(0))
    writer = SceneWriter(rules)
    writer.start(position)
    shown = {"state": rules.state_text(position), "visible": rules.preview(rules.deal(0)) or ""}
    start = {"totals": [0] * rules.seats, "last": None, "options": printed_options(rules)}
    return {"game": rules.name, **start, **shown, **writer.small()}


def _priority() -> tuple[str, ...]:
    return LOW_PRIORITY if which(LOW_PRIORITY[0]) else ()
