"""`arena verify`: whether the records of games are true, and all there, as they were stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import DEFAULT_DATABASE, ContestChoice, Database, Json, print_json
from arena_cli.results import CHAIN_FILE, SUFFIX, open_results, read_file

if TYPE_CHECKING:
    from arena_server.store.chain import Flaw, Link

#: A head as hexadecimal digits.
HEAD_DIGITS = 64


def command(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[GAME|FILE|FOLDER]",
            help="A game's id, a record's file, or a folder of arena export; all games if absent.",
        ),
    ] = None,
    head: Annotated[
        str | None,
        typer.Option(metavar="HEX", help="The published head of the hash chain: the games must lead to it."),
    ] = None,
    contest: ContestChoice = None,
    database: Database = DEFAULT_DATABASE,
    as_json: Json = False,
) -> None:
    """Check that the records of games are true.

    Every game is played again, and all numbers compared: moves, points, clocks, totals, commit.
    Of a whole contest the hash chain is checked too: no record changed, exchanged, missing or
    added. Exit status 1 if anything is not true, and one line that says which game, where, what
    was expected and what was found.

    Example: arena verify --contest local
    """
    from arena_server.errors import StoreError

    published = None if head is None else _head(head)
    verdict = Verdict()
    if target is not None and Path(target).is_file():
        verdict.look(target, read_file(Path(target)))
    elif target is not None and Path(target).is_dir():
        _look_at_folder(Path(target), verdict)
    else:
        _look_at_database(database, contest, target, verdict)
    since = None if published is None else verdict.compare(published)
    if as_json:
        print_json(verdict.plain())
    if verdict.wrong:
        first, *rest = verdict.wrong.values()
        more = f" (and {len(rest)} more games)" if rest else ""
        raise StoreError(f"not verified: {first}{more}")
    if not as_json:
        typer.echo(f"verified: {verdict.count} {'game' if verdict.count == 1 else 'games'}{_since(since)}")


def _since(count: int | None) -> str:
    """What the published head says of the games."""
    if count is None:
        return ""
    return f", all as published; {count} stored since" if count else ", all as published"


def _head(text: str) -> bytes:
    from arena_server.errors import ConfigError

    try:
        value = bytes.fromhex(text)
    except ValueError:
        value = b""
    if len(text) != HEAD_DIGITS or len(value) * 2 != HEAD_DIGITS:
        raise ConfigError(f"--head: expected {HEAD_DIGITS} hexadecimal digits, got {text!r:.80}")
    return value


class Verdict:
    """What has been found: how many games, and what is wrong, by the game's name ("": the whole)."""

    def __init__(self) -> None:
        self.count = 0
        self.wrong: dict[str, str] = {}
        self._links: list[Link] = []
        self._whole = False

    def look(
        self, name: str, data: bytes, row: dict[str, Any] | None = None, link: tuple[int, bytes] | None = None
    ) -> None:
        """Check one record, the row beside it in a database, and note its place and value in the chain."""
        from hashlib import sha256

        from arena_protocol.record import RecordError
        from arena_server.store.chain import Link

        self.count += 1
        if link is not None:
            self._links.append(Link(link[0], name, sha256(data).digest(), link[1]))
        try:
            _check(name, data, row)
        except RecordError as error:
            self.wrong[name] = str(error)

    def chain(self, head: bytes | None, record: Callable[[str], bytes]) -> None:
        """Check the chain of all that was looked at; `record` fetches the bytes of one game again."""
        from arena_server.store.chain import audit

        self._whole = True
        thorough = True
        for flaw in audit(self._links, head):
            text = flaw.text
            if flaw.kind == "record":
                data = record(flaw.game_id)
                text += _bytes(data, flaw, thorough=thorough)
                thorough = False
            before = self.wrong.get(flaw.game_id)
            self.wrong[flaw.game_id] = text if before is None else f"{before}; chain: {text}"

    def compare(self, published: bytes) -> int:
        """How many games were stored since `published` was the head; it is wrong if it never was."""
        from arena_server.errors import ConfigError
        from arena_server.store.chain import GENESIS

        if not self._whole:
            raise ConfigError("--head: expected a whole contest or a folder of arena export to check it by")
        values = [GENESIS, *(each.chain for each in self._sorted())]
        if published in values:
            return len(values) - 1 - values.index(published)
        text = "the published head is none of this chain's: records were changed, or it is another contest's"
        self.wrong.setdefault("", text)
        return 0

    def _sorted(self) -> list[Link]:
        return sorted(self._links, key=lambda each: each.place)

    def plain(self) -> dict[str, Any]:
        """The verdict as JSON has it; the head is there if the chain was checked."""
        wrong = [{"game": name or None, "error": text} for name, text in self.wrong.items()]
        games = sum(bool(name) for name in self.wrong)
        plain = {"games": self.count, "verified": self.count - min(games, self.count), "wrong": wrong}
        if self._whole:
            from arena_server.store.chain import GENESIS

            plain["head"] = (self._sorted()[-1].chain if self._links else GENESIS).hex()
        return plain


