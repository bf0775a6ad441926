"""The brain's side of the Gomocup protocol: answers, errors, and whole games against our own manager."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_client.bridges.adapters import Manager
from arena_client.bridges.brain import Brain, serve
from arena_protocol.games.mnk import Marks, Xo

VERBS = ["START", "RECTSTART", "RESTART", "BEGIN", "TURN", "BOARD", "TAKEBACK", "INFO", "ABOUT", "DONE"]
ABOUT = 'name="first", version="1"'


class First:
    """Chooses the first free cell; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int | None, int | None]] = []

    def __call__(self, rules: Xo, state: Marks, clock: int | None, limit: int | None) -> str:
        self.asked.append((rules.state_text(state), clock, limit))
        return next(iter(rules.legal_moves(state)))


def answers(*lines: str, choose: First | None = None) -> list[str | None]:
    brain = Brain(choose or First(), ABOUT)
    return [brain.command(line) for line in lines]


class TestCommands:
    def test_a_dialogue(self) -> None:
        warm: list[str] = []
        brain = Brain(First(), ABOUT, lambda rules: warm.append(f"up {rules.size}"))
        assert brain.command("START 10\r\n") == "OK"
        assert warm == ["up 10"]
        assert brain.command("about") == ABOUT
        assert brain.command("BEGIN") == "0,9"
        assert brain.command("TURN 5,5") == "1,9"
        assert brain.command("TAKEBACK 1,9") == "OK"
        assert brain.command("") is None
        assert brain.command("RESTART") == "OK"
        assert not brain.finished
        assert brain.command("END") is None
        assert brain.finished

    def test_a_board(self) -> None:
        lines = ("START 10", "BOARD", "0,9,2", "", "1,9,1", "2,9,2", "done")
        assert answers(*lines)[-1] == "3,9"

    def test_rectstart(self) -> None:
        assert answers("RECTSTART 10,10") == ["OK"]

    @all_of(
        ("lines", "error"),
        [
            (["BEGIN"], "ERROR START comes first"),
            (["RESTART"], "ERROR START comes first"),
            (["BOARD"], "ERROR START comes first"),
            (["TURN 1,1"], "ERROR START comes first"),
            (["RECTSTART 10,11"], "ERROR the board is square, not 10 x 11"),
            (["START 10", "TURN 10,0"], "ERROR 10,0 is not on a board of 10 x 10"),
            (["START 10", "TURN 3"], "ERROR expected X,Y, got 3"),
            (["START 10", "TURN"], "ERROR expected X,Y, got nothing"),
            (["START 10", "BEGIN", "TURN 0,9"], "ERROR 0,9 is taken"),
            (["START 10", "BEGIN", "BEGIN"], "ERROR BEGIN is for an empty board"),
            (["START 10", "TAKEBACK 1,1"], "ERROR there is no stone at 1,1"),
            (["START 10", "BOARD", "1,1", "DONE"], "ERROR expected X,Y,1 or X,Y,2 in BOARD, got 1,1"),
            (["START 10", "BOARD", "1,1,3", "DONE"], "ERROR a continuous game is not supported"),
            (
                ["START 10", "BOARD", "1,1,1", "DONE"],
                "ERROR it is not our turn with 1 own stones and 0 of the rival",
            ),
            (
                ["INFO rule 1", "START 10", "BEGIN"],
                "ERROR only freestyle is supported: five or more in a row win",
            ),
            (
                ["START 10", "BOARD", *(f"{x},0,2\n{x},1,1" for x in range(5)), "DONE"],
                "ERROR expected X,Y,1 or X,Y,2 in BOARD, got 0,0,2 0,1,1",
            ),
            (
                ["START 10", "BOARD", *(f"{x},{y},{y}" for x in range(5) for y in (1, 2)), "DONE"],
                "ERROR the game is over",
            ),
            (["START ten"], "ERROR xo: size is a whole number from 10 to 14, not 'ten'"),
            (["FLY 1"], "UNKNOWN FLY"),
        ],
    )
    def test_errors(self, lines: list[str], error: str) -> None:
        answer = answers(*lines)[-1]
        assert answer is not None
        assert answer.startswith(error)

    @all_of(
        ("infos", "clock", "limit"),
        [
            ([], None, None),
            (["INFO timeout_match 60000"], 60000, None),
            (["INFO timeout_match 60000", "INFO time_left 1234"], 1234, None),
            (["INFO timeout_match 0", "INFO timeout_turn 1000"], None, 1000),
            (["INFO timeout_turn 1000", "INFO time_left 2147483647"], None, 1000),
            (["INFO timeout_turn 5000", "INFO time_left 900"], 900, 5000),
            (["INFO timeout_turn 0"], None, 1),
            (["INFO time_left -5"], 1, None),
            (["INFO time_left soon", "INFO folder /tmp"], None, None),
        ],
    )
    def test_the_times_from_info(self, infos: list[str], clock: int | None, limit: int | None) -> None:
        choose = First()
        answers(*infos, "START 10", "BEGIN", choose=choose)
        assert [asked[1:] for asked in choose.asked] == [(clock, limit)]

    @given(
        st.lists(
            st.one_of(
                st.text(max_size=30),
                st.builds(
                    "{} {}".format,
                    st.sampled_from(VERBS),
                    st.from_regex(r"\A(\d{1,3}(,\d{1,3}){0,2}|rule \d)?\Z"),
                ),
            ),
            max_size=12,
        )
    )
    def test_any_lines_get_at_most_one_answer_each(self, lines: list[str]) -> None:
        brain = Brain(First(), ABOUT)
        for line in ["START 10", *lines]:
            answer = brain.command(line)
            assert answer is None or "\r" not in answer


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_a_brain_plays_whole_games_behind_our_own_manager(random: object) -> None:
    """Both sides of the protocol agree on every position: what is chosen is legal at the referee."""
    rules = Xo(size=10)
    position = rules.start(rules.deal(1))
    choose = First()
    brain = Brain(choose, ABOUT)
    manager = Manager("me")

    def talk() -> str:
        while manager.for_program:
            lines = manager.for_program.decode().removesuffix("\r\n").split("\r\n")
            manager.for_program.clear()
            for line in lines:
                if (answer := brain.command(line)) is not None:
                    manager.from_program(answer.encode())
        sent = b" ".join(manager.for_server).decode()
        manager.for_server.clear()
        return sent

    manager.from_server(b"GAME g1 xo seat=1 seats=2 names=a,b size=10 win=5 clock=20000 increment=0")
    manager.from_server(b"STATE " + rules.state_text(position).encode())
    assert talk() == "READY g1"
    ply = 0
    while rules.end(position) is None and ply < 30:
        ply += 1
        if ply % 2:
            manager.from_server(f"TURN {ply} clock=20000,20000 lag=0 credit=0".encode())
            move = talk().removeprefix("MOVE ")
            assert choose.asked[-1][0] == rules.state_text(position)
        else:
            move = random.choice(list(rules.legal_moves(position)))  # type: ignore[attr-defined]  # hypothesis gives a Random
        position = rules.play(position, move).position
        manager.from_server(
            f"PLAYED {ply} seat={2 - ply % 2} move={move} time=1 clock=1,1 points=0 total=0,0".encode()
        )
        talk()


def test_serve_answers_on_the_stream_up_to_end() -> None:
    out = io.BytesIO()
    serve(Brain(First(), ABOUT), io.BytesIO(b"START 10\r\nBEGIN\nEND\nABOUT\n"), out)
    assert out.getvalue() == b"OK\r\n0,9\r\n"


def test_serve_takes_a_byte_order_mark_off_the_first_line() -> None:
    out = io.BytesIO()
    serve(Brain(First(), ABOUT), io.BytesIO(b"\xef\xbb\xbfSTART 10\r\n\xef\xbb\xbfBEGIN\nEND\n"), out)
    assert out.getvalue() == b"OK\r\nUNKNOWN ???BEGIN\r\n"


def test_serve_ends_with_the_stream() -> None:
    out = io.BytesIO()
    serve(Brain(First(), ABOUT), io.BytesIO(b"\xff\n"), out)
    assert out.getvalue() == b"UNKNOWN ?\r\n"
