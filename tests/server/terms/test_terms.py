"""The three terms: each key of the file reaches its field and no other; the terms of games go elsewhere."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pydantic import BaseModel
from tests.slices import all_of

from arena_server.terms.about import KEYS
from arena_server.terms.config import ContestConfig, contest_of
from arena_server.terms.contest_table import ContestTable, GameTable
from arena_server.terms.file import config_of, parse_contest
from arena_server.terms.terms import FieldTerms, GameTerms, HouseTerms, terms_of

THREE = (GameTerms, FieldTerms, HouseTerms)
#: For each key a value unlike its default, as the file has it and as the config has it.
VALUES: dict[str, tuple[str, Any]] = {
    "contest.game": ('"tictactoe"', "tictactoe"),
    "contest.scoring": ('"wins"', "wins"),
    "game.clock": ('"7s"', 7_000),
    "game.increment": ('"8ms"', 8),
    "game.margin": ('"9ms"', 9),
    "game.move_limit": ('"11s"', 11_000),
    "game.first_move_limit": ('"12s"', 12_000),
    "game.byoyomi": ('"13ms"', 13),
    "game.lag_quota": ('"14ms"', 14),
    "contest.stall_limit": ('"15s"', 15_000),
    "contest.ready": ('"16s"', 16_000),
    "contest.login": ('"17s"', 17_000),
    "contest.handover": ('"18s"', 18_000),
    "contest.announce_zombies": ("true", True),
    "contest.anonymous": ("true", True),
    "contest.out_of_turn_limit": ("19", 19),
    "contest.flood_limit": ("21", 21),
    "contest.format": ('"matches"', "matches"),
    "contest.games_per_pair": ("22", 22),
    "contest.deals": ('"paired"', "paired"),
    "contest.tie_breaks": ('["wins"]', ("wins",)),
    "contest.stop": ('"top:1"', "top:1"),
    "contest.teams": ("{ best = 2 }", 2),
    "contest.absent": ('"23s"', 23_000),
    "contest.rest": ('"24s"', 24_000),
    "contest.probation": ("25", 25),
    "contest.probation_for": ('"26s"', 26_000),
    "contest.validation": ("true", True),
    "contest.storage": ('"4 KiB"', 4096),
    "contest.spectator_delay": ('"27s"', 27_000),
    "contest.guests": ("false", False),
    "contest.rated": ("false", False),
    "contest.guesses": ("false", False),
    "contest.freeze_at": ("1970-01-01T00:00:28Z", 28_000),
}
#: Keys whose value is made of several lines of the file: tested below.
MADE = {"game.own_options", "contest.format_options", "contest.about"}
#: Keys that are no terms: what the contest is called and drawn from, and the timetable of the shell.
OTHERS = {
    *(f"contest.{key}" for key in KEYS),
    *("contest.name", "contest.seed", "contest.open", "contest.starts_at", "contest.ends_at"),
    *("contest.quorum", "game.library"),
}


def read(table: str = "contest", line: str = "") -> ContestConfig:
    lines = {"contest": 'name = "trial"\nseed = 1\n', "game": ""}
    lines[table] += line
    text = "".join(f"[{name}]\n{each}\n" for name, each in lines.items())
    return config_of(parse_contest(f'{text}[[bot]]\nname = "a"\n[[bot]]\nname = "b"\n', "c.toml"))


def differences(one: ContestConfig, other: ContestConfig) -> dict[str, Any]:
    names = [each.name for each in fields(ContestConfig)]
    return {name: getattr(one, name) for name in names if getattr(one, name) != getattr(other, name)}


def test_every_field_is_of_one_of_the_three_or_the_contest_s_own() -> None:
    owned = [each.name for kind in THREE for each in fields(kind)]
    own = {"name", "seed", "programs", "dealt", "played_on"}
    assert {each.name for each in fields(ContestConfig)} - set(owned) == own
    assert {each.name for each, _ in terms_of(ContestConfig)} == set(owned)


def test_every_key_of_the_file_is_of_one_term_or_listed_here() -> None:
    keys = [of_it.key for _, of_it in terms_of(ContestConfig) if of_it.key]
    assert set(keys) == {*VALUES, *MADE}
    assert len(set(keys)) == len(keys)
    tables: dict[str, type[BaseModel]] = {"contest": ContestTable, "game": GameTable}
    in_file = {f"{name}.{key}" for name, table in tables.items() for key in table.model_fields}
    assert in_file | MADE == {*VALUES, *MADE, *OTHERS}


@all_of("key", VALUES)
def test_a_key_reaches_its_field_and_no_other(key: str) -> None:
    table, _, name = key.partition(".")
    written, value = VALUES[key]
    (field,) = (each.name for each, of_it in terms_of(ContestConfig) if of_it.key == key)
    assert differences(read(table, f"{name} = {written}"), read()) == {field: value}


def test_options_of_game_and_format_reach_theirs() -> None:
    assert differences(read("game", "plies = 7"), read()) == {"options": {"plies": 7}}
    swiss = differences(read("contest", 'format = "swiss"\nrounds = 1'), read())
    assert swiss == {"format": "swiss", "format_options": {"rounds": 1}}


def test_the_terms_of_its_games_go_to_another_contest_and_nothing_else() -> None:
    names = [each.name for each in fields(ContestConfig)]
    given = {name: object() for name in names}
    made = contest_of(ContestConfig(**given), name="other", seed=2)  # type: ignore[arg-type]
    plain = ContestConfig(name="other", seed=2)
    own = {each.name for each in fields(GameTerms)}
    for name in names:
        assert getattr(made, name) == (given[name] if name in own else getattr(plain, name)), name
