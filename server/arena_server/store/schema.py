"""The tables of a database of results: SQLAlchemy models, and builders of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    ForeignKey,
    Index,
    LargeBinary,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column

from arena_protocol.record import FaultRecord, GameRecord, time_used
from arena_server.core.life import ENDINGS, RUNNING
from arena_server.store.database import ContestHeader
from arena_server.store.preflight import config_json
from arena_server.terms.config import SINGLE, ContestConfig

STATUSES = (RUNNING, *ENDINGS)


class Base(MappedAsDataclass, DeclarativeBase, kw_only=True):
    """All tables; times are UTC without a zone, lists are JSON."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        list[str]: JSON,
        list[int]: JSON,
        list[int] | None: JSON(none_as_null=True),
        list[str | None] | None: JSON(none_as_null=True),
        dict[str, str]: JSON,
        dict[str, Any]: JSON,
    }


class ContestRow(Base):
    """One contest of `games` games, 0 if it is open.

    `seed` is text, because it may have 128 bits; it reveals all deals.

    `config` is what has to be the same when the contest goes on (`preflight.config_json`). `head` is
    the head of the records' hash chain (`chain.py`), set when the contest ends.
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
    config: Mapped[dict[str, Any]]
    started_at: Mapped[datetime]
    checksum: Mapped[bytes] = mapped_column(LargeBinary)
    ended_at: Mapped[datetime | None] = mapped_column(default=None)
    status: Mapped[str] = mapped_column(default=RUNNING)
    head: Mapped[bytes | None] = mapped_column(LargeBinary, default=None)

    @property
    def total(self) -> int | None:
        """How many games are to be played; None: the contest is open."""
        return self.games or None

    @property
    def teams(self) -> int:
        """How many bots of an owner count in the table of teams; 0: there is none."""
        return int(self.config.get("teams") or 0)

    @property
    def about(self) -> dict[str, Any]:
        """What people read of it (`terms/about.py`)."""
        return dict(self.config.get("about", {}))

    @property
    def is_rated(self) -> bool:
        """Whether ratings may be made of its games."""
        return bool(self.config.get("rated", True))

    @property
    def lets_guess(self) -> bool:
        """Whether visitors of the page may guess the moves of running games."""
        return bool(self.config.get("guesses", True))

    @property
    def is_played_on(self) -> bool:
        """Whether it is the game of a visitor on the deal of another one, from a ply of that."""
        return self.format == SINGLE and bool(self.config.get("played_on"))

    @property
    def called(self) -> dict[str, str]:
        """What the pages call the players of a visitor's game whose names are none of the protocol."""
        details = self.config.get("details", {}) if self.format == SINGLE else {}
        return {name: said[0] for name, said in details.items() if said[0]}

    @property
    def is_paired(self) -> bool:
        """Whether each deal is played from every seat."""
        return self.config.get("deals") == "paired"

    @property
    def is_anonymous(self) -> bool:
        """Whether others than the organiser do not see who plays whom before it is over."""
        return bool(self.config.get("anonymous", False))

    @property
    def delay_ms(self) -> int:
        """How much later than its players spectators see what happens."""
        return int(self.config.get("spectator_delay_ms", 0))

    @property
    def origin(self) -> dict[str, Any]:
        """Where its entrants come from (`stats.qualifying.origin_of`); empty for most contests."""
        return dict(self.config.get("origin", {}))

    @property
    def archive(self) -> dict[str, Any] | None:
        """Where its games are if they are not here: `file`, and their number `games` (`archiving.py`)."""
        return self.config.get("archive")


class BotRow(Base):
    """An entrant of a contest, in the order of the configuration."""

    __tablename__ = "bots"
    __table_args__ = (UniqueConstraint("contest_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"))
    name: Mapped[str]


class GameRow(Base):
    """A game that is over. `record` decides; the other columns repeat it for queries.

    `place`, from 1 in the order of storing, and `chain` are the record's link in the hash chain of
    its contest (`chain.py`). `used_ms` and `agents` are by seat, and None of a game that a version with
    an earlier layout has stored: what a bot calls its program is here alone.
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
    checksum: Mapped[bytes] = mapped_column(LargeBinary)
    used_ms: Mapped[list[int] | None] = mapped_column(default=None)
    agents: Mapped[list[str | None] | None] = mapped_column(default=None)


class PairingRow(Base):
    """On which deal a game was played: number `deal` of those of its players, sorted and joined by commas.

    It is what the fact `Offered` says. A record has it too: its seed follows from the contest's, the players
    and this number (`core/deal.py`), so `arena verify` finds a changed row.
    """

    __tablename__ = "pairings"
    __table_args__ = (Index("pairings_deal", "contest_id", "players", "deal"),)

    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), primary_key=True)
    game_id: Mapped[str] = mapped_column(primary_key=True)
    players: Mapped[str]
    deal: Mapped[int]


class FaultRow(Base):
    """A fault in a game, with the line that the bot sent. `bot_id` is None for the server's own."""

    __tablename__ = "faults"

    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    game_pk: Mapped[int] = mapped_column(ForeignKey("games.id"), index=True)
    bot_id: Mapped[int | None] = mapped_column(ForeignKey("bots.id"))
    seat: Mapped[int]
    ply: Mapped[int]
    kind: Mapped[str]
    line: Mapped[bytes] = mapped_column(LargeBinary)


class JournalRow(Base):
    """Entries of an unfinished contest (`core/journal.py`), packed by `journal.pack`.

    `place` numbers the rows of a contest without gaps. The oldest are deleted once newer ones hold all
    of their entries that still matter.
    """

    __tablename__ = "journal"

    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    #: Not indexed: a row is written every few plies, and rows are read only when a server starts.
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"))
    place: Mapped[int]
    payload: Mapped[bytes] = mapped_column(LargeBinary)


