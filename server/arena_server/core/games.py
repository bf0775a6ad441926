"""The running games: seats, lines that are not moves, deadlines, and results.

    a line that cannot be read              -> ERROR, and the seat is a zombie (malformed)
    a MOVE without an open TURN             -> ERROR, counted; too many: a zombie (out-of-turn)
    any other line that was not asked for   -> counted
    too many lines counted                  -> ERROR, a zombie (flood), and mute until OVER

A result counts once its record is durable (`stored`). Which games there are is the ledger's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena_protocol import messages as wire
from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.games.base import Game
from arena_protocol.messages import printer
from arena_protocol.record import VOID, FaultKind, InfoRecord
from arena_server.core.clock import NS_PER_MS
from arena_server.core.config import ContestConfig
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.deal import Setting, number_of
from arena_server.core.delivery import CHUNK, ChunkedSender, Spectators
from arena_server.core.effects import Send, Store, TurnMark
from arena_server.core.journal import KIND_OF, GameFact, JournalError, Offered, PastGame
from arena_server.core.ledger import Ledger
from arena_server.core.log_events import GameOver, GameResumed, GameStarted, GameVoided
from arena_server.core.match import Abort, Annotate, Blame, Match, Phase, PlayMove, SayReady
from arena_server.core.peers import FLOODED, Bot, LiveGame, Outbox, Peer, Player
from arena_server.core.schedule import Pairing
from arena_server.core.standings import Progress, RunningGame

#: Lines that are well-formed, and merely come at the wrong moment.
_UNASKED = frozenset({ErrorCode.UNEXPECTED, ErrorCode.NO_SUCH_GAME})

_print_turn = printer(wire.Turn)


class GameManager:
    """All games of one contest. Raises ValueError for an impossible configuration."""

    def __init__(
        self,
        config: ContestConfig,
        game: Game[Any],
        bots: Mapping[str, Bot],
        out: Outbox,
        deadlines: Deadlines,
    ) -> None:
        self._config = config
        self._game = game
        self._bots = bots
        self._out = out
        self._deadlines = deadlines
        self._chunks = ChunkedSender(out, deadlines, config.handover_ms)
        self.spectators = Spectators(config.spectator_delay_ms * NS_PER_MS, self._chunks, out, deadlines)
        self.ledger = Ledger(config, bots, game.seats, out)
        self._games: dict[int, LiveGame] = {}
        #: Whether a game ended or a player came or left since the contest last looked.
        self.changed = True

    # -- status

    @property
    def quiet(self) -> bool:
        """Whether no game is running and no result is awaited."""
        return not self._games

    def running(self) -> tuple[RunningGame, ...]:
        """The games without a result, in the order in which they began."""
        return tuple(
            RunningGame(live.game_id, live.match.setting.names, len(live.match.plies))
            for live in self._games.values()
            if not live.announced
        )

    def progress(self, connected: int, ended: str | None, causes: Mapping[str, str]) -> Progress:
        """The work grows with the number of bots; `causes` has a word for each bot that is missing."""
        incomplete = ended not in (None, "finished")
        running = [live.match for live in self._games.values() if not live.announced]
        return Progress(
            done=self.ledger.results.done,
            total=self.ledger.total,
            void=self.ledger.results.void,
            running=len(running),
            plies=self.ledger.results.plies + sum(len(match.plies) for match in running),
            connected=connected,
            ended=ended,
            standings=self.ledger.results.standings.rows(),
            missing=tuple(causes) if incomplete else (),
            unplayed=dict(self.ledger.unplayed(causes)) if incomplete else {},
        )

    def find(self, game_id: str) -> LiveGame | None:
        """The game of this id, if it is running."""
        live = self._games.get(number_of(game_id))
        return None if live is None or live.announced else live

    # -- lines of seated players

    def move(self, peer: Peer, move: str, line: bytes, arrived: int, now: int) -> None:
        """MOVE, for which the session of `peer` had an open TURN."""
        player = peer.player
        assert player is not None
        assert player.game is not None
        live = player.game
        if player.former is not None:
            self._key_arrived(player)
        self.advance(live, live.match.execute(PlayMove(player.seat, move, line, arrived), now), now)

    def ready(self, peer: Peer, line: bytes, arrived: int, now: int) -> None:
        """READY for the game of `peer`."""
        live, seat = _seat_of(peer)
        self._key_arrived(live.players[seat - 1])
        if live.match.phase is not Phase.OFFERED or live.match.settled(seat):
            self._count(live, peer, line, now)
            return
        self.advance(live, live.match.execute(SayReady(seat, arrived), now), now)

    def _key_arrived(self, player: Player) -> None:
        """The bot has answered what followed its WELCOME, so it has that: the key before is void."""
        if player.former is not None:
            player.former = None
            self._out.fact(player.bot.former_keys)

    def admits_info(self, peer: Peer, size: int) -> bool:
        """Whether a note of `size` bytes is within the bounds of the seat; counts it if so."""
        live, seat = _seat_of(peer)
        return not live.match.zombies[seat - 1] and live.infos[seat - 1].admits(live.match.ply, size)

    def info(self, peer: Peer, info: wire.Info, now: int) -> None:
        """A note about the game of `peer`; one about another game is dropped, as it came late."""
        live, seat = _seat_of(peer)
        if info.game == live.game_id:
            record = InfoRecord(seat, info.ply, info.depth, info.eval, info.nodes, info.line, info.text)
            self.advance(live, live.match.execute(Annotate(record), now), now)

    def refuse(self, peer: Peer, problem: ProtocolError, line: bytes, now: int) -> None:
        """The session refused a line of a seated player. A zombie gets no answer."""
        live, seat = _seat_of(peer)
        if not live.match.zombies[seat - 1] and problem.code is not ErrorCode.UNEXPECTED:
            self._out.error(peer, problem)
        if problem.code is ErrorCode.NOT_YOUR_TURN:
            live.out_of_turn[seat - 1] += 1
            if live.out_of_turn[seat - 1] > self._config.out_of_turn_limit:
                self._blame(live, seat, FaultKind.OUT_OF_TURN, line, now)
        elif problem.code not in _UNASKED:
            self._blame(live, seat, FaultKind.MALFORMED, line, now)
        self._count(live, peer, line, now)

    def _count(self, live: LiveGame, peer: Peer, line: bytes, now: int) -> None:
        """Count a line that was not asked for; too many are a flood."""
        seat = _seat_of(peer)[1]
        live.unasked[seat - 1] += 1
        if live.unasked[seat - 1] >= self._config.flood_limit and not peer.muted:
            self.flood(peer, line, now)

    def flood(self, peer: Peer, line: bytes, now: int) -> None:
        """Too many lines: nothing more is read of this seat until OVER."""
        live, seat = _seat_of(peer)
        self._out.error(peer, FLOODED)
        self._out.mute(peer)
        self._blame(live, seat, FaultKind.FLOOD, line, now)

    def _blame(self, live: LiveGame, seat: int, kind: FaultKind, line: bytes, now: int) -> None:
        self.advance(live, live.match.execute(Blame(seat, kind, line), now), now)

    # -- players come and go

    def arrive(self, player: Player, now: int) -> None:
        """`player` has a connection: back in its game, or free for one."""
        self.changed = True
        live = player.game
        if live is not None:
            assert player.peer is not None
            player.peer.cursor = 0
            live.match.arrive(player.seat, now)
            self.advance(live, [], now)
        else:
            self._count_free(player.bot)

    def depart(self, player: Player, now: int) -> None:
        """`player` has no connection any more, or watches instead of playing."""
        self.changed = True
        self._count_free(player.bot)
        live = player.game
        if live is not None:
            self.advance(live, live.match.depart(player.seat, now), now)

    def quit(self, player: Player, now: int) -> None:
        """`player` has departed by QUIT: its game goes on without it."""
        live = player.game
        if live is not None:
            self._blame(live, player.seat, FaultKind.QUIT, b"QUIT", now)

    def abandon(self, name: str, slot: int, game_id: str, now: int) -> None:
        """The program of this player is not started again in this game: its clock is not waited for."""
        live = self.find(game_id)
        if live is None:
            return
        for seat, player in enumerate(live.players, start=1):
            if (player.name, player.slot) == (name, slot):
                self._blame(live, seat, FaultKind.DISCONNECT, b"", now)

    def forget(self, peer: Peer) -> None:
        """A connection is gone."""
        self._chunks.flushed(peer)
        self.spectators.leave(peer)

    # -- what reached a socket

    def turn_sent(self, peer: Peer, mark: TurnMark, at: int) -> None:
        """A TURN reached the socket of `peer`: from now on it may be answered, and its clock runs."""
        player = peer.player
        if mark != peer.turn or player is None or player.game is None:
            return
        live = player.game
        match = live.match
        if match.timer.seat == player.seat and mark.ply == len(match.plies) + 1:
            peer.session.opened_turn()
            if match.timer.sent is None:
                match.run(at)
            self._deadlines.set(live.deadline_key, match.timer.deadline)

    def turn_pending(self, peer: Peer) -> bool:
        """Whether a TURN of `peer` has not reached its socket yet."""
        live, seat = _seat_of(peer)
        return live.match.timer.seat == seat and live.match.timer.sent is None

    def chunk_sent(self, peer: Peer, now: int) -> None:
        """The last chunk reached the socket of `peer`: send the next one, if there is one."""
        self._chunks.flushed(peer)
        self.spectators.serve(peer, now)
        if peer.game is not None:
            self.advance(peer.game, [], now)

    # -- games

    def pair(self, now: int) -> None:
        """Start every game that can start."""
        while (pairing := self.ledger.take()) is not None:
            players = tuple(self._free_player(name) for name in pairing.names)
            live = self._open(pairing, players, now)
            for seat, player in enumerate(live.players):
                assert player.peer is not None, "a free player is connected"
                live.match.lag[seat] = player.peer.lag.ms
            slots = live.slots
            self._out.effects.append(GameStarted(live.game_id, pairing.names, slots))
            self.advance(live, [Offered(slots)], now)

    def _free_player(self, name: str) -> Player:
        """The first free slot of this bot; the pairer knows that there is one."""
        return next(player for player in self._bots[name].players if player.free)

    def _open(self, pairing: Pairing, players: tuple[Player, ...], now: int) -> LiveGame:
        """Seat these players."""
        match = Match(Setting.of(self._config, self._game, pairing), now)
        live = self._games[pairing.number] = LiveGame(pairing.number, match, players, now)
        self.spectators.open(pairing.number, live.game_id, live.transcript)
        return live

    def advance(self, live: LiveGame, facts: Sequence[GameFact], now: int) -> None:
        """After all that may have changed a match: journal its facts, send their lines, set its deadline."""
        match = live.match
        if facts:
            number, transcript, entries = live.number, live.transcript, self._out.entries
            for fact in facts:
                entries.append((number, KIND_OF[type(fact)], *fact))  # `entry_of`, at a third of the cost
                transcript.write(fact, now)
        for player in live.players:
            peer = player.peer
            if peer is not None and player.game is live and not peer.busy:
                self._deliver(live, player.seat, peer, now)
        if self.spectators.watchers or live.announced:
            self.spectators.update(live.number, now)
        self._deadlines.set(live.deadline_key, match.timer.deadline)
        if match.phase is Phase.OVER and not live.stored:
            live.stored = True
            self._out.effects.append(Store(live.game_id, match.record()))
        if live.announced:
            self._dissolve(live, now)

    def _deliver(self, live: LiveGame, seat: int, peer: Peer, now: int) -> None:
        """Send a seat the lines from its cursor on, and its TURN behind them, in one piece."""
        transcript, match = live.transcript, live.match
        lines, end = transcript.lines, len(transcript.lines)
        if peer.cursor == end - 1 and lines[-1].audience >> seat & 1:  # nearly always: one new line
            _, data, _, verb = lines[-1]
            peer.cursor = end
            if verb is not None:
                peer.session.sent_lines((verb,), live.game_id, seat)
        else:
            data, peer.cursor, verbs = transcript.read(peer.cursor, 1 << seat, CHUNK)
            peer.session.sent_lines(verbs, live.game_id, seat)
        if peer.cursor < end:
            self._chunks.send(peer, data, now)
            return
        timer, ply = match.timer, len(match.plies) + 1
        if timer.seat == seat and (peer.turn is None or peer.turn.ply != ply):
            mark = peer.turn = TurnMark(live.number, ply)
            clocks = match.clocks if timer.sent is None else match.reading(now)
            turn = _print_turn(mark.ply, clocks, timer.lag, timer.credit)
            self._out.effects.append(Send(peer.conn, data + turn, mark))
        elif data:
            self._out.effects.append(Send(peer.conn, data))

    def _dissolve(self, live: LiveGame, now: int) -> None:
        """Players whose OVER has been sent are free for the next game."""
        for player in live.players:
            peer = player.peer
            if player.game is not live or (peer is not None and peer.cursor < len(live.transcript.lines)):
                continue
            player.game, player.seat = None, 0
            self.changed = True
            if peer is not None:
                peer.unasked = 0
                peer.turn = None
                self._out.unmute(peer)
                if self._config.rest_ms:
                    player.rests = True
                    self._deadlines.set((Kind.REST, player.number), now + self._config.rest_ms * NS_PER_MS)
                else:
                    self._count_free(player.bot)
        if all(player.game is not live for player in live.players):
            del self._games[live.number]

    def _count_free(self, bot: Bot) -> None:
        """Let the pairer know in how many games more `bot` can be seated."""
        self.ledger.free(bot)

    def rested(self, player: Player) -> None:
        """The rest of `player` after a game is over."""
        player.rests = False
        self.changed = True
        self._count_free(player.bot)

    def expire(self, number: int, now: int) -> Peer | None:
        """The deadline of game `number` has passed. Returns the connection that does not take its TURN."""
        live = self._games[number]
        seat, facts = live.match.expire(now)
        if seat:
            return live.players[seat - 1].peer
        self.advance(live, facts, now)
        return None

    # -- void games

    def void(self, live: LiveGame, reason: str, now: int, *, again: bool = True) -> None:
        """Break a running game off, to be played `again` or not; one that is over keeps its result."""
        if live.match.over:
            return
        self.ledger.set_void(live.number)
        if again:
            self.play_again(live.number)
        self._out.effects.append(GameVoided(live.game_id, reason, again))
        self.advance(live, live.match.execute(Abort(reason), now), now)

    def void_all(self, reason: str, now: int, running_at: int | None = None) -> None:
        """Break off every game, or every game whose clock ran at a moment; all are played again."""
        for live in list(self._games.values()):
            if running_at is None or live.match.clock_ran(running_at):
                self.void(live, reason, now)

    def play_again(self, number: int) -> bool:
        """Have a void game played again. Returns False if it is not void, or is so already."""
        if not self.ledger.play_again(number):
            return False
        self.changed = True
        return True

    # -- results

    def stored(self, game_id: str, now: int) -> None:
        """The record of a game is durable: send the result, count it, and free the players."""
        live = self._games.get(number_of(game_id))
        if live is None or not live.stored or live.announced:
            return
        self.changed = True
        live.announced = True
        match, names = live.match, live.match.setting.names
        past = PastGame(
            live.number,
            names,
            match.totals,
            match.end,
            len(match.plies),
            tuple((names[fault.seat - 1], str(fault.kind)) for fault in match.faults if fault.seat),
        )
        self.ledger.add(past)
        live.transcript.close(match.totals, match.end, now, opened=self.ledger.may_show_deal(past))
        self._out.effects.append(GameOver(game_id, match.end, match.totals, past.faults))
        self.advance(live, [], now)

    # -- orders of the organiser

    def suspend(self, bot: Bot) -> None:
        """The organiser removes `bot`: it is paired no more."""
        bot.barred = bot.kicked = True
        self._count_free(bot)

    def lift(self, bot: Bot) -> None:
        """The faulty games of `bot` so far do not count any more: it is paired again."""
        bot.forgiven = bot.faulty_games
        bot.barred = bot.kicked = False
        self.changed = True
        self._count_free(bot)

    # -- an interrupted contest

    def reopen(self, number: int, slots: Sequence[int], now: int) -> LiveGame:
        """Seat the players of an unfinished game. Raises JournalError if they cannot play it."""
        pairing = self.ledger.pairing(number)
        slots = slots or (1,) * len(pairing.names)
        if len(slots) != len(pairing.names):
            raise JournalError(f"g{number} has {len(pairing.names)} seats, and {len(slots)} slots")
        players = []
        for name, slot in zip(pairing.names, slots, strict=True):
            bot = self._bots[name]
            if not 1 <= slot <= len(bot.players):
                slots_text = f"a concurrency of {len(bot.players)}"
                raise JournalError(f"{name} plays g{number} in slot {slot}, and has {slots_text}")
            player = bot.players[slot - 1]
            if player.game is not None:
                raise JournalError(f"{name} plays {player.game.game_id} and g{number} at once in slot {slot}")
            players.append(player)
        return self._open(pairing, tuple(players), now)

    def go_on(self, live: LiveGame, facts: Sequence[GameFact], now: int) -> None:
        """The facts of the journal have been applied to the match: write its lines and let it go on."""
        if self.ledger.is_repeated(live.number) and live.match.end != VOID:
            raise JournalError(f"{live.game_id} is repeated, and not void")
        for fact in facts:
            live.transcript.write(fact, now)
        resumed = GameResumed(live.game_id, live.match.setting.names, len(live.match.plies), live.slots)
        self._out.effects.append(resumed)
        self.advance(live, live.match.restart(now), now)


def _seat_of(peer: Peer) -> tuple[LiveGame, int]:
    """The game and the seat of a peer that, as its session says, is in a game."""
    player = peer.player
    assert player is not None
    assert player.game is not None
    return player.game, player.seat
