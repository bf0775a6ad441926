"""Bots with the usual mistakes in MOVE: its form, its value, its time."""

from __future__ import annotations

from .bots import Plain, defect, variant

# -- the value


def moves(what: str, text: str, case: str, says: str) -> None:
    """Enter a bot that always moves so."""
    variant(Plain, what, case, says=says, choose=lambda self: text)


moves("Counts its moves from 0, and sends 0.", "0", "3.3/1", "counted from 1")
moves("Moves out of the range.", "16", "3.3/1", "1 to 15")
moves("Takes a cell of a board for a move.", "c3", "3.3/1", "1 to 15")
moves("Writes 06 for 6 at once.", "06", "3.3/1", "leading zero")
moves("Writes +6 for 6.", "+6", "3.3/1", "no sign +")
moves("Computes its move as a float.", "6.0", "3.3/1", "whole number: 6 for 6.0")
moves("Moves -1 where a search found nothing.", "-1", "3.3/1", "1 to 15")
moves("Prints None where a search found nothing.", "None", "3.3/1", "1 to 15")
moves("Puts its move in quotes.", '"6"', "3.3/1", "1 to 15")
moves("Ends its move by a semicolon.", "6;", "3.3/1", "1 to 15")
moves("Sends a list of one move.", "[6]", "3.3/1", "1 to 15")
moves("Gives the move as an option.", "move=6", "3.3/1", "not an option")
moves("Sends two moves in one line.", "6 7", "3.3/1", "MOVE and one value")
moves("Explains its move in the line.", "6 best of 15", "3.3/1", "MOVE and one value")
moves("Sends MOVE without a value.", "", "3.3/1", "needs a value")
moves("Leaves a blank behind the move.", "6 ", "1.4/1", "one space")
moves("Pads its move to two places.", " 6", "1.4/1", "one space")
moves("Has a tab behind its move.", "6\t", "1.3/1", "ASCII")
moves("Sends a NUL, the end of a string in C.", "6\0", "1.3/1", "ASCII")
moves("Colours its output for a terminal.", "\x1b[32m6\x1b[0m", "1.3/1", "ASCII")
moves("Sends its thoughts in the line of the move.", "6" * 2000, "1.6/3", "1024")


# -- the line


class _Answers(Plain):
    form = "MOVE 6"

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.send(self.form.replace("{ply}", words[1]))


def answers(what: str, form: str, case: str, says: str) -> None:
    """Enter a bot that answers TURN by this line."""
    variant(_Answers, what, case, says=says, form=form)


answers("Writes its verb in small letters.", "move 6", "1.5/2", "capitals")
answers("Writes its verb with one capital.", "Move 6", "1.5/2", "capitals")
answers("Sends the move without the verb.", "6", "1.5/2", "verb")
answers("Sends JSON.", '{"move":6}', "1.5/2", "verb")
answers("Answers TURN by TURN.", "TURN 6", "1.5/2", "verb")
answers("Answers as chess engines do.", "bestmove 6", "1.5/2", "verb")
answers("Uses PLAY for MOVE.", "PLAY 6", "1.5/2", "verb")
answers("Has no blank behind the verb.", "MOVE6", "1.4/1", "one space")
answers("Has a colon behind the verb.", "MOVE: 6", "1.4/1", "one space")
answers("Has two blanks behind the verb.", "MOVE  6", "1.4/1", "one space")
answers("Has a blank before the verb.", " MOVE 6", "1.4/1", "one space")
answers("Has a tab behind the verb.", "MOVE\t6", "1.3/1", "ASCII")
answers("Sends the ply before the move.", "MOVE ply{ply}", "3.3/1", "1 to 15")
answers("Sends two moves at once.", "MOVE 6\nMOVE 7", "3.3/1", "without a TURN")
answers("Resigns by QUIT.", "QUIT", "3.4/1", "fault")
answers("Takes TURN for the question whether it is ready.", "READY g9", "3.2/3", "READY answers GAME")
answers("Logs in again at each turn.", "HELLO 1 checked token=s3cret", "3.1/1", "once")
answers("Watches its own game.", "WATCH g1", "5.1/3", "spectator")
answers("Sends an option twice.", "MOVE 6 eval=1 eval=2", "1.8/2", "once")
answers("Pings, notes and sends a blank line before MOVE 0.", "PING 1\nINFO x\n\nMOVE 0", "3.3/1", "from 1")


@defect("3.3/1", says="MOVE 6' on its stdout")
class PrintsItsMoves(Plain):
    """Prints its moves to stdout."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.around.say("thinking ...\nMOVE 6\n")


@defect("3.3/1", says="nothing for")
class PrintsWhatItThinks(Plain):
    """Prints what it thinks to stdout, and sends no move."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.around.say("MOVE 6 is bad\nMOVE\nI give up\n")


