"""The rounds of a Swiss beside those of bbpPairings, which has the Dutch system, by what both ask for.

The program is built from its source (repository BieremaBoyzProgramming/bbpPairings) and found as
`bbpPairings` or `bbpPairings.exe` in PATH; without it these tests are skipped. What was measured is in
docs/swiss.md.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from tests.server.core.formats.drawn import Field
from tests.server.core.formats.swiss_twin import strengths, sums
from tests.server.core.formats.test_rounds import bots

from arena_server.core.formats.swiss import Swiss, SwissDraw
from arena_server.core.formats.swiss_pairing import Candidate
from arena_server.terms.formats import OptionValue, Terms

from .test_trf import trf

PROGRAM = shutil.which("bbpPairings") or shutil.which("bbpPairings.exe")
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(PROGRAM is None, reason="bbpPairings is not in PATH"),
]
Pairs = list[tuple[str, ...]]


def theirs(field: Field, folder: Path) -> Pairs | None:
    """The next round by the program; None: it has none. A bye is alone."""
    path = folder / "now.trf"
    path.write_text(trf(field) + "XXC white1\n", encoding="ascii")
    done = subprocess.run(
        [str(PROGRAM), "--dutch", path, "-p"], capture_output=True, encoding="ascii", check=False
    )
    if done.returncode == 1:
        return None
    assert done.returncode == 0, done.stderr
    names = field.form.terms.seeds
    lines = (tuple(map(int, line.split())) for line in done.stdout.splitlines()[1:])
    return [tuple(names[number - 1] for number in line if number) for line in lines]


def quality(players: list[Candidate], pairs: Pairs) -> tuple[int, ...]:
    """The sums of docs/swiss.md: seats, scores, owner, wishes, order."""
    rest = [each for each in players if (each.name,) not in pairs]
    places = {each.name: place for place, each in enumerate(rest)}
    met = [sorted(places[name] for name in pair) for pair in pairs if len(pair) == 2]
    return sums(rest, tuple((a, b) for a, b in met))


def compare(seed: int, folder: Path, counts: Counter[str], **options: OptionValue) -> None:
    """Play a random tournament by our rounds, and count what the program would have drawn instead."""
    rng = Random(seed)
    strength = strengths(rng.randint(6, 40), rng)

    def play(names: tuple[str, ...], rng: Random) -> tuple[int, ...]:
        ahead = strength[names[0]] - strength[names[1]] + rng.gauss(0, 1)
        return (1, 1) if abs(ahead) < 0.3 else (int(ahead > 0), int(ahead < 0))

    field = Field(Swiss, Terms(tuple(strength), 2, 1, options=options, secret=seed), rng, play)
    for name in bots(len(strength)):
        field.enter(name)
    while (draw := field.form.draw_due(())) is not None:
        assert isinstance(draw, SwissDraw)
        found, drawn = theirs(field, folder), draw.run()
        counts["rounds"] += 1
        counts["no round"] += found is None
        if found is not None:
            count_round(list(draw.players), [*drawn.groups], found, counts)
            if drawn.draw == 1:  # the seats of equal wishes go by tables, and there by numbers
                assert set(map(frozenset, drawn.groups)) == set(map(frozenset, found))
        field.next_round()
        while field.running or field.form.draws.is_open:
            field.running.extend(iter(field.form.next, None))
            field.end()


def count_round(players: list[Candidate], ours: Pairs, theirs: Pairs, counts: Counter[str]) -> None:
    own, other = quality(players, ours), quality(players, theirs)
    mine, others = {frozenset(each) for each in ours}, {frozenset(each) for each in theirs}
    byes, other_byes = ([each for each in pairs if len(each) == 1] for pairs in (ours, theirs))
    counts["rounds with a bye"] += bool(byes)
    counts["same bye"] += bool(byes) and byes == other_byes
    counts["same round"] += mine == others
    counts["pairs"] += len(mine)
    counts["same pairs"] += len(mine & others)
    both = {frozenset(each): each for each in ours}
    counts["same seats"] += sum(both.get(frozenset(each)) == each for each in theirs)
    if byes == other_byes:
        counts["comparable"] += 1
        counts["same scores"] += own[1] == other[1]
        counts["worse scores"] += own[:2] > other[:2]
        counts["worse"] += own > other


@pytest.mark.parametrize("options", [{}, {"acceleration": "baku"}])
@pytest.mark.soak
def test_rounds_of_the_dutch_system_are_not_better(options: dict[str, OptionValue], tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for seed in range(20):
        compare(seed, tmp_path, counts, **options)
    assert counts["worse"] == 0
