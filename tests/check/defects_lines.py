"""Bots with one defect each in lines and of its own messages: sections 1 and 3 of the clauses."""

from __future__ import annotations

from .bots import Good, LeaveError, defect

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

    line_end = "\r\n"


@defect("1.3/1", says="ASCII")
class NotAscii(Good):
    """Writes its program's name in Latin-1."""

    def hello(self) -> str:
        return f"{super().hello()} agent=caf\xe9"


@defect("1.4/1")
class WideNote(Good):
    """Has two spaces in a note."""

    def on_start(self, words: list[str], options: dict[str, str]) -> None:
        self.send(f"INFO game={words[1]} ply=1 text=a  b")


@defect("1.3/1")
class ForeignNote(Good):
    """Has an umlaut in a note."""

    def on_start(self, words: list[str], options: dict[str, str]) -> None:
        self.send(f"INFO game={words[1]} ply=1 text=gr\xfcn")


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

    def connected(self) -> None:
        super().connected()
        self.send(self.hello())

    def on_arena(self, words: list[str], options: dict[str, str]) -> None:
        self.greeted = True


@defect("3.2/1")
class ReadyForG1(Good):
    """Is always ready for the same game."""

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        super().on_game([words[0], "g1", *words[2:]], options)


@defect("3.2/2")
class MovesAtStart(Good):
    """Takes START for its turn when another seat moves first."""

    def on_start(self, words: list[str], options: dict[str, str]) -> None:
        if self.game["seat"] != "1":
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
        # START may come in the same read.
        turn = next((at for at, line in enumerate(lines) if line.startswith(b"TURN")), len(lines))
        return lines[: turn + 1], rest


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
