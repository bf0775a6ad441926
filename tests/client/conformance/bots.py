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
from typing import ClassVar


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


# -- 1 Lines


@defect("1.1/1")
class OneLineARead(Good):
    """Takes each read for one line."""

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        lines, rest = super().split(data)
        return lines[:1], rest


@defect("1.1/2")
class PartialLines(Good):
    """Takes a part of a line for a line."""

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        return [line for line in data.split(b"\n") if line], b""


@defect("1.1/3")
class ActsAtTheEnd(Good):
    """Acts on a line that was cut off."""

    def at_end(self, pending: bytes) -> None:
        if pending:
            self.receive(pending.decode().split(" "))


@defect("1.2/1")
class KeepsCr(Good):
    """Takes a CR for a part of the line."""

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        *lines, rest = data.split(b"\n")
        return lines, rest

    def on_next(self, words: list[str], options: dict[str, str]) -> None:
        if not words[1].isdigit():
            raise LeaveError


@defect("1.2/2", verdict="non-strict")
class SendsCr(Good):
    """Ends its lines in CR LF."""

    def send(self, line: str) -> None:
        super().send(f"{line}\r")


@defect("1.3/1")
class NotAscii(Good):
    """Writes its program's name in Latin-1."""

    def hello(self) -> str:
        return f"{super().hello()} agent=caf\xe9"


@defect("1.4/1")
class TrailingSpace(Good):
    """Leaves a space behind the move."""

    def choose(self) -> str:
        return "6 "


@defect("1.5/1")
class OptionsByPlace(Good):
    """Finds the seat by its place in GAME."""

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        super().on_game(words, {**options, "seat": str(int(words[3].removeprefix("seat=")))})


@defect("1.6/1", "1.6/2")
class ShortBuffer(Good):
    """Gives up a line of more than 4,096 bytes."""

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        lines, rest = super().split(data)
        if max(map(len, [*lines, rest])) > 4096:
            raise ValueError
        return lines, rest


@defect("1.7/1")
class EndsAtBlank(Good):
    """Takes a blank line for the end."""

    def on_blank(self) -> None:
        raise LeaveError


@defect("1.8/1")
class KnownOptionsOnly(Good):
    """Leaves at an option that it does not know."""

    def receive(self, words: list[str]) -> None:
        if any(word.startswith("x-new=") for word in words):
            raise LeaveError
        super().receive(words)


@defect("1.9/1")
class KnownVerbsOnly(Good):
    """Leaves at a verb that it does not know."""

    def on_unknown(self, words: list[str]) -> None:
        raise LeaveError


@defect("1.9/2")
class TellsAnyone(Good):
    """Logs in wherever something listens."""

    def on_stranger(self, words: list[str]) -> None:
        self.send(self.hello())


@defect("1.9/3")
class SilentAtArena(Good):
    """Does not answer ARENA."""

    def on_arena(self, words: list[str], options: dict[str, str]) -> None:
        self.greeted = True


# -- 3 Client messages


@defect("3.1/1")
class VersionTwo(Good):
    """Says HELLO 2."""

    def hello(self) -> str:
        return super().hello().replace("HELLO 1", "HELLO 2")


@defect("3.1/1")
class OwnName(Good):
    """Logs in under a name of its own."""

    def hello(self) -> str:
        return super().hello().replace(self.name, "bot", 1)


@defect("3.1/1", verdict="not implemented")
class NoToken(Good):
    """Knows no token."""

    def hello(self) -> str:
        return super().hello().replace(f" token={self.token}", "")


@defect("3.1/2")
class SpeaksFirst(Good):
    """Sends HELLO before ARENA."""

    def connect(self) -> None:
        super().connect()
        self.send(self.hello())


@defect("3.2/1")
class ReadyForG1(Good):
    """Is always ready for the same game."""

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        super().on_game([words[0], "g1", *words[2:]], options)


@defect("3.2/2")
class MovesAtStart(Good):
    """Takes START for its turn, when it is not."""

    def on_start(self, words: list[str], options: dict[str, str]) -> None:
        self.send("MOVE 6")


@defect("3.3/1")
class ZeroBased(Good):
    """Counts its moves from 0."""

    def choose(self) -> str:
        return str(len(self.moves) % 15)


@defect("3.3/1")
class LeadingZero(Good):
    """Writes 06 for 6."""

    def choose(self) -> str:
        return "06"


@defect("3.3/2")
class MovesAgain(Good):
    """Moves once more when its own move is played."""

    def on_played(self, words: list[str], options: dict[str, str]) -> None:
        super().on_played(words, options)
        if options["seat"] == self.game["seat"]:
            self.send("MOVE 6")


@defect("3.6/1", verdict="not implemented")
class NoPong(Good):
    """Answers no PING."""

    def on_ping(self, words: list[str], options: dict[str, str]) -> None:
        pass


