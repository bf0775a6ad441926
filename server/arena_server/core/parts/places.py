"""Bots that do not ponder: their programs are frozen while others move, where the shell can do that.

    its game has gone on -> another seat moves: frozen -> its own turn: thawed; the event Thawed -> its TURN

No clock runs while TURN waits for that. Thawing is waited for as long as for a connection that does not take
its TURN; then the game is void, since no bot is to blame for it, and the bot is not paired before it runs.
"""

from __future__ import annotations

from collections import Counter

from arena_server.core.clock import NS_PER_MS
from arena_server.core.connections import Connections
from arena_server.core.deadlines import DeadlineKind, Deadlines
from arena_server.core.effects import SetFrozen
from arena_server.core.events import Event, Thawed
from arena_server.core.game_state import Phase
from arena_server.core.games import GameManager
from arena_server.core.login import Authenticator
from arena_server.core.news import Disconnected, Expired, Moved, News
from arena_server.core.overview import FROZEN
from arena_server.core.parts.part import Part, Unpaired
from arena_server.core.peers import Bot, LiveGame, NotFree, Outbox, Slot


class Places(Part):
    """The programs of one contest that are frozen and thawed."""

    def __init__(
        self,
        handover_ms: int,
        authenticator: Authenticator,
        games: GameManager,
        connections: Connections,
        out: Outbox,
        deadlines: Deadlines,
    ) -> None:
        self._handover_ms = handover_ms
        self._authenticator = authenticator
        self._games = games
        self._connections = connections
        self._out = out
        self._deadlines = deadlines
        #: How often the program of each slot was to be thawed.
        self._thaws: Counter[int] = Counter()
        #: The slots whose programs are to be thawed, and are not yet.
        self._waking: set[int] = set()

    # -- what is asked of a `Part`

    def may_pair(self, bot: Bot) -> bool:
        return True  # a slot whose program is frozen is not free, and one that is stuck is not here

    def take(self, event: Event | News, now: int) -> bool:
        match event:
            case Moved(live):
                for slot in live.freezing:
                    if slot.peer is not None and slot.game is live:
                        self._freeze_or_thaw(live, slot, now)
            case Disconnected(slot):
                if NotFree.FROZEN in slot.not_free:
                    self._let_go(slot, now)
            case Thawed(bot, number, count):
                if (frozen := self._authenticator.slot(bot, number)) is not None:
                    self._thawed(frozen, count, now)
            case Expired(DeadlineKind.THAW, key):
                self._not_thawed(self._authenticator.slots[key], now)
            case _:
                return False
        return True

    def shown(self, bot: Bot) -> Unpaired:
        is_stuck = not bot.is_here and any(NotFree.STUCK in slot.not_free for slot in bot.slots)
        return Unpaired(FROZEN, "absent", absent=True) if is_stuck else Unpaired()

    # -- freezing and thawing

    def _freeze_or_thaw(self, live: LiveGame, slot: Slot, now: int) -> None:
        """The program of `slot` runs unless another seat of its game is to move."""
        match = live.match
        runs = match.phase is not Phase.PLAYING or match.timer.seat == slot.seat
        is_frozen = NotFree.FROZEN in slot.not_free
        if runs and is_frozen and slot.key not in self._waking:
            self._waking.add(slot.key)
            slot.release(NotFree.STUCK)
            self._deadlines.set((DeadlineKind.THAW, slot.key), now + self._handover_ms * NS_PER_MS)
            self._thaw(slot)
        elif not runs and not is_frozen and live.cursors[slot.seat - 1].line == len(live.transcript.lines):
            slot.hold(NotFree.FROZEN)
            self._out.effects.append(SetFrozen(slot.name, slot.number, True, self._thaws[slot.key]))

    def _thaw(self, slot: Slot) -> None:
        self._thaws[slot.key] += 1
        self._out.effects.append(SetFrozen(slot.name, slot.number, False, self._thaws[slot.key]))

    def _runs(self, slot: Slot, now: int) -> None:
        """The program of `slot` is not frozen: it gets the TURN that it is due, and may be paired."""
        self._waking.discard(slot.key)
        self._deadlines.set((DeadlineKind.THAW, slot.key), None)
        slot.release(NotFree.FROZEN)
        slot.release(NotFree.STUCK)
        if (live := slot.game) is not None:
            self._games.turns.spare(slot, now)
            self._games.turns.advance(live, [], now)

    def _thawed(self, slot: Slot, count: int, now: int) -> None:
        """The program of `slot` runs, as the order of this number wanted."""
        if slot.key not in self._waking or count != self._thaws[slot.key]:
            return
        was_stuck = NotFree.STUCK in slot.not_free
        self._runs(slot, now)
        if was_stuck:
            self._connections.arrived(slot.bot)
        if was_stuck or slot.game is None:
            self._games.notes.bot(slot.bot)

    def _let_go(self, slot: Slot, now: int) -> None:
        """It has to see the end of its connection; another program may log in to its slot."""
        self._thaw(slot)
        self._runs(slot, now)
        self._games.notes.bot(slot.bot)

    def _not_thawed(self, slot: Slot, now: int) -> None:
        """The time for the program of `slot` to be thawed is over.

        A game that waits for it is void, and played again: the bot could do nothing.
        """
        slot.hold(NotFree.STUCK)
        if (live := self._games.turns.spare(slot, now)) is not None:
            reason = f"the container of {slot.name} was not thawed within {self._handover_ms} ms"
            self._games.void(live, reason, now)
        self._games.notes.bot(slot.bot)
        if not slot.bot.is_here:
            self._connections.absent_from(slot.bot, now)
