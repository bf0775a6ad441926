"""Bots with the usual mistakes before the first move and after the last one: line ends, HELLO, READY."""

from __future__ import annotations

from collections.abc import Callable

from .bots import LeaveError, Plain, defect, variant

# -- line ends and buffers

variant(Plain, "Sends its lines without an end.", "1.1/4", says="line feed", line_end="")
variant(Plain, "Ends its lines by CR alone.", "1.1/4", says="line feed", line_end="\r")
variant(Plain, "Ends its lines by a backslash and an n.", "1.1/4", says="line feed", line_end="\\n")
variant(Plain, "Ends its lines by NUL and LF.", "1.3/1", says="ASCII", line_end="\0\n")
variant(Plain, "Has a blank before each line end.", "1.4/1", says="one space", line_end=" \n")


@defect("1.3/1", says="ASCII")
class WideText(Plain):
    """Sends UTF-16."""

    def send(self, line: str) -> None:
        self.around.send(f"{line}\n".encode("utf-16-le"))


@defect("1.3/1", says="ASCII")
class LengthPrefix(Plain):
    """Sends the length of each line before it."""

    def send(self, line: str) -> None:
        self.around.send(len(line).to_bytes(4, "big") + f"{line}\n".encode())


@defect("1.3/1", says="byte order mark")
class ByteOrderMark(Plain):
    """Begins with the byte order mark of UTF-8."""

    def hello(self) -> str:
        return f"\xef\xbb\xbf{super().hello()}"


@defect("3.1/1", says="flush")
class NoFlush(Plain):
    """Does not flush what it writes, or prints it."""

    def send(self, line: str) -> None:
        pass


@defect("3.2/3", says="flush")
class FlushesHello(Plain):
    """Flushes its first line only."""

    def send(self, line: str) -> None:
        if line.startswith("HELLO"):
            super().send(line)


@defect("1.1/1")
class WholeReadIsALine(Plain):
    """Takes each read for one line, line ends included."""

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        return [data.replace(b"\n", b" ").strip()], b""


@defect("1.1/2")
class DropsParts(Plain):
    """Drops the part of a line at the end of a read."""

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        return super().split(data)[0], b""


@defect("3.2/3", says="Read on")
class ReadsOnce(Plain):
    """Reads the first line alone."""

    def receive(self, words: list[str]) -> None:
        if words[0] == "ARENA":
            super().receive(words)


@defect("3.2/3", says="Read on")
class ReadsTwoLines(Plain):
    """Reads ARENA and WELCOME and nothing behind them."""

    def receive(self, words: list[str]) -> None:
        if words[0] in ("ARENA", "WELCOME"):
            super().receive(words)


# -- start


class _Starts(Plain):
    act: Callable[[Plain], None]

    def start(self) -> None:
        type(self).act(self)


class _AtArena(Plain):
    act: Callable[[Plain], None]

    def on_arena(self, words: list[str], options: dict[str, str]) -> None:
        type(self).act(self)


variant(
    _Starts,
    "Crashes before it connects.",
    "3.1/1",
    says="status 1",
    act=lambda bot: bot.around.exit(1, "ModuleNotFoundError: No module named 'numpyy'"),
)
variant(_Starts, "Ends at once.", "3.1/1", says="status 0", act=lambda bot: bot.around.exit(0))
variant(_Starts, "Connects to another port.", "3.1/1", says="ARENA_PORT", act=lambda bot: None)
variant(_AtArena, "Does not answer ARENA.", "3.1/1", says="Answer ARENA", act=lambda bot: None)
variant(_AtArena, "Closes at ARENA.", "3.1/1", says="closed", act=lambda bot: bot.around.close())
variant(
    _AtArena,
    "Cannot parse ARENA.",
    "3.1/1",
    says="status 1",
    act=lambda bot: bot.around.exit(1, "IndexError: list index out of range"),
)


# -- HELLO


class _Greets(Plain):
    form = ""

    def hello(self) -> str:
        return self.form.replace("{name}", self.name)


def greets(what: str, form: str, case: str, says: str) -> None:
    """Enter a bot with this HELLO."""
    variant(_Greets, what, case, says=says, form=form)


