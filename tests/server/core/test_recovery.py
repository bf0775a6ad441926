"""The server dies at every write to its disk, and the contest ends as if it never had."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from arena_protocol.messages import Played, parse_server
from arena_server.core.config import ContestPlan, Entrant
from arena_server.core.contest import Contest
from arena_server.core.events import Tick
from arena_server.core.journal import JournalError, Past

from .phoenix import Bot, Phoenix
from .stage import MS, Stage, seated


def plan(**more: object) -> ContestPlan:
    given: dict[str, object] = {
        "name": "phoenix",
        "seed": 5,
        "games_per_pair": 2,
        "options": {"plies": 6, "lookahead": 3},
        "probation": 0,
    } | more
    return ContestPlan(**given)  # type: ignore[arg-type]


def bots() -> list[Bot]:
    return [
        Bot("ann"),
        Bot("bob"),
        Bot("zero", frozenset((f"g{game}", ply) for game in (2, 5) for ply in (3, 4))),
    ]


UNDISTURBED = Phoenix(plan(), bots()).run()
WRITES = range(1, UNDISTURBED.disk.writes + 1)


def check(phoenix: Phoenix) -> None:
    """Everybody was told the truth, once, and the end is that of the undisturbed contest."""
    assert phoenix.finished == "finished"
    assert phoenix.standings == UNDISTURBED.standings
    records = phoenix.disk.records
    assert set(records) == set(UNDISTURBED.disk.records)
    for bot in phoenix.bots.values():
        for game_id, line in bot.overs.items():
            assert f" total={','.join(map(str, records[game_id].totals))} " in line
        for (game_id, number), line in bot.played.items():
            told, ply = parse_server(line.encode()), records[game_id].plies[number - 1]
            assert isinstance(told, Played)
            assert (told.seat, told.move, told.time, told.total) == (
                ply.seat,
                ply.move,
                ply.time_ms,
                ply.total,
            )


def test_an_undisturbed_contest_is_what_it_is_compared_with() -> None:
    assert UNDISTURBED.lives == 1
    assert [row.games for row in UNDISTURBED.standings] == [4, 4, 4]
    assert sum(sum(row.faults.values()) for row in UNDISTURBED.standings) == 2
    assert len(WRITES) > 50
    check(UNDISTURBED)


@pytest.mark.parametrize("kept", [True, False], ids=["written", "lost"])
def test_a_crash_at_every_write(kept: bool) -> None:
    for write in WRITES:
        phoenix = Phoenix(plan(), bots(), {write: kept}).run()
        assert phoenix.lives == 2
        check(phoenix)


def test_a_crash_at_every_third_write_again_and_again() -> None:
    for first in range(1, 4):
        fatal = {write: write % 2 == 0 for write in range(first, 400, 9)}
        phoenix = Phoenix(plan(), bots(), fatal).run()
        assert phoenix.lives > 8
        check(phoenix)


@pytest.mark.parametrize("game", ["xo", "tictactoe", "lastcoin"])
def test_games_of_other_kinds_go_on_too(game: str) -> None:
    """Most end by a forfeit here; whatever they do, they do it again."""
    whole = Phoenix(plan(game=game, options={}), bots()).run()
    for write in range(1, whole.disk.writes + 1):
        phoenix = Phoenix(plan(game=game, options={}), bots(), {write: True}).run()
        assert phoenix.standings == whole.standings


def test_probation_survives() -> None:
    whole = Phoenix(plan(probation=1), bots()).run()
    assert {row.games for row in whole.standings} != {4}
    for write in range(1, whole.disk.writes + 1):
        phoenix = Phoenix(plan(probation=1), bots(), {write: True}).run()
        assert phoenix.standings == whole.standings


# -- scenes: one server dies, the next goes on


def reborn(stage: Stage, pause_ms: int = 0) -> Stage:
    """The same contest on a new server, on another clock; everybody is away."""
    again = Stage(*stage.contest._authenticator.players, **vars_of(stage.plan))  # type: ignore[arg-type]
    again.now = 10_000_000 * MS
    live, results = stage.journal()
    secrets = (f"new{number}" for number in range(100))
    entrants = [Entrant(name) for name in stage.contest._authenticator.players]
    again.past = Past(tuple(results), tuple(live))
    again.contest = Contest(again.plan, entrants, lambda _: next(secrets), again.now, again.past)
    again.event(Tick())
    again.now += pause_ms * MS
    return again


def vars_of(a_plan: ContestPlan) -> dict[str, object]:
    return {key: getattr(a_plan, key) for key in a_plan.__slots__}


def test_a_game_goes_on_from_the_last_ply_and_the_downtime_is_nobodys() -> None:
    stage = seated("ann", "bob")
    stage.wait(5)
    stage.say("ann", "MOVE 7")
    stage.wait(300)  # bob thinks, and the server dies
    again = reborn(stage)
    again.log_in("ann", " resume=key1")
    again.wait(20_000)
    again.log_in("bob", " resume=key3")
    assert re.sub(r"commit=\S+|names=\S+ .*? ", "", again.transcript("bob", since="START")) == (
        "S  START g1\n"
        "S  PLAYED 1 seat=1 move=7 time=5 clock=19995,20000 points=0 total=0,0 reveal=5\n"
        "S  TURN 2 clock=19995,20000 lag=0 credit=0"
    )
    again.wait(7)
    again.say("bob", "MOVE 8")
    assert "PLAYED 2 seat=2 move=8 time=7 clock=19995,19993" in again.last("bob")


def test_who_does_not_come_back_is_waited_for_like_for_ready_then_its_clock_runs() -> None:
    stage = seated("ann", "bob", clock_ms=100, ready_ms=3000)
    again = reborn(stage)
    again.log_in("bob")
    again.wait(3000)
    assert again.last("bob").startswith("START")
    again.wait(101)
    assert again.heard("bob")[-2].startswith("PLAYED 1 seat=1 move=6 time=101 clock=0,100")
    again.stop()
    assert again.records["g1"].faults[0].kind == "disconnect"


def test_the_next_to_move_is_waited_for_too() -> None:
    stage = seated("ann", "bob", clock_ms=100, ready_ms=3000)
    again = reborn(stage)
    again.log_in("ann")
    again.say("ann", "MOVE 7")
    again.wait(2900)
    again.log_in("bob")
    assert again.last("bob").startswith("TURN 2 clock=100,100")


def test_after_the_grace_a_clock_runs_at_once() -> None:
    stage = seated("ann", "bob", clock_ms=100, ready_ms=3000)
    again = reborn(stage)
    again.log_in("ann")
    again.wait(90)
    again.say("ann", "MOVE 7")
    again.wait(2910)  # the grace is over, and bob's clock runs
    again.wait(60)
    again.log_in("bob")
    assert again.last("bob").startswith("TURN 2 clock=10,40")
    stage = seated("ann", "bob", clock_ms=5000, ready_ms=3000)
    again = reborn(stage)
    again.log_in("ann")
    again.wait(3500)
    again.say("ann", "MOVE 7")
    again.wait(60)
    again.log_in("bob")
    assert again.last("bob").startswith("TURN 2 clock=1500,4940")


def test_who_comes_back_and_goes_again_is_waited_for_no_more() -> None:
    stage = seated("ann", "bob", clock_ms=100)
    again = reborn(stage)
    again.log_in("ann")
    again.hang_up("ann")
    again.wait(30)
    again.log_in("ann")
    assert again.last("ann").startswith("TURN 1 clock=70,100")


def test_a_clock_that_ran_for_one_who_was_away_goes_on_after_its_return_only() -> None:
    stage = seated("ann", "bob", clock_ms=100)
    stage.hang_up("ann")
    stage.wait(40)
    again = reborn(stage)
    again.log_in("ann")
    assert again.last("ann").startswith("TURN 1 clock=100,100")


def test_before_start_everybody_gets_ready_again() -> None:
    stage = seated("ann", "bob", ready=False)
    stage.say("ann", "READY g1")
    again = reborn(stage)
    for name in ("ann", "bob"):
        again.log_in(name)
        again.say(name, "READY g1")
    assert again.last("ann").startswith("TURN 1")


def test_a_key_works_once_after_the_restart() -> None:
    again = reborn(seated("ann", "bob"))
    again.log_in("ann", " resume=key1")
    assert again.heard("ann")[1].startswith("WELCOME ann ")
    again.log_in("ann", " resume=key1", conn="thief")
    assert again.last("thief").startswith("ERROR token")


def test_a_key_that_quit_made_void_stays_void() -> None:
    stage = seated("ann", "bob")
    stage.say("ann", "QUIT")
    again = reborn(stage)
    again.log_in("ann", " resume=key1")
    assert again.last("ann").startswith("ERROR token")


def test_keys_are_in_the_journal_as_digests_only() -> None:
    stage = seated("ann", "bob")
    live, _ = stage.journal()
    assert not any("key" in str(value)[:4] for entry in live for value in entry[2:])
    assert any(entry[1] == "key" and len(entry[3]) == 64 for entry in live)


def test_spectators_see_the_whole_game_after_a_restart() -> None:
    stage = seated("ann", "bob")
    stage.say("ann", "MOVE 7")
    again = reborn(stage)
    again.log_in("eye")
    again.say("eye", "WATCH g1")
    assert again.last("eye").startswith("PLAYED 1 seat=1 move=7")


def test_a_game_that_was_over_is_stored_once_more_and_told() -> None:
    """Its last ply was durable, its record was not."""
    stage = seated("ann", "bob", options={"plies": 1, "start": "empty"})
    stage.stores = False
    stage.say("ann", "MOVE 7")
    again = reborn(stage)
    assert list(again.records) == ["g1"]
    assert again.contest.progress().done == 1


def test_a_result_that_was_not_stored_yet_waits_for_nobody_who_stays_away() -> None:
    """The last ply was durable, the record was not, and neither bot ever comes back."""
    stage = seated("ann", "bob", options={"plies": 1, "start": "empty"}, absent_ms=5000)
    stage.stores = False
    stage.say("ann", "MOVE 7")
    again = reborn(stage)
    assert again.contest.progress().done == 1
    again.wait(5000)
    assert again.finished == "finished"


def test_all_is_over_when_all_results_are_there() -> None:
    whole = Phoenix(plan(), bots()).run()
    again = Contest(plan(), [Entrant(name) for name in whole.bots], str, 0, whole.disk.past)
    assert again.progress().done == 6
    assert again.handle(Tick(), 0)[-1].reason == "finished"  # type: ignore[union-attr]


def test_entries_of_a_game_whose_record_is_stored_say_nothing_any_more() -> None:
    whole = Phoenix(plan(), bots()).run()
    past = replace(whole.disk.past, entries=(*whole.disk.past.entries, (1, "offer", 0)))
    assert Contest(plan(), [Entrant(name) for name in whole.bots], str, 0, past).progress().running == 0


@pytest.mark.parametrize(
    "entry",
    [
        (1, "dance", 0),
        (1, "move", 1, "7"),
        (1, "ready", 9, 0, 0),
        (99, "offer", 0),
        (0, "key", "nobody", None),
        (0, "again", 7, 99),
        (0, "weather", "", "fine"),
        (1, "handed", "soon"),
    ],
)
def test_a_journal_that_no_contest_wrote_is_refused_in_one_line(entry: tuple[object, ...]) -> None:
    past = Past(entries=((1, "offer", 0), entry))
    with pytest.raises(JournalError, match=r"^the journal of the contest makes no sense"):
        Contest(plan(), [Entrant("ann"), Entrant("bob")], str, 0, past)


TYPES = "a call with more than numbers, texts and bytes"
OVER = "a call to a game that is over"
MISMATCH = "entries of g1 that do not follow from each other"


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (
            [(1, "ready", True, 0, 0)],
            f"{TYPES}: (1, 'ready', True, 0, 0)",
        ),
        (
            [(1, "void", "stopped", 0), (1, "leave", 1, 0)],
            f"{OVER}: (1, 'leave', 1, 0)",
        ),
        ([(1, "flag", 0)], MISMATCH),
        ([(1, "handed", 0)], MISMATCH),
        ([(1, "ready", 1, 0, 0), (1, "ready", 1, 0, 0)], MISMATCH),
    ],
)
def test_calls_that_the_match_would_not_keep_again_are_not_believed(
    entries: list[tuple[object, ...]], why: str
) -> None:
    past = Past(entries=((1, "offer", 0), *entries))
    with pytest.raises(JournalError) as caught:
        Contest(plan(), [Entrant("ann"), Entrant("bob")], str, 0, past)
    assert str(caught.value) == f"the journal of the contest makes no sense (ValueError({why!r}))"
