"""Servers with one defect each in lines, values and client messages: sections 1 to 3 of the clauses."""

from __future__ import annotations

import re

from .mutants import MUTANTS, Connection, Mutant, from_client, from_server, verb

# -- 1 Lines

MUTANTS["one_line_a_read"] = Mutant(
    ("1.1/1",), "Takes each read for one line.", chunk=lambda data: data.split(b"\n")[0] + b"\n"
)
MUTANTS["partial_lines"] = Mutant(
    ("1.1/2",), "Takes a part of a line for a line.", chunk=lambda data: data.removesuffix(b"\n") + b"\n"
)
MUTANTS["acts_at_the_end"] = Mutant(
    ("1.1/3",), "Acts on a line that was cut off.", at_end=lambda pending: pending + b"\n"
)


@from_client("1.2/1")
def no_cr(line: bytes, _: Connection) -> bytes:
    """Refuses a line that ends in CR LF."""
    return b"X" if line.endswith(b"\r") else line


@from_client("1.3/1")
def any_bytes(line: bytes, _: Connection) -> bytes:
    """Takes bytes that are not printable ASCII for letters."""
    return re.sub(rb"[^ -~\r]", b"x", line)


@from_client("1.4/1", "1.4/2", "7.7/1")
def any_spaces(line: bytes, _: Connection) -> bytes:
    """Splits a line at any number of spaces."""
    return b" ".join(line.split(b" ")) if b" " not in line else b" ".join(line.split())


@from_client("1.5/1")
def token_first(line: bytes, _: Connection) -> bytes:
    """Finds token= and resume= by their place."""
    return b"HELLO" if verb(line) == b"HELLO" and b" agent=" in line else line


@from_client("1.5/2")
def any_case(line: bytes, _: Connection) -> bytes:
    """Takes verbs in small letters."""
    return verb(line).upper() + line[len(verb(line)) :]


@from_client("1.6/1")
def counts_the_end(line: bytes, _: Connection) -> bytes:
    """Counts the line end into the limit of 1,024 bytes."""
    return line + b"x" if len(line) == 1024 else line


@from_client("1.6/2", "1.6/3")
def cuts_lines(line: bytes, _: Connection) -> bytes:
    """Takes the first 1,024 bytes of a line that is too long."""
    return line[:1024]


@from_client("1.6/3")
def closes_at_long_lines(line: bytes, connection: Connection) -> list[bytes]:
    """Closes the connection at a line that is much too long."""
    if len(line) > 10_000:
        connection.close()
        return []
    return [line]


@from_client("1.7/1")
def blank_is_a_line(line: bytes, _: Connection) -> bytes:
    """Refuses a blank line."""
    return line or b"X"


@from_client("1.8/1", "7.7/2")
def known_options_only(line: bytes, _: Connection) -> bytes:
    """Refuses options that it does not know."""
    return verb(line) if b" x-new=" in line else line


@from_client("1.8/2")
def last_key_wins(line: bytes, _: Connection) -> bytes:
    """Takes the same key twice."""
    return line.replace(b" agent=a agent=b", b" agent=b")


@from_client("1.10/1")
def default_name(line: bytes, _: Connection) -> bytes:
    """Makes up a name where there is none."""
    return b"HELLO 1 onlooker" if line == b"HELLO 1" else line


@from_client("1.10/2")
def empty_is_none(line: bytes, _: Connection) -> bytes:
    """Takes an empty value for none."""
    return line.removesuffix(b" token=")


@from_client("1.10/3")
def empty_ping(line: bytes, _: Connection) -> bytes:
    """Answers a PING without a token."""
    return b"PING x" if line == b"PING" else line


# -- 2 Kinds of values


@from_client("2.1/1")
def lenient_numbers(line: bytes, _: Connection) -> bytes:
    """Reads 01 and +1 as 1."""
    return re.sub(rb"^HELLO (01|\+1) ", b"HELLO 1 ", line)


@from_server("2.1/2")
def padded_numbers(line: bytes, _: Connection) -> bytes:
    """Writes times with leading zeros."""
    return re.sub(rb" time=(\d+)", rb" time=0\1", line)


@from_client("2.2/1")
def any_name(line: bytes, _: Connection) -> bytes:
    """Takes names of any form."""
    return re.sub(rb"^HELLO 1 (my/bot|-bot|b{33})", b"HELLO 1 other", line)


@from_server("2.2/2")
def wrong_name(line: bytes, _: Connection) -> bytes:
    """Welcomes every bot by the same name."""
    return re.sub(rb"^WELCOME \S+", b"WELCOME bot", line)


# -- 3 Client messages


@from_client("3.1/1")
def closed_door(line: bytes, _: Connection) -> bytes:
    """Lets no bot in."""
    return re.sub(rb" (token|resume)=\S+", b" token=bad", line)


@from_server("3.1/2")
def wrong_code(line: bytes, _: Connection) -> bytes:
    """Answers a first line that is not HELLO by another code."""
    return line.replace(b"ERROR login", b"ERROR unexpected")


@from_server("3.2/1")
def no_start(line: bytes, _: Connection) -> list[bytes]:
    """Sends no START."""
    return [] if verb(line) == b"START" else [line]


@from_client("3.2/2")
def any_ready(line: bytes, connection: Connection) -> list[bytes]:
    """Drops a READY for another game without a word."""
    return [] if line == b"READY no-such-game" else [line]


@from_server("3.3/1", "4.6/1")
def tells_another_move(line: bytes, _: Connection) -> bytes:
    """Tells another move than the one that was played."""
    return re.sub(rb" move=(\d+)", lambda found: b" move=%d" % (int(found[1]) % 15 + 1), line)


@from_client("3.3/2")
def takes_any_move(line: bytes, _: Connection) -> bytes:
    """Plays 6 for an illegal move."""
    return b"MOVE 6" if line == b"MOVE 99" else line


@from_client("3.4/1", "3.4/2")
def no_quit(line: bytes, _: Connection) -> list[bytes]:
    """Knows no QUIT."""
    return [] if line == b"QUIT" else [line]


@from_server("3.5/1")
def no_pong(line: bytes, _: Connection) -> list[bytes]:
    """Answers no PING."""
    return [] if verb(line) == b"PONG" else [line]


@from_server("3.5/1")
def no_pong_in_a_game(line: bytes, connection: Connection) -> list[bytes]:
    """Answers no PING in a game."""
    return [] if verb(line) == b"PONG" and connection.in_game else [line]


@from_server("3.5/2")
def drops_pongs(line: bytes, connection: Connection) -> list[bytes]:
    """Answers 100 PINGs on a connection."""
    return [] if verb(line) == b"PONG" and connection.count("pong") > 100 else [line]


@from_client("3.6/1", "7.3/2")
def counts_pongs(line: bytes, connection: Connection) -> bytes:
    """Refuses a PONG that it did not ask for."""
    if verb(line) == b"PONG":
        connection.answer(b"ERROR unexpected there was no PING")
    return line
