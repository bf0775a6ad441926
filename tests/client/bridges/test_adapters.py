"""The manager's side of the Gomocup protocol, against brains with one defect each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_client.bridges.adapters import BrainLimits, Manager

from .brains import Brain

SIZE = 10
EMPTY = "/".join(["." * SIZE] * SIZE)


def cell(text: str) -> str:
    """The cell of `x,y`, by the definition: a1 is bottom left, 0,0 top left."""
    x, y = (int(field) for field in text.split(","))
    return f"{'abcdefghij'[x]}{SIZE - y}"


class Game:
    """A manager and a brain that are fed with the server's lines."""

    def __init__(self, defect: str = "", seat: int = 1, limits: BrainLimits | None = None) -> None:
        self.manager = Manager("me", limits)
        self.brain = Brain(defect)
        self.seat = seat
        self.ply = 0
        self.raw = b""
        self.notes: list[str] = []
        self.manager.begin()

    def receive(self, *lines: str) -> list[str]:
        """Give the manager lines of the server; return its lines to the server once the brain is silent."""
        for line in lines:
            self.manager.from_server(line.encode())
        return self.talk()

    def talk(self) -> list[str]:
        while self.manager.for_program:
            data = bytes(self.manager.for_program)
            self.manager.for_program.clear()
            self.raw += data
            for line in data.decode().removesuffix("\r\n").split("\r\n"):
                for answer in self.brain.answers(line):
                    self.manager.from_program(answer.encode())
        sent = [line.decode() for line in self.manager.for_server]
        self.manager.for_server.clear()
        self.notes += self.manager.notes
        self.manager.notes.clear()
        return sent

    def offer(self, number: int = 1, board: str = EMPTY, more: str = "") -> list[str]:
        self.ply = 0
        return self.receive(
            f"GAME g{number} xo seat={self.seat} seats=2 names=me,rival size={SIZE} win=5 "
            f"clock=20000 increment=100{more}",
            f"STATE {board}",
        )

    def turn(self, clock: str = "20000,20000") -> list[str]:
        return self.receive(f"TURN {self.ply + 1} clock={clock} lag=0 credit=0")

    def played(self, seat: int, move: str) -> None:
        self.ply += 1
        self.receive(f"PLAYED {self.ply} seat={seat} move={move} time=1 clock=20000,20000 points=0 total=0,0")


class TestDialogue:
    def test_the_first_game_as_seat_1(self) -> None:
        game = Game()
        assert game.offer() == ["READY g1"]
        assert game.turn() == ["MOVE a10"]
        game.played(1, "a10")
        game.played(2, "e5")
        assert game.turn("15000,20000") == ["MOVE b10"]
        assert game.raw.decode().split("\r\n") == [
            "INFO timeout_turn 2050",
            "INFO timeout_match 20000",
            "INFO max_memory 367001600",
            "INFO game_type 1",
            "INFO rule 0",
            "INFO time_left 20000",
            "START 10",
            "ABOUT",
            "INFO time_left 19950",
            "BEGIN",
            "INFO time_left 14950",
            "TURN 4,5",
            "",
        ]
        assert game.notes == ["DEBUG ready", 'the brain is name="Fake", version="1"']

    def test_the_second_game_restarts_the_brain_and_asks_no_more_who_it_is(self) -> None:
        game = Game(seat=2)
        game.offer()
        game.receive("OVER g1 total=1,1 end=draw")
        game.brain.commands.clear()
        assert game.offer(2) == ["READY g2"]
        assert [line for line in game.brain.commands if not line.startswith("INFO")] == ["RESTART"]

    def test_an_opening_is_sent_as_a_board(self) -> None:
        game = Game()
        rows = [list("." * SIZE) for _ in range(SIZE)]
        rows[0][0], rows[0][1] = "x", "o"
        game.offer(board="/".join(map("".join, rows)))
        game.turn()
        at = game.brain.commands.index("BOARD")
        (top_or_bottom,) = {line.split(",")[1] for line in game.brain.commands[at + 1 : at + 3]}
        assert top_or_bottom in ("0", str(SIZE - 1))
        assert [line[0] + line[-1] for line in game.brain.commands[at + 1 :]] == ["01", "12", "DE"]

    @given(st.permutations([f"{x},{y}" for x in range(4) for y in range(4)]), st.sampled_from([1, 2]))
    def test_the_brain_knows_every_stone_whatever_is_played(self, moves: list[str], seat: int) -> None:
        game = Game(seat=seat)
        game.offer()
        board: list[str] = []
        for move in moves[:9]:
            if game.ply % 2 + 1 == seat:
                (sent,) = game.turn()
                board.append(sent.removeprefix("MOVE "))
                game.played(seat, board[-1])
            elif cell(move) not in board:
                board.append(cell(move))
                game.played(3 - seat, board[-1])
            else:
                break
        known = {cell(f"{x},{y}") for x, y in game.brain.stones}
        assert known == set(board) or known == set(board[:-1]), "the rival's last move comes with TURN"

    def test_limits_of_a_move(self) -> None:
        assert "INFO timeout_turn 700" in limits_of(BrainLimits(turn_ms=700))
        assert "INFO max_memory 0" in limits_of(BrainLimits(memory_bytes=0))
        assert "INFO timeout_turn 450" in limits_of(None, " move_limit=500")
        assert "INFO timeout_turn 3050" in limits_of(None, " byoyomi=3000")

    def test_a_first_move_has_a_limit_of_its_own(self) -> None:
        game = Game()
        game.offer(more=" move_limit=500 first_move_limit=900")
        game.played(1, game.turn()[0].removeprefix("MOVE "))
        game.played(2, "e5")
        game.turn()
        limits = [
            line for line in game.brain.commands if line.startswith(("INFO timeout_turn", "BEGIN", "TURN"))
        ]
        assert limits == ["INFO timeout_turn 850", "BEGIN", "INFO timeout_turn 450", "TURN 4,5"]

    def test_goodbye_is_end(self) -> None:
        manager = Manager("me")
        manager.goodbye()
        assert manager.for_program == b"END\r\n"

    def test_lines_of_no_concern_are_passed_over(self) -> None:
        game = Game()
        game.offer()
        assert game.receive("NOVELTY 1 2", "ERROR not-your-turn wait", "ZOMBIE ply=3 reason=illegal") == []
        assert game.notes[-2:] == ["ERROR not-your-turn wait", "g1: forfeited at ply 3 (illegal)"]

    def test_a_board_of_rows_of_other_sizes_is_no_game_for_a_brain(self) -> None:
        game = Game()
        game.offer(board="../..")
        assert game.manager.broken is not None
        assert game.manager.broken.startswith("this game is none for a Gomocup brain: ")


