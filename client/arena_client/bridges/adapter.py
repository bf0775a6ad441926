"""What is between a seat and the pipes of a program: a Gomocup manager, or nothing but line ends."""

from __future__ import annotations


class Adapter:
    """Passes lines on: the program gets the lines of PROTOCOL.md, and answers them.

    A subclass translates. The shell calls `begin` when the program has started, `from_server` and
    `from_program` for each line, and takes `for_program` (bytes), `for_server` (lines) and `notes` (for
    people) after each call. Once `broken` says why the program is of no more use, the shell gives the game
    up and starts the program again; where only `wants_restart` is set it does no more than the latter.
    """

    #: The only games that the program can play; empty: any.
    games: tuple[str, ...] = ()

    def __init__(self, name: str) -> None:
        self.name = name
        self.for_program = bytearray()
        self.for_server: list[bytes] = []
        self.notes: list[str] = []
        self.broken: str | None = None
        self.wants_restart = False

    @property
    def busy(self) -> bool:
        """Whether the program owes an answer that would be taken for another one in the next game."""
        return False

    def begin(self) -> None:
        """Greet a program that has just been started, as a server would.

        A program that answers by HELLO may; the bridge has logged in by itself.
        """
        self.broken = None
        self.for_program += b"ARENA 1 arena-bridge/1\n"
        self.for_program += f"WELCOME {self.name} session=bridge resume=none\n".encode()

    def from_server(self, line: bytes) -> None:
        """Take a line for the program."""
        self.for_program += line + b"\n"

    def from_program(self, line: bytes) -> None:
        """Take a line of the program, without its line end."""
        self.for_server.append(line)

    def game_lost(self) -> None:
        """Forget the game at hand: the seat has left it."""

    def goodbye(self) -> None:
        """Ask the program to end; its stdin is closed after it."""
