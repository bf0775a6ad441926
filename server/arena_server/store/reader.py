"""Reading a database: results for the commands, and an unfinished contest for the server that goes on."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from types import TracebackType
from typing import Any, Final, Self

from sqlalchemy import func, null, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from arena_protocol.codec import KEY, NAME, WORD
from arena_protocol.games import GAMES
from arena_protocol.record import FaultRecord, RecordError
from arena_server.core.deal import game_id, number_of
from arena_server.core.formats import find_format, make_format
from arena_server.core.formats.base import DrawnFormat, Format, Pairing
from arena_server.core.formats.history import History
from arena_server.core.formats.scheduled import Scheduled
from arena_server.core.journal import ContestFact, Entry, Joined, Left, Order, Past, PastGame, fact_of
from arena_server.core.standings import GameResult, Row, Standings
from arena_server.errors import StoreError
from arena_server.ratings import RatedGame, version_of
from arena_server.store.chain import GENESIS, verify_checksum
from arena_server.store.database import LAYOUT, Database, describe
from arena_server.store.deals import Deals, WithheldError
from arena_server.store.journal import unpack
from arena_server.store.preflight import ADDED, StoredContest, check_readable
from arena_server.store.schema import (
    FINISHED,
    STATUSES,
    BotRow,
    ContestRow,
    FactRow,
    FaultRow,
    GameRow,
    JournalRow,
    contest_checksum,
    contest_checksum_4,
    format_of_row,
    game_checksum,
    open_engine,
)

VOID = "void"


class Results:
    """A database of results, open for reading; use it in a `with` statement.

    Unless `losses_accepted`, it has all that was announced. The methods, and the end of the `with`
    statement, raise StoreError with one line for what is missing or cannot be read.
    """

    def __init__(self, database: Database, *, losses_accepted: bool = False) -> None:
        layout = check_readable(database, losses_accepted=losses_accepted)
        self._layout = int(layout)
        self._database = database
        self._engine = open_engine(database)
        self._session = Session(self._engine)
        self._deals: dict[int, Deals] = {}
        self._histories: dict[int, History] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.close()
        self._engine.dispose()
        if isinstance(error, DBAPIError):
            raise StoreError(describe(self._database, error.orig or error)) from None
        if isinstance(error, ValueError) and not isinstance(error, RecordError):
            # A column that is no JSON, no UTF-8 or no time.
            raise StoreError(f"{self._database}: the database is damaged ({error}); restore it") from None

    def contests(self) -> list[ContestRow]:
        """All contests, the oldest first."""
        return list(self._session.scalars(select(ContestRow).order_by(ContestRow.id)))

    def contest(self, selector: str | None = None) -> ContestRow:
        """The contest with this id, else the latest of this name; without a selector the latest of all."""
        found = self._find(selector)
        if found is None:
            known = ", ".join(f"{contest.id} {contest.name}" for contest in self.contests()[-10:])
            wanted = "contest" if selector is None else f"contest {selector!r:.40}"
            raise StoreError(f"{self._database}: no {wanted} here; there are: {known or 'none'}")
        check_contest_row(found)
        return found

    def _find(self, selector: str | None) -> ContestRow | None:
        if selector is not None and selector.isascii() and selector.isdigit() and len(selector) < 10:
            by_id = self._session.get(ContestRow, int(selector))
            if by_id is not None:
                return by_id
        query = select(ContestRow).order_by(ContestRow.id.desc()).limit(1)
        return self._session.scalar(query if selector is None else query.where(ContestRow.name == selector))

    def deals(self, contest: ContestRow) -> Deals:
        """Which deal each game of this contest has, and whether it may be shown."""
        if contest.id not in self._deals:
            self._deals[contest.id] = Deals(self._session, contest, earlier=self._layout < ADDED["pairings"])
        return self._deals[contest.id]

    def facts(self, contest: ContestRow) -> list[ContestFact]:
        """The facts of the contest that outlive its journal, in their order."""
        if self._layout < ADDED["facts"]:
            return []
        return [fact_of(entry) for entry in kept_entries(self._session, contest.id)]  # type: ignore[misc] # of the contest

    def orders(self, contest: ContestRow) -> list[Order]:
        """What the organiser has ordered."""
        return [fact for fact in self.facts(contest) if isinstance(fact, Order)]

    def planned(self, contest: ContestRow, first: int, end: int) -> list[Pairing]:
        """The games with the numbers `first` to `end - 1` of those that are planned, begun or not.

        Without those of bots that have left, all of which are played or void.
        """
        left: dict[str, bool] = {}
        for fact in self.facts(contest):
            if isinstance(fact, Left):
                left[fact.name] = fact.left
        planned = self._format(contest).planned(first, end)
        return [pairing for pairing in planned if not any(left.get(name) for name in pairing.names)]

    def last_planned(self, contest: ContestRow) -> int:
        """The highest number of a planned game; 0 if none is planned. Those between may be repeats."""
        form = self._format(contest)
        return form.next_number - 1 if isinstance(form, Scheduled) else 0

    def _format(self, contest: ContestRow) -> Format:
        """The games of a contest as planned, with those of its late entrants."""
        late = [fact for fact in self.facts(contest) if isinstance(fact, Joined)]
        form = format_of_row(contest)
        if not late or not isinstance(form, Scheduled):
            return form
        grown = make_format(form.NAME, form.terms)  # the other one is shared
        assert isinstance(grown, Scheduled)
        for joined in late:
            grown.join(joined.name, first=joined.first)
        return grown

    def games_played(self, contest: ContestRow) -> int:
        """The number of games with a result; void games do not count."""
        query = select(func.count()).where(GameRow.contest_id == contest.id, GameRow.end != VOID)
        return self._session.scalar(query.select_from(GameRow)) or 0

    def games_stored(self, contest: ContestRow) -> int:
        """The number of games with a record, void ones included."""
        query = select(func.max(GameRow.place)).where(GameRow.contest_id == contest.id)
        return self._session.scalar(query) or 0

    def table(self, contest: ContestRow, scoring: str | None = None) -> Standings:
        """The table of the games so far, by `scoring` or else as the contest scores them."""
        history = self.history(contest)
        table = table_of(contest, self.bots(contest), scoring, history)
        for game in _past_games(self._session, contest, self._layout):
            if game.end != VOID:
                table.add(GameResult(game.names, game.totals, game.faults, game.used_ms))
        return table

    def history(self, contest: ContestRow) -> History | None:
        """What was drawn, with all results; None: the format draws nothing."""
        history = history_of(contest)
        if history is not None and contest.id not in self._histories:
            # The results first: a fact is stored before the results that follow it.
            for game in _past_games(self._session, contest, self._layout, self.deals(contest).numbers()):
                history.add(game)
            history.extend(self.facts(contest))
            self._histories[contest.id] = history
        return self._histories.get(contest.id)

    def total(self, contest: ContestRow) -> int | None:
        """How many games there are, of a format that draws at most from now on; None: it is open."""
        history = self.history(contest)
        return contest.total if history is None else history.form.total

    def standings(self, contest: ContestRow, scoring: str | None = None) -> tuple[Row, ...]:
        """The rows of `table`."""
        return self.table(contest, scoring).rows()

    def rated_games(
        self, contest: ContestRow, *, versions: bool = False, until: datetime | None = None
    ) -> Iterator[RatedGame]:
        """Every game with a result, in the order of storing; the games on one deal are one pairing.

        With `versions` each version of a bot is a player of its own. `until` (UTC): those stored up to then.
        """
        numbers = self.deals(contest).numbers()
        for game in _past_games(self._session, contest, self._layout, numbers, until):
            if game.end != VOID:
                names = tuple(sorted(game.names)) if game.deal else game_id(game.number)
                players = game.names
                if versions and game.agents:
                    players = tuple(map(version_of, game.names, game.agents))
                yield RatedGame(players, game.totals, (contest.id, names, game.deal or None))

    def head(self, contest: ContestRow, until: datetime) -> bytes:
        """The value of the chain at the last record that was stored up to `until` (UTC)."""
        mine = select(GameRow.chain).where(GameRow.contest_id == contest.id, GameRow.stored_at <= until)
        found = self._session.scalar(mine.order_by(GameRow.place.desc()).limit(1))
        return GENESIS if found is None else bytes(found)

    def records(self, contest: ContestRow) -> Iterator[tuple[str, bytes | None]]:
        """The id and the encoded record of every game in the order of the schedule; None may not be shown."""
        query = select(GameRow.game_id, GameRow.record).where(GameRow.contest_id == contest.id)
        # g10 comes after g9.
        ordered = query.order_by(func.length(GameRow.game_id), GameRow.game_id)
        for row in self._session.execute(ordered.execution_options(yield_per=100)):
            yield row.game_id, row.record if self.deals(contest).may_show(row.game_id) else None

    def rows(
        self, contest: ContestRow, game_id: str | None = None, *, checked: bool = True, withheld: bool = False
    ) -> Iterator[dict[str, Any]]:
        """The row of each game, or of one, as a dictionary; `faults` are (seat, ply, kind, line).

        `digest` is the SHA-256 of the `record`, which is None if it may not be shown; `withheld` gives
        those too. Raises ValueError for a changed row, unless it is not `checked`: then that is up to the
        caller.
        """
        faults, names = _faults(self._session, contest), set(self.bots(contest))
        games = select(*_columns(self._layout)).where(GameRow.contest_id == contest.id)
        if game_id is not None:
            games = games.where(GameRow.game_id == game_id)
        ordered = games.order_by(func.length(GameRow.game_id), GameRow.game_id)
        for game in self._session.execute(ordered.execution_options(yield_per=100)):
            if checked:
                _check_game(contest, names, game, faults.get(game.id, []))
                verify_checksum(game.record)
            columns = ("game_id", "names", "totals", "end", "plies", "place", "chain", "used_ms")
            may_show = withheld or self.deals(contest).may_show(game.game_id)
            yield {
                **{key: getattr(game, key) for key in columns},
                "record": game.record if may_show else None,
                "digest": sha256(game.record).digest(),
                "faults": faults.get(game.id, []),
            }

    def bots(self, contest: ContestRow) -> list[str]:
        """The names of the entrants: those of the configuration in its order, then the late ones."""
        return _names(self._session, contest)

    def summaries(self, contest: ContestRow, after: int, until: datetime, limit: int) -> list[GameSummary]:
        """The games of rows beyond number `after`, stored up to `until` (UTC), at most `limit`, in order."""
        wanted = ("id", "game_id", "names", "totals", "end", "plies", "stored_at", "used_ms")
        columns = (column for column in _columns(self._layout) if column.name in wanted)
        games = select(*columns).where(GameRow.contest_id == contest.id, GameRow.id > after)
        shown = games.where(GameRow.stored_at <= until).order_by(GameRow.id).limit(limit)
        rows = self._session.execute(shown).all()
        faults: dict[int, list[tuple[int, int, str]]] = {}
        if rows:
            query = select(FaultRow.game_pk, FaultRow.seat, FaultRow.ply, FaultRow.kind).order_by(FaultRow.id)
            known = query.where(FaultRow.game_pk >= rows[0].id, FaultRow.game_pk <= rows[-1].id)
            for game, seat, ply, kind in self._session.execute(known):
                faults.setdefault(game, []).append((seat, ply, kind))
        names = set(self.bots(contest))
        for row in rows:
            _check_result(contest, names, row, faults.get(row.id, []))
        return [
            GameSummary(
                row.id,
                row.game_id,
                tuple(row.names),
                tuple(row.totals),
                row.end,
                row.plies,
                row.stored_at,
                tuple(faults.get(row.id, ())),
                tuple(row.used_ms or ()),
            )
            for row in rows
        ]

    def digests(self, contest: ContestRow, after: int, limit: int) -> list[bytes]:
        """The SHA-256 digests of the records at the places after `after` of the chain, at most `limit`.

        They prove a record and show nothing of it: each holds a nonce.
        """
        places = GameRow.place.between(after + 1, after + limit)
        query = select(GameRow.record).where(GameRow.contest_id == contest.id, places).order_by(GameRow.place)
        rows = self._session.scalars(query.execution_options(yield_per=100))
        return [sha256(record).digest() for record in rows]

    def stored_at(self, contest: ContestRow, game_id: str) -> datetime | None:
        """When the record of this game was stored (UTC); None if there is none."""
        query = select(GameRow.stored_at).where(GameRow.contest_id == contest.id, GameRow.game_id == game_id)
        return self._session.scalar(query)

    def first_faults(self, contest: ContestRow) -> dict[str, tuple[str, FaultRecord]]:
        """The first fault of each bot that has one, with the id of its game."""
        query = select(
            GameRow.game_id, GameRow.names, FaultRow.seat, FaultRow.ply, FaultRow.kind, FaultRow.line
        )
        joined = query.join(GameRow, FaultRow.game_pk == GameRow.id).order_by(FaultRow.id)
        first: dict[str, tuple[str, FaultRecord]] = {}
        for row in self._session.execute(
            joined.where(GameRow.contest_id == contest.id, GameRow.end != VOID, FaultRow.seat > 0)
        ):
            fault = FaultRecord(row.seat, row.ply, row.kind, row.line)
            first.setdefault(row.names[row.seat - 1], (row.game_id, fault))
        return first

    def faults(
        self, contest: ContestRow, until: datetime, limit: int
    ) -> list[tuple[str, list[str], FaultRecord]]:
        """The latest faults of bots in games stored up to `until` (UTC), the newest first, at most `limit`.

        Each with the id of its game and the names of its seats; `line` is empty where the record of the game
        may not be shown, because it can tell of the deal.
        """
        columns = (GameRow.game_id, GameRow.names, FaultRow.seat, FaultRow.ply, FaultRow.kind, FaultRow.line)
        query = select(*columns).join(GameRow, FaultRow.game_pk == GameRow.id).order_by(FaultRow.id.desc())
        mine = query.where(GameRow.contest_id == contest.id, GameRow.end != VOID, FaultRow.seat > 0)
        found = []
        for row in self._session.execute(mine.where(GameRow.stored_at <= until).limit(limit)):
            line = bytes(row.line) if self.deals(contest).may_show(row.game_id) else b""
            found.append((row.game_id, row.names, FaultRecord(row.seat, row.ply, row.kind, line)))
        return found

    def record(self, contest: ContestRow, game_id: str) -> bytes:
        """The encoded record of one game. Raises WithheldError for one that may not be shown."""
        query = select(GameRow.record).where(GameRow.contest_id == contest.id, GameRow.game_id == game_id)
        found = self._session.scalar(query)
        if found is None:
            raise StoreError(f"{self._database}: no game {game_id!r} in contest {contest.id} {contest.name}")
        if not self.deals(contest).may_show(game_id):
            raise WithheldError(game_id)
        return found


def history_of(contest: ContestRow) -> History | None:
    """The history of a contest, to be given its facts and results; None: its format draws nothing."""
    if not issubclass(find_format(contest.format), DrawnFormat):
        return None
    form = format_of_row(contest)
    assert isinstance(form, DrawnFormat)
    return History(form)


def table_of(
    contest: ContestRow, names: Sequence[str], scoring: str | None = None, history: History | None = None
) -> Standings:
    """The empty table of a contest and these bots, by `scoring` or else as the contest scores.

    Where the format has scores of its own the table ranks by those of `history`.
    """
    config = contest.config
    return Standings(
        names,
        scoring or contest.scoring,
        config.get("tie_breaks", ()),
        int(contest.seed),
        (lambda: None) if history is None else lambda: history.form.scores(),
    )


@dataclass(frozen=True, slots=True)
class GameSummary:
    """A game without its record; `number` is its row. `faults` are (seat, ply, kind), `stored_at` is UTC."""

    number: int
    game_id: str
    names: tuple[str, ...]
    totals: tuple[int, ...]
    end: str
    plies: int
    stored_at: datetime
    faults: tuple[tuple[int, int, str], ...]
    used_ms: tuple[int, ...] = ()


#: Seat, ply, kind, line.
FaultFields = tuple[int, int, str, bytes]


def _faults(session: Session, contest: ContestRow) -> dict[int, list[FaultFields]]:
    """The faults of a contest in their order, by the row of their game."""
    faults: dict[int, list[FaultFields]] = {}
    query = (
        select(FaultRow).join(GameRow, FaultRow.game_pk == GameRow.id).where(GameRow.contest_id == contest.id)
    )
    for fault in session.scalars(query.order_by(FaultRow.id)):
        faults.setdefault(fault.game_pk, []).append((fault.seat, fault.ply, fault.kind, bytes(fault.line)))
    return faults


#: The forms of the columns of a contest that are printed. A database may come from anywhere, with right
#: digests: no control character of it reaches a terminal, and no name that nothing else knows a table.
_FORMS: Final[Mapping[str, str]] = {
    "name": NAME.pattern,
    "format": WORD.pattern,
    "scoring": WORD.pattern,
    "seed": "-?[0-9]{1,400}",
    "software": WORD.pattern,
}
_GAME_ID: Final = "g[1-9][0-9]{0,11}"


def check_contest_row(contest: ContestRow) -> None:
    """Raise ValueError for a changed row, or one whose texts have not the forms of PROTOCOL.md."""
    digests = contest_checksum(contest), contest_checksum_4(contest)
    if contest.checksum not in digests or contest.status not in STATUSES:
        raise ValueError(f"contest {contest.id}: its row does not match its SHA-256 digest")
    what = f"contest {contest.id}"
    for column, form in _FORMS.items():
        _check_form(what, column, form, getattr(contest, column))
    if contest.game not in GAMES:
        raise ValueError(
            f"{what}: no game is called {contest.game[:_QUOTED]!a}; there are: {', '.join(GAMES)}"
        )
    for name in contest.config["bots"]:
        _check_form(what, "bots", NAME.pattern, name)
    for key, value in contest.options.items():
        _check_form(what, "options", KEY, key)
        _check_form(what, f"options: {key}", WORD.pattern, value)


def _names(session: Session, contest: ContestRow) -> list[str]:
    """The names of all entrants. Raises ValueError for those that no server has written."""
    query = select(BotRow.name).where(BotRow.contest_id == contest.id).order_by(BotRow.id)
    names = list(session.scalars(query))
    first: list[str] = contest.config["bots"]
    if names[: len(first)] != first:
        raise ValueError(f"the bots of contest {contest.id} are not those of its configuration")
    for name in names:
        _check_form(f"contest {contest.id}", "bots", NAME.pattern, name)
    return names


def _check_game(contest: ContestRow, names: Collection[str], game: Any, faults: list[FaultFields]) -> None:
    """Raise ValueError for a changed row, or one that is none of this contest's."""
    if game.checksum != game_checksum(game, faults):
        raise ValueError(f"game {game.game_id[:_QUOTED]}: its row does not match its SHA-256 digest")
    _check_result(contest, names, game, [fault[:3] for fault in faults])
    agents = game.agents or []
    if len(agents) not in (0, len(game.names)):
        raise ValueError(f"game {game.game_id}: agents: expected one for each seat")
    for agent in agents:
        _check_form(f"game {game.game_id}", "agents", f"(?:{WORD.pattern})?", agent or "")


