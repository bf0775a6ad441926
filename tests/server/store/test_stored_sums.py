"""The stored sums of a contest: after any history, they and the rest are what counting all games gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event, update
from sqlalchemy.orm import Session
from tests.server.stats.rated import observed_in

from arena_server.core.facts import Joined
from arena_server.core.journal import CONTEST, entry_of
from arena_server.stats.tiebreaks import PlayerSums
from arena_server.store import contest_store, stored_sums, sums
from arena_server.store.chain import add_checksum
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import ContestHeader, Database
from arena_server.store.reader import Results
from arena_server.store.schema import SumsRow, open_engine
from arena_server.store.stored_sums import Kind, StoredEndings, StoredTable, _pack, load

from .test_layout import change
from .test_sums import NAMES, Played, add, compare, contest, header_of, observed_by_hand

BOTS = frozenset(NAMES)


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row is written again after three games and more, with four at most."""
    monkeypatch.setattr(stored_sums, "LEAST_GAMES", 3)
    monkeypatch.setattr(sums, "MOST_GAMES", 4)


def play(
    database: Database, header: ContestHeader, games: Sequence[Played], rng: Random, statements: int | None
) -> None:
    """Store the games that are not stored yet; the process is killed at one of the statements."""
    left = statements

    def killed(*_: object) -> None:
        nonlocal left
        if left is not None:
            left -= 1
            if left < 0:
                raise Killed

    def opened(database: Database, *, writing: bool) -> Engine:
        engine = open_engine(database, writing=writing)
        event.listen(engine, "before_cursor_execute", killed)
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contest_store, "open_engine", opened)
        with ContestStore(database) as store:
            found = store.find(replace(header, new=False))
            with store.transaction():
                store.enter(header, header.config)
            store.maintain()
            stored = 0 if found is None else len(found.past.results)
            while stored < len(games):
                batch = rng.randint(1, 4)
                with store.transaction():
                    for number, each in enumerate(games[stored : stored + batch], start=stored + 1):
                        add(store, number, each)
                stored += batch
                store.maintain(idle=rng.random() < 0.1)
            store.sync()


def stored_of(database: Database) -> tuple[StoredTable, StoredEndings]:
    engine = open_engine(database)
    with Session(engine) as session:
        found = load(session, 1, BOTS, StoredTable), load(session, 1, BOTS, StoredEndings)
    engine.dispose()
    return found


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([2, 3]),
    st.integers(0, 30),
    st.booleans(),
    st.lists(st.integers(0, 80), max_size=4),
)
def test_after_any_history_they_and_the_rest_are_all_games(
    seed: int, seats: int, size: int, paired: bool, kills: list[int]
) -> None:
    rng = Random(seed)
    header = header_of(seats, "paired" if paired else "fresh")
    games = contest(rng, seats, size, paired=paired)
    with TemporaryDirectory() as folder:
        database = Path(folder) / "arena.db"
        play(database, header, [], rng, None)
        for statements in kills:
            try:
                play(database, header, games, rng, statements)
            except Killed:
                with Results(database, losses_accepted=True) as results:
                    stored = results.games_stored(results.contest())
                compare(database, games[:stored])
        play(database, header, games, rng, None)
        compare(database, games)
        table, endings = stored_of(database)
        assert table.place == endings.place
        assert (table.place > 0) == (size >= 3)
        with Results(database) as results:
            results.check_stored_sums(results.contest())


@pytest.mark.parametrize("deals", ["fresh", "paired"])
def test_both_databases_store_the_same(database: Database, deals: str) -> None:
    games = contest(Random(7), 2, 20, paired=deals == "paired")
    play(database, header_of(2, deals), games, Random(1), None)
    table, endings = stored_of(database)
    assert table.place > 10
    compare(database, games)
    assert StoredTable.unpack(1, BOTS, table.pack(1)) == table
    assert StoredEndings.unpack(1, BOTS, endings.pack(1)) == endings


@pytest.fixture
def played(path: Path) -> tuple[Path, list[Played]]:
    """A database with 12 games in stored sums."""
    games = contest(Random(7), 2, 12, paired=False)
    play(path, header_of(2, "fresh"), games, Random(1), None)
    assert stored_of(path)[0].place >= 8
    return path, games


def write(database: Database, table: bytes, endings: bytes) -> None:
    engine = open_engine(database)
    with Session(engine) as session:
        session.execute(update(SumsRow).values(players=table, endings=endings))
        session.commit()
    engine.dispose()


def not_msgpack(table: StoredTable, endings: StoredEndings) -> tuple[bytes, bytes]:
    return add_checksum(b"\xc1"), add_checksum(b"")


def of_other_games(table: StoredTable, endings: StoredEndings) -> tuple[bytes, bytes]:
    chain = bytes(32)
    return replace(table, chain=chain).pack(1), replace(endings, chain=chain).pack(1)


def of_other_bots(table: StoredTable, endings: StoredEndings) -> tuple[bytes, bytes]:
    players = {**table.players, "eve": PlayerSums(9)}
    kinds: Counter[tuple[Kind, ...]] = Counter([((("ann", "eve"), (), ">"),)])
    return replace(table, players=players).pack(1), replace(endings, complete=kinds).pack(1)


def of_no_kind(table: StoredTable, endings: StoredEndings) -> tuple[bytes, bytes]:
    names = [("ann", "bob")]
    kinds, complete = [(1, 0, ">")], [(1, 0)]
    data = _pack(
        (1, endings.place, endings.chain), names=names, agents=[()], kinds=kinds, complete=complete, begun=[]
    )
    return table.pack(2), data


