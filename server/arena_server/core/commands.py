"""What the organiser may order while a contest runs; every order obeyed is in the journal.

    pause         no game begins any more; those that run go on
    resume        games begin again
    drain         no game begins any more, and the contest stops once no game runs
    kick BOT      its connection is closed, its game is void, and it is paired no more
    lift BOT      its faulty games are forgiven: it is paired again
    void GAME     a running game is broken off, for good
    replay GAME   a running or void game is (broken off and) played again

It must not know: who gives orders, and how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from arena_server.core.deal import number_of
from arena_server.core.effects import Reply
from arena_server.core.events import Command
from arena_server.core.games import Hall
from arena_server.core.journal import CONDUCT, CONTEST, GATE
from arena_server.core.peers import Outbox, Player

#: What the record of a game says that was broken off by an order.
REASON: Final = "organiser"


class Gate(StrEnum):
    """Whether games may begin."""

    OPEN = "open"
    PAUSED = "paused"
    DRAINING = "draining"


class OrderError(ValueError):
    """An order that cannot be obeyed; the text is one clear line."""


class Orders:
    """Obeys the organiser. `dismiss(player, now)` closes the connection of a player, if there is one."""

    def __init__(
        self,
        hall: Hall,
        players: Mapping[str, Player],
        out: Outbox,
        dismiss: Callable[[Player, int], None],
    ) -> None:
        self.gate = Gate.OPEN
        self._hall = hall
        self._players = players
        self._out = out
        self._dismiss = dismiss

    def obey(self, command: Command, now: int) -> None:
        """Do it, or say in the Reply why not."""
        try:
            do = VERBS.get(command.verb)
            if do is None:
                raise OrderError(f"the orders are {', '.join(VERBS)}, not {command.verb!r}")
            do(self, command.target, now)
        except OrderError as problem:
            self._out.add(Reply(command.number, str(problem)))
        else:
            self._out.note("warning", "order", verb=command.verb, target=command.target)
            self._out.add(Reply(command.number))

    def _set(self, gate: Gate) -> None:
        self.gate = gate
        self._out.journal((CONTEST, GATE, "", str(gate)))

    def _kick(self, name: str, now: int) -> None:
        player = self._player(name)
        self._hall.bar(player)
        self._keep(player)
        table = player.table
        if table is not None and not table.told:
            self._hall.void(table, REASON, now)
        self._dismiss(player, now)

    def _lift(self, name: str, _now: int) -> None:
        player = self._player(name)
        self._hall.pardon(player)
        self._keep(player)

    def _keep(self, player: Player) -> None:
        self._out.journal((CONTEST, CONDUCT, player.name, player.forgiven, player.kicked))

    def _player(self, name: str) -> Player:
        player = self._players.get(name)
        if player is None or not player.plays:
            raise OrderError(f"no bot of this contest is called {name!r}")
        return player

    def _void(self, game_id: str, now: int) -> None:
        if not self._break_off(game_id, now, again=False):
            raise OrderError(f"no game {game_id!r} is running")

    def _replay(self, game_id: str, now: int) -> None:
        broken = self._break_off(game_id, now, again=True)
        if not broken and not self._hall.play_again(number_of(game_id)):
            raise OrderError(f"no game {game_id!r} is running or void; the result of any other stands")

    def _break_off(self, game_id: str, now: int, *, again: bool) -> bool:
        table = self._hall.table(game_id)
        if table is None or table.match.over:
            return False
        self._hall.void(table, REASON, now, again=again)
        return True


#: What is done at each word; a target that a word does not need is ignored.
VERBS: Final[Mapping[str, Callable[[Orders, str, int], None]]] = {
    "pause": lambda orders, target, now: orders._set(Gate.PAUSED),
    "resume": lambda orders, target, now: orders._set(Gate.OPEN),
    "drain": lambda orders, target, now: orders._set(Gate.DRAINING),
    "kick": Orders._kick,
    "lift": Orders._lift,
    "void": Orders._void,
    "replay": Orders._replay,
}