def _check_result(
    contest: ContestRow, names: Collection[str], game: Any, faults: Sequence[tuple[int, int, str]]
) -> None:
    """Raise ValueError for a row that is none of this contest's; `faults` are (seat, ply, kind)."""
    _check_form(f"contest {contest.id}", "game_id", _GAME_ID, game.game_id)
    what = f"game {game.game_id}"
    _check_form(what, "end", WORD.pattern, game.end)
    if not all(name in names for name in game.names):
        raise ValueError(f"{what}: its names are not those of bots of contest {contest.id}")
    numbers = (game.plies, *game.totals, *(number for seat, ply, _ in faults for number in (seat, ply)))
    if not all(isinstance(number, int) for number in numbers) or len(game.totals) != len(game.names):
        raise ValueError(f"{what}: expected whole numbers, a total for each seat")
    used = game.used_ms or []
    if not all(isinstance(number, int) for number in used) or len(used) not in (0, len(game.names)):
        raise ValueError(f"{what}: used_ms: expected a whole number for each seat")
    for seat, _, kind in faults:
        _check_form(what, "faults", WORD.pattern, kind)
        if not 0 <= seat <= len(game.names):
            raise ValueError(f"{what}: a fault of seat {seat}, and it has {len(game.names)}")


def _check_form(what: str, column: str, form: str, text: object) -> None:
    if not isinstance(text, str) or not re.fullmatch(form, text):
        raise ValueError(f"{what}: {column}: not as PROTOCOL.md has it: {str(text)[:_QUOTED]!a}")


