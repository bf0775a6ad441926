"""`arena verify`: check that records are true and that the chain of records is complete."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.export_files import CHAIN_FILE, SUFFIX, find_path, read_record
from arena_cli.options import DEFAULT_DATABASE, ContestChoice, Database, Json, print_json
from arena_cli.results import open_results, with_progress
from arena_cli.verification import Verification
from arena_server.core.life import WHOLE

if TYPE_CHECKING:
    from arena_protocol.record import GameRecord
    from arena_server.stats.results import PastGame
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow

#: The length of a head in hexadecimal digits.
HEAD_DIGITS = 64
#: The decimal digits of the greatest secret, of 256 bits.
SECRET_DIGITS = 78


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """What the games have to match, and where they are."""

    head: Annotated[
        str | None,
        typer.Option(metavar="HEX", help="The published head of the hash chain, which the games must match."),
    ] = None
    published: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE",
            help="The folder of arena publish or its head.json, which the database must go on from.",
        ),
    ] = None
    secret: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="The published secret, from which every deal of the folder must derive."
        ),
    ] = None
    contest: ContestChoice = None
    database: Database = DEFAULT_DATABASE
    renew_head: Annotated[
        bool,
        typer.Option(
            "--renew-head",
            help="Accept what is left of a damaged database: check it, then write a new arena.db-head.",
        ),
    ] = False


def command(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[GAME|FILE|FOLDER]",
            help="A game's id, a record file, or a folder of arena export; all games if absent.",
        ),
    ] = None,
    options: VerifyOptions = VerifyOptions(),
    as_json: Json = False,
) -> None:
    """Check that the records of games are true.

    Plays every game again and compares all numbers: moves, points, clocks, totals, commitment.
    For a whole contest it also checks the hash chain: no record was changed, exchanged, removed
    or added. After an error it prints one line with the game, the place, what was expected and
    what was found, and exits with status 1.

    Example: arena verify --contest local
    """
    from arena_server.errors import ConfigError

    published = None if options.head is None else _parse_head(options.head)
    number = None if options.secret is None else _parse_secret(options.secret)
    others = (target, published, number, options.contest)
    if options.renew_head:
        if (*others, options.published) != (None,) * 5:
            raise ConfigError("--renew-head: it is for a whole database; leave the other choices out")
        _renew_head(options.database)
        return
    if options.published is not None:
        if others != (None,) * 4:
            raise ConfigError("--published: it names the contest and the head; leave the other choices out")
        verification, since = _verified_since(options.published, options.database)
    else:
        verification = _verified(target, number, options)
        since = None if published is None else verification.compare_head(published)
    # Before the error: a program reads it in the document, a person in the line of the exception.
    if as_json:
        print_json(verification.plain())
    verification.require_no_error()
    if not as_json:
        typer.echo(f"verified: {_counts(verification)}{_since(since)}")


def _counts(verification: Verification) -> str:
    """Return what was checked, for a person."""
    games = "game" if verification.count == 1 else "games"
    parts = (
        (verification.validations, "of them for validation"),
        (verification.played_on, "of them on the deal of another game"),
        (verification.absent, "more withheld"),
    )
    return ", ".join(
        [f"{verification.count} {games}", *(f"{count} {text}" for count, text in parts if count)]
    )


def _verified(target: str | None, secret: int | None, options: VerifyOptions) -> Verification:
    """Check the games of a contest, a folder or a file. Raises ConfigError or StoreError."""
    from arena_server.errors import ConfigError

    verification = Verification()
    path = None if target is None else find_path(target)
    if secret is not None and (path is None or not path.is_dir()):
        raise ConfigError("--secret: expected a folder of arena export; a database has the secret itself")
    if path is None:
        with open_results(options.database) as results:
            check_contest(results, results.contest(options.contest), target, verification)
    elif path.is_dir():
        _check_folder(path, verification, secret)
    else:
        verification.check(str(target), read_record(path))
    return verification


def _verified_since(path: Path, database: str) -> tuple[Verification, int | None]:
    """Check a contest, and how many games it has beyond those published. Raises StoreError."""
    from arena_server.store.published import PublishedHead

    published, verification = PublishedHead.read(path), Verification()
    with open_results(database) as results:
        contest, since = published.check(results)
        check_contest(results, contest, None, verification)
    return verification, since


def _since(count: int | None) -> str:
    """Return what the published head proves; `count` games were stored after it."""
    if count is None:
        return ""
    return f", all as published; {count} stored since" if count else ", all as published"


def _parse_head(text: str) -> bytes:
    from arena_server.errors import ConfigError

    try:
        value = bytes.fromhex(text)
    except ValueError:
        value = b""
    if len(text) != HEAD_DIGITS or len(value) * 2 != HEAD_DIGITS:
        raise ConfigError(f"--head: expected {HEAD_DIGITS} hexadecimal digits, got {text!r:.80}")
    return value


def _parse_secret(text: str) -> int:
    from arena_server.errors import ConfigError

    if not (text.isascii() and text.isdigit() and len(text) <= SECRET_DIGITS):
        raise ConfigError(
            f"--secret: expected the decimal number that arena standings prints, got {text!r:.90}"
        )
    return int(text)


def check_contest(
    results: Results,
    chosen: ContestRow,
    game: str | None,
    verification: Verification,
    *,
    entrants: bool = True,
) -> None:
    """Check one game of a contest, or all; `entrants`: also who came into it from contests before it."""
    from arena_protocol.record import VOID
    from arena_server.core.formats import find_format
    from arena_server.core.formats.knockout import Knockout

    deals, damages = results.deals(chosen), dict[str, str]()
    count = results.games.games_stored(chosen) if game is None else 1
    facts, annulled = results.facts, results.facts.annulled(chosen)
    rulings = verification.rulings_of(facts.rulings(chosen), facts.orders(chosen))
    # In a bracket the results stand from which something was drawn.
    is_bracket = issubclass(find_format(chosen.format), Knockout)
    disqualified = {} if is_bracket else facts.disqualified(chosen)
    rows = results.games.rows(chosen, game, checked=False, withheld=True)
    for row in with_progress(rows, "verifying", count):
        link = row.pop("place"), row.pop("chain")
        name, data, _ = row["game_id"], row.pop("record"), row.pop("digest")
        damage = row.pop("damage")
        if name in annulled and row["end"] == VOID:
            del row["end"]  # the record has the result that was taken back
        end, is_ruled = row.get("end", VOID), name in rulings
        verification.check_disqualified(name, row["names"], end, disqualified, ruled=is_ruled)
        if ruled := rulings.pop(name, None):
            found = tuple(row.pop("totals")), row.pop("end", VOID)
            verification.check_ruled(name, data, ruled, None if name in annulled else found, chosen)
        secret = not deals.may_show(name)
        record = verification.check(name, data, {**row, "contest": chosen.name}, link, secret=secret)
        if chosen.is_played_on:
            verification.played_on += 1
        elif record is not None:
            deal = deals.number(name)
            verification.check_deal(name, record, int(chosen.seed), deal, chosen.games_per_pair)
        if damage is not None:
            damages[name] = damage
    for name, validation in results.facts.validations(chosen).items():
        if game in (None, name):
            verification.check_validation(name, validation, chosen)
    if game is not None and not verification.count:
        results.games.record(chosen, game)  # raises StoreError: there is no such game
    if game is None:  # of one game alone neither rulings on others nor rounds and chain can be judged
        _check_whole(results, chosen, rulings, verification, entrants=entrants)
    # The record and the chain say more exactly what was changed; they do not have the time and the agents.
    verification.errors.update(damages | verification.errors)


def _check_whole(
    results: Results,
    chosen: ContestRow,
    rulings: Iterable[str],
    verification: Verification,
    *,
    entrants: bool,
) -> None:
    """Check what follows from all games; `rulings`: missing games that the jury has ruled on."""
    facts = results.facts
    for name in rulings:
        verification.errors.setdefault(name, f"{name}: the jury has ruled on it, and it is not stored")
    verification.check_penalties(facts.penalties(chosen), facts.orders(chosen))
    if not verification.errors:  # else their rows may be anything
        verification.check_rounds(results.sums.history(chosen), over=chosen.status in WHOLE)
        if entrants:
            verification.check_entrants(results, chosen)
    verification.check_chain(chosen.head, lambda name: results.games.record(chosen, name))


def _renew_head(database: str) -> None:
    """Check every contest of an SQLite file, then write a new file of announced results."""
    from arena_server.errors import ConfigError, StoreError
    from arena_server.store.database import connect_sqlite, database_of
    from arena_server.store.head import renew_head
    from arena_server.store.ownership import check_unlocked
    from arena_server.store.reader import Results

    path = database_of(database)
    if not isinstance(path, Path):
        raise ConfigError(f"--renew-head: {path} keeps what was announced itself; there is no such file")
    numbers, games = [], 0
    with Results(path, losses_accepted=True) as results:
        for each in results.contests():
            verification = Verification()
            check_contest(results, results.contest(str(each.id)), None, verification)
            verification.require_no_error()
            numbers.append(each.id)
            games += verification.count
    for number in numbers:
        check_unlocked(path, None, number)
    try:
        with connect_sqlite(path) as connection:
            name = renew_head(path, connection)
    except OSError as error:
        raise StoreError(f"{error.filename or path}: cannot be written: {error.strerror}") from None
    typer.echo(f"verified: {games} games of {len(numbers)} contests; written: {name}")


def _check_folder(folder: Path, verification: Verification, secret: int | None) -> None:
    """Check an export: exactly the records that its chain file lists, in that order."""
    from dataclasses import replace

    from arena_cli.export_files import ChainFile
    from arena_protocol.record import VOID

    chain = ChainFile.read(folder)
    for place, each in enumerate(chain.order, start=1):
        path = folder / f"{each.game}{SUFFIX}"
        if path.exists():
            data = read_record(path)
            record = verification.check(each.game, data, link=(place, each.chain))
            if chain.played_on:
                verification.played_on += 1
            elif record is not None and secret is not None:
                verification.check_deal(each.game, record, secret, each.deal, chain.games_per_pair)
            if record is not None and chain.rounds is not None:
                past = _past(record, each.deal)
                if each.ruled is not None:
                    past = replace(past, totals=each.ruled[0], end=each.ruled[1])
                chain.rounds.add(replace(past, end=VOID) if each.annulled else past)
        # Its deal may still be played, so the export has left it out: the digest stands for it in the chain.
        elif each.digest is not None:
            verification.withhold(each.game, each.digest, (place, each.chain))
    if not (verification.errors or verification.absent):  # else results are not known
        verification.check_rounds(chain.rounds, over=chain.over)
    verification.check_chain(chain.head, lambda game: read_record(folder / f"{game}{SUFFIX}"))
    listed = {each.game for each in chain.order}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        name = path.name.removesuffix(SUFFIX)
        if name not in listed:
            verification.errors[name] = f"{path}: no record of the chain in {CHAIN_FILE}"


def _past(record: GameRecord, deal: int | None) -> PastGame:
    """What a history needs of a game."""
    from arena_server.core.deal import number_of
    from arena_server.stats.results import PastGame

    number = number_of(record.game_id)
    return PastGame(number, record.names, deal or 0, record.totals, record.end, len(record.plies))
