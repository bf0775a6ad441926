"""What a webhook has taken of a contest, and what it gets next."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_server.core.log_events import LogEvent
from arena_server.errors import ArenaError
from arena_server.host.log_events import WebhookDelivered, WebhookDropped, WebhookFailed
from arena_server.store.database import Database, home_of
from arena_server.store.files import replace_file
from arena_server.terms.spec import Webhook
from arena_server.webhooks.message import Cursor, Message, Sender, batch_of, result_of, started_at

if TYPE_CHECKING:
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow

#: The pause after the first failure, which doubles with each further one, and the longest.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 300.0
#: Messages that are not results and wait; the oldest are dropped.
MOST_NOTICES: Final = 1000
#: Results that are read at once, and the most in one message.
READ_GAMES: Final = 1000
#: How long results wait for others: to open the database takes 10 ms, in which the referee may have to wait.
READ_PAUSE_S: Final = 1.0
#: The end of a contest is seen in the whole millisecond behind it at last: no event comes then.
WHOLE_S: Final = 0.001
#: In a backlog the place of the last result is kept so often: to sync a file takes 1 to 10 ms.
KEEP_S: Final = 0.1


@dataclass(slots=True)
class HookProgress:
    """How far a hook is: it gets the results of contests that began at `since` (s since 1970) or later.

    Of those before the first one in `taken` it has all.
    """

    since: int
    taken: list[Cursor]

    def place(self, contest: int, started: int) -> int | None:
        """The place of the last result of a contest that the hook has taken; None: it gets none of it."""
        for each in self.taken:
            # By its beginning too: the file may be older than the database.
            if each.contest == contest and each.started in (0, started):
                return each.place
        first = min(((each.started, each.contest) for each in self.taken), default=(0, 0))
        # By its number: the clock may have been set back since.
        later = (started, contest) > first or contest > max((each.contest for each in self.taken), default=0)
        return 0 if later and started >= self.since else None


class Cursors:
    """The file with the progress of each hook of a contest, and of earlier contests of its name.

    A hook is known by the digest of its address. The methods may be called on any thread, and raise
    ArenaError if the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._hooks = _read_progress(path)

    def begin(self, hook: Webhook, since: int, taken_up: Cursor | None) -> None:
        """A hook that is new gets what is stored from now on, also of a contest that is `taken_up`."""
        with self._lock:
            if _key(hook) not in self._hooks:
                self._hooks[_key(hook)] = HookProgress(since, [] if taken_up is None else [taken_up])
                self._write()
            elif since < self._hooks[_key(hook)].since:  # the clock was set back: new contests begin earlier
                self._hooks[_key(hook)].since = since
                self._write()

    def place(self, hook: Webhook, contest: int, started: int) -> int | None:
        """See HookProgress."""
        with self._lock:
            return self._hooks[_key(hook)].place(contest, started)

    def take(self, hook: Webhook, cursor: Cursor) -> None:
        """The hook has taken this result, and has all of earlier contests."""
        with self._lock:
            progress = self._hooks[_key(hook)]
            mine = cursor.started, cursor.contest
            progress.taken = [
                cursor,
                *(each for each in progress.taken if (each.started, each.contest) > mine),
            ]
            self._write()

    def _write(self) -> None:
        plain = {
            key: [hook.since, [[each.contest, each.started, each.place] for each in hook.taken]]
            for key, hook in self._hooks.items()
        }
        try:
            replace_file(self._path, json.dumps(plain).encode())
        except OSError as error:
            raise ArenaError(f"{self._path}: cannot be written: {error.strerror}") from None


def _key(hook: Webhook) -> str:
    return sha256(hook.url.encode()).hexdigest()[:32]


def _read_progress(path: Path) -> dict[str, HookProgress]:
    try:
        plain = json.loads(path.read_bytes())
        return {
            key: HookProgress(int(since), [Cursor(*map(int, numbers)) for numbers in taken])
            for key, (since, taken) in plain.items()
        }
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ArenaError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise ArenaError(
            f"{path}: expected what webhooks have taken, the file is damaged; remove it, and each webhook "
            "begins with the next result"
        ) from None


def cursors_path(database: Database, contest: str) -> Path:
    """The file of a contest's hooks: beside an SQLite file, else in the current folder."""
    home = home_of(database)
    return home.with_name(f"{home.name}-webhooks-{contest}")


