"""chain.json of `arena export`: what the folder has, in the order of storing (docs/record-format.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from arena_cli.results import CHAIN_FILE, read_file

if TYPE_CHECKING:
    from arena_server.core.formats.history import History

#: Deals of a pair that are derived at most; a chain file may say anything.
MOST_DEALS = 1_000_000


@dataclass(frozen=True, slots=True)
class Listed:
    """A game of a chain file. `digest`, the SHA-256 of its record, is there if the export withholds that.

    Exports of earlier versions have no `deal`, the number of its deal. `annulled`: its result was taken back.
    """

    game: str
    chain: bytes
    deal: int | None
    digest: bytes | None
    annulled: bool = False

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Self:
        """Raises ValueError, LookupError or TypeError for what no export has written."""
        from arena_server.core.deal import number_of

        if number_of(game := str(plain["game"])) < 1:
            raise ValueError("a game's id is g and a number")
        deal, digest = plain.get("deal"), plain.get("sha256")
        return cls(
            game,
            bytes.fromhex(plain["chain"]),
            None if deal is None else int(deal),
            None if digest is None else bytes.fromhex(digest),
            plain.get("annulled") is True,
        )


@dataclass(frozen=True, slots=True)
class ChainFile:
    """`rounds` is what was drawn, without results; None if nothing was, or if an earlier version wrote it.

    `over`: every game of the contest has a result.
    """

    head: bytes
    order: list[Listed]
    games_per_pair: int
    rounds: History | None = None
    over: bool = False

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
            return cls(head, order, deals)
        return cls(head, order, deals, history_of_plan(plan), plan["over"] is True)
