"""A simulated season: who comes into a stage, when it begins, and the same result each time."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from tests.slices import rows

from arena_server.host.forecast import Pace
from arena_server.host.season_forecast import SeasonForecast, StageLimits, forecast_season
from arena_server.terms.stages import SeasonStage, load_stages

FORMATS = {
    "round-robin": "",
    "gauntlet": "challengers = 1",
    "groups": "groups = 1\nadvance = 2",
    "knockout": "",
    "double-elimination": "",
    "ladder": "",
    "swiss": "rounds = 2",
}
RULES = {
    'entrants_from = { stage = ["one", "side"], first = 2 }': 4,
    'entrants_from = { stage = "one", after = 1, by = "ratings" }': 3,
    'entrants_from = [{ stage = "side", after = 2 }, { stage = "one", first = 3 }]': 4,
}


def season(folder: Path, form: str, rule: str) -> list[SeasonStage]:
    names = ("a1", "a2", "a3", "a4", "b1", "b2", "b3")
    bots = "".join(f'[[bot]]\nname = "{name}"\n' for name in names)
    path = folder / "c.toml"
    path.write_text(
        '[contest]\nname = "s"\ngame = "tictactoe"\ngames_per_pair = 2\n'
        f'[[stage]]\nname = "one"\nformat = "{form}"\n{FORMATS[form]}\nbots = ["a1", "a2", "a3", "a4"]\n'
        '[[stage]]\nname = "side"\nbots = ["b1", "b2", "b3"]\n'
        f'[[stage]]\nname = "two"\nformat = "{form}"\n{FORMATS[form]}\n{rule}\n'
        f'[[stage]]\nname = "three"\nentrants_from = {{ stage = "two", first = 2 }}\n{bots}'
    )
    return load_stages(path)


# 7 formats have no common divisor with 3: each of them stands in a row.
@pytest.mark.parametrize(("rule", "form"), rows(product(RULES, FORMATS), 3))
def test_each_stage_gets_its_bots_from_those_before(form: str, rule: str, tmp_path: Path) -> None:
    stages = season(tmp_path, form, rule)

    def simulated() -> SeasonForecast:
        return forecast_season(stages, [StageLimits(2_000)] * 4, Pace(move_ms=5), seed=3, runs=2)

    found = simulated()
    assert found == simulated()
    assert [stage.stage for stage in found.stages] == ["one", "side", "two", "three"]
    one, side, two, three = found.stages
    assert [each.bots.p50 for each in found.stages] == [4, 3, RULES[rule], 2]
    assert (one.begins.p90, side.begins.p90) == (0, 0)
    assert two.begins.p50 >= one.ends.p10
    assert three.begins == two.ends
    assert found.duration.p50 >= max(three.ends.p50, side.ends.p50)
    assert two.forecast.is_open is (form == "ladder")
    assert side.forecast.games.p50 == 6


def test_the_number_of_runs_follows_from_the_games(tmp_path: Path) -> None:
    stages = season(tmp_path, "round-robin", next(iter(RULES)))[:2]
    found = forecast_season(stages, [StageLimits(1_000, 0.5)] * 2, Pace(move_ms=5), seed=1)
    assert found.runs == 100
    slow, fast = (
        forecast_season(stages, [StageLimits(1_000, cores)] * 2, Pace(move_ms=5), seed=1, runs=5)
        for cores in (0.5, None)
    )
    assert slow.duration.p50 > fast.duration.p50