class FactRow(Base):
    """An entry of the journal that readers need and that outlives it (`core.journal.KEPT`).

    `place` numbers those of a contest from 1, in their order. The journal has an entry first: it is there
    alone until the writer's thread has come to it, or the next server.
    """

    __tablename__ = "facts"

    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True)
    payload: Mapped[bytes] = mapped_column(LargeBinary)


class ContestWriter(Base):
    """The mark of the server that plays a contest, or played it last (`fence.Fence`)."""

    __tablename__ = "writers"

    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), primary_key=True)
    writer: Mapped[str]


def now() -> datetime:
    """UTC without a zone, as in all tables."""
    return datetime.now(UTC).replace(tzinfo=None)


def plain_time(moment: datetime | None) -> str | None:
    """A moment of the tables as the documents have it."""
    return None if moment is None else moment.isoformat(timespec="seconds") + "Z"


def checksum(table: str, *values: object) -> bytes:
    """SHA-256 over values of a row, so that readers detect a changed column."""
    return sha256(repr((table, *values)).encode()).digest()


def contest_checksum(contest: ContestRow) -> bytes:
    """Over every column, whatever the contest's status."""
    head = None if contest.head is None else bytes(contest.head)
    return checksum("contest 5", *_fixed_columns(contest), contest.status, contest.ended_at, head)


def contest_checksum_4(contest: ContestRow) -> bytes:
    """That of layout 4: over the columns that do not change when the contest ends."""
    return checksum("contest", *_fixed_columns(contest))


def _fixed_columns(contest: ContestRow) -> Iterator[object]:
    for name in _CONTEST_COLUMNS:
        value = getattr(contest, name)
        yield sorted(value.items()) if isinstance(value, dict) else value


def set_status(contest: ContestRow, status: str, ended_at: datetime | None, head: bytes | None) -> None:
    """Change what changes of a contest, and its digest."""
    contest.status, contest.ended_at, contest.head = status, ended_at, head
    contest.checksum = contest_checksum(contest)


def set_total(contest: ContestRow, games: int) -> None:
    """Change how many games there are, and the digest."""
    contest.games = games
    contest.checksum = contest_checksum(contest)


def set_about(contest: ContestRow, about: Mapping[str, Any]) -> None:
    """Change what people read of it, and the digest."""
    if contest.about != dict(about):
        contest.config = {**contest.config, "about": dict(about)}
        contest.checksum = contest_checksum(contest)


def set_archive(contest: ContestRow, file: Path, games: int) -> None:
    """Have it that the games of a contest are in another file, and change the digest."""
    contest.config = {**contest.config, "archive": {"file": str(file), "games": games}}
    contest.checksum = contest_checksum(contest)


_CONTEST_COLUMNS = (
    *("name", "game", "options", "format", "games_per_pair", "games", "scoring", "seed"),
    *("clock_ms", "increment_ms", "margin_ms", "software", "config", "started_at"),
)


def game_checksum(game: Any, faults: Sequence[tuple[int, int, str, bytes]]) -> bytes:
    """Over every column but `record`, which `chain` covers; `faults` are (seat, ply, kind, line)."""
    columns = (game.contest_id, game.game_id, list(game.names), list(game.totals), game.end, game.plies)
    rest = (game.stored_at, game.place, bytes(game.chain), list(faults))
    added = () if game.used_ms is None and game.agents is None else (game.used_ms, game.agents)
    return checksum("game", *columns, *rest, *added)


def contest_row(header: ContestHeader, config: ContestConfig) -> ContestRow:
    contest = ContestRow(
        name=config.name,
        game=config.game,
        options=dict(header.options),
        format=config.format,
        games_per_pair=config.games_per_pair,
        games=header.games,
        scoring=config.scoring,
        seed=str(config.seed),
        clock_ms=config.clock_ms,
        increment_ms=config.increment_ms,
        margin_ms=config.margin_ms,
        software=config.software,
        config=config_json(config, header.names),
        started_at=now(),
        checksum=b"",
    )
    contest.checksum = contest_checksum(contest)
    return contest


def game_row(
    contest: int,
    game_id: str,
    record: GameRecord,
    data: bytes,
    link: tuple[int, bytes],
    agents: Sequence[str | None] = (),
) -> dict[str, Any]:
    """`data` is the encoded record, `link` its place and value in the hash chain."""
    row = {
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
        "used_ms": list(time_used(record.plies, len(record.names))),
        "agents": list(agents),
    }
    faults = [(fault.seat, fault.ply, str(fault.kind), fault.line) for fault in record.faults]
    return {**row, "checksum": game_checksum(SimpleNamespace(**row), faults)}


def pairing_row(contest: int, game_id: str, names: Sequence[str], deal: int) -> dict[str, Any]:
    return {"contest_id": contest, "game_id": game_id, "players": players_of(names), "deal": deal}


def players_of(names: Sequence[str]) -> str:
    """The players of a game in any order of the seats, as `PairingRow` has them."""
    return ",".join(sorted(names))


def fault_row(game: int, names: Sequence[str], bots: Mapping[str, int], fault: FaultRecord) -> dict[str, Any]:
    """`game` is the game's row, `names` are those of its seats, `bots` maps all names to their rows."""
    bot = bots[names[fault.seat - 1]] if fault.seat else None
    fields = {"seat": fault.seat, "ply": fault.ply, "kind": str(fault.kind), "line": fault.line}
    return {"game_pk": game, "bot_id": bot, **fields}
