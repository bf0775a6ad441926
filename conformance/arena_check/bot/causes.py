"""From what a bot sends, or does not send, in the plain game to the one cause that a person would name.

Each function returns a Finding with the clause that is broken and what to do; the clauses are sorted from the
bytes of a line to its meaning, so that the first one that is broken is the one to be put right first.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena_check.bot.bench import BotBench, BotSettings
from arena_check.bot.said import shown
from arena_check.bot.table import Table
from arena_check.cases import Finding, failed
from arena_protocol import messages
from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT

#: As much of a line on stdout is shown.
_SHOWN = 80
#: Seconds for a bot that has closed the connection to end.
END_S = 1.0

_FLUSH = "If the bot writes to a buffer, flush it after each line."


@dataclass(frozen=True, slots=True)
class Stage:
    """A verb that is waited for, the line that asks for it, the clause, and the cure if it does not come."""

    verb: str
    after: str
    clause: str
    advice: str


HELLO = Stage(
    "HELLO", "ARENA", "3.1", f"Answer ARENA, the first line, by HELLO 1 NAME token=TOKEN, once. {_FLUSH}"
)
READY = Stage(
    "READY",
    "GAME",
    "3.2",
    f"Answer GAME by READY and its first value; START comes behind READY. Read on after each line. {_FLUSH}",
)
MOVE = Stage(
    "MOVE",
    "TURN",
    "3.3",
    f"Answer each TURN by one MOVE. {_FLUSH} If a move takes the bot longer than this: --patience SECONDS.",
)
LOBBY = Stage(
    "GAME", "OVER", "5.1", "After OVER the bot is in the lobby: wait for the next GAME, or for BYE."
)

#: The verbs that a bot may send when they are due; else: the clause that they break, and the cure.
NOT_DUE = {
    "HELLO": ("3.1", "HELLO is the first line of a connection, and comes once."),
    "READY": ("3.2", "READY answers GAME, and names the game in it."),
    "MOVE": ("3.3", "Answer TURN alone by MOVE, once; START and PLAYED only tell what happened."),
    "QUIT": ("3.4", "QUIT leaves the contest, and in a game it is a fault; to end, wait for BYE."),
    "WATCH": ("5.1", "WATCH makes a client a spectator: a bot that plays does not send it."),
}
_VERBS = (*NOT_DUE, "PING", "PONG", "INFO")
#: How the lines look that a bot has to send.
_FORMS = {"HELLO": "HELLO 1 NAME token=TOKEN", "READY": "READY and one value", "MOVE": "MOVE and one value"}


# -- nothing comes -----------------------------------------------------------------------------------


def no_connection(bench: BotBench, finding: Finding) -> Finding:
    """The bot has not connected, or has ended before it did."""
    advice = "The bot ended before it connected: its stderr says why. Start it by hand with the same command."
    if bench.door.status() is None:
        advice = (
            f"Connect to {bench.door.address}: take host and port from the arguments {{host}} and {{port}}, "
            "or from ARENA_HOST and ARENA_PORT."
        )
    return failed(finding.expected, finding.actual, clause="3.1", advice=advice)


def silence(bench: BotBench, step: Stage, actual: str) -> Finding:
    """Nothing has come, or a line without its end."""
    unfinished = bench.wire.unfinished
    if not unfinished and (printed := _printed(bench, step.verb)):
        return failed(
            f"{step.verb} after {step.after}",
            f"{actual}; {printed!r} on its stdout",
            clause=step.clause,
            advice="The server reads the connection alone, and not the bot's stdout: write the line to the "
            "socket, and flush it.",
        )
    if not unfinished:
        return failed(f"{step.verb} after {step.after}", actual, clause=step.clause, advice=step.advice)
    return failed(
        "a line that ends in LF",
        f"bytes without a line end: {shown(unfinished)}",
        clause="1.1",
        advice="End each line by a line feed, the byte 10 (\\n in most languages); CR alone is no line end.",
    )


def _printed(bench: BotBench, verb: str) -> str:
    """The last line on the bot's stdout if it has this verb; empty without one."""
    lines = [line.strip() for line in bench.door.printed().splitlines() if line.strip()]
    return lines[-1][:_SHOWN] if lines and lines[-1].split(" ")[0] == verb else ""


def end(bench: BotBench, step: Stage) -> Finding:
    """The connection has ended: the bot has closed it, or it has ended itself."""
    how = bench.door.end(END_S)
    if not how:
        return silence(bench, step, f"the bot closed the connection after {step.after}")
    return failed(
        f"{step.verb} after {step.after}",
        f"the end of the connection; {how}",
        clause=step.clause,
        advice=f"The bot ended after {step.after} had come: its stderr says why.",
    )


# -- a line that cannot be read ----------------------------------------------------------------------


def too_long(head: bytes) -> Finding:
    """A line has more bytes than a client may send; this is its beginning."""
    return failed(
        f"a line of at most {CLIENT_LINE_LIMIT} bytes",
        f"{shown(head)}...",
        clause="1.6",
        advice=f"A line of a client has at most {CLIENT_LINE_LIMIT} bytes, and ends in a line feed.",
    )


