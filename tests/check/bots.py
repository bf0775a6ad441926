"""Bots without I/O: one that keeps to PROTOCOL.md, and bots that differ from it in exactly one way each.

They run in virtual time (`virtual.py`), so that a case costs microseconds. `Good` is written without the
client library: what is shown by its defects holds for bots in any language.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar


class Surroundings(Protocol):
    """What a bot has round it: one connection at a time, a clock, and the end of its process."""

    def connect(self) -> None: ...

    def send(self, data: bytes) -> None: ...

    def close(self) -> None: ...

    def say(self, text: str) -> None: ...

    def later(self, seconds: float, call: Callable[[], None]) -> None: ...

    def exit(self, status: int, stderr: str = "") -> None: ...


class Program:
    """A bot: `received` is called with what one read brings, `lost` when the connection has ended."""

    def __init__(self, around: Surroundings, name: str, token: str) -> None:
        self.around = around
        self.name = name
        self.token = token

    def start(self) -> None:
        self.around.connect()

    def connected(self) -> None:
        raise NotImplementedError

    def received(self, data: bytes) -> None:
        raise NotImplementedError

    def lost(self, *, reset: bool) -> None:
        raise NotImplementedError


class LeaveError(Exception):
    """Ends the bot."""


class Good(Program):
    """A bot that plays 6 and passes every case. Each method is what one defect replaces."""

    games = "insertion"
    line_end = "\n"

    def __init__(self, around: Surroundings, name: str, token: str) -> None:
        super().__init__(around, name, token)
        self.resume = ""
        self.known = False
        self.welcomed = False
        self.greeted = False
        self.pending = b""
        self.game: dict[str, str] = {}
        self.moves: list[str] = []
        self.pictures = ""
        self.board = ""
        self.status = 0

    # -- connections

    def connected(self) -> None:
        self.greeted = self.welcomed = False
        self.pending = b""

    def received(self, data: bytes) -> None:
        """Act on what one read brings; what cannot be understood is a cut."""
        try:
            lines, self.pending = self.split(self.pending + data)
            for line in lines:
                words = line.decode("latin-1").split(" ")
                if self.is_last(words):
                    self.finish(words)
                    return
                self.receive(words)
        except LeaveError:
            self.around.exit(self.status)
        except (ValueError, LookupError):
            self.finish([])

    def lost(self, *, reset: bool) -> None:
        self.at_end(self.pending)
        self.finish([])

    def finish(self, words: list[str]) -> None:
        """End the connection at this line, without one after a cut."""
        self.around.close()
        try:
            self.around.later(self.after(words), self.around.connect)
        except LeaveError:
            self.around.exit(self.status)

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        *lines, rest = data.split(b"\n")
        return [line.removesuffix(b"\r") for line in lines], rest

    def at_end(self, pending: bytes) -> None:
        """A line without its end is none."""

    def is_last(self, words: list[str]) -> bool:
        return words[0] == "BYE" or (words[0] == "ERROR" and not self.welcomed)

    def after(self, words: list[str]) -> float:
        """Return the seconds before the next connection. Raises LeaveError to end."""
        match words:
            case []:
                return self.cut()
            case ["BYE", "reason=slow", *_]:
                return 0.01
            case ["ERROR", code, *rest] if code in ("full", "rate") or (code == "name-taken" and self.known):
                waits = [int(word[12:]) / 1000 for word in rest if word.startswith("retry_after=")]
                return max([0.01, *waits])
            case ["ERROR", "token", *_] if self.resume:
                self.resume = ""
                return 0.01
            case ["ERROR", *_]:
                self.status = 1
        raise LeaveError

    def cut(self) -> float:
        return 0.01

    # -- lines

    def send(self, line: str) -> None:
        self.around.send(f"{line}{self.line_end}".encode("latin-1"))

    def receive(self, words: list[str]) -> None:
        handler = getattr(self, f"on_{words[0].lower()}", None)
        if not self.greeted and words != [""] and words[0] != "ARENA":
            self.on_stranger(words)
        elif words == [""]:
            self.on_blank()
        elif handler is None:
            self.on_unknown(words)
        else:
            handler(words, dict(word.split("=", 1) for word in words if "=" in word))

    def on_stranger(self, words: list[str]) -> None:
        raise LeaveError

    def on_blank(self) -> None:
        pass

    def on_unknown(self, words: list[str]) -> None:
        pass

    def on_arena(self, words: list[str], options: dict[str, str]) -> None:
        if words[1] != "1":
            self.status = 1
            raise LeaveError
        self.greeted = True
        self.send(self.hello())

    def hello(self) -> str:
        key = f"resume={self.resume}" if self.resume else f"token={self.token}"
        return f"HELLO 1 {self.name} games={self.games} {key}"

    def on_welcome(self, words: list[str], options: dict[str, str]) -> None:
        self.known = self.welcomed = True
        self.resume = options["resume"]

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        self.game = {**options, "id": words[1]}
        self.moves = []
        self.pictures = ""
        self.send(f"READY {words[1]}")

    def on_state(self, words: list[str], options: dict[str, str]) -> None:
        self.board = words[1]

    def on_next(self, words: list[str], options: dict[str, str]) -> None:
        self.pictures = words[1]

    def on_start(self, words: list[str], options: dict[str, str]) -> None:
        pass

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.send(f"MOVE {self.choose()}")

    def choose(self) -> str:
        return "6"

    def on_played(self, words: list[str], options: dict[str, str]) -> None:
        self.moves.append(options["move"])
        self.pictures += options.get("reveal", "")

    def on_zombie(self, words: list[str], options: dict[str, str]) -> None:
        pass

    def on_over(self, words: list[str], options: dict[str, str]) -> None:
        pass

    def on_ping(self, words: list[str], options: dict[str, str]) -> None:
        self.send(f"PONG {words[1]}")

    def on_error(self, words: list[str], options: dict[str, str]) -> None:
        pass


class Plain(Good):
    """A bot of a few lines: it does not come back after a cut."""

    def cut(self) -> float:
        self.status = 1
        raise LeaveError


@dataclass(frozen=True)
class Defect:
    """A bot with one defect: the cases that name it, their verdict, and words that the report has to have."""

    bot: type[Program]
    cases: tuple[str, ...]
    verdict: str
    says: str
    what: str


DEFECTS: dict[str, Defect] = {}

B = TypeVar("B", bound=Program)


def defect(*cases: str, verdict: str = "failed", says: str = "") -> Callable[[type[B]], type[B]]:
    """Enter a bot; its docstring says what is wrong with it."""

    def enter(bot: type[B]) -> type[B]:
        assert bot.__doc__ is not None
        assert bot.__name__ not in DEFECTS
        DEFECTS[bot.__name__] = Defect(bot, cases, verdict, says, bot.__doc__)
        return bot

    return enter


def variant(
    base: type[B], what: str, *cases: str, verdict: str = "failed", says: str = "", **replaced: object
) -> None:
    """Enter a bot that differs from `base` by these attributes."""
    name = "".join(word.capitalize() for word in re.findall("[A-Za-z0-9]+", what))
    defect(*cases, verdict=verdict, says=says)(type(name, (base,), {"__doc__": what, **replaced}))
