"""The games of a contest: who plays next, the running tables, and what their results count for.

A result counts once its record is durable (`stored`), and not before.
It must not know: log-in, connections without a player, when somebody is no longer waited for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from arena_protocol.games.base import Game
from arena_server.core.clock import NS_PER_MS
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.effects import Store
from arena_server.core.match import VOID, Match, Phase
from arena_server.core.pairing import Pairer
from arena_server.core.peer import Outbox, Player
from arena_server.core.plan import ContestPlan
from arena_server.core.progress import Progress
from arena_server.core.schedule import Pairing, Schedule
from arena_server.core.setting import Setting
from arena_server.core.spectators import Spectators
from arena_server.core.standings import Result, Standings
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
        self.spectators = Spectators(plan.spectator_delay_ms * NS_PER_MS, out, deadlines)
        self._game = game
        self._players = players
        self._out = out
        self._deadlines = deadlines
        self._schedule = Schedule(names, game.seats, plan.games_per_pair)
        self._standings = Standings(names, plan.scoring)
        self._pairer = Pairer(self._schedule, game.seats)
        self._tables: dict[str, Table] = {}
        self._done = self._void = self._plies = 0

    @property
    def quiet(self) -> bool:
        """Whether no game is running and no result is awaited."""
        return not self._tables

    def exhausted(self, missing: Collection[str]) -> bool:
        """Whether no game is left that could be played without those of `missing`."""
        return self._pairer.exhausted(missing)

    def progress(self, connected: int, ended: str | None) -> Progress:
        """How far the contest is; the work grows with the number of bots."""
        running = [table.match for table in self._tables.values()]
        return Progress(
            done=self._done,
            total=self._schedule.total,
            void=self._void,
            running=len(running),
            plies=self._plies + sum(len(match.plies) for match in running),
            connected=connected,
            ended=ended,
            standings=self._standings.rows(),
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
            player.table.match.leave(player.seat)
            self.settle(player.table, now)

    def quit(self, player: Player, now: int) -> None:
        """`player` has departed for good: a game goes on without it."""
        if player.table is not None:
            player.table.quit(player, now)
            self.settle(player.table, now)

    # -- games

    def table(self, game_id: str) -> Table | None:
        """The running table of this game."""
        return self._tables.get(game_id)

    def pair(self, now: int) -> None:
        """Start every game that can start."""
        while (pairing := self._pairer.take()) is not None:
            self._start(pairing, now)

    def _start(self, pairing: Pairing, now: int) -> None:
        match = Match(Setting.of(self.plan, self._game, pairing), now)
        players = tuple(self._players[name] for name in pairing.names)
        table = Table(pairing.number, match, players, self._out)
        self._tables[match.setting.game_id] = table
        self.spectators.open(pairing.number, match.feed)
        self._out.note("info", "game", game=match.setting.game_id, names=",".join(pairing.names))
        self.settle(table, now)

    def settle(self, table: Table, now: int) -> None:
        """After all that may have changed a match: say, show, plan its deadline, give its record away."""
        table.flush()
        self.spectators.update(table.number, now)
        self.plan_deadline(table)
        if table.match.phase is Phase.OVER and not table.kept:
            table.kept = True
            self._out.add(Store(table.match.setting.game_id, table.match.record()))

    def plan_deadline(self, table: Table) -> None:
        """The deadline of a match may have moved."""
        self._deadlines.set((Kind.GAME, table.number), table.match.deadline)

    def expire(self, number: int, now: int) -> Player | None:
        """The deadline of game `number` has passed. Returns the player whose connection takes no TURN."""
        table = self._tables[f"g{number}"]
        slow = table.expire(now)
        if slow is None:
            self.settle(table, now)
        return slow

    def void(self, now: int) -> None:
        """Break off every running game; those that are over keep their results."""
        for table in self._tables.values():
            if table.match.phase is not Phase.OVER:
                table.match.void()
                self.settle(table, now)

    # -- results

    def stored(self, game_id: str, now: int) -> None:
        """The record of a game is durable: tell the result, count it, and free the players."""
        table = self._tables.get(game_id)
        if table is None or not table.kept:
            return
        del self._tables[game_id]
        table.match.tell_result(now)
        table.flush()
        self.spectators.update(table.number, now)
        self._count(table.match)
        table.dissolve()
        for player in table.players:
            if player.peer is not None and not player.barred:
                self._pairer.free(player.name)

    def _count(self, match: Match) -> None:
        names = match.setting.names
        faults = tuple((names[fault.seat - 1], str(fault.kind)) for fault in match.faults if fault.seat)
        self._plies += len(match.plies)
        if match.end == VOID:
            self._void += 1
        else:
            self._done += 1
            self._standings.add(Result(names, match.totals, faults))
            for name, _ in faults:
                self._blame(self._players[name])
        self._out.note(
            "info",
            "over",
            game=match.setting.game_id,
            end=match.end,
            totals=",".join(map(str, match.totals)),
            faults=",".join(f"{name}:{kind}" for name, kind in faults),
        )

    def _blame(self, player: Player) -> None:
        player.faulty_games += 1
        if player.faulty_games == self.plan.probation:
            player.barred = True
            self._out.note("warning", "probation", bot=player.name, games=player.faulty_games)
