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
from arena_server.core.journal import AGAIN, CONTEST, Entry, PastGame
from arena_server.core.match import VOID, Match
from arena_server.core.overview import RunningGame
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
        self._tables: dict[int, Table] = {}
        #: The games that are played again, each by the number of the void one.
        self._again: dict[int, Pairing] = {}
        #: The void games that nobody has asked for again.
        self._void_only: dict[int, Pairing] = {}
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
        running = [table.match for table in self._tables.values() if not table.told]
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

    # -- games

    def table(self, game_id: str) -> Table | None:
        """The table of this game, if it is running."""
        table = self._tables.get(number_of(game_id))
        return None if table is None or table.told else table

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
        table = self._tables[pairing.number] = Table(pairing.number, match, players, self._out)
        self.spectators.open(pairing.number, match.feed)
        return table

    def settle(self, table: Table, now: int) -> None:
        """After all that may have changed a match: keep, say, show, plan, and give its record away."""
        table.journal()
        table.flush(now)
        self.spectators.update(table.number, now)
        self.plan_deadline(table)
        self._deadlines.set((Kind.CATCH_UP, table.number), table.rest)
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

    def catch_up(self, number: int, now: int) -> None:
        """Somebody at table `number` can be told more."""
        self.settle(self._tables[number], now)

    # -- games that are broken off

    def void(self, table: Table, reason: str, now: int, *, again: bool = True) -> None:
        """Break a running game off, to be played `again` or not; one that is over keeps its result."""
        if table.match.over:
            return
        pairing = Pairing(table.number, table.match.setting.names, table.match.setting.deal_number)
        self._void_only[table.number] = pairing
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
        pairing = self._void_only.get(number)
        if pairing is None:
            return False
        new = self._schedule.total + len(self._again) + 1
        self._out.journal((CONTEST, AGAIN, new, number))
        self._repeat(new, pairing)
        return True

    def _repeat(self, new: int, old: Pairing) -> None:
        del self._void_only[old.number]
        self._again[old.number] = Pairing(new, old.names, old.deal)
        self._pairer.again(self._again[old.number])

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
        self._count(PastGame(table.number, names, match.totals, match.end, len(match.plies), faults))
        self._out.note(
            "info",
            "over",
            game=game_id,
            end=match.end,
            totals=",".join(map(str, match.totals)),
            faults=",".join(f"{name}:{kind}" for name, kind in faults),
        )
        self.settle(table, now)

    def _count(self, game: PastGame) -> None:
        self._plies += game.plies
        if game.end == VOID:
            self._void += 1
            return
        self._done += 1
        self._standings.add(Result(game.names, game.totals, game.faults))
        for name, _ in game.faults:
            self._players[name].faulty_games += 1
            self._blame(self._players[name])

    def _blame(self, player: Player) -> None:
        """Pair a bot no more that has had too many faulty games."""
        if player.faulty_games - player.forgiven == self.plan.probation:
            player.barred = True
            self._out.note("warning", "probation", bot=player.name, games=player.faulty_games)

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
        for new, old in sorted(again.items()):
            self._void_only[old] = self._pairing(old)
            self._repeat(new, self._void_only[old])
        for game in results:
            pairing = self._pairing(game.number)
            self._pairer.started(pairing)
            if game.end == VOID and game.number not in self._again:
                self._void_only[game.number] = pairing
            self._count(game)

    def _pairing(self, number: int) -> Pairing:
        """The game of this number. Raises LookupError if there is none."""
        if 0 < number <= self._schedule.total:
            return self._schedule.pairing(number)
        return {pairing.number: pairing for pairing in self._again.values()}[number]

    def take_up(self, number: int, entries: list[Entry], now: int) -> None:
        """A game that is not stored goes on where its entries end."""
        pairing = self._pairing(number)
        self._pairer.started(pairing)
        table = self._open(pairing, now - max(entry[-1] for entry in entries))
        redo(table.match, entries)
        table.match.restart(now)
        self._out.note("info", "taken-up", game=table.match.setting.game_id, plies=len(table.match.plies))
        self.settle(table, now)


def number_of(game_id: str) -> int:
    """The number of the game that is called so; 0 for a word that calls none."""
    digits = game_id[1:]
    return int(digits) if game_id[:1] == "g" and digits.isascii() and digits.isdigit() else 0
