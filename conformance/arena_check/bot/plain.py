"""The plain game, which `arena check bot` plays before all else; the cases of this module are its parts.

Nothing is out of the ordinary in it: one seat, a long clock, each line in a segment of its own. Most mistakes
show here, and would show in most of the other cases, too; so the first one is named by the clause that it
breaks (`causes.py`), and no other case is run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from arena_check.bot import causes
from arena_check.bot.bench import ARENA, SUITE, BotBench
from arena_check.bot.causes import HELLO, LOBBY, MOVE, READY, Stage
from arena_check.bot.said import is_note, nothing, only_others, shown
from arena_check.bot.table import Table
from arena_check.cases import POSITIVE, Finding, Verdict, failed
from arena_check.wire import ReceiveTimeoutError, Wire
from arena_protocol import messages
from arena_protocol.errors import ProtocolError
from arena_protocol.framing import Overlong

#: The clock of the plain game, in ms; longer if the settings are more patient.
CLOCK_MS = 20_000
#: What the server keeps of the notes of a seat between two plies, and in a game (PROTOCOL.md, Notes).
NOTES_A_PLY, NOTE_BYTES = 32, 65_536
#: Seconds between two lines of ours: long enough that they come in two reads.
GAP_S = 0.05


def play(bench: BotBench) -> None:
    """Play the plain game. Raises Finding, with clause and advice, for the first thing that is wrong."""
    bench.form = _line_by_line
    try:
        bench.connect()
    except Finding as finding:
        raise causes.no_connection(bench, finding) from None
    bench.send(ARENA)
    bench.hello = _next(bench, HELLO)
    if (wrong := causes.wrong_hello(bench.hello, bench.settings)) is not None:
        raise wrong
    bench.welcome()
    _expect_silence(bench, READY)
    longer = {"plies": "20"} if bench.settings.game == "insertion" else {}
    table = bench.table(options=longer, clock=max(CLOCK_MS, int(bench.settings.patience * 1000)))
    bench.send(*table.offer)
    if (offered := _next(bench, READY).game_id) != table.id:
        advice = f"READY has the first value of GAME, here {table.id}."
        raise failed(f"READY {table.id}", f"READY {offered}", clause=READY.clause, advice=advice)
    bench.send(f"START {table.id}")
    while not table.is_over:
        _expect_silence(bench, MOVE if table.told else READY)
        if table.to_move == table.seat:
            bench.send(table.turn())
            _take_move(bench, table)
        else:
            bench.send(table.play(table.rival_move()))
    _expect_silence(bench, MOVE)
    bench.finish(table)
    _expect_silence(bench, LOBBY)


def _line_by_line(wire: Wire, lines: list[str]) -> None:
    for number, line in enumerate(lines):
        if number:
            wire.pause(GAP_S)
        wire.send(f"{line}\n".encode("ascii"))


def _next(bench: BotBench, step: Stage, patience: float = 0.0) -> Any:
    """Return the bot's next message, which has the verb of the step, after at most `patience` seconds."""
    patience = max(patience, bench.settings.patience)
    deadline = bench.log.now() + patience
    while True:
        try:
            line = bench.wire.receive(patience)
        except ReceiveTimeoutError:
            raise causes.silence(bench, step, nothing(patience)) from None
        if line is None:
            raise causes.end(bench, step)
        message = _message(bench, line, step)
        if causes.verb_of(message) == step.verb:
            return message
        if message is not None and not bench.is_late_ready(message):
            raise causes.not_due(message, step.verb, step)
        if bench.log.now() > deadline:
            raise causes.silence(bench, step, only_others(patience))


def _expect_silence(bench: BotBench, step: Stage) -> None:
    """Check that nothing comes that has not been asked for, before what `step` waits for."""
    bench.wire.pause(GAP_S)
    while (line := bench.wire.waiting()) is not None:
        message = _message(bench, line, step)
        if step is LOBBY and not isinstance(message, messages.Ready | messages.Move):
            continue  # what ends a bot after its game is the next game's
        if message is not None and (step is LOBBY or not bench.is_late_ready(message)):
            expected = "no MOVE without a TURN" if isinstance(message, messages.Move) else "no line"
            raise causes.not_due(message, expected, step)


def _message(bench: BotBench, line: bytes | Overlong, step: Stage) -> messages.ClientMessage | None:
    """Parse a line; None for one that may come at any time, of which PING is answered. Raises Finding."""
    if isinstance(line, Overlong):
        raise causes.too_long(line.head)
    # A note (INFO) is never a fault: it is looked at when the game is over.
    if not line.strip() or is_note(line):
        return None
    try:
        message = messages.parse_client(line)
    except ProtocolError as problem:
        raise causes.unreadable(line, problem, step) from None
    if isinstance(message, messages.Ping):
        bench.send(f"PONG {message.token}")
    return None if isinstance(message, messages.Ping | messages.Pong) else message


def _take_move(bench: BotBench, table: Table) -> None:
    since = bench.log.now()
    move = _next(bench, MOVE, table.clocks[table.seat - 1] / 1000).move
    spent = bench.check_time(table, since)
    if not table.rules.is_legal(table.position, move):
        raise causes.illegal(table, move)
    bench.send(table.play(move, spent))


# -- the parts of the plain game ---------------------------------------------------------------------


