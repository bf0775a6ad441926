"""Nothing is shown before its time on any channel.

At random moments of a simulated contest two databases are written: with all that is durable, and with what
may be seen then by the oracle's rule (`shown.py`). No address of the site, and no file that a command writes
for the public, may tell the one from the other. Lines to spectators and of live pages are judged one by one.
Of an anonymous contest the second database knows of no game and no draw until the contest is over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.simulation.bots import HONEST, Honest, Malformed, Spectator
from tests.simulation.disk import ENTRIES, RECORD, Written
from tests.simulation.invariants import Violation
from tests.simulation.network import LOCAL, MS, SECOND, seeded
from tests.simulation.process import SimulatedProcess
from tests.simulation.public import COMMANDS, site, written
from tests.simulation.publication import write
from tests.simulation.scenario import LIMIT, with_terms
from tests.simulation.shown import OVER, Cut
from tests.simulation.test_endings import FORMATS
from tests.simulation.wall import BEGIN_MS, Wall
from tests.simulation.world import Order, World
from tests.slices import rows

from arena_cli import export
from arena_protocol.record import VOID
from arena_protocol.record_codec import decode
from arena_server.core import cut, deal, delivery
from arena_server.core.cut import shown_until
from arena_server.core.deal import number_of
from arena_server.core.events import Freeze
from arena_server.core.facts import Drawn, Repeat
from arena_server.core.formats import find_format
from arena_server.core.formats.history import History
from arena_server.core.journal import CONTEST, fact_of
from arena_server.core.life import RUNNING
from arena_server.store import deals, sum_reader
from arena_server.store.game_reader import GameReader
from arena_server.store.journal import pack, unpack
from arena_server.terms.config import ContestConfig
from arena_server.web import archive
from arena_server.web.archive import Archive

KINDS: dict[str, type[Honest]] = {
    "ann": HONEST[0],
    "bob": HONEST[1],
    "cid": HONEST[2],
    "dan": Malformed,
    "eye": Spectator,
}
BOTS = [name for name, kind in KINDS.items() if kind is not Spectator]
#: The facts that say who meets whom.
PAIRS = ("drawn", "walkover", "repeat", "paired")
#: How often the contest is looked at, and how many times at most while there is something to hide: in
#: `make test` and in `make soak`.
PERIODS, ONCE, MOST = (150 * MS, 900 * MS), 1, 3


def config_of(seed: int, rng: Random) -> tuple[ContestConfig, int | None]:
    """A contest with a delay or a freeze or both, and the moment of the freeze in ns."""
    form = sorted(FORMATS)[seed % len(FORMATS)]
    frozen_at = None if seed % 3 == 0 else rng.randrange(200, 2500) * MS
    delay = rng.choice((300, 2000)) if seed % 3 != 1 else 0
    config = ContestConfig(
        name="shown",
        seed=rng.getrandbits(128),
        format=form,
        format_options=dict(FORMATS[form]),
        options={"plies": 4, "lookahead": 2},
        games_per_pair=2,
        deals=rng.choice(("fresh", "paired")),
        absent_ms=120_000,
        clock_ms=60_000,
        spectator_delay_ms=delay,
        freeze_at_ms=None if frozen_at is None else BEGIN_MS + frozen_at // MS,
    )
    return config, frozen_at


def freeze(process: SimulatedProcess, name: str, at: int) -> None:
    """As the timekeeper does: at the beginning of each process what holds, then at the moment itself."""
    ago = process.queue.now - at
    if ago >= 0:
        process.feed(name, Freeze(ago))
    else:
        process.later(-ago, lambda: process.feed(name, Freeze(0)))


class Looks:
    """Looks at everything that is public of a contest; `commands` are those that are drawn from."""

    def __init__(
        self, world: World, wall: Wall, cut: Cut, rng: Random, commands: tuple[str, ...], most: int
    ) -> None:
        self._world, self._wall, self._cut, self._rng = world, wall, cut, rng
        self._commands = commands
        self._left = most
        #: How many results were there at a look, and how many of them might be seen, live and written.
        self.seen: list[tuple[int, int, int]] = []

    def begin(self) -> None:
        world = self._world
        world.server.looked_at = lambda name, status: self._look(status)

        def again() -> None:
            if world.server.finished is None:
                self._look(RUNNING)
                world.queue.after(self._rng.randrange(*PERIODS) // MS * MS, again)

        world.queue.after(200 * MS, again)

    def _look(self, status: str) -> None:
        name, now = self._world.config.name, self._world.queue.now
        over = status in OVER
        results = [each for each in self._world.server.disk.durable(name) if each.kind == RECORD]
        # Documents tell times in whole milliseconds.
        whole = now // MS * MS
        # Where running games are shown, too, an end is seen as late as a result.
        is_seen = over and self._cut.may(self._world.server.ended_at[name], whole, over=True)
        live = partial(self._cut.may_result, now=whole, over=is_seen)
        later = partial(self._cut.may_result, now=whole, over=over, live=False)
        counts = sum(live(each.at) for each in results), sum(later(each.at) for each in results)
        self.seen.append((len(results), *counts))
        if not over:
            # Of an anonymous contest draws are hidden, also before the first result.
            is_hidden = self._cut.anonymous or counts != (len(results),) * 2
            self._left -= is_hidden
            if self._left < 0 or not is_hidden:
                return  # there is nothing to hide, or it was looked for often enough
        games = [decode(each.data).game_id for each in results]
        read = partial(site, games=games, bots=BOTS)
        seen = status if is_seen else RUNNING
        self._compare("the site", (status, seen), live, read, self._table(results, live))
        command = self._rng.choice(self._commands)
        if command == "publish":
            self._compare("arena publish", (status, seen), live, partial(written, command=command))
        else:
            self._compare(f"arena {command}", (status, status), later, partial(written, command=command))

    def _compare(
        self,
        channel: str,
        statuses: tuple[str, str],
        may: Callable[[int], bool],
        read: Callable[[Path], Mapping[str, bytes]],
        table: list[list[Any]] | None = None,
    ) -> None:
        """Require that `read` finds the same in a database that has no more than what may be seen.

        `statuses` are that of the contest, and the one that is seen.
        """
        durable = self._world.server.disk.durable(self._world.config.name)
        # What was decided after a result follows from it, as the next round of a Swiss does.
        if self._cut.anonymous and statuses[1] not in OVER:
            seen = _without_games(durable)
        else:
            known = takewhile(lambda each: each.kind != RECORD or may(each.at), durable)
            seen = _without_hidden_repeats(known)
        found = []
        for writes, status in zip((durable, seen), statuses, strict=True):
            with TemporaryDirectory() as folder:
                path = Path(folder) / "arena.db"
                write(self._world, path, status, self._wall.set, writes)
                self._wall.set(self._world.queue.now)
                found.append(read(path))
        told, right = found
        for place in sorted(told.keys() | right.keys()):
            self._world.checker.leaks.left(f"{channel}, {place}", told.get(place, b""), self._world.queue.now)
            same = told.get(place) == right.get(place)
            self._world.checker.require(same, f"{channel}, {place}: more is shown than may be seen")
        if table is not None:
            document = json.loads(told["/api/v1/contests/1.json"].removeprefix(b"200 "))
            rows = sorted([row["bot"], row["games"]] for row in document["standings"])
            self._world.checker.require(rows == table, f"{channel} has {rows}, not {table}")

    def _table(self, results: list[Written], may: Callable[[int], bool]) -> list[list[Any]]:
        """Each bot with the number of its games, of the results that may be seen."""
        records = [decode(each.data) for each in results if may(each.at)]
        counted = [name for record in records if record.end != VOID for name in record.names]
        return [[name, counted.count(name)] for name in sorted(BOTS)]


def _without_games(writes: Iterable[Written]) -> list[Written]:
    """What says nothing of who plays whom: no game, no draw, no result."""
    kept = []
    for each in writes:
        if each.kind == ENTRIES:
            entries = unpack(each.data)
            plain = [entry for entry in entries if entry[0] == CONTEST and entry[1] not in PAIRS]
            kept.append(each._replace(data=pack(plain)))
    return kept


def _without_hidden_repeats(writes: Iterable[Written]) -> list[Written]:
    """Without the repeats of games whose records are not among them: a repeat is decided before."""
    kept = list(writes)
    void = {number_of(decode(each.data).game_id) for each in kept if each.kind == RECORD}
    for place, each in enumerate(kept):
        if each.kind == ENTRIES:
            facts = [(entry, fact_of(entry)) for entry in unpack(each.data)]
            shown = [entry for entry, fact in facts if not isinstance(fact, Repeat) or fact.void in void]
            kept[place] = each._replace(data=pack(shown))
    return kept


def play(
    seed: int, commands: tuple[str, ...] = tuple(COMMANDS), *, anonymous: bool = False, most: int = MOST
) -> Looks:
    """A contest that is looked at `most` times; if 0, only its lines are judged."""
    rng = seeded(seed)
    config, frozen_at = config_of(seed, rng)
    config = replace(with_terms(config), anonymous=anonymous)
    if anonymous:
        forms = [name for name in sorted(FORMATS) if find_format(name).BY_LOT]
        form = forms[seed % len(forms)]
        config = replace(config, format=form, format_options=dict(FORMATS[form]))
    orders = [Order(rng.randrange(3 * SECOND), verb) for verb in ("stop", "replay")]
    faults = replace(LOCAL, crash_one_in=400)
    wall = Wall()
    world = World(seed, config, KINDS, faults, orders=orders)
    cut = world.checker.shown.cut = Cut(config, frozen_at)
    if frozen_at is not None:
        world.server.begins = partial(freeze, name=config.name, at=frozen_at)
    looks = Looks(world, wall, cut, rng, commands, most)
    if most:
        looks.begin()
    with wall.in_place():
        world.run(LIMIT)
    assert not anonymous or world.checker.hidden.seen, "players are named"
    return looks


def check(seed: int, *, anonymous: bool = False, most: int = MOST) -> None:
    seen = play(seed, anonymous=anonymous, most=most).seen
    assert seen[-1][2] == seen[-1][0], "all is shown in the end"


@pytest.mark.parametrize(("seed", "most"), rows([(2, ONCE), (2, MOST)], 2))
def test_nothing_of_an_anonymous_contest_says_who_plays_whom(seed: int, most: int) -> None:
    check(seed, anonymous=True, most=most)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 160))
def test_the_same_in_many_anonymous_contests(seed: int) -> None:
    check(seed, anonymous=True)


@pytest.mark.parametrize(("seed", "most"), rows([(2, ONCE), (2, MOST), (3, MOST)], 3))
def test_nothing_is_shown_before_its_time(seed: int, most: int) -> None:
    check(seed, most=most)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 160))
def test_the_same_in_many_contests(seed: int) -> None:
    check(seed)


def _show_lines_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(delivery, "shown_until", lambda now, *terms, **more: now)


def _never_freeze_lines(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(delivery.Spectators, "freeze", lambda self, at: None)


def _show_all_on_the_page(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Archive, "_until", lambda self, results, contest: datetime(2030, 1, 1))


def never_freeze_results(patch: pytest.MonkeyPatch) -> None:
    def unfrozen(now: int, delay: int, frozen_at: int | None, **more: bool) -> int:
        return shown_until(now, delay, None, **more)

    patch.setattr(deals, "shown_until", unfrozen)


def _end_the_delay_with_the_contest(patch: pytest.MonkeyPatch) -> None:
    right = Archive.__init__

    def begin(self: Archive, *arguments: Any, **more: Any) -> None:
        right(self, *arguments, **more | {"live": False})

    patch.setattr(Archive, "__init__", begin)


def _take_every_draw(patch: pytest.MonkeyPatch) -> None:
    right = History._may_take
    patch.setattr(History, "_may_take", lambda self, fact: isinstance(fact, Drawn) or right(self, fact))


def _list_all_faults(patch: pytest.MonkeyPatch) -> None:
    right = GameReader.faults
    patch.setattr(GameReader, "faults", lambda self, contest, _, most: right(self, contest, 1 << 30, most))


def _count_hidden_results(patch: pytest.MonkeyPatch) -> None:
    """A record of paired deals is shown once the other game of its deal is stored, seen or not."""
    right = deals.Deals.may_show
    patch.setattr(deals.Deals, "may_show", lambda self, name, last=None: right(self, name))


def _export_everything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(export, "_seen", lambda results, contest: (None, 0))


#: What is found without a look.
OF_LINES = (_show_lines_at_once, _never_freeze_lines)


@pytest.mark.parametrize(
    ("seed", "broken", "command", "found"),
    rows(
        [
            (2, _show_lines_at_once, "publish", r"g\d+: '(GAME|PLAYED|OVER) .* is shown before its time"),
            (1, _never_freeze_lines, "publish", r"g\d+: '(GAME|PLAYED|OVER) .* is shown before its time"),
            (2, _show_all_on_the_page, "publish", "the site, .*: more is shown than may be seen"),
            (1, never_freeze_results, "publish", "the site, .*: more is shown than may be seen"),
            (3, _end_the_delay_with_the_contest, "publish", "the site, .*: more is shown than may be seen"),
            (8, _take_every_draw, "publish", "the site, .*: more is shown than may be seen"),
            (9, _list_all_faults, "publish", r"the site, /api/v1/contests/1/faults\.json: more is shown"),
            (
                112,
                _count_hidden_results,
                "publish",
                r"the site, .*/bots/0\.json: more is shown than may be seen",
            ),
            (2, _export_everything, "records", r"arena records, chain\.json: more is shown than may be seen"),
        ],
        every=9,
    ),
)
def test_a_channel_that_is_broken_on_purpose_is_found(
    seed: int,
    broken: Callable[[pytest.MonkeyPatch], None],
    command: str,
    found: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken(monkeypatch)
    with pytest.raises(Violation, match=found):
        play(seed, (command,), most=0 if broken in OF_LINES else MOST)


def _name_players(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(deal, "shown_names", lambda names, seat, **more: names)


def _name_opponents_to_bots(patch: pytest.MonkeyPatch) -> None:
    right = cut.shown_names

    def wrong(names: tuple[str, ...], seat: int, *, anonymous: bool) -> tuple[str, ...]:
        return right(names, seat, anonymous=anonymous and not seat)

    patch.setattr(deal, "shown_names", wrong)


def _name_in_results(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(deals, "may_name", lambda **more: True)


#: What is found without a look.
NAMED_IN_LINES = (_name_players, _name_opponents_to_bots)


def _show_draws(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(archive, "without_pairs", lambda facts: facts)


def _export_draws(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sum_reader, "without_pairs", lambda facts: facts)


@pytest.mark.parametrize(
    ("seed", "broken", "command", "found"),
    [
        (1, _name_players, "publish", "is shown .* in b'GAME g"),
        (1, _name_opponents_to_bots, "publish", "connection .* is shown .* in b'GAME g"),
        pytest.param(
            *(7, _name_in_results, "publish", "the site, .*: more is shown than may be seen"),
            marks=pytest.mark.soak,
        ),
        pytest.param(
            *(9, _show_draws, "publish", r"the site, .*/rounds\.json: more is shown"), marks=pytest.mark.soak
        ),
        pytest.param(
            *(9, _export_draws, "records", r"arena records, chain\.json: more is shown"),
            marks=pytest.mark.soak,
        ),
    ],
)
def test_a_channel_that_names_players_is_found(
    seed: int,
    broken: Callable[[pytest.MonkeyPatch], None],
    command: str,
    found: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken(monkeypatch)
    with pytest.raises(Violation, match=found):
        play(seed, (command,), anonymous=True, most=0 if broken in NAMED_IN_LINES else MOST)
