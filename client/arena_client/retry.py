"""How long the client waits between connections, and when it gives up; computed, without waiting itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from arena_client.errors import ClientError

#: Seconds before the second try, growth per try, and the longest wait.
FIRST, FACTOR, LONGEST = 0.1, 2.0, 5.0

#: Tries without a log-in before giving up: 16 to 32 s with the waits above.
TRIES = 12


def backoff(
    tries: int = TRIES,
    *,
    first: float = FIRST,
    longest: float = LONGEST,
    jitter: Callable[[], float] = random.random,
) -> Iterator[float]:
    """Yield the seconds to wait before each further try, `tries` - 1 values.

    The waits double up to `longest`. Each is shortened by `jitter()` / 2 of itself, with
    `jitter()` in [0, 1), so that the bots of a restarted server do not reconnect together.
    """
    wait = first
    for _ in range(tries - 1):
        yield wait * (1 - jitter() / 2)
        wait = min(wait * FACTOR, longest)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The limits of a client, in seconds.

    `delays()` yields the waits between tries; each successful log-in starts it again. `greeting_s`
    limits one try from the connection to WELCOME; `login_budget_s` is the total time that
    connections without a log-in may last.
    """

    delays: Callable[[], Iterator[float]] = backoff
    greeting_s: float = 10.0
    login_budget_s: float = 30.0


DEFAULT = RetryPolicy()


class RetryState:
    """Counts the tries to log in at one server."""

    def __init__(self, policy: RetryPolicy, server: str) -> None:
        self._policy = policy
        self._server = server
        self._delays = policy.delays()
        self._failed = 0
        self._spent_s = 0.0

    def after(self, reason: str, *, welcomed: bool, at_least: float = 0, lasted: float = 0) -> float:
        """Return the seconds to wait after a connection that ended for `reason`.

        `welcomed`: whether it was logged in; `at_least`: the wait that the server asked for;
        `lasted`: the seconds that the try or the connection took. Raises ClientError when the
        delays or the budget are used up.
        """
        if welcomed:
            self._delays, self._failed, self._spent_s = self._policy.delays(), 0, 0.0
        else:
            self._failed += 1
            self._spent_s += lasted
        wait = next(self._delays, None)
        if wait is None or self._spent_s >= self._policy.login_budget_s:
            tries = f" after {self._failed} tries" if self._failed > 1 else ""
            raise ClientError(f"gave up on {self._server}{tries}: {reason}")
        return max(wait, at_least)
