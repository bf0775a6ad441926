"""What a contest has in the driver between batches: on its way to the disk, or held back until it is there.

    effects of a batch -> Journal: entries to commit ----------> durable
                       -> Store: records to store behind them      |
                       -> all others ------ CommitBarrier ---------+--> connections, log, readers

`CommitBarrier` and `StallDetector` are free of I/O: the simulation runs the same classes in virtual time.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from arena_protocol.record import GameRecord
from arena_server.core.effects import (
    Assign,
    Effect,
    ExcludeWorker,
    Finished,
    Journal,
    Reply,
    SetFrozen,
    Show,
    StartDraw,
    Store,
    Withdraw,
)
from arena_server.core.events import Stalled
from arena_server.core.journal import Entry
from arena_server.core.log_events import LogEvent
from arena_server.host.interfaces import Core, DriverEvents, RecordStore
from arena_server.host.observers import TranscriptReader
from arena_server.stats.durations import Durations

#: How often the loop shows that it runs, and how late it may be before that is a stall.
BEAT_S = 0.1
STALL_NS = 200_000_000
#: While effects have been held back for longer than this, no deadline is judged: a TURN or an answer
#: may be among them, and a slow disk is no bot's fault.
HELD_NS = 200_000_000
#: After all moments.
NEVER: Final = 1 << 63


class CommitBarrier:
    """Holds effects back until the journal entries before them are durable; free of I/O.

        add(effects) ... -> seal(now) -> entries to commit -> durable(batch) -> release() -> effects
                                      -> take_records() -> records to store behind them

    All entries added between two calls of `seal` are one batch. Effects keep their order: what
    holds one back holds back all that follow.
    """

    __slots__ = ("_effects", "_entries", "batch", "held_until", "records", "settled", "waiting")

    def __init__(self) -> None:
        #: The number of the last sealed batch (1, 2, ...), and how many are durable.
        self.batch = self.settled = 0
        self._entries: list[Entry] = []
        self._effects: list[Effect] = []
        self.records: list[Store] = []
        #: Effects with the batch that has to be durable before them, and when that was sealed.
        self.waiting: deque[tuple[int, int, list[Effect]]] = deque()
        #: No deadline is judged before this moment (monotonic ns).
        self.held_until = 0

    def add(self, effects: list[Effect]) -> None:
        """Add the effects of one event, in order."""
        for effect in effects:
            if type(effect) is Journal:
                self._entries += effect.entries
            elif type(effect) is Store:
                self.records.append(effect)
            else:
                self._effects.append(effect)

    def seal(self, now: int) -> list[Entry]:
        """Close the batch: returns its entries, to be committed as batch number `batch`, if there are any."""
        entries, self._entries = self._entries, []
        if entries:
            self.batch += 1
        if self._effects or entries:
            self.waiting.append((self.batch, now, self._effects))
            self._effects = []
        return entries

    def take_records(self) -> list[Store]:
        """The records added so far; they are to be stored after the entries sealed so far."""
        records, self.records = self.records, []
        return records

    def durable(self, batch: int) -> None:
        """All batches up to number `batch` are durable."""
        if batch > self.settled:  # reports of two threads may come in either order
            self.settled = batch

    def release(self) -> list[Effect]:
        """The effects that may be carried out now, in order; each is returned once."""
        waiting = self.waiting
        if not waiting or waiting[0][0] > self.settled:
            return []
        effects = waiting.popleft()[2]
        while waiting and waiting[0][0] <= self.settled:
            effects += waiting.popleft()[2]
        return effects

    @property
    def held_since(self) -> int | None:
        """When the oldest batch that is not durable was sealed; None if effects wait for none."""
        return self.waiting[0][1] if self.waiting else None

    def may_judge(self, now: int) -> bool:
        """Whether deadlines that have passed at `now` may be judged; if not, none is before `held_until`."""
        since = self.held_since
        if since is None or now - since <= HELD_NS:
            return True
        self.held_until = now + HELD_NS
        return False


class StallDetector:
    """Detects that the loop stood still: `beat` is due every 100 ms, and free of I/O."""

    __slots__ = ("_last", "limit")

    def __init__(self) -> None:
        self._last = 0
        #: A moment after this one ends a stall.
        self.limit = NEVER

    def beat(self, now: int) -> None:
        """The loop runs at `now` (ns)."""
        self._last = now
        self.limit = now + STALL_NS

    def stop(self) -> None:
        """Detect nothing more."""
        self.limit = NEVER

    def stall(self, now: int) -> Stalled | None:
        """The stall that has just ended, if there was one; it is reported once."""
        if now <= self.limit:
            return None
        began = self._last
        self.beat(now)
        return Stalled(began, now)


@dataclass(slots=True, eq=False)
class Run:
    """A contest in the driver: where its entries go, its listener, and what is on its way to the disk.

    `readers` of transcripts learn how far they may be shown.
    """

    core: Core
    store: RecordStore
    listener: DriverEvents
    readers: Sequence[TranscriptReader] = ()
    barrier: CommitBarrier = field(default_factory=CommitBarrier)
    durations: Durations = field(default_factory=Durations)
    #: When each queued batch of entries, by its number, and each record was handed over.
    queued: deque[tuple[int, int]] = field(default_factory=deque)
    storing: dict[str, tuple[int, GameRecord]] = field(default_factory=dict)

    @property
    def unanswered_since(self) -> int | None:
        """When the oldest entry or record that is not durable was handed over; None if all are."""
        entries = [self.queued[0][1]] if self.queued else []
        records = [next(iter(self.storing.values()))[0]] if self.storing else []
        return min(entries + records, default=None)

    def hand_over(self, each: Store) -> None:
        """Have a record made durable."""
        self.storing[each.game_id] = time.monotonic_ns(), each.record
        self.store.store(each.game_id, each.record)

    def committed(self, batches: int, game_ids: Sequence[str]) -> None:
        """The first `batches` calls of `append` are durable, and the records of these games."""
        now = time.monotonic_ns()
        while self.queued and self.queued[0][0] <= batches:
            self.durations.journal.observe(now - self.queued.popleft()[1])
        for game_id in game_ids:
            if stored := self.storing.pop(game_id, None):
                self.durations.store.observe(now - stored[0])
                self.listener.recorded(stored[1])
        self.barrier.durable(batches)

    def carry_out(self, effect: Effect) -> None:
        """Carry out an effect that is for no connection."""
        match effect:
            case LogEvent():
                self.listener.log(effect)
            case Reply(number, problem):
                self.listener.reply(number, problem)
            case Show(transcript, end):
                for reader in self.readers:
                    reader.shown(transcript, end)
            case SetFrozen() | StartDraw() | Assign() | Withdraw() | ExcludeWorker():
                self.listener.carry_out(effect)
            case Finished(reason, ago):
                self.listener.finished(reason, ago)
