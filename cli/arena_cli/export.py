"""`arena export`: the records of a contest as files; docs/record-format.md describes them.

msgpack   FOLDER/g1.record, ... and chain.json: the bytes that the referee stored, with their hash chain
json      FOLDER/g1.json, ...: one object per record, times in milliseconds and nanoseconds as stored
csv       FOLDER/games.csv, seats.csv, plies.csv, faults.csv, infos.csv: a line per game, seat, ply, ...
trf       FOLDER/CONTEST.trf: the rounds of a Swiss in TRF16, for pairing programs (`trf.py`)
grades    FOLDER/grades.csv and teams.csv: the table as the marks of a course (`grades.py`)
npz       FOLDER/plies-00001.npz, ...: a row a ply, as arrays of numpy (`export_arrays.py`)
parquet   FOLDER/plies-00001.parquet, ...: the same rows as tables (`export_parquet.py`)
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from io import TextIOWrapper
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from arena_cli.export_files import CHAIN_FILE, SUFFIX, unseen_json, unseen_text, withheld_text
from arena_cli.options import DEFAULT_DATABASE, ContestChoice, Database, Json, print_json, refuse
from arena_cli.results import open_results, with_progress
from arena_server.stats.standings import row_json

if TYPE_CHECKING:
    from arena_cli.grades import Scale
    from arena_protocol.record import GameRecord
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow


class FileFormat(StrEnum):
    MSGPACK = "msgpack"
    JSON = "json"
    CSV = "csv"
    TRF = "trf"
    GRADES = "grades"
    NPZ = "npz"
    PARQUET = "parquet"


#: How a formula of a spreadsheet begins.
FORMULA = ("=", "+", "-", "@")

#: The columns of what a bot got of the processor: `used_ms` is what its clock charged.
_USAGE: Mapping[str, str] = {
    "cpu_ms": "used_ms",
    "cpu_throttled_ms": "throttled_ms",
    "cpu_pressure_ms": "pressure_ms",
}
#: The columns of each CSV file. Lists are separated by blanks, options are KEY=VALUE, a faulty line is hex.
TABLES: Mapping[str, tuple[str, ...]] = {
    "games": (
        *("game_id", "contest", "game", "options", "end", "plies", "clock_ms", "increment_ms", "margin_ms"),
        *("move_limit_ms", "first_move_limit_ms", "byoyomi_ms", "lag_quota_ms", "board", "sequence", "final"),
        *("seed", "nonce", "commit", "software", "worker", "host", "cpu", "cores", "bench"),
    ),
    "seats": ("game_id", "seat", "name", "total", "used_ms", "faults", *_USAGE, "image"),
    "plies": (
        *("game_id", "ply", "seat", "move", "time_ms", "handed_ns", "arrived_ns", "clock", "points", "total"),
        *("zombie", "lag_ms", "credit_ms"),
    ),
    "faults": ("game_id", "seat", "ply", "kind", "line"),
    "infos": ("game_id", "seat", "ply", "depth", "eval", "nodes", "line", "text"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """The options of `arena export`."""

    contest: ContestChoice = None
    database: Database = DEFAULT_DATABASE
    form: Annotated[FileFormat, typer.Option("--format", help="The form of the files.")] = FileFormat.MSGPACK
    everything: Annotated[
        bool, typer.Option("--all", help="Of a running contest, also what spectators may not see yet.")
    ] = False
    grades: Annotated[
        str | None,
        typer.Option(
            metavar="A=90,B=75",
            help="With --format grades: the least percent of each grade.",
            show_default=False,
        ),
    ] = None
    json: Json = False

    def writer(self) -> Callable[..., Written]:
        """Return what writes the files. Raises ConfigError."""
        from arena_cli.grades import read_scale

        if self.form is not FileFormat.GRADES:
            refuse(self, "expected with --format grades", "grades")
            return _WRITERS[self.form]
        return partial(_write_grades, scale=() if self.grades is None else read_scale(self.grades))


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder to write.", show_default=False)
    ],
    options: ExportOptions,
) -> None:
    """Write the records of all games to files.

    msgpack writes FOLDER/g1.record and so on, and FOLDER/chain.json: the order in which the records
    were stored, their hash chain, and its head. The head, 32 bytes, proves all records: publish it.
    `arena verify FOLDER --head HEX`, `arena verify FILE` and `arena replay FILE` read the files
    on any machine.

    json writes FOLDER/g1.json and so on; csv writes games.csv, seats.csv, plies.csv, faults.csv and
    infos.csv. docs/record-format.md has every field. --json prints what was written as JSON.
    trf writes the rounds of a Swiss and their results as FOLDER/CONTEST.trf, in the text format TRF16 of
    FIDE, which pairing programs and tournament managers read.

    grades writes the table as FOLDER/grades.csv, a line a bot: rank, name, owner, games, points, score,
    percent of the best score, and with --grades a grade; FOLDER/teams.csv has the same of teams.

    npz writes arrays of numpy for programs that learn, FOLDER/plies-00001.npz and so on: a row a ply, with
    the position as planes, move, points, clock, result, bot and version; parquet writes these as tables.

    Of a running contest it has the results that spectators may see by now, after
    `contest.spectator_delay` and before `contest.freeze_at`; --all has the others too.
    With `deals = "paired"` a record is withheld until all games on its deal have a result.

    Example: arena export records --contest local --format csv
    """
    from arena_server.errors import StoreError

    write = options.writer()
    with open_results(options.database) as results:
        chosen = results.contest(options.contest)
        last, unseen = (None, 0) if options.everything else _seen(results, chosen)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            written = write(folder, results, chosen, last)
        except OSError as error:
            raise StoreError(f"{folder}: cannot be written: {error.strerror}") from None
    if options.json:
        head = {} if written.head is None else {"head": written.head}
        plain = {"contest": chosen.name, "files": written.files, "withheld": written.withheld}
        print_json(plain | unseen_json(unseen) | head)
    else:
        withheld = withheld_text(written.withheld) + unseen_text(unseen, "--all")
        typer.echo(f"exported: {written.games} games of {chosen.name} to {folder}{withheld}")
        if written.head is not None:
            typer.echo(f"head: {written.head}")


def _seen(results: Results, contest: ContestRow) -> tuple[int | None, int]:
    """The place of the last result that may be seen now, None if all may be, and how many are behind it."""
    last = results.games.shown(contest, datetime.now(UTC).replace(tzinfo=None), live=False)
    unseen = results.games.games_stored(contest) - last
    return (last, unseen) if unseen > 0 or not results.deals(contest).may_name else (None, 0)


@dataclass(slots=True)
class Written:
    """The number of records, the paths of the files, the games whose record may not be shown yet.

    `head` is the head of the chain (hexadecimal) if it was written.
    """

    games: int = 0
    files: list[str] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)
    head: str | None = None


def _write_msgpack(folder: Path, results: Results, contest: ContestRow, last: int | None) -> Written:
    from arena_server.store.chain import GENESIS

    written, links, annulled = Written(), [], results.facts.annulled(contest)
    ruled = _ruled(results, contest)
    for row in _rows(results, contest, last):
        name = row["game_id"]
        link: dict[str, Any] = {"game": name, "chain": row["chain"].hex()}
        if (deal := results.deals(contest).number(name)) is not None:
            link["deal"] = deal
        if name in annulled:
            link["annulled"] = True
        if name in ruled:
            link["ruled"] = ruled[name]
        if row["record"] is None:
            written.withheld.append(name)
            link["sha256"] = row["digest"].hex()  # so that the chain can be checked without the record
        else:
            path = folder / f"{name}{SUFFIX}"
            _write_private(path, row["record"])
            written.files.append(str(path))
        links.append((row["place"], link))
    # The rows come in the order of the schedule, the chain is in that of storing.
    order = [link for _, link in sorted(links, key=itemgetter(0))]
    written.games = len(written.files)
    written.head = order[-1]["chain"] if order else GENESIS.hex()
    chain = {
        "contest": contest.name,
        "games": len(order),
        "games_per_pair": contest.games_per_pair,
        "head": written.head,
        "order": order,
        "rounds": results.sums.plan(contest, last),
    }
    if contest.is_played_on:
        chain["played_on"] = contest.config["played_on"]
    _write_private(folder / CHAIN_FILE, (json.dumps(chain, indent=1) + "\n").encode("ascii"))
    return written


def _write_json(folder: Path, results: Results, contest: ContestRow, last: int | None) -> Written:
    from arena_protocol.record_codec import to_json

    written = Written()
    for record in _records(results, contest, last, written):
        path = folder / f"{record.game_id}.json"
        _write_private(path, (json.dumps(to_json(record), indent=1) + "\n").encode("ascii"))
        written.files.append(str(path))
    return written


def _write_csv(folder: Path, results: Results, contest: ContestRow, last: int | None) -> Written:
    paths = {table: folder / f"{table}.csv" for table in TABLES}
    written = Written(files=list(map(str, paths.values())))
    with ExitStack() as stack:
        writers = {}
        for table, path in paths.items():
            text = TextIOWrapper(_open_private(path), encoding="utf-8", newline="")
            writers[table] = csv.writer(stack.enter_context(text), lineterminator="\n")
            writers[table].writerow(TABLES[table])
        for record, _ in _counted(results, contest, last, written):
            for table, row in csv_rows(record):
                writers[table].writerow([_cell(row[column]) for column in TABLES[table]])
    return written


def _write_trf(folder: Path, results: Results, contest: ContestRow, last: int | None) -> Written:
    from arena_cli.trf import report
    from arena_server.core.formats.swiss import Swiss
    from arena_server.errors import ConfigError

    history = results.sums.history(contest, last)
    if history is None or not isinstance(history.form, Swiss):
        raise ConfigError(f"--format trf: expected a Swiss, {contest.name} is a {contest.format}")
    table = results.sums.table(contest, last=last)
    rows = [row_json(row) for row in table.rows()]
    path = folder / f"{contest.name}.trf"
    text = report(contest, rows, history.form, history.document()["rounds"])
    _write_private(path, text.encode("ascii"))
    return Written(table.games, [str(path)])


def _write_grades(
    folder: Path, results: Results, contest: ContestRow, last: int | None, *, scale: Scale = ()
) -> Written:
    from arena_cli.grades import grade_files

    games, files = grade_files(results, contest, last, scale)
    for name, text in files.items():
        _write_private(folder / name, text.encode("utf-8"))
    return Written(games, [str(folder / name) for name in files])


def _write_plies(
    folder: Path, results: Results, contest: ContestRow, last: int | None, *, parquet: bool
) -> Written:
    if parquet:
        from arena_cli.export_parquet import write_parquet as write
    else:
        from arena_cli.export_arrays import write_plies as write

    written = Written()
    games = _counted(results, contest, last, written)
    written.files = [str(path) for path in write(folder, games, _open_private)]
    return written


_WRITERS: Mapping[FileFormat, Callable[..., Written]] = {
    FileFormat.MSGPACK: _write_msgpack,
    FileFormat.JSON: _write_json,
    FileFormat.CSV: _write_csv,
    FileFormat.TRF: _write_trf,
    FileFormat.GRADES: _write_grades,
    FileFormat.NPZ: partial(_write_plies, parquet=False),
    FileFormat.PARQUET: partial(_write_plies, parquet=True),
}


def _ruled(results: Results, contest: ContestRow) -> dict[str, dict[str, Any]]:
    """Totals and end of the games to which the jury has given others."""
    from arena_server.core.deal import game_id

    rulings = results.facts.rulings(contest)
    return {game_id(each.game): {"totals": each.totals, "end": each.end} for each in rulings}


def _records(
    results: Results, contest: ContestRow, last: int | None, written: Written
) -> Iterator[GameRecord]:
    """Yield the records that may be shown, up to the place `last`; count them, and note the others."""
    for record, _ in _decoded(results, contest, last, written):
        yield record


def _rows(results: Results, contest: ContestRow, last: int | None) -> Iterator[dict[str, Any]]:
    count = results.games.games_stored(contest) if last is None else last
    return with_progress(results.games.rows(contest, last=last), "exporting", count)


def _decoded(
    results: Results, contest: ContestRow, last: int | None, written: Written
) -> Iterator[tuple[GameRecord, Sequence[str | None]]]:
    """The same, each with the versions of its bots, as they called themselves; empty if they are unknown."""
    from arena_protocol.record_codec import decode

    for row in _rows(results, contest, last):
        if row["record"] is None:
            written.withheld.append(row["game_id"])
        else:
            written.games += 1
            yield decode(row["record"]), row["agents"] or ()


def _counted(
    results: Results, contest: ContestRow, last: int | None, written: Written
) -> Iterator[tuple[GameRecord, Sequence[str | None]]]:
    """The same with the results that count: a stored record stays, its result was changed or taken back."""
    from arena_protocol.record import VOID

    annulled, ruled = results.facts.annulled(contest), _ruled(results, contest)
    for record, versions in _decoded(results, contest, last, written):
        shown = replace(record, **ruled.get(record.game_id, {}))
        yield replace(shown, end=VOID) if record.game_id in annulled else shown, versions


def csv_rows(record: GameRecord) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the lines of one record, each with its table and its values by column."""
    own = {"game_id": record.game_id}
    game = {name: getattr(record, name) for name in TABLES["games"]}
    yield "games", game | {"plies": len(record.plies)}
    usage = {each.seat: each for each in record.usage}
    for seat, (name, total) in enumerate(zip(record.names, record.totals, strict=True), start=1):
        yield (
            "seats",
            own
            | {
                "seat": seat,
                "name": name,
                "total": total,
                "used_ms": sum(ply.time_ms for ply in record.plies if ply.seat == seat),
                "faults": [fault.kind for fault in record.faults if fault.seat == seat],
                **{column: getattr(usage.get(seat), field, None) for column, field in _USAGE.items()},
                "image": record.images[seat - 1] if record.images else "",
            },
        )
    for number, ply in enumerate(record.plies, start=1):
        yield "plies", own | {"ply": number} | ply._asdict()
    for fault in record.faults:
        yield "faults", own | fault._asdict()
    for info in record.infos:
        yield "infos", own | info._asdict()


def _cell(value: object) -> object:
    """Return a value as CSV has it; None is empty, true and false are 1 and 0.

    A text that a spreadsheet would take for a formula gets an apostrophe: bots may send any INFO.
    """
    match value:
        case bool():
            return int(value)
        case bytes():
            return value.hex()
        case Mapping():
            return " ".join(f"{key}={each}" for key, each in sorted(value.items()))
        case tuple() | list():
            return " ".join(map(str, value))
        case str() if value.startswith(FORMULA):
            return f"'{value}"
    return value


def _open_private(path: Path) -> BinaryIO:
    """Open a file that only its owner can read, if it is new: records may be secret until the end."""
    return open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600))


def _write_private(path: Path, data: bytes) -> None:
    with _open_private(path) as file:
        file.write(data)
