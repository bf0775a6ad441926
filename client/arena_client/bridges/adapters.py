"""What is between a seat and the pipes of a program: nothing but line ends, or a Gomocup manager.

`Manager` is the manager's side of the Gomocup protocol: a brain for five in a row plays XO.

Source: the description of the protocol by its authors, plastovicka.github.io/protocl2en.htm. Lines to a brain
end in CR LF; its own may end in CR LF, LF or CR. Coordinates count from 0, `x,y`; y 0 is the top row.

    bridge                            brain
    INFO ..., START 10        ->
                              <-      OK                      READY
    ABOUT                     ->
                              <-      name="...", ...         noted; many brains do not answer
    INFO time_left, BEGIN     ->                              the first move of the game
    INFO time_left, TURN 4,5  ->                              the rival has just moved
    INFO time_left, BOARD ... ->                              anything else: an opening, an error before
                              <-      MESSAGE, DEBUG          noted
                              <-      5,5                     MOVE f5
    RESTART                   ->                              the next game, on the same board
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from arena_protocol import messages as wire
from arena_protocol.errors import ProtocolError
from arena_protocol.games import printed_game
from arena_protocol.games.base import Deal, Game, GameError
from arena_protocol.games.mnk import Marks, Xo, board_of

_COORDINATES = re.compile(r"(-?\d{1,6})\s*,\s*(-?\d{1,6})")
_ABOUT = re.compile(r"\w+\s*=\s*\"")
#: The part of the clock that one move may take; the last plies of a game are played in what is left.
TURN_SHARE = 10
#: Milliseconds of every answer that the way through the bridge may take.
MARGIN_MS = 50
#: What Gomocup allows a brain: 350 MB.
MEMORY_BYTES = 350 * 1024 * 1024
#: INFO keys that are the same in every game: no renju, five or more win; the opponent is a program.
RULE, GAME_TYPE = 0, 1


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


@dataclass(frozen=True, slots=True)
class BrainLimits:
    """The limits that INFO announces; `turn_ms` None derives the time for a move from the clock."""

    turn_ms: int | None = None
    memory_bytes: int = MEMORY_BYTES


class Manager(Adapter):
    """Translates for one brain. `broken` is set when it fails: ERROR, UNKNOWN, or an answer that is none."""

    games = ("xo",)

    def __init__(self, name: str, limits: BrainLimits | None = None) -> None:
        super().__init__(name)
        self._limits = limits or BrainLimits()
        self._awaited = ""
        self._size = 0
        self._restarting = False
        self._about = False
        self._offer: wire.Game | None = None
        self._turn: wire.Turn | None = None
        self._rules: Game[Marks] | None = None
        self._position: Marks | None = None
        self._stones: list[tuple[str, int]] = []
        #: How many of the stones the brain knows; None if BOARD has to send all of them.
        self._known: int | None = None
        self._retried = False
        #: The timeout_turn of the last INFO, and whether the seat has moved in this game.
        self._turn_ms = 0
        self._moved_once = False

    @property
    def busy(self) -> bool:
        """Whether the brain thinks or sets itself up."""
        return self._awaited != ""

    def begin(self) -> None:
        """Set a new process up for the game at hand, if there is one."""
        size, self._size = self._size, 0
        self.broken, self.wants_restart = None, False
        self._awaited = ""
        if self._offer is not None and size:
            self._set_up(size)

    def game_lost(self) -> None:
        """Forget the game at hand."""
        self._offer = self._turn = None

    def goodbye(self) -> None:
        """Say END."""
        self._say("END")

    # -- the server's lines --------------------------------------------------------------------------

    def from_server(self, line: bytes) -> None:
        """Translate a line for the brain."""
        try:
            message = wire.parse_server(line)
        except ProtocolError:
            return  # a verb of a newer server, of which no brain knows
        match message:
            case wire.Game() as game:
                self._offer = game
            case wire.State(text):
                self._begin_game(text)
            case wire.Turn() as turn:
                self._turn = turn
                self._ask()
            case wire.Played(seat=seat, move=move):
                self._put(move, seat)
            case wire.Zombie(ply=ply, reason=reason, seat=None):
                self.notes.append(f"{self._id}: forfeited at ply {ply} ({reason})")
            case wire.Error(code=code, text=text):
                self.notes.append(f"ERROR {code} {text}")
            case wire.Over():
                self._offer = self._turn = None

    @property
    def _id(self) -> str:
        return "" if self._offer is None else self._offer.game_id

    def _begin_game(self, text: str) -> None:
        """Set the board up and let the brain do so."""
        assert self._offer is not None, "STATE comes after GAME"
        offer = self._offer
        try:
            self._rules = printed_game(offer.game, offer.options, offer.seats)
            self._position = self._rules.start(Deal(text))
        except GameError as error:
            self.broken = f"this game is none for a Gomocup brain: {error}"
            return
        assert isinstance(self._rules, Xo), "the log-in offers xo alone"
        size = self._rules.size
        bits = board_of(size).cells
        x = [cell for cell, bit in bits.items() if bit & self._position.x]
        o = [cell for cell, bit in bits.items() if bit & self._position.o]
        self._stones = [
            (cells[number], seat)
            for number in range(len(x))
            for cells, seat in ((x, 1), (o, 2))
            if number < len(cells)
        ]
        self._known = None if self._stones else 0
        self._retried = self._moved_once = False
        self._set_up(size)

    def _set_up(self, size: int) -> None:
        """Start the brain, or start it again on the same board."""
        offer = self._offer
        assert offer is not None, "a game is at hand"
        self._turn_ms = self._turn_limit(offer)
        self._info("timeout_turn", self._turn_ms)
        self._info("timeout_match", offer.clock)
        self._info("max_memory", self._limits.memory_bytes)
        self._info("game_type", GAME_TYPE)
        self._info("rule", RULE)
        self._info("time_left", offer.clock)
        self._restarting = self._size == size
        self._say("RESTART" if self._restarting else f"START {size}")
        self._size = size
        self._awaited = "OK"

    def _turn_limit(self, offer: wire.Game) -> int:
        """The milliseconds for one move."""
        if self._limits.turn_ms is not None:
            return self._limits.turn_ms
        limit = max(offer.clock // TURN_SHARE, offer.byoyomi or 0) + offer.increment
        most = (not self._moved_once and offer.first_move_limit) or offer.move_limit or limit
        return max(1, min(limit, most) - MARGIN_MS)

    def _put(self, move: str, seat: int) -> None:
        """Place a stone; the brain knows of its own moves already."""
        assert self._offer is not None, "PLAYED comes after GAME"
        self._stones.append((move, seat))
        if seat == self._offer.seat:
            self._moved_once = True
            if self._known is not None:
                self._known += 1

    def _ask(self) -> None:
        """Ask for a move as the protocol wants it: BEGIN, TURN, or the whole BOARD."""
        assert self._turn is not None
        assert self._offer is not None
        if (limit := self._turn_limit(self._offer)) != self._turn_ms:
            self._turn_ms = limit
            self._info("timeout_turn", limit)
        left = self._turn.clock[self._offer.seat - 1] + (self._offer.byoyomi or 0)
        self._info("time_left", max(1, left - MARGIN_MS))
        if self._known == 0 and not self._stones:
            self._say("BEGIN")
        elif self._known == len(self._stones) - 1 and self._stones[-1][1] != self._offer.seat:
            self._say(f"TURN {self._xy(self._stones[-1][0])}")
        else:
            self._say("BOARD")
            for cell, seat in self._stones:
                self._say(f"{self._xy(cell)},{1 if seat == self._offer.seat else 2}")
            self._say("DONE")
        self._known = len(self._stones)
        self._awaited = "move"

    def _xy(self, cell: str) -> str:
        """`a1`, bottom left, as x,y: `0,9` on a board of 10."""
        return f"{ord(cell[0]) - ord('a')},{self._size - int(cell[1:])}"

    def _info(self, key: str, value: int) -> None:
        self._say(f"INFO {key} {value}")

    def _say(self, line: str) -> None:
        self.for_program += line.encode("ascii") + b"\r\n"

    # -- the brain's lines ---------------------------------------------------------------------------

    def from_program(self, line: bytes) -> None:
        """Translate a line of the brain."""
        text = line.decode("ascii", "replace").strip()
        word = text.partition(" ")[0].upper()
        if not text:
            return
        if word in ("MESSAGE", "DEBUG"):
            self.notes.append(text)
        elif word == "SUGGEST" and self._awaited == "move":
            self._say(f"PLAY {text.partition(' ')[2].strip()}")
        elif _ABOUT.match(text):
            self.notes.append(f"the brain is {text}")
        elif word in ("ERROR", "UNKNOWN"):
            self._failed(text)
        elif word == "OK" and self._awaited == "OK":
            self._is_set_up()
        elif self._awaited == "move":
            self._moved(text)
        else:
            self.notes.append(f"an unexpected line of the brain: {text}")

    def _is_set_up(self) -> None:
        """The board is there: the seat is ready, or the move that failed is asked for once more."""
        self._awaited = ""
        if not self._about:
            self._about = True
            self._say("ABOUT")
        if self._turn is not None:
            self._ask()
        elif self._offer is not None:
            self.for_server.append(f"READY {self._id}".encode())

    def _moved(self, text: str) -> None:
        """Send the move; one off the board or on a stone is noted and sent, for the referee to judge."""
        found = _COORDINATES.fullmatch(text)
        if found is None:
            self.broken = f"expected X,Y, got {text!r}"
            return
        self._awaited = ""
        self._turn = None
        x, y = int(found[1]), int(found[2])
        on_board = 0 <= x < self._size and 0 <= y < self._size
        move = f"{chr(ord('a') + x)}{self._size - y}" if on_board else f"{x},{y}"
        if not on_board:
            self.notes.append(f"{self._id}: the brain plays {text}, which is not on the board")
        elif any(cell == move for cell, _ in self._stones):
            self.notes.append(f"{self._id}: the brain plays {text} ({move}), which is taken")
        self.for_server.append(f"MOVE {move}".encode())

    def _failed(self, text: str) -> None:
        """ERROR or UNKNOWN: what was optional is done otherwise, the rest is the brain's failure."""
        if self._awaited == "OK" and self._restarting and text.upper().startswith("UNKNOWN"):
            self.wants_restart = True  # RESTART is optional: another process does it
        elif self._awaited == "move" and not self._retried:
            self._retried = True
            self._known = None
            self.notes.append(f"{self._id}: {text}; the whole board is sent")
            self._set_up(self._size)
        elif self._awaited:
            self.broken = text
        else:
            self.notes.append(text)
