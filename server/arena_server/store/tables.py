"""The tables of a database of results, as typed models. It must not know: who writes or reads them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, ForeignKey, LargeBinary, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column

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
