"""One game that a person starts on the page /play: who plays it, its contest, and its way to the end.

A game takes its place when the first of its links is used, and is played in a contest of its own once each
invited person has come. It ends by itself: a player did not come or was not ready (WAIT_MS), a move took too
long (MOVE_MS, where there is no clock), every person gave up or showed no page of it (person.ABANDONED_S), or
LONGEST_S have passed.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from shutil import which
from time import strftime
from typing import Any, Final

from arena_protocol.kinds import valid_name
from arena_server.core.formats.matches import Single
from arena_server.errors import ArenaError, public_text
from arena_server.places.base import LocalBot
from arena_server.terms.config import ContestConfig, contest_of
from arena_server.terms.people import looks
from arena_server.terms.spec import ContestSpec, entrant_of, fresh_seed
from arena_server.terms.terms import LONGEST_MS, GameTerms
from arena_server.web.casual_host import CasualHost, Replay, Streams
from arena_server.web.person import PersonSeat, SeatError
from arena_server.web.played_on import PlayedOn
from arena_server.web.ports import Invitation, invite

#: As the opponent: a second person, with a link of their own.
PERSON: Final = "person"
WAIT_MS: Final = 600_000
MOVE_MS: Final = 1_800_000
LONGEST_S: Final = 3 * 3600.0
#: When every person has left, a game of fast engines may still come to its end in this time.
REST_S: Final = 3.0
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
        """Its name in the protocol and the record: after the seat, if its own is none for them."""
        return self.name if valid_name(self.name) else f"{self.engine or PERSON}-{seat}"

    def called_at(self, seat: int) -> str:
        """What the pages call it."""
        return self.name or self.name_at(seat)


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
                command = [*_priority(), *arena, "bot", player.engine, *_engine_options(wanted)]
                self._bots.append(LocalBot(name, command, secrets.token_hex(16), contest=self.contest))
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
            called=self.called,
            taken=self._take,
            finished=self._left,
        )

    def _take(self) -> None:
        """A person takes a seat, and with the first one the game takes a place. Raises SeatError."""
        if not self.used:
            self._admit(self.address)
            self._used.set()

    def _name(self, place: int, name: str) -> str:
        """An invited person has come, and is called `name`; returns the name in the protocol.

        Raises SeatError for that of another player, and without a place for the game.
        """
        players = list(self.players)
        players[place - 1] = Player(None, name)
        check_names(players, name)
        self._take()
        self.players = tuple(players)
        self._guests.discard(place)
        self._look_for_guests()
        return players[place - 1].name_at(place)

    def called(self) -> dict[str, str]:
        """The names of players that are none in the protocol, by those which they have there."""
        names = {player.name_at(seat): player.called_at(seat) for seat, player in enumerate(self.players, 1)}
        return {name: called for name, called in names.items() if name != called}

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
        details = {name: (called, "", "") for name, called in self.called().items()}
        config = replace(self._config, details=details)
        return ContestSpec(config=config, entrants=entrants, new=True, listed=False)

    def _play_again(self, game_id: str, who: str, reason: str) -> None:
        if self._replay is not None:
            self._replay(game_id, who, reason)

    def answer(self) -> dict[str, Any]:
        """Its contest, and name and key of each person's link, that of the one who starts the game first."""
        links = [{"name": seat.called, "key": self._keys[seat.place]} for seat in self.seats]
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


def check_names(players: Sequence[Player], chosen: str) -> None:
    """Raise SeatError unless a reader can tell the players by their names, and the referee too."""
    seated = [*enumerate(players, 1)]
    names = {player.name_at(seat) for seat, player in seated}
    seen = {looks(player.called_at(seat)) for seat, player in seated}
    if min(len(names), len(seen)) < len(players):
        raise SeatError(f"another player is called {chosen}: choose another name")


def _priority() -> tuple[str, ...]:
    return LOW_PRIORITY if which(LOW_PRIORITY[0]) else ()


def _engine_options(wanted: GameRequest) -> list[str]:
    options = ["--game", wanted.game, *(("--steady",) if wanted.takes_back else ())]
    if wanted.source is not None and wanted.source.moves:
        options += ["--opening", " ".join(wanted.source.moves)]
    return options