DAMAGES: dict[str, Callable[[StoredTable, StoredEndings], tuple[bytes, bytes]]] = {
    "a wrong digest": lambda table, endings: (table.pack(1)[:-1] + b"\0", endings.pack(1)[1:]),
    "no msgpack": not_msgpack,
    "another contest": lambda table, endings: (table.pack(2), endings.pack(2)),
    "other games": of_other_games,
    "other bots": of_other_bots,
    "names that are not there": of_no_kind,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_row_is_passed_over_and_named(played: tuple[Path, list[Played]], damage: str) -> None:
    database, games = played
    write(database, *DAMAGES[damage](*stored_of(database)))
    compare(database, games)
    with Results(database) as results, pytest.raises(ValueError, match=r"^the stored sums are damaged, or"):
        results.check_stored_sums(results.contest())
    change(database, "DELETE FROM sums")
    compare(database, games)
    with Results(database) as results:
        results.check_stored_sums(results.contest())


def test_one_damaged_part_has_all_games_counted_again(path: Path) -> None:
    games = contest(Random(7), 2, 20, paired=False)
    play(path, header_of(2, "fresh"), games[:12], Random(1), None)
    table, endings = stored_of(path)
    write(path, table.pack(1), endings.pack(2))
    play(path, header_of(2, "fresh"), games, Random(1), None)
    assert stored_of(path)[0].place > table.place
    compare(path, games)
    with Results(path) as results:
        results.check_stored_sums(results.contest())


def other_points(table: StoredTable, endings: StoredEndings) -> None:
    table.players["ann"].points += 1


def other_endings(table: StoredTable, endings: StoredEndings) -> None:
    endings.complete[next(iter(endings.complete))] += 1


def other_number(table: StoredTable, endings: StoredEndings) -> None:
    table.games += 1


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (other_points, "are not those of ann's games"),
        (other_endings, "have other endings"),
        (other_number, "have other endings"),
    ],
)
def test_sums_that_differ_from_the_games_are_named(
    played: tuple[Path, list[Played]], fault: Callable[[StoredTable, StoredEndings], None], line: str
) -> None:
    database, _ = played
    table, endings = stored_of(database)
    fault(table, endings)
    write(database, table.pack(1), endings.pack(1))
    expected = f"^the stored sums of the first {table.place} games {line}: the database was changed"
    with Results(database) as results, pytest.raises(ValueError, match=expected):
        results.check_stored_sums(results.contest())


def test_games_up_to_a_place_before_them_are_counted(played: tuple[Path, list[Played]]) -> None:
    database, games = played
    with Results(database) as results:
        mine = results.contest()
        third = results.stored_last(mine, 3)
        shown = results.games_stored(mine, third)
        assert 3 <= shown < stored_of(database)[0].place
        rated = observed_in(results.rated(mine, until=third))
        assert rated == observed_by_hand(games[:shown], versions=False)


@pytest.mark.parametrize("seats", [2, 3])
def test_sums_without_draws_of_an_earlier_version_are_right(path: Path, seats: int) -> None:
    """With two seats they follow from the others; with three all games are counted again."""
    games = contest(Random(9), seats, 12, paired=False)
    play(path, header_of(seats, "fresh"), games, Random(1), None)
    table, endings = stored_of(path)
    assert any(sums.draws for sums in table.players.values())
    head, packed = stored_sums._unpack(1, table.pack(1))
    parts = {name: rows for name, rows in packed.items() if name != "draws"}
    write(path, _pack((1, *head), **parts), endings.pack(1))
    found = StoredTable.unpack(1, BOTS, _pack((1, *head), **parts))
    assert (found.has_draws, found == table) == ((True, True) if seats == 2 else (False, False))
    compare(path, games)
    with Results(path) as results:
        results.check_stored_sums(results.contest())


def test_damaged_rows_of_the_games_are_named_as_ever(path: Path) -> None:
    games = contest(Random(3), 2, 12, paired=False)
    play(path, header_of(2, "fresh"), games, Random(1), None)
    change(path, "UPDATE faults SET seat = 3")
    change(path, "UPDATE games SET \"end\" = 'complete'")
    with Results(path, losses_accepted=True) as results, pytest.raises(ValueError, match="a fault of seat 3"):
        results.check_stored_sums(results.contest())


def test_the_sums_of_a_long_ladder_are_right_after_its_field_has_changed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After more games than the server waits for one bot is there no more, and two join."""
    monkeypatch.undo()
    header = header_of(2, "fresh")
    rng = Random(11)
    games = contest(rng, 2, stored_sums.LEAST_GAMES + 1, paired=False)
    with ContestStore(path) as opened:
        opened.find(header)
        with opened.transaction():
            opened.enter(header, header.config)
        with opened.transaction():
            for number, each in enumerate(games, start=1):
                add(opened, number, each)
        opened.maintain()
        late: tuple[str, ...] = ()
        for name in ("eve", "z1"):
            late = (*late, name)
            with opened.transaction():
                opened.add([entry_of(CONTEST, Joined(name, len(games) + 1, 1, "", "", "", ""))], [])
                for number in range(len(games) + 1, len(games) + 6):
                    seats = (name, rng.choice(("ann", "bob", *late[:-1])))
                    games.append(games[0]._replace(names=seats, deal=number, is_void=False))
                    add(opened, number, games[-1])
            opened.maintain()
        opened.sync()
    assert stored_of(path)[0].place == stored_sums.LEAST_GAMES + 1
    with Results(path) as results:
        results.check_stored_sums(results.contest())
        assert results.games_stored(results.contest()) == len(games)
