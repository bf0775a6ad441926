"""A bot for insertion that needs Python alone: it keeps the board and takes the move that earns most now.

python greedy_bot.py HOST PORT NAME, or the same in ARENA_HOST, ARENA_PORT and ARENA_NAME;
the token, if there is one, is in ARENA_TOKEN.
"""

import os
import socket
import sys
import time


def read_board(text):
    """Return five columns from the left, each a list of pictures from the bottom up."""
    rows = text.split("/")  # from the top down
    return [[row[x] for row in reversed(rows) if row[x] != "."] for x in range(5)]


def insert(columns, move, picture):
    """Return the columns after the insertion, before any run is removed."""
    columns = [column[:] for column in columns]
    if 6 <= move <= 10:  # a drop; if the column was full, its bottom picture falls off
        columns[move - 6] = [*columns[move - 6], picture][-5:]
        return columns
    # A push: the row, counted from the bottom, and its columns in the order of the push.
    row, order = (move - 1, range(5)) if move <= 5 else (15 - move, range(4, -1, -1))
    for x in order:
        if row >= len(columns[x]):  # the cell is empty: the picture falls onto the stack below it
            columns[x].append(picture)
            return columns
        columns[x][row], picture = picture, columns[x][row]
    return columns  # the row was full: the picture at its far end fell off


def cells_of_runs(columns):
    """Return (column, row) of every cell in three or more equal pictures in a line."""
    cells = {(x, y): picture for x, column in enumerate(columns) for y, picture in enumerate(column)}
    found = set()
    for (x, y), picture in cells.items():
        for three in ([(x, y), (x + 1, y), (x + 2, y)], [(x, y), (x, y + 1), (x, y + 2)]):
            if all(cells.get(cell) == picture for cell in three):
                found.update(three)
    return found


def play(columns, move, picture):
    """Return the columns after the move, all its waves included, and the points for it."""
    columns, points = insert(columns, move, picture), 0
    while gone := cells_of_runs(columns):
        points += 10 * len(gone)
        columns = [[p for y, p in enumerate(c) if (x, y) not in gone] for x, c in enumerate(columns)]
    return columns, points


def choose(columns, pictures):
    """Return a move from 1 to 15 for `pictures[0]`; the other pictures follow it."""
    return max(range(1, 16), key=lambda move: play(columns, move, pictures[0])[1])


def converse(sock, login, seat):
    """Play on one connection until it ends; return its last BYE or ERROR, or an empty text.

    `seat["key"]` is the key that resumes the seat after a lost connection: use the newest.
    """
    columns, pictures, last = [], "", ""
    for raw in sock.makefile("rb"):
        if not raw.endswith(b"\n"):
            break  # the connection was cut inside a line
        verb, *words = raw.decode("ascii").split() or [""]
        options = dict(word.split("=", 1) for word in words if "=" in word)
        answer = ""
        if verb == "ARENA":
            key = seat.pop("key", "")
            answer = f"{login} resume={key}" if key else login + seat["token"]
        elif verb == "WELCOME":
            seat["key"] = options["resume"]
        elif verb == "PING":
            answer = f"PONG {words[0]}"
        elif verb == "GAME":
            answer = f"READY {words[0]}"  # warm up before this line: no clock runs yet
        elif verb == "STATE":
            columns = read_board(words[0])
        elif verb == "NEXT":
            pictures = words[0]
        elif verb == "PLAYED":  # also sent for own moves
            columns, _ = play(columns, int(options["move"]), pictures[0])
            pictures = pictures[1:] + options.get("reveal", "")
        elif verb == "TURN":
            answer = f"MOVE {choose(columns, pictures)}"
        elif verb in ("ZOMBIE", "OVER", "ERROR", "BYE"):
            print(verb, *words, file=sys.stderr)
            last = " ".join([verb, *words]) if verb in ("ERROR", "BYE") else last
        if verb == "BYE":
            break
        if answer:
            sock.sendall(answer.encode() + b"\n")
    return last


def main():
    given = [os.environ.get(f"ARENA_{part}", "") for part in ("HOST", "PORT", "NAME")]
    host, port, name = given if given[0] else sys.argv[1:4]
    token = os.environ.get("ARENA_TOKEN")
    seat = {"token": f" token={token}" if token else ""}
    tries = 0
    while tries < 10:
        last, resuming = "", "key" in seat
        try:
            with socket.create_connection((host, int(port))) as sock:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                last = converse(sock, f"HELLO 1 {name} games=insertion", seat)
        except OSError as error:
            print(error, file=sys.stderr)
        if last.startswith("BYE") and last != "BYE reason=slow":
            return
        refused = "key" not in seat and not resuming and last.startswith("ERROR")
        if refused and last.split()[1] not in ("full", "rate"):
            sys.exit(1)  # a wrong name or token: another try fails again
        tries = 0 if "key" in seat else tries + 1
        waits = [int(word[12:]) / 1000 for word in last.split() if word.startswith("retry_after=")]
        time.sleep(max(min(5, 0.1 * 2**tries), *waits, 0))
    sys.exit(f"gave up on {host}:{port}")


if __name__ == "__main__":
    main()