def _bytes(data: bytes, flaw: Flaw, *, thorough: bool) -> str:
    """Where a record was changed, in words; empty if that cannot be told."""
    from arena_server.store.chain import changed_bytes

    found = changed_bytes(data, flaw, thorough=thorough)
    words = (f"byte {place} was 0x{byte:02x} and is 0x{data[place]:02x}" for place, byte in found)
    return "".join(f"; {each}" for each in words)


def _look_at_database(database: str, contest: str | None, game: str | None, verdict: Verdict) -> None:
    with open_results(database) as results:
        chosen = results.contest(contest)
        if game is not None:
            results.record(chosen, game)  # says so if there is none
        for row in results.rows(chosen, game):
            link = row.pop("place"), row.pop("chain")
            verdict.look(row["game_id"], row.pop("record"), {**row, "contest": chosen.name}, link)
        if game is None:
            verdict.chain(chosen.head, lambda name: results.record(chosen, name))


def _look_at_folder(folder: Path, verdict: Verdict) -> None:
    """Check an export: the records that its chain file lists, in their order, and no others."""
    head, order = _read_chain(folder)
    for place, (game, value) in enumerate(order, start=1):
        path = folder / f"{game}{SUFFIX}"
        if path.exists():
            verdict.look(game, read_file(path), link=(place, value))
    verdict.chain(head, lambda game: read_file(folder / f"{game}{SUFFIX}"))
    listed = {game for game, _ in order}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        if path.name.removesuffix(SUFFIX) not in listed:
            name = path.name.removesuffix(SUFFIX)
            verdict.wrong[name] = f"{path}: no record of the chain in {CHAIN_FILE}"


def _read_chain(folder: Path) -> tuple[bytes, list[tuple[str, bytes]]]:
    """Head, and games with their values, of an exported chain. Raises StoreError."""
    from arena_server.core.deal import number_of
    from arena_server.errors import StoreError

    path = folder / CHAIN_FILE
    try:
        chain = json.loads(read_file(path))
        order = [(str(each["game"]), bytes.fromhex(each["chain"])) for each in chain["order"]]
        if not all(number_of(game) for game, _ in order):
            raise ValueError("a game's id is g and a number")
        return bytes.fromhex(chain["head"]), order
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise StoreError(f"{path}: not the chain of an export ({type(error).__name__}: {error})") from None


def _check(name: str, data: bytes, row: dict[str, Any] | None) -> None:
    """Raise RecordError, naming the game, if the record or the row beside it is not true."""
    from arena_protocol.record import RecordError, decode
    from arena_protocol.verify import verify

    try:
        record = decode(data)
    except RecordError as error:
        raise RecordError(f"game {name}: {error}") from None
    verify(record)
    for key, found in (row or {}).items():
        expected: object = len(record.plies) if key == "plies" else getattr(record, key)
        if key == "faults":
            expected = [(fault.seat, fault.ply, str(fault.kind), fault.line) for fault in record.faults]
        if isinstance(expected, tuple):
            expected = list(expected)
        if expected != found:
            raise RecordError(f"game {name}, database: {key}: expected {expected!r}, found {found!r}")
