import os
import socket
import sys

given = [os.environ.get(f"ARENA_{key}", "") for key in ("HOST", "PORT", "NAME")]
host, port, name, token = [*(given if given[0] else sys.argv[1:]), os.environ.get("ARENA_TOKEN", "")][:4]
hello = f"HELLO 1 {name} token={token}" if token else f"HELLO 1 {name}"
with socket.create_connection((host, int(port))) as sock:
    for line in sock.makefile(encoding="ascii"):
        verb, value, *_ = [*line.split(), "", ""]
        answers = {"ARENA": hello, "GAME": f"READY {value}", "TURN": "MOVE 6", "PING": f"PONG {value}"}
        if verb == "BYE" or not line.endswith("\n"):
            break
        if verb in answers:
            sock.sendall(f"{answers[verb]}\n".encode())
