"""`arena verify`: check that records are true and that the chain of records is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import DEFAULT_DATABASE, ContestChoice, Database, Json, print_json
from arena_cli.results import CHAIN_FILE, SUFFIX, find_path, open_results, read_record

if TYPE_CHECKING:
    from arena_protocol.record import GameRecord
    from arena_server.core.facts import Validated
    from arena_server.core.formats.history import History
    from arena_server.core.journal import PastGame
    from arena_server.store.chain import Flaw, Link
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow

#: The length of a head in hexadecimal digits.
HEAD_DIGITS = 64
#: The decimal digits of the greatest secret, of 256 bits.
SECRET_DIGITS = 78
#: These take a second; of more games the progress is shown.
SHOWN_GAMES = 1000
#: The key in `Verification.errors` of an error of the whole chain.
WHOLE = ""


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
    if as_json:
        print_json(verification.plain())
    verification.require_no_error()
    if not as_json:
        games = "game" if verification.count == 1 else "games"
        own = f", {verification.validations} of them for validation" if verification.validations else ""
        absent = f", {verification.absent} more withheld" if verification.absent else ""
        typer.echo(f"verified: {verification.count} {games}{own}{absent}{_since(since)}")


def _verified(target: str | None, secret: int | None, options: VerifyOptions) -> Verification:
    """Check the games of a contest, a folder or a file. Raises ConfigError or StoreError."""
    from arena_server.errors import ConfigError

    verification = Verification()
    path = None if target is None else find_path(target)
    if secret is not None and (path is None or not path.is_dir()):
        raise ConfigError("--secret: expected a folder of arena export; a database has the secret itself")
    if path is None:
        with open_results(options.database) as results:
            _check_contest(results, results.contest(options.contest), target, verification)
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
        _check_contest(results, contest, None, verification)
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


class Verification:
    """The result of checking records: their count, and the errors by game (`WHOLE`: of the chain).

    `absent` counts the games of an export whose record it withholds, `validations` those that count nowhere.
    """

    def __init__(self) -> None:
        self.count = self.absent = self.validations = 0
        self.errors: dict[str, str] = {}
        self._links: list[Link] = []
        self._deals: dict[tuple[str, ...], set[int]] = {}
        #: Games whose deal may not be shown: their errors name no value.
        self._secret: set[str] = set()
        self._has_chain = False

    def check(
        self,
        name: str,
        data: bytes,
        row: dict[str, Any] | None = None,
        link: tuple[int, bytes] | None = None,
        *,
        secret: bool = False,
    ) -> GameRecord | None:
        """Check one record, and return it unless it is wrong.

        `row` has the columns stored next to it; `link` is its place and value in the chain; `secret`:
        the record may not be shown.
        """
        from hashlib import sha256

        from arena_protocol.record import RecordError

        self.count += 1
        if secret:
            self._secret.add(name)
        if link is not None:
            self._add_link(name, sha256(data).digest(), link)
        try:
            return _check_record(name, data, row)
        except RecordError as error:
            withheld = f"game {name}: its record is not true; where is withheld until its deal may be shown"
            self.errors[name] = withheld if secret else str(error)
            return None

    def check_validation(self, name: str, game: Validated, contest: ContestRow) -> None:
        """Check a validation game, with the moves that the server played in it by the contest's secret."""
        from arena_server.core.deal import REFEREE
        from arena_server.core.validation import other_move

        self.validations += 1
        record = self.check(name, game.record, {"game_id": name, "contest": contest.name})
        if record is None:
            return
        self.check_deal(name, record, int(contest.seed), game.number, 0)
        if {*record.names} != {game.name, REFEREE}:
            self.errors[name] = f"{name}: expected a game of {game.name}, found {', '.join(record.names)}"
        elif ply := other_move(record, int(contest.seed)):
            self.errors.setdefault(
                name, f"{name}, ply {ply}: the move is not derived from the contest's secret"
            )

    def withhold(self, name: str, digest: bytes, link: tuple[int, bytes]) -> None:
        """Take a record that is not there into the chain, by the SHA-256 of its bytes."""
        self.absent += 1
        self._secret.add(name)
        self._add_link(name, digest, link)

    def _add_link(self, name: str, digest: bytes, link: tuple[int, bytes]) -> None:
        from arena_server.store.chain import Link

        self._links.append(Link(link[0], name, digest, link[1]))

    def check_deal(self, name: str, record: GameRecord, seed: int, deal: int | None, deals: int) -> None:
        """Check that deal and nonce of a record are derived from the contest's secret.

        `deal` is the number of the deal; None: not known, one of `deals`, the games per pair.
        """
        from arena_server.core.deal import deal_seed, nonce

        players = tuple(sorted(record.names))
        if deal is not None:
            derived = {deal_seed(seed, players, deal)}
        elif players in self._deals:
            derived = self._deals[players]
        else:
            derived = {deal_seed(seed, players, number) for number in range(1, deals + 1)}
            self._deals[players] = derived
        if record.seed not in derived or record.nonce != nonce(seed, record.game_id):
            self.errors[name] = f"{name}: the deal is not derived from the contest's secret"

    def check_rounds(self, history: History | None, *, over: bool) -> None:
        """Check that the games are those that were drawn; `over`: and that nothing more was drawn."""
        from arena_server.core.formats.base import PairingError

        try:
            if history is not None:
                history.check(over=over)
        except PairingError as error:
            self.errors.setdefault(WHOLE, f"rounds: {error}")

    def check_sums(self, check: Callable[[], None]) -> None:
        """Check that stored sums are those of the games; `check` raises ValueError if not."""
        try:
            check()
        except ValueError as error:
            self.errors.setdefault(WHOLE, str(error))

    def check_chain(self, head: bytes | None, record: Callable[[str], bytes]) -> None:
        """Check the chain of all checked records; `record` returns the bytes of a game again."""
        from arena_server.store.chain import audit

        self._has_chain = True
        thorough = True
        for flaw in audit(self._links, head):
            text = flaw.text
            if flaw.kind == "record" and flaw.game_id not in self._secret:
                text += _changed_bytes(record(flaw.game_id), flaw, thorough=thorough)
                thorough = False  # half a minute for 9 kB, so for the first record only
            before = self.errors.get(flaw.game_id)
            self.errors[flaw.game_id] = text if before is None else f"{before}; chain: {text}"

    def compare_head(self, published: bytes) -> int:
        """Return how many games were stored after `published` was the head; an error if it never was.

        The start of the chain is no head: it proves nothing.
        """
        from arena_server.errors import ConfigError

        if not self._has_chain:
            raise ConfigError("--head: expected a whole contest or a folder of arena export to check it by")
        values = [each.chain for each in self._sorted()]
        if published in values:
            return len(values) - 1 - values.index(published)
        text = "the published head is none of this chain's: records were changed, or it is another contest's"
        self.errors.setdefault(WHOLE, text)
        return 0

    def _sorted(self) -> list[Link]:
        return sorted(self._links, key=lambda each: each.place)

    def require_no_error(self) -> None:
        """Raise StoreError with the first error."""
        from arena_server.errors import StoreError

        if self.errors:
            first, *rest = self.errors.values()
            more = f" (and {len(rest)} more games)" if rest else ""
            raise StoreError(f"not verified: {first}{more}")

    def plain(self) -> dict[str, Any]:
        """Return the result as JSON types, with the head if the chain was checked."""
        wrong = [{"game": name or None, "error": text} for name, text in self.errors.items()]
        games = sum(name != WHOLE for name in self.errors)
        verified = self.count - min(games, self.count)
        counts = {"games": self.count, "verified": verified, "withheld": self.absent}
        plain = {**counts, "validations": self.validations, "wrong": wrong}
        if self._has_chain:
            from arena_server.store.chain import GENESIS

            plain["head"] = (self._sorted()[-1].chain if self._links else GENESIS).hex()
        return plain


