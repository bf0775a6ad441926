"""A match and those who sit at it: who hears what, and what their lines lead to.

    a line that cannot be read            -> ERROR, and the seat is a zombie (malformed)
    a MOVE without an open TURN           -> ERROR, counted; too many: a zombie (out-of-turn)
    any other line that nothing asked for -> counted
    too many lines counted                -> ERROR, a zombie (flood), and mute till OVER

It must not know: log-in, other tables, schedule, standings.

Games that were broken off, and the games that are played in their place.

Such a game has a number of its own, after the schedule's, and the same deal and seats as the void one.
It must not know: why a game was broken off, results, who is connected.

The games of a contest: who plays next, the running tables, and what their results count for.

A result counts once its record is durable (`stored`), and not before. A game that the platform
broke off is void and counts for nothing; it is played again under a new number, on the same
deal with the same seats, unless the organiser does not want it.
It must not know: log-in, connections without a player, when somebody is no longer waited for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.games.base import Game
from arena_protocol.messages import Turn, encode
from arena_protocol.record import VOID, FaultKind
from arena_server.core.clock import NS_PER_MS
from arena_server.core.config import ContestPlan
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.deal import Setting, number_of
from arena_server.core.delivery import PORTION, Portions, Spectators
from arena_server.core.diary import redo
from arena_server.core.effects import Send, Store
from arena_server.core.events import Handed
from arena_server.core.journal import AGAIN, CONTEST, Entry, PastGame
from arena_server.core.match import Match
from arena_server.core.peers import FLOODED, Outbox, Peer, Player
from arena_server.core.schedule import Pairer, Pairing, Schedule
from arena_server.core.standings import Progress, Results, RunningGame

#: Lines that are well-formed, and tell of a wrong moment only.
_UNASKED = frozenset({ErrorCode.UNEXPECTED, ErrorCode.NO_SUCH_GAME})


@dataclass(slots=True)
class _Conduct:
    """What a seat has sent unasked in this game, on whatever connection."""

    unasked: int = 0
    out_of_turn: int = 0


class Table:
    """Game `number` of the contest and its players, in the order of the seats.

    `kept` tells that the record has been given away to be stored, `told` that the result may be told.
    """

    def __init__(
        self, number: int, match: Match, players: tuple[Player, ...], out: Outbox, portions: Portions
    ) -> None:
        self.number = number
        self.match = match
        self.players = players
        self.kept = self.told = False
        self._plan: ContestPlan = match.setting.plan
        self._out = out
        self._portions = portions
        self._conduct = [_Conduct() for _ in players]
        for seat, player in enumerate(players, start=1):
            player.table, player.seat = self, seat

    def ready(self, peer: Peer, player: Player, line: bytes, arrived: int, now: int) -> None:
        """READY for this game."""
        if not self.match.ready(player.seat, arrived, now):
            self._unasked(peer, player, line, now)

    def refuse(self, peer: Peer, player: Player, problem: ProtocolError, line: bytes, now: int) -> None:
        """The session refused a line of `player`'s. A zombie is told nothing any more."""
        if not self.match.is_zombie(player.seat) and problem.code is not ErrorCode.UNEXPECTED:
            self._out.error(peer, problem)
        if problem.code is ErrorCode.NOT_YOUR_TURN:
            self._out_of_turn(player, line, now)
        elif problem.code not in _UNASKED:
            self.match.fault(player.seat, FaultKind.MALFORMED, line, now)
        self._unasked(peer, player, line, now)

    def _out_of_turn(self, player: Player, line: bytes, now: int) -> None:
        conduct = self._conduct[player.seat - 1]
        conduct.out_of_turn += 1
        if conduct.out_of_turn > self._plan.out_of_turn_limit:
            self.match.fault(player.seat, FaultKind.OUT_OF_TURN, line, now)

    def _unasked(self, peer: Peer, player: Player, line: bytes, now: int) -> None:
        conduct = self._conduct[player.seat - 1]
        conduct.unasked += 1
        if conduct.unasked >= self._plan.flood_limit and not peer.muted:
            self.flood(peer, player, line, now)

    def flood(self, peer: Peer, player: Player, line: bytes, now: int) -> None:
        """`player` said too much: nothing more is read of it till OVER."""
        self.match.fault(player.seat, FaultKind.FLOOD, line, now)
        self._out.error(peer, FLOODED)
        self._out.mute(peer)

    def quit(self, player: Player, now: int) -> None:
        """`player` said QUIT: its connection is gone, and the game goes on without it."""
        self.match.leave(player.seat, now)
        self.match.fault(player.seat, FaultKind.QUIT, b"QUIT", now)

    def handed(self, peer: Peer, player: Player, ply: int, at: int) -> None:
        """A TURN went to the socket: now it is open, and its clock runs."""
        said = peer.turn
        if said is not None and said[0].ply == ply and self.match.turn_of(player.seat, ply):
            peer.turn = None
            peer.session.send(*said)
            self.match.handed(player.seat, ply, at)

    def expire(self, now: int) -> Player | None:
        """The deadline of the match has passed. Returns the player whose connection takes no TURN."""
        seat = self.match.expire(now)
        return self.players[seat - 1] if seat else None

    def journal(self) -> None:
        """What the match has accepted comes before what it has to say."""
        if entries := self.match.diary.take():
            self._out.journal(*entries)

    def flush(self, now: int) -> None:
        """Send what the match has to say, to nobody more at once than it can be expected to take."""
        for player in self.players:
            peer = player.peer
            if peer is None or player.table is not self or peer.busy:
                continue
            seat = self.match.seat(player.seat)
            lines, turn = seat.take(PORTION)
            data = b"".join([peer.session.send(message, line) for message, line in lines])
            if seat.behind:
                self._portions.send(peer, data, now)
            elif turn is not None:
                self._send_turn(peer, data, turn)
            elif data:
                self._out.add(Send(peer.conn, data))

    def _send_turn(self, peer: Peer, data: bytes, turn: Turn) -> None:
        # The session opens the TURN when the socket has it: an earlier MOVE cannot be its answer.
        line = encode(turn)
        peer.turn = turn, line
        self._out.add(Send(peer.conn, data + line, (self.match.setting.game_id, turn.ply)))

    def dissolve(self) -> list[Player]:
        """The result is told: whoever has heard it gets up, and if it was mute is heard again."""
        free = [
            player
            for player in self.players
            if player.table is self and not self.match.seat(player.seat).behind
        ]
        for player in free:
            player.table, player.seat = None, 0
            if player.peer is not None:
                player.peer.unasked = 0
                self._out.unmute(player.peer)
        return free

    @property
    def empty(self) -> bool:
        """Whether nobody sits here any more."""
        return all(player.table is not self for player in self.players)


