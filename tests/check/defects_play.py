"""Bots with one defect each in play: sections 5 to 10 of the clauses."""

from __future__ import annotations

from typing import ClassVar

from .bots import Good, LeaveError, defect
from .defects_messages import Byes

# -- 5 to 7


@defect("5.1/1")
class ReadyInTheLobby(Good):
    """Says READY again when its third game is over."""

    def on_over(self, words: list[str], options: dict[str, str]) -> None:
        if words[1] == "g3":
            self.send(f"READY {words[1]}")


@defect("5.1/2")
class MovesInTheLobby(Good):
    """Repeats its move when a game ends in its turn."""

    on_move = False

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.on_move = True
        super().on_turn(words, options)

    def on_played(self, words: list[str], options: dict[str, str]) -> None:
        self.on_move = False
        super().on_played(words, options)

    def on_over(self, words: list[str], options: dict[str, str]) -> None:
        if self.on_move:
            self.send("MOVE 6")


@defect("6.6/1")
class OneGame(Good):
    """Leaves after its second game."""

    over = 0

    def on_over(self, words: list[str], options: dict[str, str]) -> None:
        self.over += 1
        if self.over == 2:
            raise LeaveError


@defect("6.6/2")
class DropsAfterOver(Good):
    """Drops what comes with OVER."""

    def split(self, data: bytes) -> tuple[list[bytes], bytes]:
        lines, rest = super().split(data)
        overs = [place for place, line in enumerate(lines) if line.startswith(b"OVER")]
        return (lines[: overs[0] + 1] if overs else lines), rest


@defect("7.5/2", "7.5/3")
class Slow(Good):
    """Thinks for 0.6 s, however short the clock is."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.around.later(0.6, lambda: self.send("MOVE 6"))


# -- 8 Lost connections


@defect("8.1/1", "8.1/2", "8.1/3", "8.1/4", "8.1/5", "8.1/6", verdict="not implemented")
class NeverBack(Good):
    """Does not come back."""

    def cut(self) -> float:
        raise LeaveError

    def after(self, words: list[str]) -> float:
        return self.cut() if words[:2] == ["BYE", "reason=slow"] else super().after(words)


@defect("8.1/1", "8.1/2", verdict="non-strict")
class ByToken(Good):
    """Comes back by its token."""

    def hello(self) -> str:
        self.resume = ""
        return super().hello()


@defect("8.1/1")
class MadeUpKey(Good):
    """Comes back with the session instead of the key."""

    def on_welcome(self, words: list[str], options: dict[str, str]) -> None:
        super().on_welcome(words, {"resume": options["session"]})


@defect("8.1/3")
class MovesOnce(Good):
    """Answers no TURN that it has answered before the cut."""

    answered: ClassVar[str] = ""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        turn = f"{self.game['id']} {words[1]}"
        if turn != self.answered:
            self.__dict__["answered"] = turn
            super().on_turn(words, options)


@defect("8.1/4")
class RisenZombie(Good):
    """Moves at START when it comes back."""

    was_zombie = False

    def on_zombie(self, words: list[str], options: dict[str, str]) -> None:
        if self.was_zombie:
            self.send("MOVE 6")
        self.was_zombie = True


@defect("8.1/5", verdict="not implemented")
class FearsReset(Good):
    """Ends at a reset."""

    def lost(self, *, reset: bool) -> None:
        if reset:
            self.around.exit(1)
        else:
            super().lost(reset=reset)


@defect("8.1/6", verdict="not implemented")
class LeavesAtSlow(Good):
    """Takes BYE reason=slow for the end."""

    def after(self, words: list[str]) -> float:
        if words[0:2] == ["BYE", "reason=slow"]:
            raise LeaveError
        return super().after(words)


@defect("8.1/7", verdict="not implemented")
class NeedsWelcome(Good):
    """Comes back only once it was logged in."""

    def cut(self) -> float:
        if not self.known:
            raise LeaveError
        return super().cut()


@defect("8.2/1", "8.2/2")
class KeepsItsBoard(Good):
    """Does not begin afresh when the game is sent again."""

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        moves = self.moves if self.game.get("id") == words[1] else []
        super().on_game(words, options)
        self.moves = moves

    def on_played(self, words: list[str], options: dict[str, str]) -> None:
        super().on_played(words, options)
        if len(self.moves) != int(words[1]):
            raise LeaveError


@defect("8.2/2", verdict="not implemented")
class BackOnce(Good):
    """Comes back twice at most."""

    times = 0

    def cut(self) -> float:
        self.times += 1
        if self.times > 2:
            raise LeaveError
        return super().cut()


@defect("8.2/3")
class MovesAtOnce(Good):
    """Sends its move again as soon as it is back."""

    moved = ""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.moved = self.game["id"]
        super().on_turn(words, options)

    def on_start(self, words: list[str], options: dict[str, str]) -> None:
        if self.moved == words[1]:
            self.send("MOVE 6")


@defect("8.3/1")
class FirstKey(Good):
    """Keeps the key of the first WELCOME."""

    def on_welcome(self, words: list[str], options: dict[str, str]) -> None:
        super().on_welcome(words, {"resume": self.resume or options["resume"]})


@defect("8.4/1", verdict="non-strict")
class FightsForTheSeat(Byes):
    """Comes back when a newer connection has its seat."""

    reason = "replaced"


@defect("8.5/1", "8.5/2")
class ReadyOnce(Good):
    """Says READY once a game."""

    ready: ClassVar[str] = ""

    def send(self, line: str) -> None:
        if line.startswith("READY"):
            if line == self.ready:
                return
            self.__dict__["ready"] = line
        super().send(line)


@defect("8.6/1", verdict="not implemented")
class NeedsItsKey(Good):
    """Leaves when its key is refused."""

    def after(self, words: list[str]) -> float:
        if words[:2] == ["ERROR", "token"]:
            raise LeaveError
        return super().after(words)


@defect("8.6/1")
class SameKeyAgain(Good):
    """Tries a refused key again."""

    def after(self, words: list[str]) -> float:
        return 0.01 if words[:2] == ["ERROR", "token"] else super().after(words)


@defect("8.6/2", verdict="not implemented")
class LeavesWhenTaken(Good):
    """Takes name-taken for the end, though the name is its own."""

    def after(self, words: list[str]) -> float:
        if words[:2] == ["ERROR", "name-taken"]:
            raise LeaveError
        return super().after(words)


# -- 10 Errors


@defect("11.2/1", verdict="not implemented")
class LeavesWhenFull(Good):
    """Takes ERROR full for the end."""

    def after(self, words: list[str]) -> float:
        if words[:2] == ["ERROR", "full"]:
            raise LeaveError
        return super().after(words)


@defect("11.2/2")
class Hasty(Good):
    """Does not look at retry_after=."""

    def after(self, words: list[str]) -> float:
        return super().after([word for word in words if not word.startswith("retry_after")])


@defect("11.2/3")
class Guesses(Good):
    """Tries a refused token again."""

    def after(self, words: list[str]) -> float:
        return 0.01 if words[:2] == ["ERROR", "token"] and not self.resume else super().after(words)
