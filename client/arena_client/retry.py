"""How long a bot's visit waits for what, as plain numbers: nothing here waits or draws by itself.

It must not know: sockets, event loops, the wire.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from arena_client.errors import ClientError

#: Seconds before the second try, growth from try to try, and the longest wait.
FIRST, FACTOR, LONGEST = 0.1, 2.0, 5.0

#: Tries without a log-in before giving up: about half a minute in all.
TRIES = 12


def backoff(
    tries: int = TRIES,
    *,
    first: float = FIRST,
    longest: float = LONGEST,
    jitter: Callable[[], float] = random.random,
) -> Iterator[float]:
    """Yield the seconds to wait before each further try, `tries` - 1 of them.

    The waits double up to `longest`; each is shortened by up to a half, `jitter()` in [0, 1)
    saying by how much, so that the bots of a restarted server do not all come back at once.
    """
    wait = first
    for _ in range(tries - 1):
        yield wait * (1 - jitter() / 2)
        wait = min(wait * FACTOR, longest)


@dataclass(frozen=True, slots=True)
class Patience:
    """The waits of a visit, in seconds.

    `delays()` gives the waits between tries to log in; a log-in that succeeds begins them
    anew. `greeting` is how long a server may take to log the bot in, `vain` how long all
    connections together may last that do not log it in, `farewell` how long the last QUIT may
    take to leave.
    """

    delays: Callable[[], Iterator[float]] = backoff
    greeting: float = 10.0
    vain: float = 30.0
    farewell: float = 1.0


#: A person with a bot at a terminal and a bot beside its server are both well served by this.
PATIENT = Patience()


class Tries:
    """Counts the tries to log in at one server and says how long to wait for the next."""

    def __init__(self, patience: Patience, where: str) -> None:
        self._patience = patience
        self._where = where
        self._delays = patience.delays()
        self._failed = 0
        self._vain = 0.0

    def after(self, reason: str, *, welcomed: bool, at_least: float = 0, lasted: float = 0) -> float:
        """Return the seconds to wait after a connection that ended for `reason`.

        `welcomed`: it had been logged in, so the count begins anew; `at_least`: what the server
        asked for; `lasted`: for how many seconds there was a connection, or a try to have one.
        Raises ClientError when the delays are used up, or too much was spent in vain.
        """
        if welcomed:
            self._delays, self._failed, self._vain = self._patience.delays(), 0, 0.0
        else:
            self._failed += 1
            self._vain += lasted
        wait = next(self._delays, None)
        if wait is None or self._vain >= self._patience.vain:
            tries = f" after {self._failed} tries" if self._failed > 1 else ""
            raise ClientError(f"gave up on {self._where}{tries}: {reason}")
        return max(wait, at_least)
