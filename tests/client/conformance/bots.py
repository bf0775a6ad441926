"""A bot that keeps to PROTOCOL.md, and bots that differ from it in exactly one way each.

They run in a thread, so that a case costs milliseconds. `Good` is written without the client library: what is
shown by its defects holds for bots in any language.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field


class LeaveError(Exception):
    """Ends the bot."""


class Good:
    """A bot that plays 6 and passes every case. Each method is what one defect replaces."""

    games = "insertion"

    def __init__(self, host: str, port: int, name: str, token: str) -> None:
        self.where = host, port
        self.name = name
        self.token = token
        self.resume = ""
        self.known = False
        self.welcomed = False
        self.greeted = False
        self.stopped = threading.Event()
        self.sock: socket.socket | None = None
        self.game: dict[str, str] = {}
        self.moves: list[str] = []
        self.pictures = ""
        self.board = ""
        self.status = 0

    # -- connections

    def run(self) -> None:
        pause = 0.0
        while not self.stopped.wait(pause):
            try:
                pause = self.after(self.visit())
            except LeaveError:
                return

    def visit(self) -> list[str]:
        """Connect and converse; an error is a cut."""
        try:
            self.connect()
            return self.converse()
        except (OSError, ValueError, LookupError):
            return []

    def connect(self) -> None:
        self.sock = socket.create_connection(self.where, timeout=30)
        self.greeted = self.welcomed = False

    def converse(self) -> list[str]:
        """Play on one connection; return the words of the line that ended it, none if it was cut."""
        assert self.sock is not None
        pending = b""
        try:
            while data := self.sock.recv(65536):
                lines, pending = self.split(pending + data)
                for line in lines:
                    words = line.decode("latin-1").split(" ")
                    if self.is_last(words):
                        return words
                    self.receive(words)
            self.at_end(pending)
            return []
        finally:
            self.sock.close()

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
                return self.lost()
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

    def lost(self) -> float:
        return 0.01

    # -- lines

    def send(self, line: str) -> None:
        assert self.sock is not None
        self.sock.sendall(f"{line}\n".encode("latin-1"))

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


@dataclass
class InThread:
    """Lets a bot of this module stand in for a process."""

    make: Callable[[str, int, str, str], Good]
    exited: socket.socket | None = field(default=None, init=False)

    def start(self, host: str, port: int, name: str, token: str) -> None:
        self._bot = self.make(host, port, name, token)
        self.exited, self._end = socket.socketpair()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._bot.run()
        finally:
            if self._bot.sock is not None:
                self._bot.sock.close()
            self._end.close()

    def status(self) -> int | None:
        return None if self._thread.is_alive() and not self._ended() else self._bot.status

    def _ended(self) -> bool:
        return self._end.fileno() < 0

    def stop(self) -> str:
        if self.exited is None:
            return ""
        self._bot.stopped.set()
        while self._thread.is_alive():
            # It may just be about to connect once more.
            if self._bot.sock is not None:
                with suppress(OSError):
                    self._bot.sock.shutdown(socket.SHUT_RDWR)
            self._thread.join(0.01)
        self.exited.close()
        self.exited = None
        return "what the bot wrote to stderr"


@dataclass(frozen=True)
class Defect:
    """A bot with one defect: the cases that name it, and the verdict that they are to give."""

    bot: type[Good]
    cases: tuple[str, ...]
    verdict: str
    what: str


DEFECTS: dict[str, Defect] = {}


def defect(*cases: str, verdict: str = "failed") -> Callable[[type[Good]], type[Good]]:
    """Enter a bot; its docstring says what is wrong with it."""

    def enter(bot: type[Good]) -> type[Good]:
        assert bot.__doc__ is not None
        DEFECTS[bot.__name__] = Defect(bot, cases, verdict, bot.__doc__)
        return bot

    return enter