#: How much of a wrong text an error shows.
_QUOTED: Final = 40


def _columns(layout: int) -> list[Any]:
    """The columns of `games`; those that a database of this layout does not have are None."""
    columns = GameRow.__table__.columns
    return [
        null().label(each.name) if ADDED.get(f"games.{each.name}", 0) > layout else each for each in columns
    ]


def _past_games(
    session: Session,
    contest: ContestRow,
    layout: int,
    deals: Mapping[str, int] | None = None,
    until: datetime | None = None,
) -> Iterator[PastGame]:
    """Every game with a record, in the order of storing; `deals` has the number of its deal, by its id.

    With `until` (UTC) those that were stored up to then.

    Raises ValueError for a changed or missing row.
    """
    faults, names = _faults(session, contest), set(_names(session, contest))
    columns = [column for column in _columns(layout) if column.name != "record"]
    games = select(*columns).where(GameRow.contest_id == contest.id).order_by(GameRow.place)
    for place, row in enumerate(session.execute(games), start=1):
        found = faults.get(row.id, [])
        _check_game(contest, names, row, found)
        if row.place != place:
            raise ValueError(f"result {place} of contest {contest.id} is missing")
        if until is not None and row.stored_at > until:
            continue
        by_name = ((row.names[seat - 1], kind) for seat, _, kind, _ in found if seat)
        yield PastGame(
            number_of(row.game_id),
            tuple(row.names),
            (deals or {}).get(row.game_id, 0),
            tuple(row.totals),
            row.end,
            row.plies,
            tuple(by_name),
            tuple(row.used_ms or ()),
            tuple(row.agents or ()),
        )


