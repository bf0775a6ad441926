"""Which records of a database may be shown, and on which deal each game is played."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.slices import all_of

from arena_protocol.record_codec import encode
from arena_server.core.journal import Entry
from arena_server.errors import StoreError
from arena_server.store.database import ContestHeader, Database
from arena_server.store.deals import WithheldError
from arena_server.store.reader import Results
from arena_server.store.schema import ContestRow

from ..records import Kept, game, opening

ALL = ["g1", "g2", "g3", "g4", "g5"]


def header(deals: str = "paired", games: int = 4, name: str = "trial", *, new: bool = False) -> ContestHeader:
    """A contest of a and b; the games of each deal are g1 and g2, g3 and g4."""
    plain = opening(name, names=("a", "b"), new=new)
    return replace(plain, config=replace(plain.config, deals=deals, games_per_pair=games), games=games)


def play(path: Database, *games: int, void: tuple[int, ...] = (), repeats: tuple[Entry, ...] = (),
         status: str | None = None, contest: ContestHeader | None = None) -> None:  # fmt: skip
    """Store these games; those of `void` are void. `repeats` are entries of games that are played again."""
    opened = contest or header()
    turns = 2 if opened.config.deals == "paired" else 1
    repeated = {entry[2]: entry[4] for entry in repeats}
    kept = Kept(path, opened)
    kept.start()
    if repeats:
        kept.append(*repeats)
    for number in games:
        names = ("a", "b") if number % 2 else ("b", "a")
        if number <= opened.games or number in repeated:
            kept.append((number, "offer", names, repeated.get(number, (number - 1) // turns + 1), ()))
        kept.writer.store(f"g{number}", game(number, names, end="void" if number in void else "complete"))
        kept.next()
    kept.close(status)


def shown(path: Database, contest: str | None = None) -> list[str]:
    """The games whose record is shown, by every method that reads one."""
    with Results(path) as results:
        chosen = results.contest(contest)
        by_records = [name for name, data in results.games.records(chosen) if data is not None]
        by_rows = [row["game_id"] for row in results.games.rows(chosen) if row["record"] is not None]
        every = [row["game_id"] for row in results.games.rows(chosen)]
        by_name = []
        for name in every:
            try:
                results.games.record(chosen, name)
                by_name.append(name)
            except WithheldError:
                pass
        check_sharing(results, chosen, by_name)
    assert by_records == by_rows == by_name
    return by_name


def check_sharing(results: Results, contest: ContestRow, names: list[str]) -> None:
    """`sharing` has the games whose records are shown with all others of their deals, in parts as in one."""
    deals, last = results.deals(contest), results.games.games_stored(contest)
    told = deals.sharing(0, last, last)
    assert told == {key: row for after in range(last) for key, row in deals.sharing(after, 1, last).items()}
    if not contest.is_paired:
        assert told == {}
        return
    assert sorted(told) == sorted(names)
    ends = {row["game_id"]: row["end"] for row in results.games.rows(contest)}
    for name, others in told.items():
        same = {each for each in ends if deals.number(each) == deals.number(name) and ends[each] != "void"}
        assert (len(others), set(others)) == (len(same - {name}), same - {name})


STATUSES = pytest.mark.parametrize("status", [None, "stopped", "incomplete"])


@STATUSES
def test_a_fresh_deal_is_shown_as_soon_as_its_game_is_over(path: Path, status: str | None) -> None:
    play(path, 1, 2, void=(2,), repeats=((0, "repeat", 5, 2, 5),), contest=header("fresh"), status=status)
    assert shown(path) == ["g1", "g2"]


@STATUSES
def test_a_paired_deal_is_shown_when_all_its_games_have_a_result(path: Path, status: str | None) -> None:
    play(path, 1, status=status)
    assert shown(path) == []
    play(path, 2, 3, status=status)
    assert shown(path) == ["g1", "g2"]
    play(path, 4, status=status)
    assert shown(path) == ["g1", "g2", "g3", "g4"]


@STATUSES
def test_a_void_game_has_no_result_and_the_one_that_repeats_it_has(path: Path, status: str | None) -> None:
    play(path, 1, 2, 3, void=(1,), status=status)
    assert shown(path) == []
    again = (0, "repeat", 5, 1, 1)
    play(path, 5, void=(5,), repeats=(again,), status=status)
    assert shown(path) == []
    play(path, 6, repeats=(again, (0, "repeat", 6, 5, 1)), status=status)
    assert shown(path) == ["g1", "g2", "g5", "g6"]


def test_all_is_shown_of_a_contest_that_was_broken_off_for_good(path: Path) -> None:
    play(path, 1, status="aborted")
    assert shown(path) == ["g1"]


def test_all_is_shown_of_a_finished_contest(path: Path) -> None:
    play(path, 1, 2, 3, 4, 5, void=(3,), repeats=((0, "repeat", 5, 3, 2),), status="finished")
    assert shown(path) == ALL


def test_and_of_one_that_cannot_go_on_because_a_later_one_has_its_name(path: Path) -> None:
    play(path, 1, status="stopped")
    play(path, contest=header(name="other"))
    assert shown(path, "1") == []
    play(path, contest=header(new=True))
    assert shown(path, "1") == ["g1"]


def test_but_not_while_its_server_may_be_playing(path: Path) -> None:
    play(path, 1)
    play(path, contest=header(new=True))
    assert shown(path, "1") == []


def test_a_withheld_record_is_refused_in_one_line(path: Path) -> None:
    play(path, 1)
    with Results(path) as results, pytest.raises(StoreError) as caught:
        results.games.record(results.contest(), "g1")
    assert str(caught.value) == (
        'g1 is shown when all games on its deal have a result (deals = "paired"), or when the contest '
        "has ended for good"
    )
    with Results(path) as results:
        (row,) = results.games.rows(results.contest(), withheld=True)
    assert row["record"] == encode(game(1))


def test_a_game_that_nobody_planned_is_withheld(path: Path) -> None:
    play(path, 1, 2, 9)
    assert shown(path) == ["g1", "g2"]


def test_a_contest_whose_configuration_is_lost_is_withheld(path: Path) -> None:
    play(path, 1, contest=header("fresh"))
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE contests SET config = json_remove(config, '$.deals')")
        other.commit()
    with Results(path) as results:
        (contest,) = results.contests()
        assert not results.deals(contest).may_show("g1")


def numbers(path: Database) -> list[int | None]:
    with Results(path) as results:
        deals = results.deals(results.contest())
        return [deals.number(name) for name in ALL]


@pytest.mark.parametrize("status", ["stopped", "finished"])
@pytest.mark.parametrize(("deals", "numbers_are"), [("fresh", [1, 2, 3, 4, 5]), ("paired", [1, 1, 2, 2, 2])])
def test_the_deal_of_every_game_is_kept_with_its_result(
    path: Path, deals: str, numbers_are: list[int], status: str
) -> None:
    contest = header(deals)
    repeat = (0, "repeat", 5, 3, numbers_are[-1])
    play(path, 1, 2, 3, 4, 5, void=(3,), repeats=(repeat,), contest=contest, status=status)
    assert numbers(path) == numbers_are


@pytest.fixture
def four(database: Database) -> Database:
    play(database, 1, 3, 2, 4)
    return database


@all_of("last", range(5))
def test_a_result_that_is_not_seen_yet_opens_no_deal(four: Database, last: int) -> None:
    """The first game of a deal is shown once its second is seen, which is stored as the third."""
    with Results(four) as results:
        contest = results.contest()
        opened = ["g1", "g2"] * (last >= 3) + ["g3", "g4"] * (last >= 4)
        stored = ["g1", "g3", "g2", "g4"][:last]
        expected = sorted(set(opened) & set(stored))
        rows = results.games.rows(contest, last=last)
        assert [row["game_id"] for row in rows if row["record"] is not None] == expected
        records = results.games.records(contest, last)
        assert [name for name, data in records if data is not None] == expected
        for name in stored:
            if name in expected:
                assert results.games.record(contest, name, last)
            else:
                with pytest.raises(WithheldError):
                    results.games.record(contest, name, last)
