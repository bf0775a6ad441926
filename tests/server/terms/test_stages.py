"""A file of stages: the contests that it makes, and one line for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.slices import all_of

from arena_server.errors import ConfigError
from arena_server.stats.qualifying import RATINGS, Source, contests_of, origin_of, sources_of
from arena_server.terms.file import load_contest
from arena_server.terms.stages import SeasonStage, load_stages

BOTS = "".join(f'[[bot]]\nname = "{name}"\n' for name in ("a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4"))
EAST = '[[stage]]\nname = "east"\nbots = ["a1", "a2", "a3", "a4"]\n'
WEST = '[[stage]]\nname = "west"\nbots = ["b1", "b2", "b3", "b4"]\n'


def season(*stages: str, contest: str = "", bots: str = BOTS) -> str:
    return f'[contest]\nname = "league"\n{contest}\n' + "".join(stages) + bots


def final(rest: str, name: str = "final") -> str:
    return f'[[stage]]\nname = "{name}"\n{rest}\n'


def load(folder: Path, text: str) -> list[SeasonStage]:
    path = folder / "c.toml"
    path.write_text(text)
    return load_stages(path)


def test_the_contests_of_a_season(tmp_path: Path) -> None:
    text = season(
        EAST,
        WEST,
        final(
            'format = "swiss"\nrounds = 3\ngames_per_pair = 4\n'
            'entrants_from = { stage = ["east", "west"], first = 3 }',
            "middle",
        ),
        final(
            'title = "The end"\nformat = "knockout"\n'
            'entrants_from = [{ stage = "middle", first = 2, by = "ratings" }, { stage = "east", after = 3 }]'
        ),
        contest='games_per_pair = 2\nseed = 7\ntitle = "League"',
    )
    stages = load(tmp_path, text)
    assert [(each.label, each.name, each.season) for each in stages] == [
        ("east", "league-east", "league"),
        ("west", "league-west", "league"),
        ("middle", "league-middle", "league"),
        ("final", "league-final", "league"),
    ]
    assert [each.sources for each in stages] == [
        (),
        (),
        (Source(("league-east", "league-west"), 3),),
        (Source(("league-middle",), 2, by=RATINGS), Source(("league-east",), after=3)),
    ]
    assert stages[3].upstream == ("league-middle", "league-east")
    assert [[bot.name for bot in each.file.bot] for each in stages] == [
        ["a1", "a2", "a3", "a4"],
        ["b1", "b2", "b3", "b4"],
        ["a1", "b1", "a2", "b2", "a3", "b3"],
        ["a1", "b1", "a4"],
    ]
    assert len(stages[3].pool) == 8
    assert [each.file.contest.games_per_pair for each in stages] == [2, 2, 4, 2]
    assert [each.file.contest.seed for each in stages] == [7, 8, 9, 10]
    assert [each.file.contest.title for each in stages] == [
        "League: east",
        "League: west",
        "League: middle",
        "The end",
    ]
    seated = stages[3].seated(["b4", "a2"], "c.toml")
    assert [bot.name for bot in seated.bot] == ["b4", "a2"]
    with pytest.raises(ConfigError) as caught:
        stages[3].seated(["b4"], "c.toml")
    assert str(caught.value) == "c.toml: stage final: bot: expected at least 2, for 2 seats, got 1"


def test_a_contest_by_itself_is_one_stage(tmp_path: Path) -> None:
    (stage,) = load(tmp_path, season())
    assert (stage.label, stage.season, stage.sources) == ("league", "", ())
    assert stage.file == load_contest(tmp_path / "c.toml")


def test_the_origin_is_read_back() -> None:
    sources = (Source(("a", "b"), 3, 1, RATINGS), Source(("c",)))
    origin = origin_of(sources, {"a": (1, 0), "b": (2, 4), "c": (3, 0)})
    assert sources_of(origin) == sources
    assert contests_of(origin) == {"a": (1, 0), "b": (2, 4), "c": (3, 0)}
    with pytest.raises(ValueError, match="the origin of its entrants cannot be read"):
        contests_of({"contests": {"a": 1}})
    with pytest.raises(ValueError, match="the origin of its entrants cannot be read"):
        sources_of({"from": [{}]})


FROM_EAST = 'entrants_from = { stage = "east", %s }'


@all_of(
    ("text", "line"),
    [
        (season("[stage]\nname = 'a'\n"), "stage: expected [[stage]] tables, got something else"),
        (
            season(EAST).replace('name = "league"', "", 1),
            "contest.name: missing; it is the name of the season",
        ),
        (season(EAST, bots=BOTS + "colour = 3\n"), "bot 8: colour: unknown key; known here:"),
        (season('[[stage]]\nformat = "swiss"\n'), "stage 1: name: missing"),
        (
            season(final("", "a b")),
            "stage 1: name: expected 1 to 32 letters, digits, '_', '.' or '-', a letter or digit first, "
            "got 'a b'",
        ),
        (
            season(final("", "s" * 26)),
            "stage 1: name: expected at most 25 characters, because the contest is called "
            f"league-{'s' * 26}, which is longer than 32",
        ),
        (season(EAST, WEST, EAST), "stage 3: name: 'east' is that of stage 1, too"),
        (
            season(EAST, final('bots = ["a1"]\n' + FROM_EAST % "first = 2")),
            "stage 2: expected bots or entrants_from, got both",
        ),
        (season(final('bots = ["a1", "x"]')), "stage 1: bots: no [[bot]] is called 'x'"),
        (season(final('bots = ["a1", "a1"]')), "stage 1: bots: expected every bot once, got 'a1' twice"),
        (season(final('bots = "a1"')), "stage 1: bots: expected a list, got 'a1'"),
        (
            season(EAST, final('entrants_from = { stage = "east", first = 2, of = 1 }')),
            "stage 2: entrants_from 1: of: unknown key; known here: after, by, first, stage",
        ),
        (
            season(EAST, final(FROM_EAST % "first = 0")),
            "stage 2: entrants_from 1: first: expected 1 or more, got 0",
        ),
        (
            season(EAST, final(FROM_EAST % 'first = 2, by = "elo"')),
            "stage 2: entrants_from 1: by: expected 'table' or 'ratings', got 'elo'",
        ),
        (
            season(EAST + "rated = false\n", final(FROM_EAST % 'first = 2, by = "ratings"')),
            'stage 2: entrants_from: expected by = "table", because league-east is not rated',
        ),
        (
            season(EAST, final("entrants_from = { stage = 3, first = 2 }")),
            "stage 2: entrants_from 1: stage: expected the name of a stage, or a list of them, got 3",
        ),
        (
            season(EAST, final('entrants_from = { stage = ["east", "east"], first = 2 }')),
            "stage 2: entrants_from 1: stage: expected each stage once, got ['east', 'east']",
        ),
        # An unknown stage; one below it, which would be a cycle; itself.
        (
            season(EAST, final('entrants_from = { stage = "west", first = 2 }'), WEST),
            "stage 2: entrants_from: expected a stage above 'final', got 'west'; above it there are: east",
        ),
        (
            season(final('entrants_from = { stage = "final", first = 2 }')),
            "stage 1: entrants_from: expected a stage above 'final', got 'final'; above it there are: none",
        ),
        (
            season(EAST, final(FROM_EAST % "first = 5")),
            "stage 2: entrants_from: expected first up to 4, the bots of 'east', got 5",
        ),
        (
            season(EAST, final(FROM_EAST % "first = 3, after = 2")),
            "stage 2: entrants_from: expected first up to 2, the bots of 'east' behind 2, got 3",
        ),
        (
            season(EAST, final(FROM_EAST % "after = 4")),
            "stage 2: entrants_from: expected after below 4, the bots of 'east', got 4",
        ),
        # Too few or too many for the format, and a key of the stage.
        (
            season(EAST, final(FROM_EAST % "first = 1")),
            "stage 2: bot: expected at least 2, for 2 seats, got 1",
        ),
        (
            season(EAST, final(f'format = "groups"\ngroups = 2\n{FROM_EAST % "first = 4"}')),
            "stage 2: groups: expected at most 1 for 4 bots, so that each group has 3, got 2",
        ),
        (season(EAST, final("roundz = 3")), "stage 2: roundz: unknown key; did you mean 'rounds'?"),
        (season(EAST, final('format = "x"')), "stage 2: format: expected one of round-robin, "),
    ],
)
def test_a_mistake(text: str, line: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    said = str(caught.value).removeprefix(f"{tmp_path / 'c.toml'}: ")
    assert said.startswith(line)
    assert "\n" not in said


def test_a_command_for_one_contest_takes_no_season(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(season(EAST))
    with pytest.raises(ConfigError) as caught:
        load_contest(tmp_path / "c.toml")
    assert str(caught.value).endswith(
        "stage: expected a file of one contest here, got one of stages; "
        "arena serve, tournament and simulate play one"
    )