def _changed_bytes(data: bytes, flaw: Flaw, *, thorough: bool) -> str:
    """Return which bytes of a record were changed, as text; empty if that cannot be derived."""
    from arena_server.store.chain import changed_bytes

    found = changed_bytes(data, flaw, thorough=thorough)
    words = (f"byte {place} was 0x{byte:02x} and is 0x{data[place]:02x}" for place, byte in found)
    return "".join(f"; {each}" for each in words)


def _check_contest(
    results: Results, chosen: ContestRow, game: str | None, verification: Verification
) -> None:
    from arena_protocol.record import VOID

    deals = results.deals(chosen)
    count = results.games_stored(chosen) if game is None else 1
    damages: dict[str, str] = {}
    annulled = results.annulled(chosen)
    for row in _shown(results.rows(chosen, game, checked=False, withheld=True), count):
        link = row.pop("place"), row.pop("chain")
        name, data, _ = row["game_id"], row.pop("record"), row.pop("digest")
        damage = row.pop("damage")
        if name in annulled and row["end"] == VOID:
            del row["end"]  # the record has the result that was taken back
        secret = not deals.may_show(name)
        record = verification.check(name, data, {**row, "contest": chosen.name}, link, secret=secret)
        if record is not None:
            deal = deals.number(name)
            verification.check_deal(name, record, int(chosen.seed), deal, chosen.games_per_pair)
        if damage is not None:
            damages[name] = damage
    for name, validation in results.validations(chosen).items():
        if game in (None, name):
            verification.check_validation(name, validation, chosen)
    if game is not None and not verification.count:
        results.record(chosen, game)  # raises StoreError: there is no such game
    if game is None:
        if not verification.errors:  # else their rows may be anything
            verification.check_rounds(results.history(chosen), over=chosen.status == "finished")
            verification.check_sums(lambda: results.check_stored_sums(chosen))
        verification.check_chain(chosen.head, lambda name: results.record(chosen, name))
    # The record and the chain say more exactly what was changed; they do not have the time and the agents.
    verification.errors.update(damages | verification.errors)


