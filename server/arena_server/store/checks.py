"""What the rows of a database have to be: unchanged, and of the forms that PROTOCOL.md gives to texts.

A database may come from anywhere, with right digests: no control character of it reaches a terminal, and no
name that nothing else knows a table.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import null, select
from sqlalchemy.orm import Session

from arena_protocol.games import GAMES
from arena_protocol.kinds import KEY, NAME, WORD
from arena_protocol.plugins import PluginError
from arena_server.store.database import LAYOUT
from arena_server.store.preflight import ADDED
from arena_server.store.schema import (
    STATUSES,
    BotRow,
    ContestRow,
    FaultRow,
    GameRow,
    contest_checksum,
    contest_checksum_4,
    game_checksum,
)
from arena_server.terms.config import SEED_DIGITS

#: How many rows of games are in memory at once.
ROWS_AT_ONCE: Final = 100
#: Seat, ply, kind, line.
FaultFields = tuple[int, int, str, bytes]


def faults_by_game(
    session: Session, contest: ContestRow, game_id: str | None = None
) -> dict[int, list[FaultFields]]:
    """The faults of the games of a contest, or of one, in their order, by the row of their game."""
    faults: dict[int, list[FaultFields]] = {}
    games = GameRow.contest_id == contest.id
    if game_id is not None:
        games &= GameRow.game_id == game_id
    query = select(FaultRow).join(GameRow, FaultRow.game_pk == GameRow.id).where(games)
    for fault in session.scalars(query.order_by(FaultRow.id)):
        faults.setdefault(fault.game_pk, []).append((fault.seat, fault.ply, fault.kind, bytes(fault.line)))
    return faults


#: The forms of the columns of a contest that are printed.
_FORMS: Final[Mapping[str, str]] = {
    "name": NAME.pattern,
    "format": WORD.pattern,
    "scoring": WORD.pattern,
    "seed": f"-?[0-9]{{1,{SEED_DIGITS}}}",
    "software": WORD.pattern,
}
_GAME_ID: Final = "g[1-9][0-9]{0,11}"


def check_contest_row(contest: ContestRow) -> None:
    """Raise ValueError for a changed row, or one whose texts have not the forms of PROTOCOL.md.

    Raises PluginError for a game that is not known here.
    """
    digests = contest_checksum(contest), contest_checksum_4(contest)
    if contest.checksum not in digests or contest.status not in STATUSES:
        raise ValueError(f"contest {contest.id}: its row does not match its SHA-256 digest")
    what = f"contest {contest.id}"
    for column, form in _FORMS.items():
        check_form(what, column, form, getattr(contest, column))
    if GAMES.get(contest.game) is None:  # raises PluginError for one that cannot be loaded
        # A name that no game can have is damage; any other may be that of a package.
        refused = PluginError if re.fullmatch(NAME.pattern, contest.game) else ValueError
        raise refused(f"{what}: no game is called {contest.game[:_QUOTED]!a}; there are: {', '.join(GAMES)}")
    for name in contest.config["bots"]:
        check_form(what, "bots", NAME.pattern, name)
    for key, value in contest.options.items():
        check_form(what, "options", KEY, key)
        check_form(what, f"options: {key}", WORD.pattern, value)


def entrants(session: Session, contest: ContestRow) -> list[str]:
    """The names of all entrants. Raises ValueError for those that no server has written."""
    query = select(BotRow.name).where(BotRow.contest_id == contest.id).order_by(BotRow.id)
    names = list(session.scalars(query))
    first: list[str] = contest.config["bots"]
    if names[: len(first)] != first:
        raise ValueError(f"the bots of contest {contest.id} are not those of its configuration")
    for name in names:
        check_form(f"contest {contest.id}", "bots", NAME.pattern, name)
    return names


def game_columns(layout: int) -> list[Any]:
    """The columns of `games`; those that a database of this layout does not have are None."""
    columns = GameRow.__table__.columns
    return [
        null().label(each.name) if ADDED.get(f"games.{each.name}", 0) > layout else each for each in columns
    ]


def checked_games(
    session: Session, contest: ContestRow, layout: int = LAYOUT
) -> Iterator[tuple[Any, list[FaultFields]]]:
    """The row of every game but its record, and its faults, in the order of storing.

    Raises ValueError for a changed or missing row.
    """
    faults, names = faults_by_game(session, contest), set(entrants(session, contest))
    columns = [column for column in game_columns(layout) if column.name != "record"]
    games = select(*columns).where(GameRow.contest_id == contest.id).order_by(GameRow.place)
    # Else the session reads the rows of all games before it gives the first.
    with session.execute(games.execution_options(yield_per=ROWS_AT_ONCE)) as rows:
        for place, row in enumerate(rows, start=1):
            found = faults.get(row.id, [])
            check_game(contest, names, row, found)
            if row.place != place:
                raise ValueError(f"result {place} of contest {contest.id} is missing")
            yield row, found


def check_game(contest: ContestRow, names: Collection[str], game: Any, faults: list[FaultFields]) -> None:
    """Raise ValueError for a changed row, or one that is none of this contest's."""
    if game.checksum != game_checksum(game, faults):
        raise ValueError(f"game {game.game_id[:_QUOTED]}: its row does not match its SHA-256 digest")
    check_result(contest, names, game, [fault[:3] for fault in faults])
    agents = game.agents or []
    if len(agents) not in (0, len(game.names)):
        raise ValueError(f"game {game.game_id}: agents: expected one for each seat")
    for agent in agents:
        check_form(f"game {game.game_id}", "agents", f"(?:{WORD.pattern})?", agent or "")


def check_result(
    contest: ContestRow, names: Collection[str], game: Any, faults: Sequence[tuple[int, int, str]]
) -> None:
    """Raise ValueError for a row that is none of this contest's; `faults` are (seat, ply, kind)."""
    check_form(f"contest {contest.id}", "game_id", _GAME_ID, game.game_id)
    what = f"game {game.game_id}"
    check_form(what, "end", WORD.pattern, game.end)
    if not all(name in names for name in game.names):
        raise ValueError(f"{what}: its names are not those of bots of contest {contest.id}")
    numbers = (game.plies, *game.totals, *(number for seat, ply, _ in faults for number in (seat, ply)))
    if not all(isinstance(number, int) for number in numbers) or len(game.totals) != len(game.names):
        raise ValueError(f"{what}: expected whole numbers, a total for each seat")
    used = game.used_ms or []
    if not all(isinstance(number, int) for number in used) or len(used) not in (0, len(game.names)):
        raise ValueError(f"{what}: used_ms: expected a whole number for each seat")
    for seat, _, kind in faults:
        check_form(what, "faults", WORD.pattern, kind)
        if not 0 <= seat <= len(game.names):
            raise ValueError(f"{what}: a fault of seat {seat}, and it has {len(game.names)}")


def check_form(what: str, column: str, form: str, text: object) -> None:
    if not isinstance(text, str) or not re.fullmatch(form, text):
        raise ValueError(f"{what}: {column}: not as PROTOCOL.md has it: {str(text)[:_QUOTED]!a}")


#: How much of a wrong text an error shows.
_QUOTED: Final = 40
