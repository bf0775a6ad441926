"""After each ending every channel tells the same table, ending and total, and nothing before its time.

The product of format, ending, freeze and restart: after each one the real store writes what the simulated
server has on its disk, and every channel is read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from tests.cli.reports import unpacked
from tests.server.programs import inside
from tests.simulation.crashes import HOUR, Steady
from tests.simulation.network import MS
from tests.simulation.publication import write
from tests.simulation.world import World

from arena_protocol.record import VOID
from arena_server.core.events import TimeUp
from arena_server.core.life import ENDINGS, RUNNING, STOPPED
from arena_server.terms.config import ContestConfig
from arena_server.terms.spec import Webhook
from arena_server.web.archive import Archive
from arena_server.webhooks.delivery import Cursors, Delivery
from arena_server.webhooks.message import Message

BOTS = ("ann", "bob", "cid", "dan")
FORMATS: Mapping[str, dict[str, int | str]] = {
    "round-robin": {},
    "gauntlet": {"challengers": 1},
    "groups": {"groups": 1, "advance": 2},
    "knockout": {},
    "ladder": {"games": 12},
    "swiss": {"rounds": 2},
}
#: Of two owners, whose bots never meet each other: of three rounds two can be drawn.
OWNERS = dict(zip(BOTS, "xxyy", strict=True))
SHORT: dict[str, int | str] = {"rounds": 3, "same_owner": "never"}
CONFIG = ContestConfig(
    name="end",
    seed=7,
    options={"plies": 2, "lookahead": 1},
    games_per_pair=2,
    absent_ms=1_000,
    storage_bytes=16,
    spectator_delay_ms=0,
)
#: When what ends the contest happens; all its games take longer.
SOON = 90 * MS


class Cell(NamedTuple):
    form: str
    ending: str
    frozen: bool
    restarted: bool


def when(world: World, call: Callable[[], bool]) -> None:
    """Soon, and at intervals until it returns True or the contest has ended: the server may be down."""

    def again() -> None:
        if world.server.finished is None and not (world.server.alive and call()):
            world.queue.after(50 * MS, again)

    world.queue.after(SOON, again)


def order(world: World, verb: str) -> bool:
    """One that a killed server has not carried out is given again."""
    if any(each.verb == verb for each in world.contest.status.overview().orders):
        return world.contest.ended is not None
    world.server.order("end", verb)
    return False


def time_up(world: World) -> bool:
    """Each server gets it again: it is no fact."""
    process = world.server.process
    process.call(partial(process.feed, "end", TimeUp()))
    return False


def stop(world: World) -> bool:
    world.server.order("end", "stop")
    return True


def suspend(world: World) -> bool:
    world.server.order("end", "suspend")
    return True


def kill(world: World) -> bool:
    world.server.crash()
    return True


#: What happens, and the endings to which it may lead.
HAPPENS: Mapping[str, tuple[Callable[[World], bool], tuple[str, ...]]] = {
    "all played": (lambda world: True, ("finished",)),
    "ends_at": (time_up, ("incomplete", "finished")),
    "absent": (lambda world: True, ("finished", "incomplete")),
    "drain": (partial(order, verb="drain"), ("stopped",)),
    "abort": (partial(order, verb="abort"), ("aborted",)),
    "stop": (stop, ("finished",)),
    "suspend": (suspend, ("finished",)),
    "kill": (kill, ("finished",)),
    "short": (lambda world: True, ("short",)),
}
CELLS = [
    Cell(*each)
    for each in product(FORMATS, HAPPENS, (False, True), (False, True))
    if each[1] != "short" or each[0] == "swiss"
]


# -- the channels


class Told(NamedTuple):
    """What a channel tells of a contest; None: it does not say that."""

    table: list[tuple[str, int, int]] | None
    ending: str | None
    total: int | str | None
    games: int


def of_document(document: Mapping[str, Any]) -> Told:
    rows = [(row["bot"], row["points"], row["games"]) for row in document["standings"]]
    return Told(rows, document["status"], document["games"], document["games_played"])


def run(folder: Path, *words: str) -> str:
    outcome = inside(*words, cwd=folder)
    assert outcome.code == 0, outcome
    return outcome.out


def page(folder: Path) -> Told:
    return of_document(Archive(folder / "arena.db", live=True).contest(1))


def published(folder: Path) -> Told:
    run(folder, "publish", "out")
    return of_document(json.loads((folder / "out" / "standings.json").read_text()))


def site(folder: Path) -> Told:
    run(folder, "site", "site")
    (path,) = (folder / "site").rglob("contests/1.json")
    return of_document(json.loads(path.read_text()))


def report(folder: Path) -> Told:
    run(folder, "report", "report.html")
    found = unpacked(folder / "report.html")
    (document,) = (text for name, text in found.items() if name.endswith("contests/1.json"))
    return of_document(json.loads(document))


def exported(folder: Path) -> Told:
    words = ("export", "records", "--format", "json", "--json")
    run(folder, *words)
    records = [json.loads(path.read_text()) for path in sorted((folder / "records").glob("g*.json"))]
    return of_games([(each["names"], each["totals"], each["end"]) for each in records])


def webhook(folder: Path) -> Told:
    sent: list[dict[str, Any]] = []

    def send(message: Message, seconds: int) -> None:
        sent.append(json.loads(message.body))

    hook, cursors = Webhook("https://example.org/", "a secret of the receiver"), Cursors(folder / "cursors")
    cursors.begin(hook, 0, None)
    delivery = Delivery(hook, 1, folder / "arena.db", "end", cursors, lambda event: None, send=send)
    while delivery.step() == 0:
        pass
    games = [each["game"] for each in sent if each["type"] == "game"]
    return of_games([(each["names"], each["totals"], each["end"]) for each in games])


def of_games(games: list[tuple[list[str], list[int], str]]) -> Told:
    """The sums of the games that count, by name."""
    points: Counter[str] = Counter()
    played: Counter[str] = Counter()
    counted = [(names, totals) for names, totals, end in games if end != VOID]
    for names, totals in counted:
        for name, total in zip(names, totals, strict=True):
            points[name] += total
            played[name] += 1
    return Told(sorted((name, points[name], played[name]) for name in played), None, "", len(counted))


#: Which of them are seen while the contest goes on, or could.
LIVE: dict[str, Callable[[Path], Told]] = {"page": page, "publish": published, "webhook": webhook}
WRITTEN: dict[str, Callable[[Path], Told]] = {"site": site, "report": report, "export": exported}


def check(world: World, folder: Path, status: str) -> None:
    """Compare every channel with the contest itself, at an ending or where its server is started again."""
    folder.mkdir()
    write(world, folder / "arena.db", status)
    frozen = world.config.freeze_at_ms is not None and status in (RUNNING, STOPPED)
    told = {name: channel(folder) for name, channel in (LIVE | WRITTEN).items()}
    if frozen:
        assert {name: each.games for name, each in told.items()} == dict.fromkeys(told, 0)
        return
    if not world.server.alive:  # the process that has ended knew more than its disk
        assert len({each.games for each in told.values()}) == 1
        return
    progress = world.contest.status.progress()
    table = [(row.name, row.points, row.games) for row in progress.standings]
    by_name = sorted(row for row in table if row[2])
    for name, each in told.items():
        assert each.games == progress.done, name
        assert (each.table in (table, by_name)) or (sorted(each.table or []) == sorted(table)), name
        if each.ending is not None:
            assert (each.table, each.ending, each.total) == (table, status, progress.total), name
    organiser = json.loads(run(folder, "standings", "--json"))
    assert [(row["bot"], row["points"], row["games"]) for row in organiser["standings"]] == table
    assert organiser["contest"]["status"] == status


def play(cell: Cell, folder: Path) -> None:
    freeze = int(datetime.now(UTC).timestamp() * 1000) - 3_600_000 if cell.frozen else None
    config = replace(CONFIG, format=cell.form, format_options=dict(FORMATS[cell.form]), freeze_at_ms=freeze)
    if cell.ending == "short":
        config = replace(config, format_options=SHORT, owners=OWNERS)
    byes: set[str] = set()

    class Player(Steady):
        def received(self, verb: str, tokens: list[str]) -> None:
            super().received(verb, tokens)
            if verb == "BYE":
                byes.add(tokens[1])

    world = World(1, config, dict.fromkeys(BOTS, Player))
    happens, endings = HAPPENS[cell.ending]
    looks: list[str] = []

    def look(name: str, status: str) -> None:
        check(world, folder / str(len(looks)), status)
        looks.append(status)

    world.server.looked_at = look
    when(world, partial(happens, world))
    if cell.restarted:
        world.queue.after(SOON - 20 * MS, world.server.crash)
    here = [name for name in BOTS if not (cell.ending == "absent" and name == "dan")]
    world.run(HOUR, dict.fromkeys(here, 0))
    last = looks[-1]
    assert last == world.server.finished
    assert last in endings, last
    assert (RUNNING in looks) == (cell.restarted or cell.ending in ("stop", "suspend", "kill"))
    assert (STOPPED in looks) == (cell.ending in ("stop", "suspend") or last == STOPPED)
    # Each was sent away with the ending, and with that of a server that was stopped before.
    quiet = (RUNNING, STOPPED) if cell.ending == "suspend" else (RUNNING,)
    told = {f"reason={status}" for status in looks if status not in quiet}
    # A server that is stopped right after a restart may have no bot to tell it.
    assert byes in (told, told - {"reason=stopped"} if cell.restarted else told)


def name_of(cell: Cell) -> str:
    words = (
        cell.form,
        cell.ending,
        "frozen" if cell.frozen else "open",
        "again" if cell.restarted else "once",
    )
    return " ".join(words)


def test_the_cells_have_every_ending() -> None:
    reached = {ending for _, endings in HAPPENS.values() for ending in endings}
    assert reached == set(ENDINGS)


@pytest.mark.parametrize("cell", Random(4).sample(CELLS, 1), ids=name_of)
def test_every_channel_tells_the_same(cell: Cell, tmp_path: Path) -> None:
    play(cell, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("cell", CELLS, ids=name_of)
def test_every_channel_tells_the_same_in_every_cell(cell: Cell, tmp_path: Path) -> None:
    play(cell, tmp_path)
