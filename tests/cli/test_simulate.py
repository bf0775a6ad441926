"""`arena simulate`: the plan for a person and for a program, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.server.programs import Shell, contest
from tests.slices import all_of

from arena_cli.options import span


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the current one, with the file of a contest of four bots."""
    monkeypatch.chdir(tmp_path)
    text = contest("ann", "bob", "cid", "dan", contest="games_per_pair = 4", game='plies = 8\nclock = "10s"')
    path = tmp_path / "plan.toml"
    path.write_text(text)
    return path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_plan_for_a_person(plan: Path, shell: Shell) -> None:
    outcome = shell("simulate", "plan.toml", "--share", "0.25", "--cores", "2")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "trial: insertion, round-robin of 4 bots, 4 rounds"
    rows = {line.split("  ")[0].strip(): line.split()[-3:] for line in lines[4:9]}
    assert rows["games"] == ["24", "24", "24"]
    assert rows["games of a bot, least"] == rows["games of a bot, most"] == ["12", "12", "12"]
    assert "rounds, and in how many of the contests they are played" in lines
    assert lines[-2:] == [
        "100 simulated contests, seed 1; at most 2 games at once",
        "assumed: all bots present, equally strong, without faults; in the mean a bot uses 25% of its clock",
    ]
    assert not list(plan.parent.glob("*.db")), "nothing is stored"


def test_the_processors_of_the_machine(plan: Path, shell: Shell) -> None:
    """Two games at once of four bots, all, half or none of which the machine starts."""
    plans = {}
    for here in (0, 2, 4):
        for name in ("ann", "bob", "cid", "dan")[:here]:
            change(plan, f'name = "{name}"', f'name = "{name}"\nengine = "random"')
        for cores in (1, 2):
            arguments = ("simulate", "plan.toml", "--cores", str(cores), "--runs", "2")
            found = json.loads(shell(*arguments, "--json").out)
            assert (found["cores"], found["at_once"]) == (cores if here else None, 2)
            plans[here, cores] = found["duration"]["p50"]
            lines = shell(*arguments).out.splitlines()
            processors = "1 processor" if cores == 1 else "2 processors"
            assumed = f"assumed: {processors} for the {here} bots that the machine starts (--cores)"
            assert (assumed in lines) is bool(here)
            slow = [
                line for line in lines if line.startswith("2 games at once are more than these processors")
            ]
            assert len(slow) == ((here, cores) == (4, 1))
        for name in ("ann", "bob", "cid", "dan")[:here]:
            change(plan, f'name = "{name}"\nengine = "random"', f'name = "{name}"')
    assert plans[0, 1] == plans[0, 2] == plans[2, 1] == plans[2, 2] == plans[4, 2]
    assert plans[4, 1] > 1.5 * plans[4, 2]


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [("", "knockout", "2 levels"), ("groups = 1\nadvance = 2", "groups", "2 stages")],
)
def test_levels_are_called_levels(plan: Path, shell: Shell, options: str, kind: str, words: str) -> None:
    change(plan, "games_per_pair = 4", f'games_per_pair = 2\nformat = "{kind}"\n{options}')
    lines = shell("simulate", "plan.toml", "--share", "0.25").out.splitlines()
    assert lines[0] == f"trial: insertion, {kind} of 4 bots, {words}"
    assert f"{words[2:]}, and in how many of the contests they are played" in lines


def test_a_single_round(plan: Path, shell: Shell) -> None:
    change(plan, "games_per_pair = 4", 'format = "swiss"\nrounds = 1')
    assert shell("simulate", "plan.toml").out.splitlines()[0] == "trial: insertion, swiss of 4 bots, 1 round"


def test_a_contest_that_ends_short(plan: Path, shell: Shell) -> None:
    change(plan, "games_per_pair = 4", 'format = "swiss"\nrounds = 3\nsame_owner = "never"')
    for name, owner in zip(("ann", "bob", "cid", "dan"), "xxyy", strict=True):
        change(plan, f'name = "{name}"', f'name = "{name}"\nowner = "{owner}"')
    line = (
        "short: 9 of 9 contests end before their last round: no further round can be drawn of the bots that"
    )
    assert f"{line} are left and may meet" in shell("simulate", "plan.toml", "--runs", "9").out.splitlines()


def test_the_plan_for_a_program(plan: Path, shell: Shell) -> None:
    first, second, other = (
        json.loads(shell("simulate", "plan.toml", "--json", "--seed", seed, "--runs", "7").out)
        for seed in "556"
    )
    assert first == second != other
    assert (first["contest"], first["format"], first["seed"], first["runs"]) == ("trial", "round-robin", 5, 7)
    assert first["games"] == {"p10": 24, "p50": 24, "p90": 24}
    assert [each["games"]["p50"] for each in first["rounds"]] == [6, 6, 6, 6]
    assert first["duration"] == first["rounds"][-1]["ends"]


def test_an_open_contest_is_closed_after_a_time(plan: Path, shell: Shell) -> None:
    change(plan, "games_per_pair = 4", 'format = "ladder"')
    outcome = shell("simulate", "plan.toml", "--runs", "2", "--time", "5m", "--move-time", "100ms")
    assert "closed" in outcome.out
    assert outcome.out.splitlines()[-1].endswith("it is closed after 5m 0s of play")
    assert "in the mean a bot uses 100 ms a move" in outcome.out