def unreadable(line: bytes, problem: ProtocolError, step: Stage) -> Finding:
    """The parser refuses a line."""
    text = line.decode("latin-1")
    verb = text.split(" ")[0]
    if not (text.isascii() and text.isprintable()):
        advice = "Write text as ASCII: no tab, NUL, byte order mark or colours."
        return failed("a line of printable ASCII", shown(line), clause="1.3", advice=advice)
    if (bare := text.strip()) in _FORMS:
        return failed(_FORMS[bare], shown(line), clause=NOT_DUE[bare][0], advice=f"{bare} needs a value.")
    if "" in text.split(" "):
        advice = "Join the tokens with one space, and leave none at the ends of the line."
        return failed("single spaces between tokens", f'"{shown(line)}"', clause="1.4", advice=advice)
    if problem.code is ErrorCode.UNKNOWN_VERB:
        return _unknown_verb(line, verb, step)
    if "once only" in problem.text:
        return failed("each key once", shown(line), clause="1.8", advice=f"{problem.text}.")
    if any(token.endswith("=") for token in text.split(" ")):
        advice = "An option that is empty is left out; is ARENA_TOKEN set?"
        return failed("no empty value", shown(line), clause="1.10", advice=advice)
    clause = NOT_DUE[verb][0] if verb in NOT_DUE else step.clause
    return failed(_FORMS.get(verb, step.verb), shown(line), clause=clause, advice=f"{problem.text}.")


def _unknown_verb(line: bytes, verb: str, step: Stage) -> Finding:
    glued = next((each for each in _VERBS if verb.startswith(each)), "")
    if glued:
        advice = f"Write one space between {glued} and its value."
        return failed(f"one space behind {glued}", shown(line), clause="1.4", advice=advice)
    if verb.upper() in _VERBS:
        expected = f"a verb in capitals, {verb.upper()}"
        return failed(expected, shown(line), clause="1.5", advice="Write the verb in capitals.")
    advice = (
        "Begin each line with a verb of the protocol. Print what is for you to stderr, not to the socket."
    )
    return failed(f"{step.verb} and its values", shown(line), clause="1.5", advice=advice)


# -- a line that is not due, or says something wrong -------------------------------------------------


def verb_of(message: messages.ClientMessage | None) -> str:
    """The verb of a message; empty without one."""
    return "" if message is None else type(message).__name__.upper()


def not_due(message: messages.ClientMessage, expected: str, step: Stage) -> Finding:
    """A line can be read, and nothing has asked for it."""
    verb = verb_of(message)
    clause, advice = NOT_DUE[verb]
    if step is LOBBY:
        clause, advice = LOBBY.clause, LOBBY.advice
    elif step is HELLO:
        clause, advice = HELLO.clause, NOT_DUE["HELLO"][1]
    elif verb == "MOVE" and step is READY:
        clause = READY.clause
    return failed(expected, shown(messages.encode(message).rstrip()), clause=clause, advice=advice)


def wrong_hello(hello: messages.Hello, settings: BotSettings) -> Finding | None:
    """What in this first HELLO would keep the bot out of a contest; None if nothing would."""
    if hello.version != 1:
        advice = "The version of the protocol is 1."
        return failed("HELLO 1", f"HELLO {hello.version}", clause="3.1", advice=advice)
    if hello.name != settings.name:
        advice = "Take the name from the argument {name} or from ARENA_NAME."
        return failed(f"the name {settings.name}", hello.name, clause="3.1", advice=advice)
    if hello.token not in (None, settings.token):
        advice = "Take the token from the argument {token} or from ARENA_TOKEN."
        return failed("the token of ARENA_TOKEN", hello.token, clause="3.1", advice=advice)
    if hello.resume is not None:
        advice = "Log in by token= at first; resume= has the key of a WELCOME."
        return failed("HELLO without resume=", f"resume={hello.resume}", clause="3.1", advice=advice)
    if hello.slot not in (None, 1):
        advice = "slot= is for a bot that plays several games at once: its number comes in ARENA_SLOT."
        return failed("slot=1 or no slot=", f"slot={hello.slot}", clause="6.7", advice=advice)
    if hello.games and settings.game not in hello.games:
        advice = (
            "List in games= what the bot can play, or leave it out; --game says which game to check with."
        )
        return failed(f"{settings.game} in games=", ",".join(hello.games), clause="6.5", advice=advice)
    return None


def illegal(table: Table, move: str) -> Finding:
    """A move is not one of the position's."""
    expected = f"a legal move at ply {table.ply}"
    return failed(expected, f"MOVE {move}", clause="3.3", advice=_cure(table, move))


def _cure(table: Table, move: str) -> str:
    legal = table.rules.legal_moves(table.position)
    if "=" in move:
        return f"The move is the one value of MOVE, not an option: MOVE {legal[0]}."
    if not all(each.isdecimal() for each in legal):
        return f"The log shows the position and the moves; legal here are {', '.join(legal[:6])}, ..."
    some = f"The legal moves are numbers, {legal[0]} to {legal[-1]}"
    if move == "0":
        return f"{some}: they are counted from 1, not from 0."
    if (bare := move.lstrip("+0")) in legal:
        return f"A number has no sign + and no leading zero: write {bare} for {move}."
    if (whole := move.partition(".")[0]) in legal:
        return f"Write a whole number: {whole} for {move}."
    return f"{some}."
