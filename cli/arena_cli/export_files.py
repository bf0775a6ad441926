"""The files of `arena export`: records, and chain.json, their order of storing (docs/record-format.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from arena_server.core.formats.history import History

#: The suffix of an exported record, after its game's id.
SUFFIX = ".record"
#: The hash chain of an export, next to the records.
CHAIN_FILE = "chain.json"
#: Deals of a pair that are derived at most; a chain file may say anything.
MOST_DEALS = 1_000_000


@dataclass(frozen=True, slots=True)
class Listed:
    """A game of a chain file. `digest`, the SHA-256 of its record, is there if the export withholds that.

    Exports of earlier versions have no `deal`, the number of its deal. `annulled`: its result was taken back.
    `ruled`: the totals and the end that the jury has given it.
    """

    game: str
    chain: bytes
    deal: int | None
    digest: bytes | None
    annulled: bool = False
    ruled: tuple[tuple[int, ...], str] | None = None

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Self:
        """Raises ValueError, LookupError or TypeError for what no export has written."""
        from arena_server.core.deal import number_of

        if number_of(game := str(plain["game"])) < 1:
            raise ValueError("a game's id is g and a number")
        deal, digest, ruled = plain.get("deal"), plain.get("sha256"), plain.get("ruled")
        return cls(
            game,
            bytes.fromhex(plain["chain"]),
            None if deal is None else int(deal),
            None if digest is None else bytes.fromhex(digest),
            plain.get("annulled") is True,
            None if ruled is None else (tuple(map(int, ruled["totals"])), str(ruled["end"])),
        )


@dataclass(frozen=True, slots=True)
class ChainFile:
    """`rounds` is what was drawn, without results; None if nothing was, or if an earlier version wrote it.

    `over`: every game of the contest has a result. `played_on`: it is the game of a visitor, on the deal of
    another one.
    """

    head: bytes
    order: list[Listed]
    games_per_pair: int
    rounds: History | None = None
    over: bool = False
    played_on: bool = False

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The file of an export. Raises StoreError."""
        from arena_server.errors import StoreError

        path = folder / CHAIN_FILE
        try:
            return cls._of(json.loads(read_file(path)))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            text = f"{type(error).__name__}: {error}"
            raise StoreError(f"{path}: not the chain of an export ({text})") from None

    @classmethod
    def _of(cls, chain: dict[str, Any]) -> Self:
        from arena_server.store.plans import history_of_plan

        order = [Listed.of(each) for each in chain["order"]]
        # Exports of earlier versions have neither games_per_pair nor rounds.
        deals = min(int(chain.get("games_per_pair", len(order))), MOST_DEALS)
        head, plan = bytes.fromhex(chain["head"]), chain.get("rounds")
        if plan is None:
            return cls(head, order, deals, played_on=bool(chain.get("played_on")))
        return cls(head, order, deals, history_of_plan(plan), plan["over"] is True)


def find_path(target: str) -> Path | None:
    """Return the file or folder `target`, or None for the id of a game. Raises StoreError for neither."""
    from arena_server.errors import StoreError

    path = Path(target)
    if path.exists():
        return path
    if path.name != target or path.suffix:
        raise StoreError(f"{target}: no such file or folder")
    return None


def read_record(path: Path) -> bytes:
    """Return the bytes of the file of a record; of one that is too long for any as many as show that."""
    from arena_protocol.record_codec import MAX_BYTES

    return read_file(path, MAX_BYTES + 1)


def read_file(path: Path, most: int = -1) -> bytes:
    """Return the bytes of a file, or its first `most`. Raises StoreError."""
    from arena_server.errors import StoreError

    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from None


def withheld_text(games: Sequence[str]) -> str:
    """Return the end of a line about written records: how many may not be shown yet; empty if none."""
    if not games:
        return ""
    are = "1 game is" if len(games) == 1 else f"{len(games)} games are"
    return f"; {are} withheld until all games on the same deals have a result"


def unseen_text(games: int, option: str = "") -> str:
    """Return the end of a line about written records: how many results may not be seen yet; empty if none.

    `option` is the one that writes them.
    """
    if not games:
        return ""
    are = "1 game is" if games == 1 else f"{games} games are"
    keys = "contest.spectator_delay, contest.freeze_at, contest.anonymous"
    return f"; {are} not shown yet ({keys}{f'; {option} writes all' if option else ''})"


def unseen_json(games: int) -> dict[str, int]:
    """The same for --json: nothing if there are none."""
    return {"not_shown": games} if games else {}