@defect("3.6/1")
class WrongPong(Good):
    """Answers PING by a token of its own."""

    def on_ping(self, words: list[str], options: dict[str, str]) -> None:
        self.send("PONG pong")


@defect("3.6/2", verdict="not implemented")
class NoPongOnMove(Good):
    """Drops what comes with TURN."""

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        lines, rest = super().split(data)
        return (lines[:1] if lines and lines[0].startswith(b"TURN") else lines), rest


@defect("3.6/3")
class ShortPong(Good):
    """Cuts the token of PONG."""

    def on_ping(self, words: list[str], options: dict[str, str]) -> None:
        self.send(f"PONG {words[1][:100]}")


@defect("3.6/4")
class OnePongARead(Good):
    """Answers the last PING of each read only."""

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        lines, rest = super().split(data)
        pings = [line for line in lines if line.startswith(b"PING")]
        return [line for line in lines if line not in pings[:-1]], rest


# -- 4 Server messages


@defect("4.1/1")
class KnowsOneServer(Good):
    """Insists on the program that greets it."""

    def on_arena(self, words: list[str], options: dict[str, str]) -> None:
        if not words[2].startswith(("insertion-arena/", "arena-check/")):
            raise LeaveError
        super().on_arena(words, options)


@defect("4.1/2")
class TriesVersionForEver(Good):
    """Comes back after ERROR version."""

    def on_arena(self, words: list[str], options: dict[str, str]) -> None:
        super().on_arena([words[0], "1"], options)

    def after(self, words: list[str]) -> float:
        return 0.01 if words[:2] == ["ERROR", "version"] else super().after(words)


@defect("4.3/2")
class FirstSeatOnly(Good):
    """Can only sit first."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        if len(self.moves) % 2 == 0:
            super().on_turn(words, options)


@defect("4.3/1")
class SecondSeatOnly(Good):
    """Waits for another seat's move before its own."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        if self.moves:
            super().on_turn(words, options)


@defect("4.3/3")
class TwoSeatsOnly(Good):
    """Unpacks clock= into two values."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        _mine, _theirs = options["clock"].split(",")
        super().on_turn(words, options)


@defect("4.3/4")
class PlainClockOnly(Good):
    """Takes the options of the clock for those of the game, which it knows."""

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        if "byoyomi" in options:
            raise LeaveError
        super().on_game(words, options)


class _Boards(Good):
    """Leaves at STATEs that it does not expect."""

    refused: ClassVar[Callable[[str], bool]]

    def on_state(self, words: list[str], options: dict[str, str]) -> None:
        if type(self).refused(words[1]):
            raise LeaveError
        super().on_state(words, options)


@defect("4.4/1")
class NoFullBoard(_Boards):
    """Refuses a full board."""

    refused = staticmethod(lambda board: "." not in board)


@defect("4.4/2", "4.4/4")
class NoPartialBoard(_Boards):
    """Refuses a board that is partly filled."""

    refused = staticmethod(lambda board: "." in board and board.strip("./") != "")


@defect("4.4/3")
class NoEmptyBoard(_Boards):
    """Refuses an empty board."""

    refused = staticmethod(lambda board: board.strip("./") == "")


class _Offers(Good):
    """Leaves at games that it does not expect."""

    refused: ClassVar[Callable[[dict[str, str]], bool]]

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        if type(self).refused(options):
            raise LeaveError
        super().on_game(words, options)


@defect("4.4/5")
class MoreColours(_Offers):
    """Refuses three colours."""

    refused = staticmethod(lambda options: int(options["colours"]) < 4)


@defect("4.4/6")
class SixColours(_Offers):
    """Has a table of six colours."""

    refused = staticmethod(lambda options: int(options["colours"]) > 6)


@defect("4.4/7")
class LooksTwoAhead(Good):
    """Reads the second picture in sight."""

    def choose(self) -> str:
        return (
            "6"
            if self.game["plies"] == "1" or self.pictures[len(self.moves) :][1:] or len(self.moves) > 6
            else "x"
        )


@defect("4.4/8")
class NeedsReveal(Good):
    """Expects reveal= as long as a game goes on."""

    def on_played(self, words: list[str], options: dict[str, str]) -> None:
        if len(self.moves) + 1 + int(self.game["lookahead"]) <= 8 or int(self.game["lookahead"]) < 8:
            super().on_played(words, options)
        else:
            super().on_played(words, {"reveal": options["reveal"], **options})


@defect("4.4/9")
class FullSight(Good):
    """Expects as many pictures as lookahead= says."""

    def on_next(self, words: list[str], options: dict[str, str]) -> None:
        if len(words[1]) != int(self.game["lookahead"]):
            raise LeaveError
        super().on_next(words, options)


@defect("4.4/10")
class LongGamesOnly(_Offers):
    """Divides its time by the number of plies less one."""

    refused = staticmethod(lambda options: options["plies"] == "1")


@defect("4.4/11")
class ShortGamesOnly(_Offers):
    """Has a table of 100 plies."""

    refused = staticmethod(lambda options: int(options["plies"]) > 100)


@defect("4.5/1")
class NoLag(Good):
    """Expects lag=0."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        if options["lag"] == "0":
            super().on_turn(words, options)


