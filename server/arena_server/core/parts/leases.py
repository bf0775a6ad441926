"""Games that workers play: each is leased to one of them, and its result counts once.

    pair -> Offered, Leased(fence) -> Assign --the shell, a worker--> Returned -> judged -> Store
                 ^                       |
                 '---- fence + 1 <-------'  NotPlayed, or silence for as long as a lease holds

A worker may be killed, or stopped and go on later, and what carries its result may bring it twice. So each
lease has a fence, which is durable before the game is assigned, and only grows: a result counts with the
newest fence of a game without a result, and every other one is refused. A record is judged as a journal is
after a crash: its plies have to be what the match would have decided. A bot whose author sends versions plays
by the image of that which is active when the lease begins.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from arena_protocol.games.base import Game
from arena_protocol.record import VOID, GameRecord, RecordError
from arena_protocol.verify import verify
from arena_server.core.clock import NS_PER_MS
from arena_server.core.deadlines import DeadlineKind, Deadlines
from arena_server.core.deal import number_of
from arena_server.core.effects import Assign, ExcludeWorker, Store, Withdraw
from arena_server.core.events import (
    Capacity,
    Command,
    Event,
    NotPlayed,
    PlayedBy,
    Renewed,
    Returned,
)
from arena_server.core.facts import ContestFact, Excluded
from arena_server.core.game_facts import Ended, GameFact, Leased, Offered, Ready, Started
from arena_server.core.games import GameManager, past_of
from arena_server.core.journal import JournalError, entry_of
from arena_server.core.log_events import GameStarted, LeaseEnded, ResultRefused, ResultReturned, WorkerVoided
from arena_server.core.login import StoredBytes
from arena_server.core.news import Begins, Brought, Changed, Expired, News, TakenBack
from arena_server.core.orders import VOID_WORKER
from arena_server.core.parts.part import Part
from arena_server.core.peers import Bot, LiveGame, Outbox
from arena_server.core.replay import restore
from arena_server.stats.results import PastGame
from arena_server.terms.config import ContestConfig

LATE: Final = "its lease has ended"
_SILENT: Final = "it was silent"
EXCLUDED: Final = "nothing of this worker counts"


@dataclass(slots=True, eq=False)
class Lease:
    """A game that has no result; `fence` is that of the last lease, `out` whether a worker has it now.

    `accepted` are the facts of its result, which `worker` gave, from its acceptance until it is durable.
    """

    live: LiveGame
    fence: int = 0
    out: bool = False
    accepted: Sequence[GameFact] = ()
    worker: str = ""
    #: What the journal has of the programs.
    agents: tuple[str | None, ...] = ()

    @property
    def lacks_version(self) -> bool:
        """Whether a bot of the game has no program yet, as after a restart."""
        return any(slot.bot.lacks_version for slot in self.live.seated)


class LeasedGames(GameManager, Part):
    """All games of a contest that workers play.

    Raises ValueError for an impossible configuration.
    """

    def __init__(
        self,
        config: ContestConfig,
        game: Game[Any],
        bots: Mapping[str, Bot],
        out: Outbox,
        deadlines: Deadlines,
        now: int,
        lease_ms: int,
        stored: StoredBytes,
    ) -> None:
        super().__init__(config, game, bots, out, deadlines, now)
        self._stored = stored
        self._lease_ns = lease_ms * NS_PER_MS
        self._leases: dict[int, Lease] = {}
        #: Games for the next worker that is free, before any that has not been offered.
        self._waiting: deque[Lease] = deque()
        self._out_now = 0
        self._capacity = 0
        #: Of whom nothing counts, and those of them whose games are looked for.
        self._excluded: set[str] = set()
        self._sought: set[str] = set()

    @property
    def quiet(self) -> bool:
        return super().quiet and not self._sought

    # -- what is asked of a `Part`

    def take(self, event: Event | News, now: int) -> bool:
        match event:
            case Begins():
                self._begin()
                return False
            case Changed():  # the first version of a bot may have come
                self._assign_waiting(now)
                return False
            case Expired(DeadlineKind.LEASE, number):
                self._expired(number, now)
            case Command(_, verb) if verb == VOID_WORKER:
                self._exclude(event.target)
            case Capacity():
                self._capacity = event.games
                self._assign_waiting(now)
                self.notes.reconsider()
            case PlayedBy():
                self._sought.discard(event.worker)
                self._annul(event.worker, event.games)
            case Renewed() | NotPlayed() | Returned():
                self._of_lease(event, now)
            case _:
                return False
        return True

    def restore(self, fact: ContestFact) -> bool:
        if isinstance(fact, Excluded):
            self._excluded.add(fact.worker)
        return isinstance(fact, Excluded)

    def _begin(self) -> None:
        """Every bot can be paired from the beginning."""
        for worker in sorted(self._excluded):
            self._seek(worker)
        for bot in self._bots.values():
            if bot.plays:
                self.notes.bot(bot)

    # -- games to workers

    def pair(self, now: int) -> None:
        self._assign_waiting(now)
        while self._out_now < self._capacity and (pairing := self.fixtures.take()) is not None:
            # The fixtures know that each of them has a free slot.
            seated = (next(slot for slot in self._bots[name].slots if slot.free) for name in pairing.names)
            live = self.open(pairing, tuple(seated), now)
            self._out.effects.append(GameStarted(live.game_id, pairing.names, live.slot_numbers))
            self._assign(self._offer(live, 0, now), now)

    def _assign_waiting(self, now: int) -> None:
        """Assign games that have begun: also while no other may start."""
        ready = [lease for lease in self._waiting if not lease.lacks_version]
        for lease in ready[: max(0, self._capacity - self._out_now)]:
            self._waiting.remove(lease)
            self._assign(lease, now)

    def _offer(self, live: LiveGame, fence: int, now: int) -> Lease:
        """Journal the offer of a game; no seat is awaited, so it has no deadline."""
        live.match.timer.stop()
        self.turns.advance(live, [_offer_of(live)], now)
        lease = self._leases[live.number] = Lease(live, fence, agents=live.agents)
        return lease

    def _assign(self, lease: Lease, now: int) -> None:
        lease.fence += 1
        lease.out = True
        self._out_now += 1
        live = lease.live
        if live.agents != lease.agents:  # a newer version than that of the last lease
            lease.agents = live.agents
            self._out.entries.append(entry_of(live.number, _offer_of(live)))
        self.turns.advance(live, [Leased(lease.fence)], now)
        setting = live.match.setting
        kept = {name: self._stored.of(name) for name in setting.names} if self._stored.quota else {}
        self._out.effects.append(Assign(live.game_id, lease.fence, setting, _images_of(live), kept))
        self._deadlines.set((DeadlineKind.LEASE, live.number), now + self._lease_ns)

    # -- what comes back

    def _of_lease(self, event: Renewed | NotPlayed | Returned, now: int) -> None:
        lease = self._leases.get(number_of(event.game_id))
        if lease is None or not lease.out or lease.fence != event.fence:
            if isinstance(event, Returned):
                self._refuse(event, LATE)
            return
        match event:
            case Renewed():
                self._deadlines.set((DeadlineKind.LEASE, lease.live.number), now + self._lease_ns)
            case NotPlayed(_, _, worker, problem):
                self._give_to_another(lease, worker, problem, now)
            case Returned():
                self._take(lease, event, now)

    def _expired(self, number: int, now: int) -> None:
        """The worker that has this game is silent."""
        lease = self._leases[number]
        self._out.effects.append(Withdraw(lease.live.game_id, lease.fence))
        self._give_to_another(lease, "", _SILENT, now)

    def _give_to_another(self, lease: Lease, worker: str, reason: str, now: int) -> None:
        self._out.effects.append(LeaseEnded(lease.live.game_id, lease.fence, worker, reason))
        self._end(lease)
        self._waiting.append(lease)
        self._assign_waiting(now)

    def _end(self, lease: Lease) -> None:
        """No worker has the game any more."""
        lease.out = False
        self._out_now -= 1
        self._deadlines.set((DeadlineKind.LEASE, lease.live.number), None)

    def _refuse(self, event: Returned, reason: str) -> None:
        self._out.effects.append(ResultRefused(event.game_id, event.fence, event.worker, reason))

    def _take(self, lease: Lease, event: Returned, now: int) -> None:
        """Accept the record of the game, or have another worker play it."""
        if event.worker in self._excluded:
            self._refuse(event, EXCLUDED)
            self._give_to_another(lease, event.worker, EXCLUDED, now)
            return
        live = lease.live
        try:
            if (problem := self._stored.problem(live.match.setting.names, event.stored)) is not None:
                raise RecordError(problem)
            facts = _judge(live, _plain(event.record, live.game_id), now)
        except (JournalError, RecordError) as error:
            live.match.apply(_offer_of(live), now)
            self._refuse(event, str(error))
            self._give_to_another(lease, event.worker, "its result was refused", now)
            return
        self._end(lease)
        lease.accepted, lease.worker = facts, event.worker
        played = event.record
        record = replace(
            live.match.record(),
            worker=event.worker,
            host=event.host,
            usage=played.usage,
            cpu=played.cpu,
            cores=played.cores,
            bench=played.bench,
            images=played.images,
        )
        returned = ResultReturned(live.game_id, record.names, event.worker, event.host)
        self._out.effects += Store(live.game_id, record), returned
        self.notes.add(Brought(live, event.stored))

    # -- as for games whose bots are seated here

    def stored(self, game_id: str, now: int) -> None:
        lease = self._leases.pop(number_of(game_id), None)
        if lease is None:
            super().stored(game_id, now)
            return
        for fact in lease.accepted:
            lease.live.transcript.write(fact, now)
        past = past_of(lease.live)
        super().stored(game_id, now)
        if lease.worker in self._excluded:  # meanwhile
            self._annul(lease.worker, [past])

    # -- a worker of which nothing counts

    def _seek(self, worker: str) -> None:
        """Have the results of a worker found; no round is drawn, and the contest does not end, before."""
        self._sought.add(worker)
        self._out.effects.append(ExcludeWorker(worker))

    def _exclude(self, worker: str) -> None:
        self._seek(worker)
        if worker not in self._excluded:
            self._out.fact(Excluded(worker))
        self._excluded.add(worker)

    def _annul(self, worker: str, games: Sequence[PastGame]) -> None:
        """Take back the results of a worker, as far as nothing follows from them, and replay the games."""
        games = [self.fixtures.rulings.known(game) for game in games]  # the jury may have decided meanwhile
        void = [game for game in games if self.fixtures.annul(game, worker)]
        for game in void:
            self.notes.add(TakenBack(game))
            self.play_again(game.number)
        kept = sum(game.end != VOID and game.number not in self.fixtures.annulled for game in games)
        self._out.effects.append(WorkerVoided(worker, len(void), kept))

    def void(self, live: LiveGame, reason: str, now: int, *, again: bool = True) -> None:
        lease = self._leases.get(live.number)
        if lease is not None and not live.match.over:
            if lease.out:
                self._out.effects.append(Withdraw(live.game_id, lease.fence))
                self._end(lease)
            else:
                self._waiting.remove(lease)
            del self._leases[live.number]
        super().void(live, reason, now, again=again)

    def resume(self, live: LiveGame, facts: Sequence[GameFact], now: int) -> None:
        """One that was being played is played from its beginning, by another worker."""
        if isinstance(facts[-1], Ended):  # it was broken off
            super().resume(live, facts, now)
            return
        live.match.apply(_offer_of(live), now)
        fences = [fact.fence for fact in facts if isinstance(fact, Leased)]
        self._waiting.append(self._offer(live, max(fences, default=0), now))


def _offer_of(live: LiveGame) -> Offered:
    setting = live.match.setting
    return Offered(setting.names, setting.deal_number, live.slot_numbers, live.agents)


def _images_of(live: LiveGame) -> tuple[str, ...]:
    """The image of the present version of each seat, `""` for others; empty if none has one."""
    images = tuple(slot.bot.image for slot in live.seated)
    return images if any(images) else ()


def _plain(record: GameRecord, game_id: str) -> GameRecord:
    """A worker's record without what a match does not know."""
    return replace(
        record, game_id=game_id, worker="", host="", usage=(), cpu="", cores="", bench=0, images=()
    )


