"""The games of a contest: who plays next, the running tables, and what their results count for.

A result counts once its record is durable (`stored`), and not before. A game that the platform
broke off is void and counts for nothing; it is played again under a new number, on the same
deal with the same seats, unless the organiser does not want it.
It must not know: log-in, connections without a player, when somebody is no longer waited for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from arena_protocol.games.base import Game
from arena_server.core.clock import NS_PER_MS
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.diary import redo
from arena_server.core.effects import Store
from arena_server.core.events import Handed
from arena_server.core.ids import number_of
from arena_server.core.journal import Entry, PastGame
from arena_server.core.match import VOID, Match
from arena_server.core.overview import RunningGame
from arena_server.core.pairing import Pairer
from arena_server.core.peer import Outbox, Peer, Player
from arena_server.core.plan import ContestPlan
from arena_server.core.portions import Portions
from arena_server.core.progress import Progress
from arena_server.core.replays import Replays
from arena_server.core.results import Results
from arena_server.core.schedule import Pairing, Schedule
from arena_server.core.setting import Setting
from arena_server.core.spectators import Spectators
from arena_server.core.table import Table


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