class Replays:
    """The void games of one contest."""

    def __init__(self, schedule: Schedule, pairer: Pairer, out: Outbox) -> None:
        self._schedule = schedule
        self._pairer = pairer
        self._out = out
        #: The games that are played again, each by the number of the void one.
        self._again: dict[int, Pairing] = {}
        #: The void games that nobody has asked for again.
        self._void_only: dict[int, Pairing] = {}

    def pairing(self, number: int) -> Pairing:
        """The game of this number, of the schedule or after it. Raises LookupError if there is none."""
        if 0 < number <= self._schedule.total:
            return self._schedule.pairing(number)
        return {pairing.number: pairing for pairing in self._again.values()}[number]

    def add(self, number: int) -> None:
        """Game `number` is void; known already if it is played again."""
        if number not in self._again:
            self._void_only[number] = self.pairing(number)

    def play_again(self, number: int) -> bool:
        """Have a void game played again. Returns False if there is no such game, or it is so already."""
        if number not in self._void_only:
            return False
        new = self._schedule.total + len(self._again) + 1
        self._out.journal((CONTEST, AGAIN, new, number))
        self._repeat(new, number)
        return True

    def recall(self, again: Mapping[int, int]) -> None:
        """Bring back which games are played again: void ones by the numbers of those that replace them."""
        for new, number in sorted(again.items()):
            self.add(number)
            self._repeat(new, number)

    def _repeat(self, new: int, number: int) -> None:
        old = self._void_only.pop(number)
        self._again[number] = Pairing(new, old.names, old.deal)
        self._pairer.again(self._again[number])


