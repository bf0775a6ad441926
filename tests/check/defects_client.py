"""Bots with the usual mistakes on arena_client: what `choose` returns or raises, what `run` is given."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from arena_client.bot import Bot, as_bot
from arena_client.errors import ClientError
from arena_client.protocol import ClientProtocol, Job
from arena_protocol.view import GameView

from .bots import Program, variant


@dataclass(frozen=True)
class Late:
    """A move that is found after this number of seconds."""

    seconds: float
    move: object


class Library(Program):
    """A bot on arena_client, of which `make()` is what its author wrote; an exception ends the process."""

    make: Callable[[], Any] = staticmethod(lambda: lambda view: 6)
    #: Arguments that the author gives to `run` instead of those of the tournament.
    given: ClassVar[dict[str, Any]] = {}
    #: Whether nothing is read while a move is late, as with `time.sleep` in an AsyncBot.
    blocks = False

    def start(self) -> None:
        self.unread: bytes | None = None
        try:
            self.protocol = ClientProtocol(
                as_bot(self.make()), **{"name": self.name, "token": self.token, **self.given}
            )
        except ClientError as error:
            self.around.exit(1, str(error))
        else:
            self.around.connect()

    def connected(self) -> None:
        self.protocol.connection_made()

    def received(self, data: bytes) -> None:
        if self.unread is not None:
            self.unread += data
            return
        self._guarded(lambda: self.protocol.receive_data(data))

    def _guarded(self, act: Callable[[], None]) -> None:
        """Act, then run the jobs of the bot; what it raises ends the process as in Python."""
        try:
            act()
            self._work()
        except ClientError as error:
            self.around.exit(1, str(error))
        except SystemExit as leaving:
            self.around.exit(int(leaving.code or 0))
        except Exception as error:
            self.around.exit(1, "".join(traceback.format_exception(error)))

    def _work(self) -> None:
        while self.protocol.bye_reason is None and (job := self.protocol.next_job()) is not None:
            value = job.call()
            if isinstance(value, Late):
                self._wait(job, value)
                break
            self.protocol.complete(job, value)
        self.around.send(self.protocol.data_to_send())
        if self.protocol.bye_reason is not None:
            self.around.exit(0)

    def _wait(self, job: Job, late: Late) -> None:
        self.unread = b"" if self.blocks else None

        def found() -> None:
            unread, self.unread = self.unread or b"", None
            self._guarded(lambda: self.protocol.complete(job, late.move))
            if unread:
                self.received(unread)

        self.around.later(late.seconds, found)

    def lost(self, *, reset: bool) -> None:
        self.around.close()
        if self.protocol.bye_reason is None:
            wait = max(0.1, self.protocol.link.retry_after_s)
            self.protocol.connection_lost()
            self.around.later(wait, self.around.connect)


def chooses(what: str, choose: Any, case: str, says: str, **more: Any) -> None:
    """Enter a bot by its function or Bot."""
    variant(Library, what, case, says=says, make=staticmethod(lambda: choose), **more)


def returns(what: str, value: object, case: str, says: str, **more: Any) -> None:
    """Enter a bot whose `choose` returns this value."""
    chooses(what, lambda view: value, case, says, **more)


def _raises(view: GameView) -> int:
    raise ZeroDivisionError("division by zero")


def _raises_late(view: GameView) -> int:
    if view.ply > 4:
        raise IndexError("list index out of range")
    return 6


def _exits(view: GameView) -> int:
    raise SystemExit(0)


class _NoWarmUp(Bot):
    def new_game(self, view: GameView) -> None:
        raise FileNotFoundError("openings.txt")

    def choose(self, view: GameView) -> int:
        return 6


class _NoResult(Bot):
    def choose(self, view: GameView) -> int:
        return 6

    def game_over(self, view: GameView, result: object) -> None:
        raise AttributeError("'Result' object has no attribute 'score'")


class _XoAlone(Bot):
    games = ("xo",)

    def choose(self, view: GameView) -> int:
        return 6


returns("Returns 0 from choose.", 0, "3.3/1", "counted from 1")
returns("Returns 16 from choose.", 16, "3.3/1", "1 to 15")
returns("Returns '06' from choose.", "06", "3.3/1", "leading zero")
returns("Returns '6.0' from choose.", "6.0", "3.3/1", "whole number")
returns("Returns None from choose.", None, "3.3/1", "must be an int or a str, not None")
returns("Returns True from choose.", True, "3.3/1", "must be an int or a str, not True")
returns("Returns a float from choose.", 6.0, "3.3/1", "must be an int or a str, not 6.0")
returns("Returns a list from choose.", [6], "3.3/1", "must be an int or a str, not [6]")
returns("Returns a text with a blank.", "6 ", "3.3/1", "cannot be sent")
returns("Returns the whole line.", "MOVE 6", "3.3/1", "cannot be sent")
returns("Returns an empty text.", "", "3.3/1", "cannot be sent")
returns("Searches for 3 s, however short the clock is.", Late(3.0, 6), "7.5/1", "for the whole game")
returns("Searches for 1 s, however short the clock is.", Late(1.0, 6), "7.5/2", "for the whole game")
returns("Sleeps for 3 s in an AsyncBot.", Late(3.0, 6), "7.5/1", "for the whole game", blocks=True)
returns("Never returns from choose.", Late(1e6, 6), "3.3/1", "--patience")
returns("Returns a late illegal move.", Late(0.5, 0), "3.3/1", "counted from 1")
returns("Logs in under its own name.", 6, "3.1/1", "ARENA_NAME", given={"name": "deepblue"})
returns("Logs in by its own token.", 6, "3.1/1", "ARENA_TOKEN", given={"token": "hunter2"})
returns("Logs in for its own slot.", 6, "6.7/1", "slot=", given={"slot": 2})
returns("Has a name with a blank in run.", 6, "3.1/1", "cannot be sent", given={"name": "my bot"})
chooses("Raises in choose.", _raises, "3.3/1", "ZeroDivisionError")
chooses("Raises in choose at its third move.", _raises_late, "3.3/1", "IndexError")
chooses("Calls sys.exit in choose.", _exits, "3.3/1", "status 0")
chooses("Raises in new_game.", _NoWarmUp(), "3.2/3", "openings.txt")
chooses("Raises in game_over.", _NoResult(), "6.6/1", "has no attribute 'score'")
chooses("Gives run a number.", 6, "3.1/1", "a bot is a function")
chooses("Lists XO alone in its class.", _XoAlone(), "6.5/1", "games=")
