"""A Gomocup brain that plays the first free cell, and brains that differ from it in exactly one way.

`Brain(defect).answers(line)` for tests without a process; `python brains.py DEFECT [FILE]` is a program. With
FILE only the first process has the defect: it creates the file.
"""

from __future__ import annotations

import sys
from pathlib import Path


class Exit(Exception):  # noqa: N818 - ends the brain, as planned
    """The brain ends with this status."""


class Brain:
    """Answers the manager's lines, which it keeps in `commands`."""

    def __init__(self, defect: str = "") -> None:
        self.defect = defect
        self.commands: list[str] = []
        self.size = 0
        self.stones: list[tuple[int, int]] = []
        self.moves = 0
        self.in_board = False

    def answers(self, line: str) -> list[str]:
        self.commands.append(line)
        if self.in_board:
            if line != "DONE":
                x, y, _ = (int(field) for field in line.split(","))
                self.stones.append((x, y))
                return []
            self.in_board = False
            return self.move("BOARD")
        word, _, rest = line.partition(" ")
        match word:
            case "START" | "RESTART":
                return self.start(word, rest)
            case "BEGIN":
                return self.move(word)
            case "TURN":
                x, y = (int(field) for field in rest.split(","))
                self.stones.append((x, y))
                return self.move(word)
            case "BOARD":
                self.in_board = True
                self.stones = []
                return []
            case "ABOUT":
                return ["UNKNOWN command"] if self.defect == "no-about" else ['name="Fake", version="1"']
            case "PLAY":
                return [rest]
            case "END":
                raise Exit(0)
        return []

    def start(self, word: str, rest: str) -> list[str]:
        if self.defect == "small-boards":
            return ["ERROR Maximal board size is 9"]
        if self.defect == "no-restart" and word == "RESTART":
            return ["UNKNOWN command"]
        if self.defect == "ends-at-start":
            raise Exit(4)
        self.size = int(rest) if rest else self.size
        self.stones = []
        return ["DEBUG ready", "OK"]

    def move(self, word: str) -> list[str]:
        self.moves += 1
        taken = self.stones[-1:]
        x, y = next((x, y) for y in range(self.size) for x in range(self.size) if (x, y) not in self.stones)
        self.stones.append((x, y))
        good = f"{x},{y}"
        match self.defect:
            case "chatter":
                return ["MESSAGE depth 3", f"DEBUG pv {good}", good]
            case "suggests":
                return [f"SUGGEST {good}"]
            case "error-at-turn" if word == "TURN":
                return ["ERROR no idea"]
            case "error-at-moves":
                return ["ERROR no idea"]
            case "no-coordinates":
                return ["resign"]
            case "off-board":
                return [f"{self.size},0"]
            case "negative":
                return ["-4,-4"]
            case "taken" if taken:
                return [f"{taken[0][0]},{taken[0][1]}"]
            case "silent" if self.moves == 2:
                return []
            case "ends-at-move" if self.moves == 2:
                raise Exit(3)
            case "answers-twice":
                return [good, good]
        return [good]


def main() -> int:
    defect, *once = sys.argv[1:]
    if once:
        try:
            Path(once[0]).touch(exist_ok=False)
        except FileExistsError:
            defect = ""
    brain = Brain(defect)
    ending = {"cr": "\r", "crlf": "\r\n"}.get(brain.defect, "\n")
    if brain.defect == "ends-at-once":
        print("no licence file", file=sys.stderr)
        return 7
    for data in sys.stdin.buffer:
        if not data.endswith(b"\r\n"):
            print(f"ERROR expected CR LF, got {data!r}", flush=True)
            continue
        try:
            lines = brain.answers(data.decode().rstrip())
        except Exit as status:
            print(f"leaving with {status}", file=sys.stderr)
            return int(status.args[0])
        for line in lines:
            sys.stdout.write(line + ending)
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
