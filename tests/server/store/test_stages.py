"""Which stages have begun, who comes into the next, and what `arena verify` says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.server.records import Kept, game, opening
from tests.slices import all_of

from arena_server.core.facts import Annulled, Archived, Disqualified, Joined, Left, Order, TokenSet
from arena_server.core.journal import CONTEST, Entry, entry_of
from arena_server.errors import StoreError
from arena_server.stats.qualifying import sources_of
from arena_server.store.preflight import latest_contests
from arena_server.store.reader import Results
from arena_server.store.stages import (
    BegunStage,
    begun_stages,
    check_entrants,
    draw_entrants,
    late_bots,
    obstacle,
)
from arena_server.terms.schema import BotTable
from arena_server.terms.stages import SeasonStage, load_stages

NAMES = ("a", "b", "c", "d")


def order(number: int, verb: str, target: str) -> Entry:
    return entry_of(CONTEST, Order(number, verb, target, "me", 0, ""))


def left(name: str, *, away: bool = True) -> Entry:
    return entry_of(CONTEST, Left(name, away))


def disqualified(name: str, treatment: str) -> Entry:
    return entry_of(CONTEST, Disqualified(name, treatment, True))


@pytest.fixture
def stages(tmp_path: Path) -> list[SeasonStage]:
    path = tmp_path / "season.toml"
    bots = "".join(f'[[bot]]\nname = "{name}"\n' for name in NAMES)
    path.write_text(
        '[contest]\nname = "s"\n[[stage]]\nname = "one"\n[[stage]]\nname = "two"\n'
        f'entrants_from = {{ stage = "one", first = 2 }}\n{bots}'
    )
    return load_stages(path)


def keep(
    folder: Path,
    name: str,
    names: tuple[str, ...] = NAMES,
    *entries: Entry,
    origin: dict[str, Any] | None = None,
    status: str | None = "finished",
    games: int = 4,
    pairs: Sequence[tuple[str, str]] = (("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")),
) -> None:
    """A contest in which a wins, b, c and d follow; the first of each of `pairs` wins its game."""
    header = opening(name, names=names)
    header = replace(header, config=replace(header.config, origin=origin or {}))
    kept = Kept(folder / "arena.db", header)
    kept.start()
    if entries:
        kept.append(*entries)
    for number, pair in enumerate(pairs[:games], start=1):
        record = replace(game(number, pair, (30, 20)), contest=name)
        kept.writer.store(record.game_id, record)
        assert kept.next() == [record.game_id]
    kept.close(status)


def begun(folder: Path, stages: list[SeasonStage]) -> dict[str, BegunStage]:
    return begun_stages(stages, latest_contests(folder / "arena.db", [each.name for each in stages]))


def draw(folder: Path, stages: list[SeasonStage]) -> tuple[list[str], dict[str, Any]]:
    with Results(folder / "arena.db") as opened:
        return draw_entrants(opened, stages[1], {"s-one": 1})


@pytest.mark.parametrize(
    ("orders", "names"),
    [
        ((), "a b"),
        ((order(1, "kick", "a"),), "b c"),
        ((left("b"),), "a c"),
        ((disqualified("a", "lost"),), "b c"),
        ((disqualified("a", "leave"), disqualified("a", "")), "a b"),
        ((order(1, "kick", "a"), order(2, "undo", "")), "a b"),
        ((order(1, "kick", "a"), order(2, "lift", "a")), "a b"),
        ((left("a"), left("a", away=False), order(3, "kick", "b")), "a c"),
        ((left("a"), left("b"), left("c")), "d"),
        ((order(1, "pause", ""),), "a b"),
    ],
)
def test_who_was_removed_is_passed_over(
    orders: tuple[Entry, ...], names: str, stages: list[SeasonStage], tmp_path: Path
) -> None:
    keep(tmp_path, "s-one", NAMES, *orders)
    assert draw(tmp_path, stages)[0] == names.split()


def test_a_bot_without_a_table_in_the_file_is_passed_over(stages: list[SeasonStage], tmp_path: Path) -> None:
    (tmp_path / "season.toml").write_text(
        (tmp_path / "season.toml").read_text().replace('[[bot]]\nname = "a"\n', "")
    )
    keep(tmp_path, "s-one", NAMES, entry_of(CONTEST, Joined("e", 7, 1, "", "", "", "")))
    names, origin = draw(tmp_path, load_stages(tmp_path / "season.toml"))
    assert names == ["b", "c"]
    assert origin["unknown"] == ["a", "e"]
    keep(tmp_path, "s-two", tuple(names), origin=origin, games=0)
    with Results(tmp_path / "arena.db") as opened:
        assert check_entrants(opened, opened.contest("s-two")) is None


def test_a_late_entrant_comes_on_with_its_newest_token(stages: list[SeasonStage], tmp_path: Path) -> None:
    joined = [
        entry_of(CONTEST, fact)
        for fact in (
            TokenSet("d", "0" * 64),
            TokenSet("a", "8" * 64),
            TokenSet("a", "9" * 64),
            Joined("e", 7, 2, "two words", "Eve", "C", "https://e.example"),
            TokenSet("e", "1" * 64),
            TokenSet("e", "2" * 64),
            Joined("f", 9, 1, "", "", "", ""),
            TokenSet("f", "3" * 64),
            Left("f", left=True),
            Joined("g", 9, 1, "", "", "", ""),
        )
    ]
    keep(tmp_path, "s-one", NAMES, *joined, pairs=[("e", "a"), ("f", "b"), ("a", "c")])
    one = begun(tmp_path, stages)["s-one"]
    with Results(tmp_path / "arena.db") as opened:
        own = {"d": {"engine": "random"}}  # the server starts it, and gives it keys
        bots = [bot.model_copy(update=own.get(bot.name)) for bot in stages[0].pool]
        late = late_bots(opened, [one], bots)
        again = [*bots, BotTable(name="e", engine="random")]  # e has a table now
        assert set(late_bots(opened, [one], again)) == {"a", "f"}
        names, origin = draw_entrants(opened, stages[1], {"s-one": 1}, late)
    eve: dict[str, Any] = {"owner": "two words", "author": "Eve", "language": "C", "url": "https://e.example"}
    e = BotTable.model_construct(name="e", concurrency=2, token_sha256="2" * 64, **eve)
    assert (late["e"], late["f"].owner, set(late)) == (e, None, {"a", "e", "f"})
    assert names == ["e", "a"], "f was removed"
    assert origin["unknown"] == ["g"], "its token is not known"
    file = stages[1].seated(names, "season.toml", late)
    assert [(bot.name, bot.token_sha256) for bot in file.bot] == [("e", "2" * 64), ("a", "9" * 64)]
    # In a third stage it is no late entrant any more, and its token may have been changed in the second.
    keep(tmp_path, "s-two", ("e", "a"), entry_of(CONTEST, TokenSet("e", "4" * 64)), origin=origin, games=0)
    both = begun(tmp_path, stages).values()
    with Results(tmp_path / "arena.db") as opened:
        assert check_entrants(opened, opened.contest("s-two")) is None
        assert late_bots(opened, both)["e"].token_sha256 == "4" * 64


@all_of(
    ("status", "games", "problem"),
    [
        ("finished", 4, None),
        ("short", 4, None),
        ("incomplete", 1, None),
        ("incomplete", 0, "no game of x has a result"),
        ("aborted", 4, "x was aborted"),
        ("stopped", 4, "x is not over"),
        ("running", 4, "x is not over"),
        (None, 0, "x is not over"),
    ],
)
def test_what_leads_on(status: str | None, games: int, problem: str | None) -> None:
    assert obstacle("x", status, games) == problem


def test_a_stage_that_does_not_lead_on(stages: list[SeasonStage], tmp_path: Path) -> None:
    keep(tmp_path, "s-one", status="aborted")
    with pytest.raises(StoreError) as caught:
        draw(tmp_path, stages)
    assert str(caught.value) == "stage two does not begin: s-one was aborted"


def test_another_run_of_the_season_begins_all_stages_again(stages: list[SeasonStage], tmp_path: Path) -> None:
    assert begun(tmp_path, stages) == {}, "there is no database"
    keep(tmp_path, "s-one", status="incomplete")
    _, origin = draw(tmp_path, stages)
    assert sources_of(origin) == stages[1].sources
    assert begun(tmp_path, stages) == {"s-one": BegunStage(1, NAMES, {}, "incomplete")}
    keep(tmp_path, "s-two", ("a", "b"), origin=origin, status=None, games=1)
    assert begun(tmp_path, stages) == {
        "s-one": BegunStage(1, NAMES, {}, "incomplete", is_closed=True),
        "s-two": BegunStage(2, ("a", "b"), origin, "running"),
    }
    keep(tmp_path, "s-one")
    assert begun(tmp_path, stages) == {"s-one": BegunStage(3, NAMES, {}, "finished")}
    keep(tmp_path, "s-two", ("a", "b"), games=1)
    assert list(begun(tmp_path, stages)) == ["s-one"], "a contest by itself of this name is no stage"


def test_a_closed_contest_is_over_though_it_is_incomplete(stages: list[SeasonStage], tmp_path: Path) -> None:
    keep(tmp_path, "s-one", status="incomplete")
    header = replace(opening("s-one", names=NAMES, new=False), keep=True)
    for closed, ended in ((False, None), (True, "incomplete")):
        kept = Kept(tmp_path / "arena.db", replace(header, closed=closed))
        found = kept.find()
        assert found is not None
        assert (found.ended, len(found.past.results)) == (ended, 4)
        kept.close()


@pytest.mark.parametrize(
    ("later", "problem"),
    [
        ((), "entrants: expected a, b, who come from s-one, found b, a"),
        ((order(1, "kick", "a"),), "entrants: expected a, b, who come from s-one, found b, a"),
        ((entry_of(CONTEST, Archived("")),), "entrants: expected a, b, who come from s-one, found b, a"),
        # A result of the first stage was taken back afterwards: they stand.
        ((entry_of(CONTEST, Annulled(1, "w")),), None),
    ],
)
def test_they_are_checked_by_what_was_known_then(
    later: tuple[Entry, ...], problem: str | None, stages: list[SeasonStage], tmp_path: Path
) -> None:
    keep(tmp_path, "s-one", status="incomplete")
    names, origin = draw(tmp_path, stages)
    assert names == ["a", "b"]
    kept = Kept(tmp_path / "arena.db", opening("s-one", names=NAMES, new=False))
    kept.start()
    if later:
        kept.append(*later)
    kept.close("incomplete")
    keep(tmp_path, "s-two", ("b", "a"), origin=origin, games=1)
    with Results(tmp_path / "arena.db") as opened:
        assert check_entrants(opened, opened.contest("s-two")) == problem
        assert check_entrants(opened, opened.contest("s-one")) is None


def test_an_origin_that_is_another_contest(stages: list[SeasonStage], tmp_path: Path) -> None:
    keep(tmp_path, "s-one")
    _, origin = draw(tmp_path, stages)
    keep(tmp_path, "other")
    origin["contests"] = {"s-one": [2, 0]}
    keep(tmp_path, "s-two", ("a", "b"), origin=origin, games=1)
    with Results(tmp_path / "arena.db") as opened:
        assert check_entrants(opened, opened.contest("s-two")) == (
            "entrants: contest 2, from which they come, is called other, not s-one"
        )