class Delivery:
    """The messages of one contest to one hook, in their order; all methods but `notice` are for one thread.

    `clock` is in seconds since 1970, `steady` goes on evenly while that one is set. `report` takes
    the events of the log, on that thread.
    """

    def __init__(
        self,
        hook: Webhook,
        number: int,
        database: Database,
        contest: str,
        cursors: Cursors,
        report: Callable[[LogEvent], None],
        *,
        delay_ms: int = 0,
        send: Callable[[Message, int], str | None] | None = None,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """`number` is the hook's place in the file, from 1: the log calls it by that.

        `delay_ms` is how much later than its players spectators see the contest: a hook that gets results, as
        they do, learns all else as late, too.

        `send` sends a message once, and returns what went wrong; by default a Sender does.
        """
        self._hook, self._number = hook, number
        self._database, self._contest = database, contest
        self._cursors, self._report = cursors, report
        self._sender = Sender(hook)
        self._send = send or self._sender.post
        # Pauses are by the steady one: a clock that is set back by a day must not make them a day longer.
        self._clock, self._steady = clock, steady
        self._delay_s = delay_ms / 1000 if "game" in hook.events else 0.0
        #: Each with the moment at which it is due.
        self._notices: deque[tuple[float, Message]] = deque()
        self._read: deque[Message] = deque()
        #: Made of the first results of `_read`, and the same at every attempt.
        self._batch: Message | None = None
        #: The last result that was taken, if that is not kept yet, and when one was kept.
        self._cursor: Cursor | None = None
        self._kept_at = 0.0
        self._failures = 0
        self._retry_at = self._read_again = 0.0

    def notice(self, message: Message) -> None:
        """Queue a message that is no result; on any thread. The oldest goes if too many wait."""
        if message.kind not in self._hook.events:
            return
        self._notices.append((self._steady() + self._delay_s, message))
        if len(self._notices) > MOST_NOTICES:
            with suppress(IndexError):  # it was delivered meanwhile
                self._notices.popleft()
                self._report(WebhookDropped(self._number))

    def step(self) -> float | None:
        """Send the next message if it is due.

        Returns in how many seconds to call again; None: after an event.
        """
        now = self._steady()
        if now < self._retry_at:
            return self._retry_at - now
        try:
            message = self._next(now)
            if not isinstance(message, Message):
                return message
            error = self._send(message, int(self._clock()))
            if error is None:
                self._taken(message, now)
                return 0.0
            self._keep()
        except ArenaError as problem:  # of database or cursors: the receiver has nothing to do with it
            error = str(problem)
        self._failures += 1
        pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * (1 << min(self._failures - 1, 30)))
        self._retry_at = now + pause
        self._report(WebhookFailed(self._number, error, int(pause)))
        return pause

    def _taken(self, message: Message, now: float) -> None:
        if message.at is None:
            with suppress(IndexError):
                if self._notices[0][1] is message:  # else it was dropped meanwhile
                    self._notices.popleft()
        else:
            self._cursor = message.at
            if len(self._read) == message.results or not 0 <= now - self._kept_at < KEEP_S:
                self._keep()
                self._kept_at = now
            for _ in range(message.results):
                self._read.popleft()
            self._batch = None
        self._failures = 0
        self._report(WebhookDelivered(self._number, message.kind, message.identity))

    def _next(self, now: float) -> Message | float | None:
        """The next message, or in how many seconds there is one, or None. Raises StoreError."""
        later = None
        with suppress(IndexError):  # it was dropped meanwhile
            due, notice = self._notices[0]
            if due <= now:
                return notice
            later = due - now
        if not self._read and "game" in self._hook.events:
            again = self._read_results(now)
            later = min((each for each in (later, again) if each is not None), default=None)
        return self._next_results() if self._read else later

    def _keep(self) -> None:
        """Write down which results have been taken."""
        if self._cursor is not None:
            self._cursors.take(self._hook, self._cursor)
            self._cursor = None

    def _next_results(self) -> Message:
        if self._hook.batch == 1:
            return self._read[0]
        if self._batch is None:
            self._batch = batch_of(list(islice(self._read, self._hook.batch)))
        return self._batch

    def close(self) -> None:
        """Nothing more is sent."""
        with suppress(ArenaError):  # the next server repeats what is not kept
            self._keep()
        self._sender.close()

    def _read_results(self, now: float) -> float | None:
        """Read results that may be shown; returns in how many seconds the next one may be."""
        from arena_server.store.deals import PublicReader
        from arena_server.store.reader import Results

        if now < self._read_again:
            return self._read_again - now
        self._read_again = now + READ_PAUSE_S
        moment = datetime.fromtimestamp(self._clock(), UTC).replace(tzinfo=None)
        with Results(self._database, public=PublicReader(moment, live=True)) as results:
            for row in results.contests():
                place = None
                if row.name == self._contest:
                    place = self._cursors.place(self._hook, row.id, started_at(row))
                if place is None:
                    continue
                due = self._read_contest(results, results.contest(str(row.id)), place, moment)
                if self._read or due is not None:
                    return due
        return None

    def _read_contest(
        self, results: Results, contest: ContestRow, place: int, moment: datetime
    ) -> float | None:
        stored = results.games.games_stored(contest)
        if stored < place:  # a copy was restored, and the results behind it are played again
            place = stored
            self._cursors.take(self._hook, Cursor(contest.id, started_at(contest), place))
        deals = results.deals(contest)
        until = deals.results_until(moment, live=True)
        shown = min(results.games.shown(contest, moment, live=True), place + READ_GAMES)
        found = results.games.summaries(contest, place, shown)
        for at, game in enumerate(found, start=place + 1):
            self._read.append(result_of(contest, at, results.games.head(contest, at), game))
        if len(found) == READ_GAMES:
            self._read_again = 0.0  # there are more: a backlog does not wait for others
        if found or stored == place:
            return None
        if deals.frozen_at is not None and until >= deals.frozen_at:
            # The end of the contest is an event, and thaws it once it is seen.
            ended = results.ended_at(contest)
            if ended is None:
                return None
            left = (ended - moment).total_seconds() + contest.delay_ms / 1000 + WHOLE_S
            return _pause(left) if left > 0 else None
        # Where the clock was set back the last result is seen first, and all before it with it.
        due = min(results.games.stored_last(contest, each) for each in (place + 1, stored))
        return _pause((due - until).total_seconds())


def _pause(left: float) -> float:
    """How long to wait for a moment in `left` seconds: the clock may be set meanwhile."""
    return min(max(READ_PAUSE_S, left), LONGEST_PAUSE_S)