def test_a_ladder_is_closed_at_the_end_of_the_contest(plan: Path, shell: Shell) -> None:
    change(plan, "games_per_pair = 4", 'format = "ladder"\nends_at = 2026-12-24T18:31:00')
    outcome = shell("simulate", "plan.toml", "--start", "2026-12-24T18:29")
    closed, over = outcome.out.splitlines()[-2:]
    assert closed == "the contest has no end of its own: it is closed after 2m 0s of play"
    assert over.startswith("over by 2026-12-24 18:3")


def test_of_a_ladder_of_a_month_a_day_is_simulated(plan: Path, shell: Shell) -> None:
    change(plan, "games_per_pair = 4", 'format = "ladder"\nends_at = 2027-01-24T18:00:00')
    words = ("simulate", "plan.toml", "--runs", "1", "--start", "2026-12-24T18:00", "--move-time", "1m")
    assert shell(*words).out.splitlines()[-1] == (
        "the contest has no end of its own: this is its first 1d 0h of play, and "
        "contest.ends_at = 2027-01-24T18:00:00 ends it"
    )
    assert "ends" not in json.loads(shell(*words, "--json").out)
    assert shell(*words, "--time", "30h").out.splitlines()[-2].endswith("it is closed after 1d 6h of play")


def test_the_day_of_the_end(plan: Path, shell: Shell) -> None:
    """Half an hour a day: the contest of some minutes begins in the second day's hours."""
    change(plan, "games_per_pair = 4", 'games_per_pair = 4\nopen = "18:00-18:30"')
    outcome = shell(
        "simulate", "plan.toml", "--runs", "9", "--move-time", "10s", "--start", "2026-12-24T18:29"
    )
    assert outcome.out.splitlines()[-1].startswith("over by 2026-12-25 18:")
    change(plan, 'open = "18:00-18:30"', "ends_at = 2026-12-24T18:30:00")
    outcome = shell(
        "simulate", "plan.toml", "--runs", "9", "--move-time", "10s", "--start", "2026-12-24T18:29"
    )
    assert outcome.out.splitlines()[-1] == (
        "too long: contest.ends_at = 2026-12-24T18:30:00 ends it before; plan fewer games, "
        "shorter clocks or longer hours"
    )
    answer = json.loads(
        shell("simulate", "plan.toml", "--runs", "9", "--json", "--start", "2026-12-24T18:29").out
    )
    assert answer["ends"]["p50"] <= answer["ends"]["p90"]
    outcome = shell("simulate", "plan.toml", "--runs", "9", "--start", "2026-12-23T18:29")
    assert not outcome.out.splitlines()[-1].startswith("too long")


def test_all_formats_beside_each_other(plan: Path, shell: Shell) -> None:
    change(plan, 'name = "dan"', 'name = "dan"\n\n[[bot]]\nname = "eve"')
    outcome = shell(
        "simulate", "plan.toml", "--compare", "--runs", "1", "--move-time", "10ms", "--time", "1m"
    )
    assert "round-robin" in outcome.out
    assert "ladder (open)" in outcome.out
    assert (
        'matches is not possible: contest.format: expected a multiple of 2 bots for "matches"' in outcome.out
    )
    found = json.loads(
        shell("simulate", "plan.toml", "--compare", "--json", "--runs", "1", "--time", "1m").out
    )
    assert {each["format"] for each in found} >= {"round-robin", "matches", "ladder", "knockout", "gauntlet"}
    assert [each["format"] for each in found if "error" in each] == ["matches"]


def test_only_some_of_many_rounds_are_printed(plan: Path, shell: Shell) -> None:
    change(plan, "games_per_pair = 4", "games_per_pair = 40")
    outcome = shell("simulate", "plan.toml", "--runs", "1")
    assert "rounds 12 to 39 are left out; --json has them" in outcome.out
    assert len(json.loads(shell("simulate", "plan.toml", "--runs", "1", "--json").out)["rounds"]) == 40


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "games_per_pair = 4",
            'games_per_pair = 3\ndeals = "paired"',
            "contest.games_per_pair: expected a multiple of 2",
        ),
        ("games_per_pair = 4", 'format = "cup"', "contest.format: expected one of round-robin"),
        ("plies = 8", "plies = 0", "plies is a whole number from"),
        ('name = "bob"', 'name = "bob"\nengine = "unknown"', "bot 2: engine: "),
        ('clock = "10s"', 'clock = "none"', "--move-time: expected the time of a move"),
    ],
)
def test_a_contest_that_cannot_be_is_refused_in_one_line(
    plan: Path, shell: Shell, old: str, new: str, line: str
) -> None:
    change(plan, old, new)
    outcome = shell("simulate", "plan.toml")
    assert outcome.code == 2
    assert outcome.out == ""
    assert line in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_file_that_is_not_there(plan: Path, shell: Shell) -> None:
    assert shell("simulate", "none.toml").err == "arena: none.toml: no such file\n"


@all_of(
    ("ms", "text"),
    [
        (0, "0s"),
        (49, "0.049s"),
        (4_200, "4.2s"),
        (12_900, "12s"),
        (200_000, "3m 20s"),
        (3_900_000, "1h 5m"),
        (183_600_000, "2d 3h"),
    ],
)
def test_a_duration_has_its_two_greatest_units(ms: int, text: str) -> None:
    assert span(ms) == text
