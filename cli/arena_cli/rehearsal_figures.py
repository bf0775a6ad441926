"""What a rehearsal measures, and whether this machine takes the contest.

    RunCounts: records and events of the host + BotReport: thinking times -> measure -> Measured -> verdict

Of a ply the record has when TURN was sent and when MOVE arrived. What is left of that time without the
bot's own thinking was taken by the machine: kernel, event loops, and waiting for a processor.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arena_protocol.record import VOID, GameRecord, PlyRecord
from arena_server.core.log_events import GameOver, GameStarted, GameVoided, LogEvent, LoopStalled
from arena_server.host.host import HostObserver
from arena_server.host.observers import Attachment
from arena_server.host.run import ContestRun

if TYPE_CHECKING:
    from arena_server.terms.config import ContestConfig


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Of durations in microseconds."""

    p50: int
    p99: int
    max: int

    @classmethod
    def of(cls, values: Sequence[int]) -> Percentiles:
        ordered = sorted(values) or [0]
        last = len(ordered) - 1
        return cls(ordered[last // 2], ordered[last * 99 // 100], ordered[last])


@dataclass(frozen=True, slots=True)
class Measured:
    """What a rehearsal found. `complete`: the whole contest was played.

    `cpu_us` is the processor time of the referee for a ply, all of its threads. `answer` is from the arrival
    of a move to the next TURN, `machine` what a ply took beyond the thinking of its bot. `lost_ms` is the
    most that the machine took of the clock of one bot in one game, `lost_share` that as a share of the clock.
    `seats` counts the connections of bots. `plies_a_seat` is the mean number of plies of a seat, `bots_busy`
    the share of a processor that the process of bots took which took most.
    """

    seconds: float
    complete: bool
    games: int
    plies: int
    seats: int
    at_once: int
    cpu_us: float
    answer: Percentiles
    machine: Percentiles
    lost_ms: int
    lost_share: float
    faults: int
    void: int
    stalls: int
    plies_a_seat: float
    bots_busy: float

    @property
    def load(self) -> float:
        """The share of one processor that the referee took."""
        return self.cpu_us * self.plies / 1e6 / max(self.seconds, 1e-9)


@dataclass(frozen=True, slots=True)
class BotReport:
    """What a process of bots reports: microseconds of thinking by game and ply, and its load."""

    thought: Mapping[str, Mapping[int, int]]
    busy: float


@dataclass(slots=True)
class RunCounts(HostObserver, Attachment):
    """Collects what a host does: records, events and processor time."""

    records: list[GameRecord] = field(default_factory=list)
    running: int = 0
    at_once: int = 0
    void: int = 0
    stalls: int = 0
    began: float | None = None
    ended: float = 0.0
    cpu_began: float = 0.0
    cpu_ended: float = 0.0
    serving_now: asyncio.Event = field(default_factory=asyncio.Event)
    hosted: ContestRun | None = None
    stopping: bool = False

    def added(self, hosted: ContestRun) -> None:
        self.hosted = hosted
        hosted.attach(self)

    def serving(self) -> None:
        self.serving_now.set()

    def recorded(self, record: GameRecord) -> None:
        self.records.append(record)

    def happened(self, event: LogEvent) -> None:
        match event:
            case GameStarted():
                if self.began is None:
                    self.began, self.cpu_began = time.perf_counter(), time.process_time()
                self.running += 1
                self.at_once = max(self.at_once, self.running)
            # Games that the end of the rehearsal makes void say nothing of the machine.
            case GameOver() | GameVoided() if not self.stopping:
                self.running -= 1
                self.void += isinstance(event, GameVoided)
                self.mark()
            case LoopStalled():
                self.stalls += 1

    def mark(self) -> None:
        """What is measured ends here, unless more comes."""
        self.ended, self.cpu_ended = time.perf_counter(), time.process_time()


def measure(
    config: ContestConfig,
    counts: RunCounts,
    reports: Sequence[BotReport],
    seats: int,
    *,
    complete: bool,
) -> Measured:
    """Compute the figures of a rehearsal."""
    answers: list[int] = []
    machine: list[int] = []
    lost = plies = players = 0
    thought: dict[str, dict[int, int]] = {}
    for report in reports:
        for game, known in report.thought.items():
            thought.setdefault(game, {}).update(known)
    for record in counts.records:
        answers += (
            (after.handed_ns - before.arrived_ns) // 1000
            for before, after in zip(record.plies, record.plies[1:], strict=False)
            # A ply of a zombie is played by the server, without TURN and MOVE.
            if not (before.zombie or after.zombie)
        )
        known = thought.get(record.game_id, {})
        beyond = {number: _beyond(ply, known.get(number)) for number, ply in enumerate(record.plies, start=1)}
        machine += (us for us in beyond.values() if us is not None)
        lost = max(lost, *(_lost_ms(record, seat, known) for seat in range(1, len(record.names) + 1)))
        plies += len(record.plies)
        players += len(record.names)
    return Measured(
        seconds=counts.ended - (counts.began or counts.ended),
        complete=complete,
        games=sum(record.end != VOID for record in counts.records),
        plies=plies,
        seats=seats,
        at_once=counts.at_once,
        cpu_us=(counts.cpu_ended - counts.cpu_began) * 1e6 / max(1, plies),
        answer=Percentiles.of(answers),
        machine=Percentiles.of(machine),
        lost_ms=lost,
        lost_share=lost / config.clock_ms,
        faults=sum(len(record.faults) for record in counts.records if record.end != VOID),
        void=counts.void,
        stalls=counts.stalls,
        plies_a_seat=plies / max(1, players),
        bots_busy=max((report.busy for report in reports), default=0.0),
    )


def _beyond(ply: PlyRecord, thought_us: int | None) -> int | None:
    """The microseconds that a ply took beyond the thinking of its bot; None if that is not known."""
    if ply.zombie or thought_us is None:
        return None
    return max(0, (ply.arrived_ns - ply.handed_ns) // 1000 - thought_us)


def _lost_ms(record: GameRecord, seat: int, thought: Mapping[int, int]) -> int:
    """What the clock of a seat was charged beyond the thinking of its bot."""
    charged = own = 0
    for number, ply in enumerate(record.plies, start=1):
        if ply.seat == seat and number in thought and not ply.zombie:
            charged += ply.time_ms
            own += thought[number] // 1000
    return max(0, charged - own)


# -- what that means

#: The shares of its clock that a bot may lose to the machine: more is named, and more is refused.
LITTLE, MUCH = 0.01, 0.05
#: From this share of a processor on, the bots of a process wait for each other.
BOTS_BUSY = 0.7
#: The share of one processor that the referee may take for good: the rest is for bursts.
BUSY = 0.5


def games_at_once(measured: Measured, move_ms: float) -> int:
    """How many games at once the referee judges with half of a processor; a bot takes `move_ms` a move."""
    return int(BUSY * move_ms * 1000 / max(measured.cpu_us, 1e-9))


def usual_move_ms(config: ContestConfig, measured: Measured) -> float:
    """The time of a move of bots that use half of their clock."""
    return (
        (config.clock_ms + config.increment_ms * measured.plies_a_seat) / 2 / max(1.0, measured.plies_a_seat)
    )


def verdict(config: ContestConfig, measured: Measured) -> tuple[bool, str]:
    """Whether this machine takes the contest, and one sentence that says why."""
    if not measured.games and not measured.plies:
        return False, "no: no ply was played in the time given; allow more by --seconds"
    broken = [
        f"{count} {word}"
        for count, word in (
            (measured.faults, "faults of bots that make none"),
            (measured.void, "void games"),
        )
        if count
    ]
    lost = f"{measured.lost_ms} ms of its clock, {measured.lost_share:.1%},"
    if broken:
        return False, f"no: {', '.join(broken)}; the machine is too slow or too busy for this contest"
    # First: what bots lose to each other says nothing of the machine with bots elsewhere.
    if measured.lost_share > LITTLE and measured.bots_busy > BOTS_BUSY:
        return True, (
            f"perhaps: a bot lost {lost} in one game, but to the other bots of this rehearsal, which took "
            f"{measured.bots_busy:.0%} of their processor; --move-time plays at the pace of the contest"
        )
    if measured.lost_share > MUCH:
        return False, f"no: a bot lost {lost} in one game to the machine"
    if measured.lost_share > LITTLE:
        return True, f"yes, but a bot lost {lost} in one game to the machine: give longer clocks or a margin"
    return True, f"yes: in no game a bot lost more than {lost} to the machine"


def plain(config: ContestConfig, measured: Measured) -> dict[str, Any]:
    """The result as JSON types; times in the units that the names say, percentiles in microseconds."""
    takes, words = verdict(config, measured)
    names = (name for name in Measured.__slots__ if name not in ("answer", "machine"))
    spreads = {
        name: {key: getattr(getattr(measured, name), key) for key in Percentiles.__slots__}
        for name in ("answer", "machine")
    }
    move_ms = usual_move_ms(config, measured)
    return {
        **{name: getattr(measured, name) for name in names},
        **spreads,
        "load": measured.load,
        "usual_move_ms": move_ms,
        "games_at_once_at_usual_pace": games_at_once(measured, move_ms),
        "takes_it": takes,
        "verdict": words,
    }
