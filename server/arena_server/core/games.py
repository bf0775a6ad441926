"""The games of a contest: who plays in them, when they begin and end, and their results.

    pair -> a game of the fixtures with free slots -> `Turns` -> Store -> `stored`: OVER, the result counts
    the seats that have OVER -> their slots are free, or rest

A result counts once its record is durable. Which games there are is up to the fixtures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from arena_protocol.games.base import Game
from arena_protocol.record import VOID, FaultKind, time_used
from arena_server.core.clock import NS_PER_MS
from arena_server.core.deadlines import DeadlineKind, Deadlines
from arena_server.core.deal import REFEREE, Setting, number_of
from arena_server.core.delivery import ChunkedSender, Spectators
from arena_server.core.events import DrawDone, HandOut
from arena_server.core.fixtures import Fixtures
from arena_server.core.formats.base import Pairing
from arena_server.core.game_facts import GameFact, Offered
from arena_server.core.journal import JournalError
from arena_server.core.life import FINISHED
from arena_server.core.log_events import (
    BotSilent,
    GameOver,
    GameResumed,
    GameStarted,
    GameVoided,
)
from arena_server.core.match import Abort, Match
from arena_server.core.news import Arrived, Counted, Notes
from arena_server.core.overview import Progress, RunningGame
from arena_server.core.peers import REFEREE_KEY, Bot, LiveGame, NotFree, Outbox, Peer, Slot
from arena_server.core.turns import Turns
from arena_server.stats.results import PastGame
from arena_server.terms.config import ContestConfig

#: The reason in the record of a game that was broken off by an order.
REASON: Final = "organiser"


class GameManager:
    """All games of one contest. Raises ValueError for an impossible configuration."""

    def __init__(
        self,
        config: ContestConfig,
        game: Game[Any],
        bots: Mapping[str, Bot],
        out: Outbox,
        deadlines: Deadlines,
        now: int,
    ) -> None:
        self._config = config
        self._game = game
        self._bots = bots
        self._out = out
        self._deadlines = deadlines
        self.notes = Notes()
        self._chunks = ChunkedSender(out, deadlines, config.handover_ms)
        self.spectators = Spectators(config.spectator_delay_ms * NS_PER_MS, self._chunks, out, deadlines)
        self.turns = Turns(self._chunks, self.spectators, self.notes, out, deadlines)
        self.fixtures = Fixtures(config, bots, game.seats, out, now)
        self._games: dict[int, LiveGame] = {}

    # -- status

    @property
    def game(self) -> Game[Any]:
        """The rules of the contest."""
        return self._game

    @property
    def quiet(self) -> bool:
        """Whether no game is running and no result is awaited."""
        return not self._games

    @property
    def by_number(self) -> Mapping[int, LiveGame]:
        """The games that run, those that count nowhere too."""
        return self._games

    def running(self) -> tuple[RunningGame, ...]:
        """The games without a result, in the order in which they began."""
        return tuple(
            RunningGame(live.game_id, live.match.setting.names, len(live.match.plies))
            for live in self._games.values()
            if not live.announced
        )

    def progress(self, connected: int, ended: str | None, causes: Mapping[str, str]) -> Progress:
        """The work grows with the number of bots; `causes` has a word for each bot that is missing."""
        incomplete = ended not in (None, FINISHED)
        counted = (live for live in self._games.values() if live.counts and not live.announced)
        running = [live.match for live in counted]
        return Progress(
            done=self.fixtures.results.done,
            total=self.fixtures.total,
            void=self.fixtures.results.void,
            running=len(running),
            plies=self.fixtures.results.plies + sum(len(match.plies) for match in running),
            connected=connected,
            ended=ended,
            standings=self.fixtures.results.standings.rows(),
            unplayed=dict(self.fixtures.unplayed(causes)) if incomplete else {},
            separated=() if self.fixtures.separated is None else self.fixtures.separated.names,
        )

    def find(self, game_id: str) -> LiveGame | None:
        """The game of this id, if it is running."""
        live = self._games.get(number_of(game_id))
        return None if live is None or live.announced else live

    # -- bots come and go

    def arrive(self, slot: Slot, now: int) -> None:
        """`slot` has a connection: back in its game, or free for one."""
        self.notes.add(Arrived(slot))
        self.notes.bot(slot.bot)
        live = slot.game
        if live is not None:
            self.turns.begin_again(live, slot.seat)
            live.match.arrive(slot.seat, now)
            self._advance(live, [], now)

    def depart(self, slot: Slot, now: int) -> None:
        """`slot` has no connection any more, or watches instead of playing."""
        self.notes.bot(slot.bot)
        live = slot.game
        if live is not None:
            self._advance(live, live.match.depart(slot.seat, now), now)

    def forget(self, peer: Peer) -> None:
        """A connection is gone."""
        self._chunks.flushed(peer)
        self.spectators.leave(peer)

    def chunk_sent(self, peer: Peer, now: int) -> None:
        """The last chunk reached the socket of `peer`: send the next one, if there is one."""
        self._chunks.flushed(peer)
        self.spectators.serve(peer, now)
        if peer.game is not None:
            self._advance(peer.game, [], now)

    # -- games

    def pair(self, now: int) -> None:
        """Start every game that can start."""
        while (pairing := self.fixtures.take()) is not None:
            self.start(pairing, now)

    def start(self, pairing: Pairing, now: int) -> None:
        """Offer a game; who gives out pairings knows that each player has a free slot."""
        seated = tuple(
            own_slot() if name == REFEREE else next(slot for slot in self._bots[name].slots if slot.free)
            for name in pairing.names
        )
        live = self.open(pairing, seated, now)
        for seat, slot in enumerate(live.seated, start=1):
            if slot.peer is not None:
                live.match.set_lag(seat, slot.peer.lag.ms)
        numbers = live.slot_numbers
        if live.counts:
            self._out.effects.append(GameStarted(live.game_id, pairing.names, numbers))
        self.turns.advance(live, [Offered(pairing.names, pairing.deal, numbers, live.agents)], now)

    def planned(self, event: DrawDone | HandOut) -> None:
        """Games that can start: those of a round that was drawn, or one that the shell hands out."""
        self.notes.reconsider()
        if isinstance(event, DrawDone):
            self.fixtures.drawn(event.drawn)
        else:
            assert self.fixtures.handed is not None, "the shell knows the format"
            self.fixtures.handed.hand_out(event.names, event.dealt)

    def open(self, pairing: Pairing, seated: tuple[Slot, ...], now: int) -> LiveGame:
        """Begin a game that these slots play."""
        match = Match(Setting.of(self._config, self._game, pairing), now)
        live = self._games[pairing.number] = LiveGame(pairing.number, match, seated, now)
        if live.counts:
            self.spectators.open(pairing.number, live.game_id, live.transcript)
        return live

    def _advance(self, live: LiveGame, facts: Sequence[GameFact], now: int) -> None:
        """`Turns.advance`, after what may have sent the last line to a seat, or taken its connection away."""
        self.turns.advance(live, facts, now)
        if live.announced:
            self._release_players(live, now)

    def _release_players(self, live: LiveGame, now: int) -> None:
        """Players whose OVER has been sent are free for the next game."""
        end = len(live.transcript.lines)
        for cursor, slot in zip(live.cursors, live.seated, strict=True):
            peer = slot.peer
            if slot.game is not live or (peer is not None and cursor.line < end):
                continue
            rests = peer is not None and self._config.rest_ms > 0
            slot.leave()
            if peer is not None:
                self._out.unmute(peer)
            if rests:
                slot.hold(NotFree.RESTS)
                self._deadlines.set((DeadlineKind.REST, slot.key), now + self._config.rest_ms * NS_PER_MS)
            if slot.key != REFEREE_KEY:
                self.notes.bot(slot.bot)
        if all(slot.game is not live for slot in live.seated):
            del self._games[live.number]

    def expire(self, number: int, now: int) -> Peer | None:
        """The deadline of game `number` has passed. Returns the connection that does not take its TURN."""
        live = self._games[number]
        seat, facts = live.match.expire(now)
        if seat:
            slot = live.seated[seat - 1]
            # It has no TURN yet: thawing has a deadline of its own.
            return None if NotFree.FROZEN in slot.not_free else slot.peer
        self.turns.advance(live, facts, now)
        return None

    # -- void games

    def void(self, live: LiveGame, reason: str, now: int, *, again: bool = True) -> None:
        """Break a running game off, to be played `again` or not; one that is over keeps its result."""
        if live.match.over:
            return
        if live.counts:
            self.fixtures.set_void(live.number)
            again = again and self.play_again(live.number)
        self._out.effects.append(GameVoided(live.game_id, reason, again))
        self.turns.advance(live, live.match.execute(Abort(reason), now), now)

    def void_all(self, reason: str, now: int, running_at: int | None = None, *, again: bool = True) -> None:
        """Break off every game, or every game whose clock ran at a moment, to be played `again` or not."""
        for live in list(self._games.values()):
            if running_at is None or live.match.clock_ran(running_at):
                self.void(live, reason, now, again=again)

    def play_again(self, number: int) -> bool:
        """Have a void game played again. Returns False if it is not void, or is so already."""
        if not self.fixtures.play_again(number):
            return False
        self.notes.reconsider()
        return True

    # -- results

    def stored(self, game_id: str, now: int) -> None:
        """The record of a game is durable: send the result, count it, and free the slots."""
        live = self._games.get(number_of(game_id))
        if live is None or not live.is_storing:
            return
        self.notes.reconsider()
        match, past = live.match, past_of(live)
        self.fixtures.add(past)
        if past.end != VOID:
            self.notes.add(Counted(past))
        self._out.effects.append(GameOver(game_id, match.end, match.totals, past.faults))
        self._out.effects += silent_seats(live)
        self.announce(live, now, opened=self.fixtures.may_show_deal(past))

    def announce(self, live: LiveGame, now: int, *, opened: bool) -> None:
        """Send OVER, which shows the deal if the commit is `opened`, and free the slots."""
        live.transcript.close(live.match.totals, live.match.end, now, opened=opened)
        self._advance(live, [], now)

    # -- an interrupted contest

    def resume(self, live: LiveGame, facts: Sequence[GameFact], now: int) -> None:
        """The facts of the journal have been applied to the match: write its lines and let it go on."""
        if live.number in self.fixtures.repeated and live.match.end != VOID:
            raise JournalError(f"{live.game_id} is repeated, and not void")
        for fact in facts:
            live.transcript.write(fact, now)
        names, plies = live.match.setting.names, len(live.match.plies)
        resumed = GameResumed(live.game_id, names, plies, live.slot_numbers)
        self._out.effects.append(resumed)
        over = live.match.over
        self.turns.advance(live, live.match.restart(now), now)
        if over:
            self.turns.store(live, now)


def own_slot() -> Slot:
    """A seat that the server plays itself."""
    return Slot(REFEREE_KEY, Bot(REFEREE_KEY, REFEREE, None, plays=False))


def silent_seats(live: LiveGame) -> Iterator[BotSilent]:
    """The seats that were too late and have sent nothing since: a line that comes late is not asked for."""
    for fault in live.match.faults:
        if fault.kind in (FaultKind.TIMEOUT, FaultKind.NEVER_READY):
            slot = live.seated[fault.seat - 1]
            if slot.peer is not None and not live.lines[fault.seat - 1].unasked:
                yield BotSilent(slot.name, slot.number, live.game_id)


def past_of(live: LiveGame) -> PastGame:
    """The result of a game that is over."""
    match, names = live.match, live.match.setting.names
    return PastGame(
        live.number,
        names,
        match.setting.deal_number,
        match.totals,
        match.end,
        len(match.plies),
        tuple((names[fault.seat - 1], str(fault.kind)) for fault in match.faults if fault.seat),
        time_used(match.plies, len(names)),
    )