@defect("3.3/1", says="only lines that answer nothing, for 20 s")
class NotesWithoutEnd(Plain):
    """Sends notes without end instead of a move."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.send(f"INFO game={self.game['id']} ply={words[1]}")
        self.around.later(0.5, lambda: self.on_turn(words, options))


@defect("12.2/2", verdict="non-strict")
class NotesEveryNode(Plain):
    """Sends a note for each position that it searches."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        for node in range(33):
            self.send(f"INFO game={self.game['id']} ply={words[1]} nodes={node}")
        super().on_turn(words, options)


@defect("12.2/2", verdict="non-strict")
class LongNotes(Plain):
    """Sends its whole tree in notes."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        for _ in range(30):
            self.send(f"INFO game={self.game['id']} ply={words[1]} text={'x' * 900}")
        super().on_turn(words, options)


class _Notes(Plain):
    form = ""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        ply = int(words[1])
        self.send(self.form.format(game=self.game["id"], ply=ply, next=ply + 1))
        super().on_turn(words, options)


def notes(what: str, form: str) -> None:
    """Enter a bot that sends this note with each move."""
    variant(_Notes, what, "12.2/1", verdict="non-strict", form=form)


notes("Sends notes without game and ply.", "INFO depth=3")
notes("Sends a note without anything.", "INFO")
notes("Writes words where a note has a number.", "INFO game={game} ply={ply} depth=deep")
notes("Sends notes as chess engines do.", "INFO depth 3 score 30")
notes("Sends notes of another game.", "INFO game=g99 ply={ply}")
notes("Sends notes of a ply that is not due.", "INFO game={game} ply={next}")


# -- when


@defect("3.2/3", says="before")
class MovesBeforeReady(Plain):
    """Moves before it is ready."""

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        self.send("MOVE 6")
        super().on_game(words, options)


@defect("3.2/3", says="without a TURN")
class MovesAtGame(Plain):
    """Moves as soon as it is ready."""

    def on_game(self, words: list[str], options: dict[str, str]) -> None:
        super().on_game(words, options)
        self.send("MOVE 6")


@defect("3.3/1", says="without a TURN")
class MovesAfterOthers(Plain):
    """Moves when a rival has played, not at TURN."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        if words[1] in "12":
            super().on_turn(words, options)

    def on_played(self, words: list[str], options: dict[str, str]) -> None:
        if options["seat"] != self.game["seat"]:
            self.send("MOVE 6")


@defect("3.3/1", says="without a TURN")
class MovesAgain(Plain):
    """Moves once more when its own move is played."""

    def on_played(self, words: list[str], options: dict[str, str]) -> None:
        if options["seat"] == self.game["seat"]:
            self.send("MOVE 6")


@defect("3.3/2")
class RepeatsItsMove(Plain):
    """Sends its move again if nothing comes for 0.15 s."""

    came = 0

    def receive(self, words: list[str]) -> None:
        self.came += 1
        super().receive(words)

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        super().on_turn(words, options)
        self.on_played(words, options)

    def on_played(self, words: list[str], options: dict[str, str]) -> None:
        came = self.came
        self.around.later(0.15, lambda: self.send("MOVE 6") if self.came == came else None)


@defect("3.3/1", says="Answer each TURN")
class NeverMoves(Plain):
    """Never moves."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        pass


@defect("3.3/1", says="Answer each TURN")
class FirstTurnAlone(Plain):
    """Answers its first TURN alone."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        if not self.moves:
            super().on_turn(words, options)


@defect("3.3/1", says="Answer each TURN")
class SecondSeatOnly(Plain):
    """Waits for another seat's move before its own."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        if self.moves:
            super().on_turn(words, options)


@defect("3.3/1", says="status 1")
class CrashesAtTurn(Plain):
    """Crashes in its search."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.around.exit(1, "ZeroDivisionError: division by zero")


@defect("3.3/1", says="signal 11")
class Segfaults(Plain):
    """Ends by a segmentation fault at its third move."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.around.exit(-11) if len(self.moves) > 3 else super().on_turn(words, options)


@defect("3.3/1", says="closed the connection after TURN")
class ClosesAfterMove(Plain):
    """Closes the connection after each move."""

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        super().on_turn(words, options)
        self.around.close()


@defect("3.3/1", says="ply 3")
class IllegalSecond(Plain):
    """Its second move is illegal."""

    def choose(self) -> str:
        return "0" if self.moves else "6"


@defect("3.3/1", says="ply 11")
class IllegalLate(Plain):
    """Runs over the end of its list at the sixth move."""

    def choose(self) -> str:
        return "16" if len(self.moves) > 9 else "6"


class _Thinks(Plain):
    seconds = 0.0

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        self.around.later(self.seconds, lambda: self.send("MOVE 6"))


variant(
    _Thinks, "Thinks for 3 s, however short the clock is.", "7.5/1", says="for the whole game", seconds=3.0
)
variant(
    _Thinks, "Thinks for 1 s, however short the clock is.", "7.5/2", says="for the whole game", seconds=1.0
)
variant(_Thinks, "Thinks for half a minute.", "3.3/1", says="--patience", seconds=30.0)