# -- a contest that goes on


@dataclass(frozen=True, slots=True)
class UnfinishedContest:
    """The number of its row, its seed, and everything durable of it.

    `lost_rows` is the number of journal rows that were announced and did not survive a power cut.
    """

    contest: int
    seed: int
    past: Past
    lost_rows: int = 0


def find_unfinished(session: Session, name: str) -> ContestRow | None:
    """The latest contest of this name, if it is unfinished. Raises ValueError for a changed row."""
    query = select(ContestRow).where(ContestRow.name == name).order_by(ContestRow.id.desc()).limit(1)
    latest = session.scalar(query)
    if latest is not None:
        check_contest_row(latest)  # its status decides whether it goes on
    return latest if latest is not None and latest.status != FINISHED else None


def stored_contest(contest: ContestRow) -> StoredContest:
    return StoredContest(contest.id, contest.name, contest.seed, contest.config)


def load_unfinished(session: Session, contest: ContestRow) -> UnfinishedContest:
    """Raises ValueError for a changed or missing row."""
    results = tuple(_past_games(session, contest, LAYOUT, Deals(session, contest).numbers()))
    return UnfinishedContest(contest.id, int(contest.seed), Past(results, tuple(_entries(session, contest))))


def kept_entries(session: Session, contest: int) -> Iterator[Entry]:
    """The table of facts of a contest. Raises ValueError for a changed or missing row."""
    columns = (FactRow.place, FactRow.payload)
    rows = select(*columns).where(FactRow.contest_id == contest).order_by(FactRow.place)
    for number, (place, payload) in enumerate(session.execute(rows), start=1):
        if place != number:
            raise ValueError(f"fact {number} of contest {contest} is missing")
        yield from unpack(payload)


def _entries(session: Session, contest: ContestRow) -> Iterator[Entry]:
    columns = (JournalRow.place, JournalRow.payload)
    rows = select(*columns).where(JournalRow.contest_id == contest.id).order_by(JournalRow.place)
    last = None
    for place, payload in session.execute(rows):
        if last is not None and place != last + 1:
            raise ValueError(f"row {last + 1} of the journal is missing")
        last = place
        yield from unpack(payload)