def _shown(rows: Iterator[dict[str, Any]], count: int) -> Iterator[dict[str, Any]]:
    """The rows; of many a terminal shows meanwhile how far they are, and how long it will take."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    hidden = count < SHOWN_GAMES or not console.is_terminal
    return iter(track(rows, "verifying", count, console=console, transient=True, disable=hidden))


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
            _check_contest(results, results.contest(str(each.id)), None, verification)
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

    from arena_cli.chain_file import ChainFile
    from arena_protocol.record import VOID

    chain = ChainFile.read(folder)
    for place, each in enumerate(chain.order, start=1):
        path = folder / f"{each.game}{SUFFIX}"
        if path.exists():
            data = read_record(path)
            record = verification.check(each.game, data, link=(place, each.chain))
            if record is not None and secret is not None:
                verification.check_deal(each.game, record, secret, each.deal, chain.games_per_pair)
            if record is not None and chain.rounds is not None:
                past = _past(record, each.deal)
                chain.rounds.add(replace(past, end=VOID) if each.annulled else past)
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
    from arena_server.core.journal import PastGame

    number = number_of(record.game_id)
    return PastGame(number, record.names, deal or 0, record.totals, record.end, len(record.plies))


def _check_record(name: str, data: bytes, row: dict[str, Any] | None) -> GameRecord:
    """The record. Raises RecordError, with the game's name, if it is not true or differs from its row."""
    from arena_protocol.record import RecordError, time_used
    from arena_protocol.record_codec import decode
    from arena_protocol.verify import verify

    try:
        record = decode(data)
    except RecordError as error:
        raise RecordError(f"game {name}: {error}") from None
    verify(record)
    for key, found in (row or {}).items():
        match key:
            case "used_ms" if found is None:
                continue  # stored by an earlier version
            case "used_ms":
                expected: object = time_used(record.plies, len(record.names))
            case "plies":
                expected = len(record.plies)
            case "faults":
                expected = [(fault.seat, fault.ply, str(fault.kind), fault.line) for fault in record.faults]
            case _:
                expected = getattr(record, key)
        if isinstance(expected, tuple):
            expected = list(expected)
        if expected != found:
            raise RecordError(f"game {name}, database: {key}: expected {expected!r}, found {found!r}")
    return record
