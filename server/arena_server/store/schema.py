"""The tables of a database of results, as typed models. It must not know: who writes or reads them.

What is written of a contest, a game and a fault, column by column. It must not know: connections, when.

SQLAlchemy engines over one database. It must not know: tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from sqlalchemy import (
    JSON,
    URL,
    Engine,
    ForeignKey,
    LargeBinary,
    UniqueConstraint,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column

from arena_protocol.record import FaultRecord, GameRecord
from arena_server.core.config import ContestPlan
from arena_server.store.database import BUSY_TIMEOUT_S, Database
from arena_server.store.preflight import is_sealed, plain_plan
from arena_server.store.writer import Opening

RUNNING, FINISHED, STOPPED = "running", "finished", "stopped"


class Base(MappedAsDataclass, DeclarativeBase, kw_only=True):
    """All tables; times are UTC without a zone, lists are JSON."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        list[str]: JSON,
        list[int]: JSON,
        dict[str, str]: JSON,
        dict[str, Any]: JSON,
    }


class Contest(Base):
    """One contest of `games` games. `seed` is text, for it may have 128 bits; it gives away all deals.

    `plan` is all that has to be the same when the contest is taken up again (`sameness.plain_plan`).
    `head` is that of the records' hash chain (`chain.py`), once the contest is over.
    """

    __tablename__ = "contests"

    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(index=True)
    game: Mapped[str]
    options: Mapped[dict[str, str]]
    format: Mapped[str]
    games_per_pair: Mapped[int]
    games: Mapped[int]
    scoring: Mapped[str]
    seed: Mapped[str]
    clock_ms: Mapped[int]
    increment_ms: Mapped[int]
    margin_ms: Mapped[int]
    software: Mapped[str]
    plan: Mapped[dict[str, Any]]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None] = mapped_column(default=None)
    status: Mapped[str] = mapped_column(default=RUNNING)
    head: Mapped[bytes | None] = mapped_column(LargeBinary, default=None)


class Bot(Base):
    """An entrant of a contest, in the order of the configuration."""

    __tablename__ = "bots"
    __table_args__ = (UniqueConstraint("contest_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"))
    name: Mapped[str]


class Game(Base):
    """A game that is over; `record` is the truth, the other columns are there to be queried.

    `place`, from 1 in the order of storing, and `chain` are the record's link in the hash
    chain of its contest (`chain.py`).
    """

    __tablename__ = "games"
    __table_args__ = (UniqueConstraint("contest_id", "game_id"), UniqueConstraint("contest_id", "place"))

    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"))
    game_id: Mapped[str]
    names: Mapped[list[str]]
    totals: Mapped[list[int]]
    end: Mapped[str]
    plies: Mapped[int]
    stored_at: Mapped[datetime]
    record: Mapped[bytes] = mapped_column(LargeBinary)
    place: Mapped[int]
    chain: Mapped[bytes] = mapped_column(LargeBinary)


class Fault(Base):
    """What a bot did wrong in a game, with the bytes it sent; `bot_id` None: the platform's own."""

    __tablename__ = "faults"

    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    game_pk: Mapped[int] = mapped_column(ForeignKey("games.id"), index=True)
    bot_id: Mapped[int | None] = mapped_column(ForeignKey("bots.id"))
    seat: Mapped[int]
    ply: Mapped[int]
    kind: Mapped[str]
    line: Mapped[bytes] = mapped_column(LargeBinary)


class JournalRow(Base):
    """Entries of an unfinished contest (`core/journal.py`) in the order of `id`: msgpack and its SHA-256.

    Rows go once newer ones hold all of theirs that still matters.
    """

    __tablename__ = "journal"

    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    #: Not indexed: a row is written for every few plies, and all rows are read at a start only.
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"))
    payload: Mapped[bytes] = mapped_column(LargeBinary)


def now() -> datetime:
    """The time as the tables have it: UTC without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def contest_row(opening: Opening, plan: ContestPlan) -> Contest:
    """A contest that begins."""
    return Contest(
        name=plan.name,
        game=plan.game,
        options=dict(opening.options),
        format=plan.format,
        games_per_pair=plan.games_per_pair,
        games=opening.games,
        scoring=plan.scoring,
        seed=str(plan.seed),
        clock_ms=plan.clock_ms,
        increment_ms=plan.increment_ms,
        margin_ms=plan.margin_ms,
        software=plan.software,
        plan=plain_plan(plan, opening.names),
        started_at=now(),
    )


def game_row(
    contest: int, game_id: str, record: GameRecord, data: bytes, link: tuple[int, bytes]
) -> dict[str, Any]:
    """A game that is over: its record, the same as bytes, and its place and value in the hash chain."""
    return {
        "contest_id": contest,
        "game_id": game_id,
        "names": list(record.names),
        "totals": list(record.totals),
        "end": record.end,
        "plies": len(record.plies),
        "stored_at": now(),
        "record": data,
        "place": link[0],
        "chain": link[1],
    }


def fault_row(game: int, names: Sequence[str], bots: Mapping[str, int], fault: FaultRecord) -> dict[str, Any]:
    """A fault in the game of row `game`; `names` are those of its seats, `bots` the rows of all bots."""
    bot = bots[names[fault.seat - 1]] if fault.seat else None
    fields = {"seat": fault.seat, "ply": fault.ply, "kind": str(fault.kind), "line": fault.line}
    return {"game_pk": game, "bot_id": bot, **fields}


def open_engine(database: Database, *, durable: bool = False) -> Engine:
    """An engine over `database`; a `durable` one is for the writer, which decides what waits for the disk.

    On SQLite neither its commits nor checkpoints wait by themselves, for each would hold up
    whoever commits by 4-16 ms. A server of PostgreSQL waits by default (synchronous_commit).
    """
    if not isinstance(database, Path):
        return create_engine(make_url(database.url).set(drivername="postgresql+psycopg"))
    url = URL.create("sqlite", database=str(database))
    if not durable and is_sealed(database):
        url = url.set(database=f"file:{quote(str(database))}").update_query_dict(
            {"immutable": "1", "uri": "true"}
        )
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S})
    if durable:
        event.listen(engine, "connect", _make_durable)
    return engine


def _make_durable(connection: Any, _record: object) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "wal_autocheckpoint=0", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()
