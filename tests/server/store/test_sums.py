"""Sums that the database makes against a twin that adds one game after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.stats.rated import observed_in
from tests.slices import rows

from arena_protocol.record import FaultRecord, PlyRecord
from arena_protocol.record_codec import encode
from arena_server.core.game_facts import Offered
from arena_server.core.journal import entry_of
from arena_server.errors import StoreError
from arena_server.stats.rated_games import (
    Observation,
    RatedGame,
    observe,
    version_of,
)
from arena_server.stats.results import GameResult
from arena_server.stats.standings import Row
from arena_server.store import sum_reader
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import ContestHeader, Database
from arena_server.store.plans import table_of
from arena_server.store.reader import Results
from arena_server.store.sums import Endings

from ..records import change, game, opening

NAMES = ("ann", "bob", "cy", "dee")
KINDS = ("illegal", "timeout", "flood")


class Played(NamedTuple):
    """A game as it was stored; `faults` are (seat, kind), `used` is by seat."""

    names: tuple[str, ...]
    totals: tuple[int, ...]
    deal: int
    agents: tuple[str | None, ...]
    used: tuple[int, ...]
    faults: tuple[tuple[int, str], ...]
    is_void: bool


def header_of(seats: int, deals: str) -> ContestHeader:
    header = opening(names=NAMES)
    breaks = ("sonneborn-berger", "time-used", "wins", "direct-match", "pairs-won", "won-plies")
    config = replace(header.config, options={"seats": str(seats)}, deals=deals, tie_breaks=breaks)
    return replace(header, config=config)


def contest(rng: Random, seats: int, size: int, *, paired: bool) -> list[Played]:
    """Random games; paired ones have at most `seats` games with a result on a deal of a group."""
    found: list[Played] = []
    dealt: Counter[tuple[tuple[str, ...], int]] = Counter()
    while len(found) < size:
        names = tuple(rng.sample(NAMES, seats))
        deal = rng.randint(1, 4) if paired else len(found) + 1
        is_void = rng.random() < 0.2
        key = tuple(sorted(names)), deal
        if dealt[key] == seats:
            continue
        dealt[key] += not is_void
        faults = tuple((rng.randint(0, seats), rng.choice(KINDS)) for _ in range(rng.choice((0, 0, 1, 2))))
        agents = tuple(rng.choice((None, "new/1", "new/2")) for _ in names)
        totals = tuple(rng.randint(0, 3) for _ in names)
        used = tuple(rng.randint(1, 50) for _ in names)
        found.append(Played(names, totals, deal, agents, used, faults, is_void))
    return found


def store(database: Database, header: ContestHeader, games: Sequence[Played]) -> None:
    with ContestStore(database) as opened:
        opened.find(header)
        with opened.transaction():
            opened.enter(header, header.config)
        with opened.transaction():
            for number, each in enumerate(games, start=1):
                add(opened, number, each)
        opened.sync()


def add(opened: ContestStore, number: int, played: Played) -> None:
    """Store the offer and the result of a game, within a transaction."""
    plies = tuple(
        PlyRecord(seat, "6", used, 0, used * 1_000_000, (), 0, (), False)
        for seat, used in enumerate(played.used, start=1)
    )
    faults = tuple(FaultRecord(seat, 1, kind, b"MOVE") for seat, kind in played.faults)
    end = "void" if played.is_void else "complete"
    record = replace(game(number, played.names, played.totals, faults, end), plies=plies)
    offer = entry_of(number, Offered(played.names, played.deal, (), played.agents))
    opened.add([offer], [(f"g{number}", record, encode(record))])


def table_by_hand(results: Results, games: Sequence[Played]) -> tuple[Row, ...]:
    table = table_of(results.contest(), NAMES)
    for each in games:
        if not each.is_void:
            faults = tuple((each.names[seat - 1], kind) for seat, kind in each.faults if seat)
            plies = len(each.used)
            table.add(GameResult(each.names, each.totals, faults, each.used, plies=plies, deal=each.deal))
    return table.rows()


def observed_by_hand(games: Sequence[Played], *, versions: bool) -> Counter[Observation]:
    return observe(
        RatedGame(
            tuple(map(version_of, each.names, each.agents)) if versions else each.names,
            each.totals,
            (tuple(sorted(each.names)), each.deal),
        )
        for each in games
        if not each.is_void
    )


def compare_steps(results: Results, games: Sequence[Played]) -> None:
    """The games up to several places; what is known of the first ones goes on with the others."""
    endings, size = Endings(), len(games)
    places = sorted({min(1, size), size // 3, size // 2, size} - {0})
    for some in (places[:2], places[2:]):
        for place, _, bots, versions in results.sums.rated_steps(results.contest(), endings, some):
            apart = observed_by_hand(games[:place], versions=True)
            assert endings.place == place
            assert observed_in(bots) == observed_by_hand(games[:place], versions=False)
            players = {name for observation in apart for names, _ in observation for name in names}
            several = len(players) > len({name.partition(" ")[0] for name in players})
            assert (versions is not None) == several
            if versions is not None:
                assert observed_in(versions) == apart


def compare(database: Database, games: Sequence[Played]) -> None:
    with Results(database) as results:
        mine = results.contest()
        table = results.sums.table(mine)
        assert table.rows() == table_by_hand(results, games)
        assert table.games == results.sums.games_played(mine) == sum(not each.is_void for each in games)
        for versions in (False, True):
            rated = results.sums.rated(mine, versions=versions)
            assert observed_in(rated) == observed_by_hand(games, versions=versions)
        bots, apart = results.sums.rated_both(mine, datetime.max)
        assert observed_in(bots) == observed_in(results.sums.rated(mine))
        several = len(rated.names) > len(bots.names)
        assert observed_in(apart) == observed_in(rated if several else bots)
        compare_steps(results, games)
        half = table_of(mine, NAMES)
        middle = len(games) // 2
        results.sums.add_results(half, mine, 0, middle)
        assert half.rows() == table_by_hand(results, games[:middle])
        results.sums.add_results(half, mine, middle, len(games))
        assert half.rows() == table.rows()
        first: dict[str, tuple[str, str]] = {}
        for number, each in enumerate(games, start=1):
            for seat, kind in () if each.is_void else each.faults:
                if seat:
                    first.setdefault(each.names[seat - 1], (f"g{number}", kind))
        found = {
            name: (game_id, fault.kind) for name, (game_id, fault) in results.games.first_faults(mine).items()
        }
        assert found == first


@settings(max_examples=40)
@given(
    st.integers(0, 2**32),
    st.sampled_from([2, 3]),
    st.integers(0, 40),
    st.booleans(),
    st.sampled_from([0, 99]),
)
def test_sums_are_those_of_the_games_one_by_one(
    seed: int, seats: int, size: int, paired: bool, checked: int
) -> None:
    header = header_of(seats, "paired" if paired else "fresh")
    games = contest(Random(seed), seats, size, paired=paired)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sum_reader, "CHECKED_GAMES", checked)
        store(Path(folder) / "arena.db", header, games)
        compare(Path(folder) / "arena.db", games)


@pytest.mark.parametrize(
    ("seats", "deals"), rows([(3, "paired"), (2, "fresh"), (2, "paired"), (3, "fresh")], 4)
)
def test_both_databases_make_the_same_sums(database: Database, seats: int, deals: str) -> None:
    games = contest(Random(seats), seats, 60 if deals == "fresh" else 20, paired=deals == "paired")
    store(database, header_of(seats, deals), games)
    compare(database, games)


class TestManyGames:
    """Of a contest with more games than CHECKED_GAMES no digest is compared."""

    @pytest.fixture
    def many(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(sum_reader, "CHECKED_GAMES", 3)
        store(path, header_of(2, "fresh"), contest(Random(7), 2, 12, paired=False))
        return path

    @pytest.mark.parametrize(
        ("statement", "line"),
        [
            ("DELETE FROM games WHERE place = 5", "result 5 of contest 1 is missing"),
            ("UPDATE games SET place = 99 WHERE place = 1", "result 1 of contest 1 is missing"),
            (
                """UPDATE games SET names = '["ann", "eve"]' WHERE place = 5""",
                "a game's names are not those of bots of contest 1",
            ),
            (
                """UPDATE games SET names = '["ann"]' WHERE place = 5""",
                "a game's names are not those of bots of contest 1",
            ),
            ("UPDATE games SET totals = '[1]' WHERE place = 5", "expected a total for each seat"),
            ("UPDATE games SET totals = '[1, 2'", "malformed"),
            ("UPDATE faults SET seat = 3", "a fault of seat 3"),
            ("UPDATE faults SET kind = 'a b'", "faults: not as PROTOCOL.md has it: 'a b'"),
        ],
    )
    def test_a_table_of_damaged_rows(self, many: Path, statement: str, line: str) -> None:
        # Rows that count, with a fault of a bot.
        change(many, "UPDATE games SET \"end\" = 'complete'")
        change(many, "UPDATE faults SET seat = 1")
        change(many, statement)
        with pytest.raises(StoreError, match=line), Results(many, losses_accepted=True) as results:
            results.sums.table(results.contest())

    @pytest.mark.parametrize("agents", ["""["a\\u001b", null]""", """["one"]""", """["one", "b", "c"]"""])
    def test_versions_of_damaged_rows(self, many: Path, agents: str) -> None:
        change(many, f"UPDATE games SET agents = '{agents}'")
        with (
            pytest.raises(StoreError, match="the database is damaged"),
            Results(many, losses_accepted=True) as results,
        ):
            results.sums.rated(results.contest(), versions=True)

    def test_a_void_game_adds_nothing_from_then_on(self, many: Path) -> None:
        change(many, "UPDATE games SET \"end\" = 'void'")
        with Results(many, losses_accepted=True) as results:
            table = results.sums.table(results.contest())
            assert table.games == 0
            assert observed_in(results.sums.rated(results.contest())) == Counter()
            assert not any(row.faults for row in table.rows())