def _judge(live: LiveGame, record: GameRecord, now: int) -> list[GameFact]:
    """Let the match of `live` decide the game of a worker's record; returns its facts.

    Raises JournalError or RecordError for a record that is not true, or not of this game.
    """
    if record.end == VOID:
        raise RecordError("the game was broken off")
    offer, *facts = facts_of(record, live.match.setting.deal_number)
    restore(live.match, [offer, *facts], now)
    if live.match.record() != record:
        raise RecordError("it is not of this game")
    verify(record)
    return facts


def facts_of(record: GameRecord, deal: int) -> list[GameFact]:
    """The facts that lead to a record of a game on deal number `deal`, in an order that is possible.

    A record does not tell which seats were ready when one of them fell: here all are.
    """
    ready = (Ready(seat) for seat in range(1, len(record.names) + 1))
    return [
        Offered(record.names, deal),
        *ready,
        Started(),
        *_course(record),
        Ended(record.totals, record.end),
    ]


def _course(record: GameRecord) -> Iterator[GameFact]:
    """Faults, plies and notes, each not before its ply."""
    faults, infos = deque(record.faults), deque(record.infos)
    for number, ply in enumerate(record.plies, start=1):
        while infos and infos[0].ply <= number:
            yield infos.popleft()
        while faults and max(1, faults[0].ply) <= number:
            yield faults.popleft()
        yield ply
    yield from infos
    yield from faults
