"""A bot of the soak run as a process of its own, with nothing but the standard library.

    python bot.py KIND NAME PORT FILE SECONDS [WORD ...]

It plays until the contest is over and comes back after any loss. FILE has a line for each result that it was
sent, and FILE.key its resume key: a killed bot goes on with both. A `good` bot thinks SECONDS a move, a
`fixed` one has a move for each ply; all other kinds make the mistake of their name. Each WORD is one of
HELLO, a token only where there is no key.
"""

import os
import random
import socket
import sys
import time
import zlib

KIND, NAME, PORT, FILE, SECONDS = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], float(sys.argv[5])
WORDS = sys.argv[6:]
#: Reasons of BYE after which there is nothing to come back for.
FINAL = ("finished", "stopped", "kicked")
#: How often a bot that makes mistakes makes one at its turn: 1 in this number.
ONE_IN = 10

MISTAKES = {
    "illegal": b"MOVE 99\n",
    "malformed": b"MOVE \xff\xfe\n",
    "flood": b"READY g0\n" * 200,
    "long": b"x" * 100_000 + b"\n",
    "out-of-turn": b"MOVE 1\n" * 40,
    "quit": b"QUIT\n",
}


def key() -> str:
    """The resume key of the last WELCOME."""
    try:
        with open(FILE + ".key") as file:
            return file.read()
    except OSError:
        return ""


def keep(file: str, text: str, mode: str) -> None:
    with open(file, mode) as out:
        out.write(text)


def turn(sock: socket.socket, ply: str) -> None:
    """Answer a TURN, well or as the kind has it."""
    time.sleep(random.uniform(0, 2 * SECONDS))
    if KIND == "fixed":
        sock.sendall(b"MOVE %d\n" % (1 + zlib.crc32(f"{NAME} {ply}".encode()) % 15))
        return
    if KIND != "good" and random.randrange(ONE_IN) == 0:
        if KIND == "crash":
            os._exit(3)
        if KIND == "silent":
            return
        if KIND == "deaf":
            time.sleep(30)
        sock.sendall(MISTAKES.get(KIND, b""))
    sock.sendall(b"MOVE %d\n" % random.randint(1, 15))


def play(sock: socket.socket) -> bool:
    """Play on one connection to its end. Returns whether to come back."""
    resume = key()
    words = [word for word in WORDS if not (resume and word.startswith("token="))]
    words += [f"resume={resume}"] if resume else []
    sock.sendall(f"{' '.join(['HELLO', '1', NAME, *words])}\n".encode())
    for line in sock.makefile("r", encoding="latin-1"):
        verb, *words = line.split()
        if verb == "WELCOME":
            keep(FILE + ".key", next(word[7:] for word in words if word.startswith("resume=")), "w")
        elif verb == "GAME":
            sock.sendall(f"READY {words[0]}\n".encode())
        elif verb == "TURN":
            turn(sock, words[0])
        elif verb == "PING":
            sock.sendall(f"PONG {words[0]}\n".encode())
        elif verb == "OVER":
            fields = dict(word.split("=", 1) for word in words[1:])
            if fields["end"] != "void":
                keep(FILE, f"{words[0]} {fields['total']}\n", "a")
        elif verb == "ERROR" and words[0] == "token":
            keep(FILE + ".key", "", "w")  # it quit: no key resumes its seat
        elif verb == "BYE":
            return words[0].removeprefix("reason=") not in FINAL
    return True


def main() -> None:
    going_on = True
    while going_on:
        try:
            with socket.create_connection(("127.0.0.1", PORT)) as sock:
                going_on = play(sock)
        except OSError:
            pass
        time.sleep(0.2)


if __name__ == "__main__":
    main()