def _part(id_: str, expects: str, advice: str) -> Callable[[Callable[[BotBench], None]], object]:
    return SUITE.case(id_, POSITIVE, does="plays the plain game", expects=expects, advice=advice, plain=True)


def _shown_by_the_game(bench: BotBench) -> None:
    """Check nothing more: the game would have failed."""


for _id, _expects, _advice in (
    ("1.1/4", "each line of the bot ends in LF", "End each line by a line feed."),
    ("1.5/2", "each line of the bot begins with a verb in capitals", "Print what is for you to stderr."),
    ("1.6/3", "the bot's lines have at most 1,024 bytes", "Keep lines short."),
    ("1.8/2", "no key twice in a line of the bot", "Send each option once."),
    ("1.9/3", "HELLO comes after ARENA", HELLO.advice),
    ("1.10/1", "no empty value in a line of the bot", "Leave out an option that has no value."),
    ("3.2/3", "READY comes after GAME, and names the game", READY.advice),
    ("3.3/1", "one legal MOVE for each TURN, and no other", MOVE.advice),
    ("3.4/1", "no QUIT in a game", causes.NOT_DUE["QUIT"][1]),
    ("4.3/1", "a whole game is played from the first seat", "Play on until OVER."),
    ("5.1/3", "no line in a state that does not allow it", LOBBY.advice),
    ("6.5/1", "games= names the game, or there is no list", "List in games= what the bot can play."),
    ("6.7/1", "no slot= but the first", "slot= is for several games at once."),
    ("7.5/1", "the flag does not fall in 20 s", "clock= is for the whole game: divide it by the plies."),
):
    _part(_id, _expects, _advice)(_shown_by_the_game)


@_part("1.2/2", "the bot's own lines end in LF alone", "Write \\n without a CR before it.")
def own_line_ends(bench: BotBench) -> None:
    if bench.wire.with_cr:
        raise Finding(Verdict.NON_STRICT, "lines that end in LF", f"{bench.wire.with_cr} lines in CR LF")


@_part("1.3/1", "every byte of the bot's lines is printable ASCII", "Write text as ASCII, also in INFO.")
def printable(bench: BotBench) -> None:
    for line in _own_lines(bench):
        if not re.fullmatch(rb"[ -~]*", line):
            raise failed("bytes 32 to 126", shown(line))


@_part("1.4/1", "single spaces between the tokens of the bot's lines", "Join tokens with one space.")
def single_spaces(bench: BotBench) -> None:
    for line in _own_lines(bench):
        if line.strip(b" ") != line or b"  " in line:
            raise failed("single spaces between tokens", shown(line))


def _own_lines(bench: BotBench) -> Iterator[bytes]:
    return (entry.data.removesuffix(b"\r") for entry in bench.log.entries if entry.side == "C")


def _notes(bench: BotBench) -> Iterator[tuple[bytes, str, int]]:
    """Each note (INFO) of the bot, the game in which it came, empty outside, and the ply that was due."""
    game, due = "", 0
    for entry in bench.log.entries:
        line = entry.data.removesuffix(b"\r")
        verb, value, *_ = [*line.decode("latin-1").split(" "), ""]
        if entry.side == "C" and is_note(line):
            yield line, game, due
        elif entry.side == "S" and verb == "GAME":
            game, due = value, 1
        elif entry.side == "S" and verb == "PLAYED":
            due = int(value) + 1
        elif entry.side == "S" and verb == "OVER":
            game = ""


@_part(
    "12.2/1",
    "each INFO can be read, and is about this game and a ply that was due",
    "PROTOCOL.md, INFO: game= and ply= are required, text= is the last; the server drops or refuses others.",
)
def notes_that_count(bench: BotBench) -> None:
    for line, game, due in _notes(bench):
        try:
            message = messages.parse_client(line)
        except ProtocolError as problem:
            expected = "INFO game=ID ply=NUMBER, and options"
            raise Finding(Verdict.NON_STRICT, expected, f"{shown(line)} ({problem.text})") from None
        assert isinstance(message, messages.Info)
        if game and (message.game != game or message.ply > due):
            raise Finding(Verdict.NON_STRICT, f"INFO game={game} ply={due}, or an earlier ply", shown(line))


@_part(
    "12.2/2",
    "at most 32 INFO between two plies, of 65,536 bytes in the game",
    "The server drops what is more: send a note for each depth of the search, and not for each node.",
)
def notes_in_bounds(bench: BotBench) -> None:
    in_ply = Counter(due for _, game, due in _notes(bench) if game)
    if in_ply and (most := max(in_ply.values())) > NOTES_A_PLY:
        expected = f"at most {NOTES_A_PLY} INFO between two plies"
        raise Finding(Verdict.NON_STRICT, expected, f"{most} of them")
    if (size := sum(len(line) for line, game, _ in _notes(bench) if game)) > NOTE_BYTES:
        raise Finding(Verdict.NON_STRICT, f"at most {NOTE_BYTES:,} bytes of INFO in a game", f"{size:,}")


@_part(
    "3.1/1",
    "HELLO with version 1, the name and the token that the bot was given",
    "Take host, port and name from the arguments or from ARENA_HOST, ARENA_PORT and ARENA_NAME, and the "
    "token from ARENA_TOKEN.",
)
def own_token(bench: BotBench) -> None:
    if bench.hello is not None and bench.hello.token is None:
        raise Finding(Verdict.NOT_IMPLEMENTED, "token=", "none")