@defect("4.7/1")
class MovingZombie(Good):
    """Moves on as a zombie."""

    def on_zombie(self, words: list[str], options: dict[str, str]) -> None:
        if "seat" not in options:
            self.send("MOVE 6")


@defect("4.7/2")
class TakesItToHeart(Good):
    """Takes another seat's ZOMBIE for the end."""

    def on_zombie(self, words: list[str], options: dict[str, str]) -> None:
        if "seat" in options:
            raise LeaveError


class _Ends(Good):
    """Leaves at an OVER that it does not expect."""

    end: ClassVar[str]
    ply: ClassVar[range]

    def on_over(self, words: list[str], options: dict[str, str]) -> None:
        if options["end"] == self.end and len(self.moves) in self.ply:
            raise LeaveError


@defect("4.8/1")
class NoVoidBeforeStart(_Ends):
    """Takes OVER before START for the end."""

    end, ply = "void", range(1)


@defect("4.8/2")
class NoVoidGames(_Ends):
    """Takes a void game for the end."""

    end, ply = "void", range(1, 100)


@defect("4.8/3")
class NoForfeits(_Ends):
    """Takes a rival's forfeit for the end."""

    end, ply = "forfeit", range(100)


class _Byes(Good):
    """Comes back after a BYE."""

    reason: ClassVar[str]

    def after(self, words: list[str]) -> float:
        return 0.01 if words == ["BYE", f"reason={self.reason}"] else super().after(words)


@defect("4.9/1")
class ComesBack(_Byes):
    """Comes back when all games have been played."""

    reason = "finished"


@defect("4.9/2")
class ComesBackAtNew(_Byes):
    """Comes back at a reason that it does not know."""

    reason = "moonrise"


@defect("4.9/3")
class ComesBackAtStopped(_Byes):
    """Comes back when the organiser has stopped the contest."""

    reason = "stopped"


@defect("4.9/1", verdict="non-strict")
class EndsInError(Good):
    """Ends with status 3 after a contest."""

    def after(self, words: list[str]) -> float:
        self.status = 3
        return super().after(words)


@defect("4.9/1")
class Stays(Good):
    """Does not close the connection at BYE."""

    def is_last(self, words: list[str]) -> bool:
        return words[0] != "BYE" and super().is_last(words)


@defect("4.10/1", "4.10/2")
class LeavesAtErrors(Good):
    """Takes every ERROR for the end."""

    def on_error(self, words: list[str], options: dict[str, str]) -> None:
        raise LeaveError


# -- 5 to 7


@defect("5.1/1")
class ReadyInTheLobby(Good):
    """Says READY again when a game is over."""

    def on_over(self, words: list[str], options: dict[str, str]) -> None:
        self.send(f"READY {words[1]}")


@defect("5.1/2")
class MovesInTheLobby(Good):
    """Repeats its move when a game ends."""

    def on_over(self, words: list[str], options: dict[str, str]) -> None:
        self.send("MOVE 6")


@defect("6.5/1")
class OtherGames(Good):
    """Says that it plays XO alone."""

    games = "xo"


@defect("6.6/1")
class OneGame(Good):
    """Leaves after its second game."""

    over = 0

    def on_over(self, words: list[str], options: dict[str, str]) -> None:
        self.over += 1
        if self.over == 2:
            raise LeaveError


@defect("6.6/2")
class DropsAfterOver(Good):
    """Drops what comes with OVER."""

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        lines, rest = super().split(data)
        overs = [place for place, line in enumerate(lines) if line.startswith(b"OVER")]
        return (lines[: overs[0] + 1] if overs else lines), rest


@defect("7.5/2", "7.5/3")
class Slow(Good):
    """Thinks for 0.6 s, however short the clock is."""

    def choose(self) -> str:
        self.stopped.wait(0.6)  # the thinking itself: here time is what is wrong
        return "6"


# -- 8 Lost connections


@defect("8.1/1", "8.1/2", "8.1/3", "8.1/4", "8.1/5", "8.1/6", verdict="not implemented")
class NeverBack(Good):
    """Does not come back."""

    def lost(self) -> float:
        raise LeaveError

    def after(self, words: list[str]) -> float:
        return self.lost() if words[:2] == ["BYE", "reason=slow"] else super().after(words)


@defect("8.1/1", "8.1/2", verdict="non-strict")
class ByToken(Good):
    """Comes back by its token."""

    def hello(self) -> str:
        self.resume = ""
        return super().hello()


