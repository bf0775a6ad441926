"""A starter bot for insertion that needs Python alone. Replace `choose`; the rest can stay as it is."""

import os
import socket
import sys
import time


def choose(game):
    """Return a move from 1 to 15 for the picture `game["pictures"][len(game["moves"])]`.

    `game` holds `seat`, `board` (the start, rows from the top joined by `/`), `pictures` (all that were
    shown so far), `moves` (all plies so far), `clock` (ms left to this seat) and the `options` of GAME.
    """
    return 6 + len(game["moves"]) % 5  # drops into the five columns in turn


def debug(mark, line):
    if os.environ.get("ARENA_DEBUG") == "1":
        now = time.time()
        stamp = time.strftime("%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03}"
        print(stamp, mark, line, file=sys.stderr, flush=True)


def converse(sock, hello, login):
    """Play on one connection; return the line that ended it, or an empty text if it was cut.

    `login["resume"]` is the key of the last WELCOME, `login["tries"]` counts connections since then.
    """

    def send(line):
        debug(">", line)
        sock.sendall(line.encode("ascii") + b"\n")

    game, greeted, welcomed = {}, False, False
    for raw in sock.makefile("rb"):
        if not raw.endswith(b"\n"):
            break  # the connection was cut inside a line
        line = raw.decode("latin-1").rstrip("\r\n")
        debug("<", line)
        verb, *words = line.split(" ")
        options = dict(word.split("=", 1) for word in words if "=" in word)
        if verb in ("ZOMBIE", "OVER", "ERROR", "BYE"):
            print(line, flush=True)
        if verb == "ARENA" and words[:1] == ["1"]:
            greeted = True
            send(hello + (f" resume={login['resume']}" if login["resume"] else login["token"]))
        elif verb == "BYE" or (verb == "ERROR" and not welcomed):
            return line
        elif verb == "" or not greeted:
            if verb:
                sys.exit(f"this is no server of version 1 of the arena protocol: {line[:80]}")
        elif verb == "WELCOME":
            welcomed, login["known"], login["tries"], login["resume"] = True, True, 0, options["resume"]
        elif verb == "PING":
            send(f"PONG {words[0]}")
        elif verb == "GAME":
            game = {"seat": int(options["seat"]), "options": options, "moves": [], "pictures": ""}
            send(f"READY {words[0]}")  # warm up before this line: no clock runs yet
        elif verb == "STATE":
            game["board"] = words[0]
        elif verb == "NEXT":
            game["pictures"] = words[0]
        elif verb == "PLAYED":
            game["moves"].append(int(options["move"]))
            game["pictures"] += options.get("reveal", "")
        elif verb == "TURN":
            game["clock"] = int(options["clock"].split(",")[game["seat"] - 1])
            send(f"MOVE {choose(game)}")
    return ""


def main():
    given = [os.environ.get(f"ARENA_{key}", "") for key in ("HOST", "PORT", "NAME")]
    given = given if given[0] else sys.argv[1:4]
    if len(given) < 3 or not all(given):
        sys.exit("usage: starter.py HOST PORT NAME, or ARENA_HOST, ARENA_PORT and ARENA_NAME set")
    host, port, name = given
    token = os.environ.get("ARENA_TOKEN", "")
    slot = os.environ.get("ARENA_SLOT", "")
    hello = f"HELLO 1 {name} games=insertion agent=python-starter/1" + (f" slot={slot}" if slot else "")
    contest = os.environ.get("ARENA_CONTEST", "")
    hello += f" contest={contest}" if contest else ""
    login = {"token": f" token={token}" if token else "", "resume": "", "known": False, "tries": 0}
    while login["tries"] < 12:
        resuming, last, pause = login["resume"], "", min(5.0, 0.1 * 2 ** login["tries"])
        login["tries"] += 1
        try:
            with socket.create_connection((host, int(port))) as sock:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                last = converse(sock, hello, login)
        except OSError as error:
            debug("#", error)
        verb, code, *words = [*last.split(" "), "", ""]
        if verb == "BYE" and code != "reason=slow":
            again = [word for word in words if word.startswith("again=")]
            if not again or contest:
                return
            pause = int(again[0][6:]) / 1000  # another contest may follow, which knows no key of this one
            login.update(resume="", known=False, tries=0)
        if verb == "ERROR":
            if code == "token" and resuming:
                login["resume"] = ""  # the key is spent or forgotten: log in by name and token
            elif code not in ("full", "rate") and not (code == "name-taken" and login["known"]):
                sys.exit(1)
            wait = [word for word in words if word.startswith("retry_after=")]
            pause = max(pause, int(wait[0][12:]) / 1000) if wait else pause
        time.sleep(pause)
    sys.exit(f"gave up on {host}:{port}")


main()