class Hall:
    """All games of one contest, as the schedule has them. Raises ValueError for an impossible plan."""

    def __init__(
        self,
        plan: ContestPlan,
        game: Game[Any],
        players: Mapping[str, Player],
        out: Outbox,
        deadlines: Deadlines,
    ) -> None:
        names = [player.name for player in players.values() if player.plays]
        self.plan = plan
        self._portions = Portions(out, deadlines, plan.handover_ms)
        self.spectators = Spectators(plan.spectator_delay_ms * NS_PER_MS, self._portions, out, deadlines)
        self._game = game
        self._players = players
        self._out = out
        self._deadlines = deadlines
        self._schedule = Schedule(names, game.seats, plan.games_per_pair)
        self._results = Results(plan, players, out)
        self._pairer = Pairer(self._schedule, game.seats)
        self._replays = Replays(self._schedule, self._pairer, out)
        self._tables: dict[int, Table] = {}

    @property
    def quiet(self) -> bool:
        """Whether no game is running and no result is awaited."""
        return not self._tables

    def exhausted(self, missing: Collection[str]) -> bool:
        """Whether no game is left that could be played without those of `missing`."""
        return self._pairer.exhausted(missing)

    def progress(self, connected: int, ended: str | None) -> Progress:
        """How far the contest is; the work grows with the number of bots."""
        running = [table.match for table in self._tables.values() if not table.told]
        return Progress(
            done=self._results.done,
            total=self._schedule.total,
            void=self._results.void,
            running=len(running),
            plies=self._results.plies + sum(len(match.plies) for match in running),
            connected=connected,
            ended=ended,
            standings=self._results.standings.rows(),
        )

    def running(self) -> tuple[RunningGame, ...]:
        """The games without a result, in the order in which they began."""
        matches = [table.match for table in self._tables.values() if not table.told]
        return tuple(
            RunningGame(match.setting.game_id, match.setting.names, len(match.plies)) for match in matches
        )

    # -- players

    def arrive(self, player: Player, now: int) -> None:
        """`player` has a connection: back to its game, or free for one."""
        if player.table is not None:
            player.table.match.back(player.seat, now)
            self.settle(player.table, now)
        elif not player.barred:
            self._pairer.free(player.name)

    def depart(self, player: Player, now: int) -> None:
        """`player` has no connection any more, or watches instead of playing."""
        self._pairer.busy(player.name)
        if player.table is not None:
            player.table.match.leave(player.seat, now)
            self.settle(player.table, now)

    def quit(self, player: Player, now: int) -> None:
        """`player` has departed for good: a game goes on without it."""
        if player.table is not None:
            player.table.quit(player, now)
            self.settle(player.table, now)

    def forget(self, peer: Peer) -> None:
        """A connection is gone, whoever it was."""
        self._portions.taken(peer)
        self.spectators.leave(peer)

    def go_on(self, peer: Peer, now: int) -> None:
        """The socket has a portion: there may be more to be told."""
        self._portions.taken(peer)
        self.spectators.serve(peer, now)
        if peer.seated is not None:
            self.settle(peer.seated[1], now)

    # -- games

    def table(self, game_id: str) -> Table | None:
        """The table of this game, if it is running."""
        table = self._tables.get(number_of(game_id))
        return None if table is None or table.told else table

    def handed(self, peer: Peer, event: Handed) -> None:
        """A TURN went to the socket of `peer`."""
        table = self.table(event.game_id)
        if peer.seated is not None and peer.seated[1] is table:
            table.handed(peer, peer.seated[0], event.ply, event.at)
            self.plan_deadline(table)

    def pair(self, now: int) -> None:
        """Start every game that can start."""
        while (pairing := self._pairer.take()) is not None:
            self._start(pairing, now)

    def _start(self, pairing: Pairing, now: int) -> None:
        table = self._open(pairing, now)
        self._out.note("info", "game", game=table.match.setting.game_id, names=",".join(pairing.names))
        for player in table.players:
            assert player.peer is not None, "who is free is there"
            table.match.lag(player.seat, player.peer.lag.ms, now)
        self.settle(table, now)

    def _open(self, pairing: Pairing, offered: int) -> Table:
        """Seat the players of this game."""
        match = Match(Setting.of(self.plan, self._game, pairing), offered)
        players = tuple(self._players[name] for name in pairing.names)
        table = self._tables[pairing.number] = Table(
            pairing.number, match, players, self._out, self._portions
        )

        self.spectators.open(pairing.number, match.feed)
        return table

    def settle(self, table: Table, now: int) -> None:
        """After all that may have changed a match: keep, say, show, plan, and give its record away."""
        table.journal()
        table.flush(now)
        self.spectators.update(table.number, now)
        self.plan_deadline(table)
        if table.match.over and not table.kept:
            table.kept = True
            self._out.add(Store(table.match.setting.game_id, table.match.record()))
        if table.told:
            self._dissolve(table)

    def _dissolve(self, table: Table) -> None:
        """Whoever has heard the result is free for the next game."""
        for player in table.dissolve():
            if player.peer is not None and not player.barred:
                self._pairer.free(player.name)
        if table.empty:
            del self._tables[table.number]

    def plan_deadline(self, table: Table) -> None:
        """The deadline of a match may have moved."""
        self._deadlines.set((Kind.GAME, table.number), table.match.deadline)

    def expire(self, number: int, now: int) -> Player | None:
        """The deadline of game `number` has passed. Returns the player whose connection takes no TURN."""
        table = self._tables[number]
        slow = table.expire(now)
        if slow is None:
            self.settle(table, now)
        return slow

    # -- games that are broken off

    def void(self, table: Table, reason: str, now: int, *, again: bool = True) -> None:
        """Break a running game off, to be played `again` or not; one that is over keeps its result."""
        if table.match.over:
            return
        self._replays.add(table.number)
        if again:
            self.play_again(table.number)
        self._out.note("warning", "void", game=table.match.setting.game_id, reason=reason, again=again)
        table.match.void(reason, now)
        self.settle(table, now)

    def void_all(self, reason: str, now: int, running_at: int | None = None) -> None:
        """Break off every game, or every game whose clock ran at a moment; all are played again."""
        for table in list(self._tables.values()):
            if running_at is None or table.match.clock_runs(running_at):
                self.void(table, reason, now)

    def play_again(self, number: int) -> bool:
        """Have a void game played again. Returns False if there is no such game, or it is so already."""
        return self._replays.play_again(number)

    # -- results

    def stored(self, game_id: str, now: int) -> None:
        """The record of a game is durable: tell the result, count it, and free the players."""
        table = self._tables.get(number_of(game_id))
        if table is None or not table.kept or table.told:
            return
        table.told = True
        table.match.tell_result(now)
        match, names = table.match, table.match.setting.names
        faults = tuple((names[fault.seat - 1], str(fault.kind)) for fault in match.faults if fault.seat)
        self._results.add(PastGame(table.number, names, match.totals, match.end, len(match.plies), faults))
        self._out.note(
            "info",
            "over",
            game=game_id,
            end=match.end,
            totals=",".join(map(str, match.totals)),
            faults=",".join(f"{name}:{kind}" for name, kind in faults),
        )
        self.settle(table, now)

    def bar(self, player: Player) -> None:
        """The organiser has sent `player` away: it is paired no more."""
        player.barred = player.kicked = True
        self._pairer.busy(player.name)

    def pardon(self, player: Player) -> None:
        """The organiser forgives all faulty games so far."""
        player.forgiven = player.faulty_games
        player.barred = player.kicked = False
        if player.peer is not None and player.table is None:
            self._pairer.free(player.name)

    # -- after a restart of the server

    def recall(self, results: Iterable[PastGame], again: Mapping[int, int]) -> None:
        """Count what is stored; `again` has the numbers of void games by those that replace them."""
        self._replays.recall(again)
        for game in results:
            self._pairer.started(self._replays.pairing(game.number))
            if game.end == VOID:
                self._replays.add(game.number)
            self._results.add(game)

    def take_up(self, number: int, entries: list[Entry], now: int) -> None:
        """A game that is not stored goes on where its entries end."""
        pairing = self._replays.pairing(number)
        self._pairer.started(pairing)
        table = self._open(pairing, now - max(entry[-1] for entry in entries))
        redo(table.match, entries)
        table.match.restart(now)
        self._out.note("info", "taken-up", game=table.match.setting.game_id, plies=len(table.match.plies))
        self.settle(table, now)
