"""Transcripts: each reader gets its own lines, the same bytes however they are cut."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from arena_protocol import messages as wire
from arena_protocol.messages import encode, parse_server
from arena_protocol.record import FaultRecord, InfoRecord, PlyRecord
from arena_protocol.session import ClientSession, ServerSession, State
from arena_protocol.view import GameView
from arena_server.core.deal import Setting
from arena_server.core.game_facts import Ended, Started
from arena_server.core.transcript import SPECTATORS, Transcript

from .match_runner import CLOCKS, GAMES, STEPS, Runner, Steps, a_match

ALL = 10**9
Session = TypeVar("Session", ServerSession, ClientSession)
READERS = {"ann": 1 << 1, "bob": 1 << 2, "spectators": SPECTATORS}


def written(runner: Runner, *, stored: bool = True) -> Transcript:
    """The transcript of all facts so far, with OVER if the game is over and its record is stored."""
    transcript = Transcript(runner.setting, 0)
    for now, facts in runner.steps:
        for fact in facts:
            transcript.write(fact, now)
    match = runner.match
    if match.over and stored:
        transcript.close(match.totals, match.end, runner.now, opened=match.end != "void")
    return transcript


def offer(setting: Setting, seat: int, tag: str | None) -> list[wire.ServerMessage]:
    config, game = setting.terms, setting.game
    lines: list[wire.ServerMessage] = [
        wire.Game(
            game_id="g1", game=game.name, seat=seat, seats=2, names=("ann", "bob"), clock=config.clock_ms,
            increment=config.increment_ms, zombie=game.zombie_move, commit=setting.commit,
            move_limit=config.move_limit_ms or None, byoyomi=config.byoyomi_ms or None,
            lag_quota=config.lag_quota_ms or None, options=game.options(),
        ),
        wire.State(game.state_text(game.start(setting.deal)), tag),
    ]  # fmt: skip
    if (preview := game.preview(setting.deal)) is not None:
        lines.append(wire.Next(preview, tag))
    return lines


def slowly(runner: Runner, reader: str, announce: bool) -> bytes:
    """What a reader is to be sent: each line as a message, printed by `encode`."""
    seat = {"ann": 1, "bob": 2, "spectators": 0}[reader]
    setting, tag = runner.setting, None if seat else runner.setting.game_id
    lines = offer(setting, seat, tag)
    ply, concealed = 0, list[wire.ServerMessage]()
    for fact in runner.facts:
        if isinstance(fact, Started):
            lines.append(wire.Start(setting.game_id))
        elif isinstance(fact, PlyRecord):
            ply += 1
            reveal = setting.game.reveal(setting.deal, ply)
            lines.append(
                wire.Played(
                    ply, fact.seat, fact.move, fact.time_ms, fact.clock, fact.points, fact.total, reveal, tag
                )
            )
        elif isinstance(fact, FaultRecord) and fact.seat == seat:
            if seat:
                lines.append(wire.Zombie(fact.ply, fact.kind))
        elif isinstance(fact, FaultRecord) and fact.seat and (announce or not seat):
            line = None if seat else fact.line
            (lines if announce else concealed).append(wire.Zombie(fact.ply, fact.kind, fact.seat, line, tag))
        elif isinstance(fact, Ended):
            lines += concealed
            lines.append(setting.over(fact.totals, fact.end, opened=fact.end != "void"))
    return b"".join(map(encode, lines))


@given(STEPS, GAMES, st.booleans())
def test_each_reader_gets_the_lines_that_concern_it(steps: Steps, game: str, announce: bool) -> None:
    runner = Runner(game, announce_zombies=announce, **CLOCKS).run(steps)
    transcript = written(runner)
    for reader, audience in READERS.items():
        data, cursor, _ = transcript.read(0, audience, ALL)
        assert data == slowly(runner, reader, announce)
        assert cursor == len(transcript.lines)


@given(STEPS, GAMES, st.lists(st.integers(1, 400)), st.sampled_from([*READERS.values()]))
def test_any_chunking_gives_the_same_bytes(steps: Steps, game: str, sizes: list[int], audience: int) -> None:
    """A chunk ends with the line that makes it large enough."""
    transcript = written(Runner(game).run(steps).finish())
    whole = transcript.read(0, audience, ALL)
    longest = max(len(data) for data in transcript.lines) + len(" game=g1")
    data, cursor = b"", 0
    verbs: tuple[str, ...] = ()
    for size in [*sizes, ALL]:
        chunk, end, more = transcript.read(cursor, audience, size)
        assert len(chunk) < size + longest
        assert end > cursor or end == len(transcript.lines)
        data, cursor, verbs = data + chunk, end, (*verbs, *more)
    assert (data, cursor, verbs) == whole


@given(STEPS, GAMES, st.booleans(), st.integers(0, 40))
def test_the_page_is_shown_the_lines_of_spectators_and_the_positions_that_follow(
    steps: Steps, game: str, announce: bool, cut: int
) -> None:
    runner = Runner(game, announce_zombies=announce, lookahead=2, **CLOCKS).run(steps).finish()
    transcript = written(runner)
    end = len(transcript.lines)
    first, after = transcript.shown(0, cut, None)
    shown = [*first, *transcript.shown(cut, end, after)[0]]
    assert b"".join(encode(each.message) for each in shown) == transcript.read(0, SPECTATORS, ALL)[0]
    offer = shown[0].message
    assert isinstance(offer, wire.Game)
    view = GameView.of(replace(offer, seat=1))
    for at, message, position in shown:
        assert at in transcript.moments
        view = view.after(message)
        if position is not None and view.is_dealt:
            assert position == view.position
    assert sum(each.position is not None for each in shown) >= len(view.history)


def test_the_page_is_shown_notes() -> None:
    match = a_match()
    transcript = Transcript(match.setting, 0)
    transcript.write(InfoRecord(2, 1, 3, -5, 900, "6,7", "hm"), 8)
    message = wire.Info("g1", 1, 2, 3, -5, 900, "6,7", "hm")
    assert transcript.shown(3, 4, None) == ([(8, message, None)], None)
    assert encode(message) == transcript.read(3, SPECTATORS, ALL)[0]


@given(STEPS, GAMES)
def test_what_is_written_later_does_not_change_what_was_read(steps: Steps, game: str) -> None:
    """A reader that follows line by line, and one that comes last, get the same."""
    runner = Runner(game).run(steps).finish()
    for audience in READERS.values():
        followed, cursor = b"", 0
        transcript = Transcript(runner.setting, 0)
        for now, facts in runner.steps:
            for fact in facts:
                transcript.write(fact, now)
                data, cursor, _ = transcript.read(cursor, audience, ALL)
                followed += data
        assert followed == transcript.read(0, audience, ALL)[0]


@given(STEPS, GAMES)
def test_every_line_can_be_parsed_and_has_the_moment_it_was_written(steps: Steps, game: str) -> None:
    runner = Runner(game).run(steps).finish()
    transcript = written(runner)
    moments = [now for now, facts in runner.steps for _ in facts]
    for at, data in zip(transcript.moments, transcript.lines, strict=True):
        assert at in {0, runner.now, *moments}
        for text in data.splitlines():
            assert parse_server(text) is not None
    assert transcript.closed


def test_the_lines_before_an_end_are_read_alone() -> None:
    transcript = written(Runner().run([("ready", 1, 0), ("ready", 2, 0)]))
    assert transcript.read(0, SPECTATORS, ALL, 2)[0] == b""
    assert transcript.read(0, SPECTATORS, ALL, 3)[0].startswith(b"GAME g1 insertion seat=0 ")
    assert transcript.read(3, SPECTATORS, ALL, 3) == (b"", 3, ())


def in_the_lobby(session: Session) -> Session:
    session.state = State.LOBBY
    return session


def states(transcript: Transcript, seat: int) -> list[State]:
    """The states that a session goes through if it reads line by line."""
    session, found = in_the_lobby(ServerSession()), [State.LOBBY]
    for number in range(len(transcript.lines)):
        session.sent_lines(transcript.read(number, 1 << seat, 1, number + 1).verbs, "g1", seat)
        if session.state is not found[-1]:
            found.append(session.state)
    return found[1:]


@given(STEPS, GAMES, st.booleans(), st.lists(st.integers(1, 400)))
def test_both_ends_of_a_connection_are_in_the_same_state_after_each_chunk(
    steps: Steps, game: str, announce: bool, sizes: list[int]
) -> None:
    transcript = written(Runner(game, announce_zombies=announce).run(steps).finish())
    for seat in range(1, len(READERS)):
        server, client, cursor = in_the_lobby(ServerSession()), in_the_lobby(ClientSession()), 0
        for size in [*sizes, ALL]:
            data, cursor, verbs = transcript.read(cursor, 1 << seat, size)
            server.sent_lines(verbs, "g1", seat)
            for line in data.splitlines():
                client.receive(line)
            assert (server.state, server.game_id, server.seat) == (client.state, client.game_id, client.seat)


def test_the_states_that_the_lines_lead_to() -> None:
    runner = Runner().run([("ready", 1, 0), ("ready", 2, 0), ("blame", 2, 0), ("abort", 1, 0)])
    transcript = written(runner)
    assert states(transcript, 1) == [State.OFFERED, State.PLAYING, State.LOBBY]
    assert states(transcript, 2) == [State.OFFERED, State.PLAYING, State.ZOMBIE, State.LOBBY]


def test_a_seat_that_is_at_fault_before_the_start_stays_a_zombie() -> None:
    runner = Runner(announce_zombies=True).run([("blame", 2, 0), ("ready", 1, 0)])
    transcript = written(runner)
    assert states(transcript, 2) == [State.OFFERED, State.ZOMBIE]
    assert transcript.read(0, 1 << 2, ALL)[0].splitlines()[-1] == b"START g1"
    assert transcript.read(0, 1 << 1, ALL)[0].splitlines()[-2:] == [
        b"ZOMBIE ply=1 reason=flood seat=2",
        b"START g1",
    ]


def test_a_transcript_is_closed_by_over() -> None:
    runner = Runner().run([("abort", 1, 0)])
    transcript = written(runner, stored=False)
    assert not transcript.closed
    transcript.close((0, 0), "void", 5, opened=False)
    assert transcript.closed
    assert transcript.lines[-1] == b"OVER g1 total=0,0 end=void\n"
    match = a_match()
    transcript = Transcript(match.setting, 0)
    transcript.close((0, 30), "complete", 5, opened=True)
    assert b" nonce=" in transcript.lines[-1]