greets("Has no version in HELLO.", "HELLO {name}", "3.1/1", "must be given")
greets("Has the name before the version.", "HELLO {name} 1", "3.1/1", "version must be")
greets("Says HELLO 1.0.", "HELLO 1.0 {name}", "3.1/1", "version must be")
greets("Has no name in HELLO.", "HELLO 1", "3.1/1", "name must be given")
greets("Has a name of its own.", "HELLO 1 deepblue token=s3cret", "3.1/1", "ARENA_NAME")
greets("Has a name with a blank.", "HELLO 1 my bot token=s3cret", "3.1/1", "HELLO 1 NAME")
greets("Has a wrong token.", "HELLO 1 {name} token=secret", "3.1/1", "ARENA_TOKEN")
greets("Sends the token without its key.", "HELLO 1 {name} s3cret", "3.1/1", "key=value")
greets("Begins with a key of another day.", "HELLO 1 {name} resume=abc", "3.1/1", "without resume=")
greets("Has an empty token.", "HELLO 1 {name} token=", "1.10/1", "empty")
greets("Has its token twice.", "HELLO 1 {name} token=a token=b", "1.8/2", "once")
greets("Writes hello in small letters.", "hello 1 {name}", "1.5/2", "capitals")
greets("Logs in by LOGIN.", "LOGIN {name} s3cret", "1.5/2", "verb")
greets("Speaks HTTP.", "GET / HTTP/1.1", "1.5/2", "verb")
greets("Lists another game.", "HELLO 1 {name} games=xo token=s3cret", "6.5/1", "games=")
greets("Asks for another slot.", "HELLO 1 {name} slot=2 token=s3cret", "6.7/1", "slot=")
greets("Says READY instead of HELLO.", "READY g1", "3.1/1", "first line")


# -- READY


class _Ready(Plain):
    form = ""

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        self.game = {**options, "id": words[1]}
        if self.form:
            self.send(self.form.replace("{id}", words[1]))


def readies(what: str, form: str, case: str, says: str) -> None:
    """Enter a bot that answers GAME by this line."""
    variant(_Ready, what, case, says=says, form=form)


readies("Never says READY.", "", "3.2/3", "nothing for 10 s")
readies("Is ready for another game.", "READY g0", "3.2/3", "here g1")
readies("Takes the second value of GAME for the id.", "READY insertion", "3.2/3", "here g1")
readies("Has no id in READY.", "READY", "3.2/3", "needs a value")
readies("Has the id as an option.", "READY game={id}", "3.2/3", "here g1")
readies("Says more in READY.", "READY {id} insertion", "3.2/3", "READY and one value")
readies("Writes ready in small letters.", "ready {id}", "1.5/2", "capitals")
readies("Says OK.", "OK", "1.5/2", "verb")
readies("Prints debug output on the socket.", "READY {id}\nDEBUG warmed up", "1.5/2", "stderr")
readies("Prints a warning of a library on the socket.", "WARNING:root:cold\nREADY {id}", "1.5/2", "stderr")
readies("Pings without a token.", "PING\nREADY {id}", "3.2/3", "must be given")


@defect("3.2/3", says="START comes behind READY")
class ReadyAtStart(_Ready):
    """Waits for START before it says READY."""

    def on_start(self, words: list[str], options: dict[str, str]) -> None:
        self.send(f"READY {words[1]}")


class _AtGame(Plain):
    act: Callable[[Plain], None]

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        type(self).act(self)


variant(_AtGame, "Crashes at GAME.", "3.2/3", says="status 1", act=lambda bot: bot.around.exit(1, "KeyError"))
variant(_AtGame, "Closes at GAME.", "3.2/3", says="closed", act=lambda bot: bot.around.close())


# -- after the game


class _AtOver(Plain):
    act: Callable[[Plain], None]

    def on_over(self, words: list[str], options: dict[str, str]) -> None:
        type(self).act(self)


def _ends_its_loop(bot: Plain) -> None:
    bot.received = lambda data: None  # type: ignore[method-assign] # as a program that reads no more


variant(_AtOver, "Ends after the first game.", "6.6/1", says="next GAME", act=lambda bot: bot.around.exit(0))
variant(
    _AtOver, "Closes after the first game.", "6.6/1", says="next GAME", act=lambda bot: bot.around.close()
)
variant(_AtOver, "Ends its loop after the first game.", "6.6/1", says="next GAME", act=_ends_its_loop)
variant(
    _AtOver, "Says QUIT after the first game.", "6.6/1", says="next GAME", act=lambda bot: bot.send("QUIT")
)
variant(
    _AtOver, "Says READY when a game is over.", "5.1/3", says="lobby", act=lambda bot: bot.send("READY g1")
)
variant(_AtOver, "Moves when a game is over.", "5.1/3", says="lobby", act=lambda bot: bot.send("MOVE 6"))


@defect("4.3/2")
class SitsFirst(Plain):
    """Ends where it is not the first seat."""

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        if options["seat"] != "1":
            raise LeaveError
        super().on_game(words, options)


@defect("3.6/1")
class PongAlone(Plain):
    """Answers PING without its token."""

    def on_ping(self, words: list[str], options: dict[str, str]) -> None:
        self.send("PONG")
