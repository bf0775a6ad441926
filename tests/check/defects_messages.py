"""Bots with one defect each in the server's messages: section 4 of the clauses."""

from __future__ import annotations

from typing import ClassVar

from .bots import Good, LeaveError, defect

# -- 4 Server messages


@defect("4.1/1")
class KnowsOneServer(Good):
    """Insists on the program that greets it."""

    def on_arena(self, words: list[str], options: dict[str, str]) -> None:
        if not words[2].startswith(("insertion-arena/", "arena-check/")):
            raise LeaveError
        super().on_arena(words, options)


@defect("4.1/2")
class TriesVersionForEver(Good):
    """Comes back after ERROR version."""

    def on_arena(self, words: list[str], options: dict[str, str]) -> None:
        super().on_arena([words[0], "1"], options)

    def after(self, words: list[str]) -> float:
        return 0.01 if words[:2] == ["ERROR", "version"] else super().after(words)


@defect("4.3/2")
class FirstSeatOnly(Good):
    """Can only sit first."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        if len(self.moves) % 2 == 0:
            super().on_turn(words, options)


@defect("4.3/3")
class TwoSeatsOnly(Good):
    """Unpacks clock= into two values."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        _mine, _theirs = options["clock"].split(",")
        super().on_turn(words, options)


@defect("4.3/4")
class PlainClockOnly(Good):
    """Takes the options of the clock for those of the game, which it knows."""

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        if "byoyomi" in options:
            raise LeaveError
        super().on_game(words, options)


class _Boards(Good):
    """Leaves at STATEs that it does not expect."""

    @staticmethod
    def refused(board: str) -> bool:
        raise NotImplementedError

    def on_state(self, words: list[str], options: dict[str, str]) -> None:
        if self.refused(words[1]):
            raise LeaveError
        super().on_state(words, options)


@defect("4.4/2", "4.4/4")
class NoPartialBoard(_Boards):
    """Refuses a board that is partly filled."""

    @staticmethod
    def refused(board: str) -> bool:
        return "." in board and board.strip("./") != ""


@defect("4.4/3")
class NoEmptyBoard(_Boards):
    """Refuses an empty board."""

    @staticmethod
    def refused(board: str) -> bool:
        return board.strip("./") == ""


class _Offers(Good):
    """Leaves at games that it does not expect."""

    @staticmethod
    def refused(options: dict[str, str]) -> bool:
        raise NotImplementedError

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        if self.refused(options):
            raise LeaveError
        super().on_game(words, options)


@defect("4.4/5")
class MoreColours(_Offers):
    """Refuses three colours."""

    @staticmethod
    def refused(options: dict[str, str]) -> bool:
        return int(options["colours"]) < 4


@defect("4.4/6")
class SixColours(_Offers):
    """Has a table of six colours."""

    @staticmethod
    def refused(options: dict[str, str]) -> bool:
        return int(options["colours"]) > 6


@defect("4.4/7")
class LooksTwoAhead(Good):
    """Reads the second picture in sight."""

    def choose(self) -> str:
        return (
            "6"
            if self.game["plies"] == "1" or self.pictures[len(self.moves) :][1:] or len(self.moves) > 6
            else "x"
        )


@defect("4.4/8")
class NeedsReveal(Good):
    """Expects reveal= as long as a game goes on."""

    def on_played(self, words: list[str], options: dict[str, str]) -> None:
        if len(self.moves) + 1 + int(self.game["lookahead"]) <= 8 or int(self.game["lookahead"]) < 8:
            super().on_played(words, options)
        else:
            super().on_played(words, {"reveal": options["reveal"], **options})


@defect("4.4/9")
class FullSight(Good):
    """Expects as many pictures as lookahead= says."""

    def on_next(self, words: list[str], options: dict[str, str]) -> None:
        if len(words[1]) != int(self.game["lookahead"]):
            raise LeaveError
        super().on_next(words, options)


@defect("4.4/10")
class LongGamesOnly(_Offers):
    """Divides its time by the number of plies less one."""

    @staticmethod
    def refused(options: dict[str, str]) -> bool:
        return options["plies"] == "1"


@defect("4.4/11")
class ShortGamesOnly(_Offers):
    """Has a table of 100 plies."""

    @staticmethod
    def refused(options: dict[str, str]) -> bool:
        return int(options["plies"]) > 100


@defect("4.5/1")
class NoLag(Good):
    """Expects lag=0."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        if options["lag"] == "0":
            super().on_turn(words, options)


@defect("4.7/1")
class MovingZombie(Good):
    """Moves on as a zombie."""

    def on_zombie(self, words: list[str], options: dict[str, str]) -> None:
        if "seat" not in options:
            self.send("MOVE 6")


@defect("4.7/2")
class TakesItToHeart(Good):
    """Takes another seat's ZOMBIE for the end."""

    def on_zombie(self, words: list[str], options: dict[str, str]) -> None:
        if "seat" in options:
            raise LeaveError


class _Ends(Good):
    """Leaves at an OVER that it does not expect."""

    end: ClassVar[str]
    ply: ClassVar[range]

    def on_over(self, words: list[str], options: dict[str, str]) -> None:
        if options["end"] == self.end and len(self.moves) in self.ply:
            raise LeaveError


@defect("4.8/1")
class NoVoidBeforeStart(_Ends):
    """Takes OVER before START for the end."""

    end, ply = "void", range(1)


@defect("4.8/2")
class NoVoidGames(_Ends):
    """Takes a void game for the end."""

    end, ply = "void", range(1, 100)


@defect("4.8/3")
class NoForfeits(_Ends):
    """Takes a rival's forfeit for the end."""

    end, ply = "forfeit", range(100)


class Byes(Good):
    """Comes back after a BYE."""

    reason: ClassVar[str]

    def after(self, words: list[str]) -> float:
        return 0.01 if words == ["BYE", f"reason={self.reason}"] else super().after(words)


@defect("4.9/1")
class ComesBack(Byes):
    """Comes back when all games have been played."""

    reason = "finished"


@defect("4.9/2")
class ComesBackAtNew(Byes):
    """Comes back at a reason that it does not know."""

    reason = "moonrise"


@defect("4.9/3")
class ComesBackAtStopped(Byes):
    """Comes back when the organiser has stopped the contest."""

    reason = "stopped"


@defect("4.9/1", verdict="non-strict")
class EndsInError(Good):
    """Ends with status 3 after a contest."""

    def after(self, words: list[str]) -> float:
        self.status = 3
        return super().after(words)


@defect("4.9/1")
class Stays(Good):
    """Does not close the connection at BYE."""

    def is_last(self, words: list[str]) -> bool:
        return words[0] != "BYE" and super().is_last(words)


@defect("4.9/4")
class KeepsTheKey(Good):
    """Brings the key of a contest that is over to the next one."""

    def after(self, words: list[str]) -> float:
        return 0.6 if words[-1:] == ["again=500"] else super().after(words)


@defect("4.9/4")
class ComesTooSoon(Good):
    """Comes back for the next contest before again= says so."""

    def after(self, words: list[str]) -> float:
        return 0.3 if words[-1:] == ["again=500"] else super().after(words)


@defect("4.10/1", "4.10/2")
class LeavesAtErrors(Good):
    """Takes every ERROR for the end."""

    def on_error(self, words: list[str], options: dict[str, str]) -> None:
        raise LeaveError
