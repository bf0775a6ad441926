"""`Contest.handle` raises on no sequence of events, and what `Harness` checks holds after each of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.session import ServerSession
from arena_server.core.effects import Reply
from arena_server.core.events import Command, Received
from arena_server.core.game_facts import GameFact
from arena_server.core.log_events import GameOver, LogEvent
from arena_server.core.match import Match, PlayMove
from arena_server.core.orders import VERBS

from .contest_harness import seated
from .event_script import PROLOGUE, EventScript

TEXTS = """
HELLO 1 ann|HELLO 1 bob|HELLO 1 eve|HELLO 1 eye|HELLO 2 ann|HELLO 1 ann resume=s3|HELLO 1 bob resume=s1
READY g1|READY g3|READY g6|MOVE 7|MOVE 7|MOVE 7|MOVE a1|MOVE b2|MOVE 0|MOVE|PING 1|PONG 1|PONG lag1|QUIT
WATCH *|WATCH g1|WATCH g7||what?
"""
CONNS = st.integers(1, 5).map(b"%d".__mod__)
LINES = st.sampled_from([text.encode() for line in TEXTS.split("\n")[1:-1] for text in line.split("|")])
GAMES = st.sampled_from([b"g1", b"g2", b"g3", b"g4", b"g7", b"g0", b"g-1", b"x", b"", b"g" + b"9" * 5000])
TARGETS = st.one_of(st.sampled_from([b"ann", b"bob", b"eve", b"eye", b"dan"]), GAMES, st.binary(max_size=5))
SMALL = st.integers(0, 4).map(b"%d".__mod__)
ORDERS = st.sampled_from([*(verb.encode() for verb in VERBS), b"dance", b""])


def words(*parts: bytes | st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Steps of a script: these parts with a blank between them."""
    return st.tuples(*(st.just(part) if isinstance(part, bytes) else part for part in parts)).map(b" ".join)


STEPS = st.lists(
    st.one_of(
        words(b"line", CONNS, LINES),
        words(b"line", CONNS, LINES),
        words(b"line", CONNS, st.one_of(LINES, st.binary(max_size=9))),
        words(b"wait", st.sampled_from([b"1", b"50", b"101", b"400", b"6000"])),
        words(b"command", ORDERS, TARGETS),
        st.one_of(
            st.just(b"open"),
            words(b"lost", CONNS),
            words(b"overlong", CONNS, st.just(b"MOVE 777")),
            words(b"flush", CONNS),
            words(b"turn", CONNS, SMALL, SMALL),
            words(b"ping", CONNS, SMALL),
            words(b"chunk", CONNS),
            words(b"stored", GAMES),
            words(b"abandon", TARGETS, GAMES),
            words(b"thawed", TARGETS, SMALL),
            words(b"stall", st.sampled_from([b"1", b"250", b"400"])),
            st.sampled_from([b"tick", b"hold", b"release"]),
        ),
    ),
    max_size=80,
)


@settings(max_examples=300, deadline=None)
@given(STEPS, st.sampled_from(["insertion", "tictactoe"]), st.integers(0, len(PROLOGUE)), st.booleans())
def test_any_events(steps: list[bytes], game: str, far: int, hold: bool) -> None:
    script = EventScript(game).run([b"hold"] * hold).run(PROLOGUE[:far]).run(steps)
    script.end()


def _plainly(self: Match, seat: int, move: str, line: bytes, arrived: int, now: int) -> list[GameFact]:
    return self.execute(PlayMove(seat, move, line, arrived), now)


#: Mostly a legal move at once; `%s` is one.
ANSWERS = st.tuples(
    st.sampled_from([b"0", b"0", b"0", b"1", b"9", b"99"]),
    st.sampled_from([*[b"MOVE %s"] * 6, b"MOVE 0", b"PONG lag1", b"PONG lag2"]),
)


def _by_turns(answers: list[tuple[bytes, bytes]], moves: list[bytes]) -> list[bytes]:
    """Steps in which the two who play answer by turns, each with a time and a line."""
    steps = []
    for at, (wait, line) in enumerate(answers):
        text = line % moves[at % len(moves)] if b"%" in line else line
        steps += [b"wait " + wait, b"line %d " % (at % 2 + 1) + text]
    return steps


@settings(max_examples=120, deadline=None)
@given(
    st.lists(ANSWERS, max_size=8),
    STEPS,
    st.sampled_from([("insertion", [b"7", b"12", b"1"]), ("tictactoe", [b"a1", b"b2", b"c3", b"a2", b"c1"])]),
)
def test_the_short_way_of_a_ply_has_the_effects_of_the_long_one(
    answers: list[tuple[bytes, bytes]], then: list[bytes], played: tuple[str, list[bytes]]
) -> None:
    """The long one: every line through the parser, every move a command, its facts and lines one by one."""
    game, moves = played
    steps = _by_turns(answers, moves) + then
    quick = EventScript(game).run(PROLOGUE).run(steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerSession, "moved", lambda _self, _line: None)
        patch.setattr(Match, "answer", _plainly)
        slow = EventScript(game).run(PROLOGUE).run(steps)
    assert quick.effects == slow.effects
    assert quick.records == slow.records


@all_of("verb", VERBS)
@all_of("target", ["", "g", "g" + "9" * 5000, "g\xb2", "\x00", "g1 ", "g01", "g-1", "G1"])
def test_a_command_with_any_target_is_answered(verb: str, target: str) -> None:
    """int() raises ValueError for a text of more than 4,300 digits."""
    harness = seated("ann", "bob")
    effects = harness.event(Command(5, verb, target))
    assert [effect.number for effect in effects if isinstance(effect, Reply)] == [5]
    for effect in effects:
        if isinstance(effect, Reply) and effect.problem is not None:
            assert len(effect.problem) < 200
            assert "\n" not in effect.problem


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 2), st.sampled_from(["7", "7", "7", "8", "0", "x", "99"])), max_size=30)
)
def test_a_remembered_move_is_judged_as_a_parsed_one(moves: list[tuple[int, str]]) -> None:
    """A line that came before needs no parser. With an option that nothing knows each line needs it."""
    remembered, parsed = (EventScript("insertion").run(PROLOGUE) for _ in range(2))
    for conn, move in moves:
        for script, line in ((remembered, f"MOVE {move}"), (parsed, f"MOVE {move} x=1")):
            script.now += 1_000_000
            script.event(Received(conn, line.encode(), script.now))
    for script in (remembered, parsed):
        script.end()
    assert _outcome(remembered) == _outcome(parsed)


def _outcome(script: EventScript) -> tuple[object, ...]:
    """Everything but the offending lines themselves."""
    records = [
        (record.plies, record.totals, record.end, [fault[:3] for fault in record.faults])
        for record in script.records.values()
    ]
    return records, script.logged(GameOver), len(script.logged(LogEvent))