def limits_of(limits: BrainLimits | None, more: str = "") -> list[str]:
    game = Game(limits=limits)
    game.offer(more=more)
    return game.brain.commands


def second_move(game: Game) -> list[str]:
    """Play up to the second move of the brain; return the lines sent for it."""
    game.offer()
    for move in game.turn():
        game.played(1, move.removeprefix("MOVE "))
    game.played(2, "e5")
    return game.turn()


class TestDefects:
    @all_of("defect", ["", "chatter", "no-about", "suggests", "answers-twice", "no-restart"])
    def test_a_brain_that_does_what_it_may_plays_on(self, defect: str) -> None:
        game = Game(defect)
        assert second_move(game) == ["MOVE b10"]
        assert game.manager.broken is None

    def test_messages_are_noted(self) -> None:
        game = Game("chatter")
        game.offer()
        game.turn()
        assert "MESSAGE depth 3" in game.notes
        assert "DEBUG pv 0,0" in game.notes

    def test_a_second_answer_is_noted_and_not_sent(self) -> None:
        game = Game("answers-twice")
        game.offer()
        assert game.turn() == ["MOVE a10"]
        assert game.notes[-1] == "an unexpected line of the brain: 0,0"

    def test_without_restart_the_process_is_started_again(self) -> None:
        game = Game("no-restart")
        second_move(game)
        game.receive("OVER g1 total=1,1 end=draw")
        assert game.offer(2) == []
        assert game.manager.wants_restart
        assert game.manager.broken is None
        game.brain = Brain()
        game.manager.begin()
        assert game.talk() == ["READY g2"]

    def test_after_an_error_at_turn_the_whole_board_is_sent_once(self) -> None:
        game = Game("error-at-turn")
        assert second_move(game) == ["MOVE b10"]
        assert game.notes[-2] == "g1: ERROR no idea; the whole board is sent"
        at = game.brain.commands.index("BOARD")
        assert game.brain.commands[at + 1 : at + 4] == ["0,0,1", "4,5,2", "DONE"]

    @pytest.mark.parametrize(
        ("defect", "broken"),
        [
            ("small-boards", "ERROR Maximal board size is 9"),
            ("error-at-moves", "ERROR no idea"),
            ("no-coordinates", "expected X,Y, got 'resign'"),
        ],
    )
    def test_a_brain_that_cannot_go_on_is_broken(self, defect: str, broken: str) -> None:
        game = Game(defect)
        if game.offer():
            game.turn()
        assert game.manager.broken == broken

    @pytest.mark.parametrize(
        ("defect", "move", "note"),
        [
            ("off-board", "10,0", "g1: the brain plays 10,0, which is not on the board"),
            ("negative", "-4,-4", "g1: the brain plays -4,-4, which is not on the board"),
            ("taken", "e5", "g1: the brain plays 4,5 (e5), which is taken"),
        ],
    )
    def test_an_illegal_move_is_noted_and_the_referee_judges_it(
        self, defect: str, move: str, note: str
    ) -> None:
        game = Game(defect)
        sent = second_move(game) if defect == "taken" else game.offer() and game.turn()
        assert sent == [f"MOVE {move}"]
        assert game.notes[-1] == note

    def test_a_silent_brain_is_busy(self) -> None:
        game = Game("silent")
        assert second_move(game) == []
        assert game.manager.busy
        game.manager.game_lost()
        game.manager.begin()
        assert not game.manager.busy