@defect("8.1/1")
class MadeUpKey(Good):
    """Comes back with the session instead of the key."""

    def on_welcome(self, words: list[str], options: dict[str, str]) -> None:
        super().on_welcome(words, {"resume": options["session"]})


@defect("8.1/3")
class MovesOnce(Good):
    """Answers no TURN that it has answered before the cut."""

    answered: ClassVar[str] = ""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        turn = f"{self.game['id']} {words[1]}"
        if turn != self.answered:
            self.__dict__["answered"] = turn
            super().on_turn(words, options)


@defect("8.1/4")
class RisenZombie(Good):
    """Moves at START when it comes back."""

    was_zombie = False

    def on_zombie(self, words: list[str], options: dict[str, str]) -> None:
        if self.was_zombie:
            self.send("MOVE 6")
        self.was_zombie = True


@defect("8.1/5", verdict="not implemented")
class FearsReset(Good):
    """Ends at a reset."""

    def converse(self) -> list[str]:
        try:
            return super().converse()
        except ConnectionResetError:
            raise LeaveError from None


@defect("8.1/6", verdict="not implemented")
class LeavesAtSlow(Good):
    """Takes BYE reason=slow for the end."""

    def after(self, words: list[str]) -> float:
        if words[0:2] == ["BYE", "reason=slow"]:
            raise LeaveError
        return super().after(words)


@defect("8.1/7", verdict="not implemented")
class NeedsWelcome(Good):
    """Comes back only once it was logged in."""

    def lost(self) -> float:
        if not self.known:
            raise LeaveError
        return super().lost()


@defect("8.2/1", "8.2/2")
class KeepsItsBoard(Good):
    """Does not begin afresh when the game is sent again."""

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        moves = self.moves if self.game.get("id") == words[1] else []
        super().on_game(words, options)
        self.moves = moves

    def on_played(self, words: list[str], options: dict[str, str]) -> None:
        super().on_played(words, options)
        if len(self.moves) != int(words[1]):
            raise LeaveError


@defect("8.2/2", verdict="not implemented")
class BackOnce(Good):
    """Comes back twice at most."""

    times = 0

    def lost(self) -> float:
        self.times += 1
        if self.times > 2:
            raise LeaveError
        return super().lost()


@defect("8.2/3")
class MovesAtOnce(Good):
    """Sends its move again as soon as it is back."""

    moved = False

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.moved = True
        super().on_turn(words, options)

    def on_start(self, words: list[str], options: dict[str, str]) -> None:
        if self.moved:
            self.send("MOVE 6")


@defect("8.3/1")
class FirstKey(Good):
    """Keeps the key of the first WELCOME."""

    def on_welcome(self, words: list[str], options: dict[str, str]) -> None:
        super().on_welcome(words, {"resume": self.resume or options["resume"]})


@defect("8.4/1", verdict="non-strict")
class FightsForTheSeat(_Byes):
    """Comes back when a newer connection has its seat."""

    reason = "replaced"


@defect("8.5/1", "8.5/2")
class ReadyOnce(Good):
    """Says READY once a game."""

    ready: ClassVar[str] = ""

    def send(self, line: str) -> None:
        if line.startswith("READY"):
            if line == self.ready:
                return
            self.__dict__["ready"] = line
        super().send(line)


@defect("8.6/1", verdict="not implemented")
class NeedsItsKey(Good):
    """Leaves when its key is refused."""

    def after(self, words: list[str]) -> float:
        if words[:2] == ["ERROR", "token"]:
            raise LeaveError
        return super().after(words)


@defect("8.6/1")
class SameKeyAgain(Good):
    """Tries a refused key again."""

    def after(self, words: list[str]) -> float:
        return 0.01 if words[:2] == ["ERROR", "token"] else super().after(words)


@defect("8.6/2", verdict="not implemented")
class LeavesWhenTaken(Good):
    """Takes name-taken for the end, though the name is its own."""

    def after(self, words: list[str]) -> float:
        if words[:2] == ["ERROR", "name-taken"]:
            raise LeaveError
        return super().after(words)


# -- 10 Errors


@defect("11.2/1", verdict="not implemented")
class LeavesWhenFull(Good):
    """Takes ERROR full for the end."""

    def after(self, words: list[str]) -> float:
        if words[:2] == ["ERROR", "full"]:
            raise LeaveError
        return super().after(words)


@defect("11.2/2")
class Hasty(Good):
    """Does not look at retry_after=."""

    def after(self, words: list[str]) -> float:
        return super().after([word for word in words if not word.startswith("retry_after")])


@defect("11.2/3")
class Guesses(Good):
    """Tries a refused token again."""

    def after(self, words: list[str]) -> float:
        return 0.01 if words[:2] == ["ERROR", "token"] else super().after(words)
