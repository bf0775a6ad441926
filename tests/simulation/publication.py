"""What can be read of a simulated contest besides its connections: its disk as a database, and every reader.

Pages, commands and exports are the real ones, over a database that the real store has written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.server.programs import Outcome, inside
from tests.simulation.bots import Spectator
from tests.simulation.disk import ENTRIES, RECORD, Written
from tests.simulation.shown import OVER
from tests.simulation.world import Part, World

from arena_protocol.record import VOID, GameRecord
from arena_protocol.record_codec import decode
from arena_server.core.formats import format_of
from arena_server.core.life import RUNNING
from arena_server.stats.durations import Durations
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import ContestHeader
from arena_server.store.journal import unpack
from arena_server.terms.config import game_of
from arena_server.web.archive import Archive
from arena_server.web.documents import stored_record_json
from arena_server.web.metrics import ContestSnapshot, Snapshot, exposition
from arena_server.web.shown_results import NotFoundError

#: The commands that print or write something about a contest, in the folder of its database.
COMMANDS = (
    ("standings", "--json"),
    ("verify", "--json"),
    ("export", "records", "--json"),
    ("export", "objects", "--format", "json"),
    ("export", "tables", "--format", "csv"),
    ("site", "public"),
)
#: The page and the files of one game, which may not name its players while the contest is anonymous.
_OF_A_GAME = re.compile(r"(the page of |/)g\d+\b")


def write(
    world: World,
    path: Path,
    status: str,
    at: Callable[[int], object] = lambda moment: None,
    writes: Sequence[Written] | None = None,
    part: Part | None = None,
) -> None:
    """Write what `world` has on its disk into a new database, as its server leaves it.

    `at` is called with the moment of each write before it. `writes`: these alone, of those on the disk.
    `part`: this contest of the world, behind those of the database; None: its first.
    """
    header = header_of(part or world.parts[0])
    config = header.config
    at(0)
    with ContestStore(path) as store:
        store.find(header)
        with store.transaction():
            store.enter(header, config)
        for written in world.server.disk.durable(config.name) if writes is None else writes:
            at(written.at)
            with store.transaction():
                if written.kind == ENTRIES:
                    store.add(unpack(written.data), [])
                else:
                    record = decode(written.data)
                    store.add([], [(record.game_id, record, written.data)])
        at(world.server.ended_at.get(config.name, 0))
        with store.transaction():
            if status != RUNNING:
                store.end(status)
        store.sync()


def header_of(part: Part) -> ContestHeader:
    """What a server finds, or begins, the contest by."""
    plan = part.plan
    names = [name for name, kind in plan.kinds.items() if kind is not Spectator and name not in plan.late]
    rules = game_of(plan.config)
    total = format_of(plan.config, names, rules.seats).total or 0
    return ContestHeader(plan.config, rules.options(), names, total, new=False)


def channels(path: Path, games: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """Everything that may be read of the contest in this database, by channel; `games` have a bot each."""
    archive = Archive(path)
    yield "the page", repr((archive.contests(), archive.contest(1))).encode()
    yield "the page", archive.games(1, 0) + archive.schedule(1, 0)
    for game in games:
        try:
            data = archive.record(1, game)
            yield f"the page of {game}", data + repr(stored_record_json(data)).encode()
        except NotFoundError as error:
            yield f"the page of {game}", str(error).encode()
    game, bot = next(reversed(games.items()))
    replays = [("replay", game, "--json") for game in games]
    for command in (*COMMANDS, *replays, ("why", game, "--bot", bot, "--json")):
        yield f"arena {' '.join(command)}", _said(inside(*command, cwd=path.parent))
    for folder in ("records", "objects", "tables", "public/api"):
        for file in (path.parent / folder).rglob("*"):
            if file.is_file():
                yield f"{folder}/{file.name}", file.read_bytes()


def check_pairs(world: World, path: Path, records: Sequence[GameRecord]) -> None:
    """No game is named beside another one before every game on their deal has a result."""
    # The rows of the database have times of the wall: no delay hides them a century later.
    archive = Archive(path, lambda: datetime(2126, 1, 1))
    try:
        rows = json.loads(archive.pairs(1, 0))
    except NotFoundError:
        world.checker.require(world.config.deals != "paired", "the page has no pairs of paired deals")
        return
    known = {record.game_id: record for record in records}
    final = world.server.finished is not None
    for name, others in rows:
        games = [known[each] for each in (name, *others)]
        world.checker.require(len({game.seed for game in games}) == 1, f"{name}: {others} have other deals")
        over = sum(game.end != VOID for game in games) >= len(games[0].names)
        world.checker.require(over or final, f"{name} is shown with {others} before its deal is played")


def _metrics(world: World) -> bytes:
    progress = world.contest.status.progress() if world.server.alive else None
    counts = world.checker.metrics.counts()
    contest = ContestSnapshot({"contest": world.config.name}, counts, Durations(), progress)
    return exposition(Snapshot([contest], connections=0, cap=0))[0]


def _said(outcome: Outcome) -> bytes:
    assert "Traceback" not in outcome.err, outcome.err
    return f"{outcome.out}\n{outcome.err}".encode()


def publish(world: World, status: str) -> None:
    """Run every reader over the contest as it is on the disk now."""
    durable = world.server.disk.durable(world.config.name)
    records = [decode(data) for kind, data, *_ in durable if kind == RECORD]
    games = {record.game_id: record.names[0] for record in records}
    if not games:
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "arena.db"
        write(world, path, status)
        for channel, data in channels(path, games):
            world.checker.leaks.left(channel, data, world.queue.now)
            if status not in OVER and _OF_A_GAME.search(channel):
                world.checker.hidden.shown(data, channel)
        world.checker.leaks.left("the metrics", _metrics(world), world.queue.now)
        check_pairs(world, path, records)


def publish_every(world: World, period: Callable[[], int]) -> None:
    """Publish when the contest ends or its server begins again, and after each `period` in ns meanwhile."""
    world.server.looked_at = lambda name, status: publish(world, status)

    def again() -> None:
        if world.server.finished is None:
            publish(world, RUNNING)
            world.queue.after(period(), again)

    world.queue.after(period(), again)
