"""The result of checking records: how many are true, and what is wrong with the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fractions import Fraction

    from arena_protocol.record import GameRecord
    from arena_server.core.facts import Order, Ruled, Validated
    from arena_server.core.formats.history import History
    from arena_server.store.chain import ChainLink, Flaw
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow

#: The key in `Verification.errors` of an error of the whole chain.
WHOLE = ""


class Verification:
    """The result of checking records: their count, and the errors by game (`WHOLE`: of the chain).

    `absent` counts the games of an export whose record it withholds, `validations` those that count nowhere.
    """

    def __init__(self) -> None:
        self.count = self.absent = self.validations = 0
        #: Games of visitors on the deal of another game, which the secret of their contest does not give.
        self.played_on = 0
        self.errors: dict[str, str] = {}
        self._links: list[ChainLink] = []
        self._deals: dict[tuple[str, ...], set[int]] = {}
        #: Games whose deal may not be shown: their errors name no value.
        self._secret: set[str] = set()
        self._has_chain = False
        self._orders: dict[int, Order] = {}

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
        # A record that is wrong is a link, too: without it the chain would be blamed for all behind it.
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
        from arena_server.core.deal import REFEREE, other_move

        self.validations += 1
        record = self.check(name, game.record, {"game_id": name, "contest": contest.name})
        # Its record is not true, which is the error; what would follow from it says nothing.
        if record is None:
            return
        self.check_deal(name, record, int(contest.seed), game.number, 0)
        if {*record.names} != {game.name, REFEREE}:
            self.errors[name] = f"{name}: expected a game of {game.name}, found {', '.join(record.names)}"
        elif ply := other_move(record, int(contest.seed)):
            self.errors.setdefault(
                name, f"{name}, ply {ply}: the move is not derived from the contest's secret"
            )

    def rulings_of(self, rulings: Sequence[Ruled], orders: Sequence[Order]) -> dict[str, list[Ruled]]:
        """The rulings of each game, in their order; an error for one that no order of the jury has made."""
        from arena_server.core.deal import game_id
        from arena_server.core.rulings import JURY

        found: dict[str, list[Ruled]] = {}
        made = {order.number for order in orders if order.verb in (*JURY, "undo")}
        for number, ruled in enumerate(rulings, start=1):
            name = game_id(ruled.game)
            if ruled.number != number or ruled.order not in made:
                self.errors.setdefault(name, f"{name}: ruling {number} follows from no order of the jury")
            found.setdefault(name, []).append(ruled)
        self._orders = {order.number: order for order in orders}
        return found

    def check_penalties(self, penalties: Mapping[str, Fraction], orders: Sequence[Order]) -> None:
        """Check that the penalty points of each bot are those of the orders that stand."""
        from arena_server.core.orders import standing
        from arena_server.core.rulings import RulingError, hundredths_of

        given: Counter[str] = Counter()
        for order in standing(orders):
            if order.verb == "penalty":
                name, _, points = order.target.partition(" ")
                # An order that the rules refuse has decided nothing.
                with suppress(RulingError):
                    given[name] += hundredths_of(points)
        for name in {*given, *penalties}:
            if 100 * penalties.get(name, 0) != given[name]:
                self.errors.setdefault(
                    WHOLE, f"the penalty points of {name} are not those of the orders of the jury"
                )

    def check_disqualified(
        self, name: str, names: Sequence[str], end: str, disqualified: Mapping[str, str], *, ruled: bool
    ) -> None:
        """Check that a game of a disqualified bot does not count as it was played."""
        from arena_protocol.record import VOID

        for bot in names:
            if disqualified.get(bot) and end != VOID and not ruled:
                self.errors.setdefault(name, f"{name}: {bot} is disqualified, and the game counts as played")

    def check_ruled(
        self,
        name: str,
        data: bytes,
        rulings: Sequence[Ruled],
        found: tuple[tuple[int, ...], str] | None,
        contest: ContestRow,
    ) -> None:
        """Check that a game has the result that its rulings give it, from that of its record on.

        `found` is that of its row; None: it is void whatever they say.
        """
        from arena_protocol.games import make_game
        from arena_protocol.record import RecordError
        from arena_protocol.record_codec import decode
        from arena_server.core.rulings import RulingError, ruling_of

        try:
            record = decode(data)
        except RecordError:
            return  # `check` says so
        game, now = make_game(contest.game, contest.config["options"]), (record.totals, record.end)
        before: dict[int, tuple[tuple[int, ...], str]] = {}
        for ruled in rulings:
            given = None
            order = self._orders.get(ruled.order)
            if order is not None and order.verb == "undo":
                given = before.get(int(order.target))
            elif order is not None:
                with suppress(RulingError, ValueError):
                    given = ruling_of(game, order.verb, order.target, record.names, now[0])
            before[ruled.order] = now
            if (ruled.was_totals, ruled.was_end) != now or (ruled.totals, ruled.end) != given:
                self.errors.setdefault(
                    name, f"{name}: ruling {ruled.number} does not follow from order {ruled.order}"
                )
            now = ruled.totals, ruled.end
        if found not in (None, now):
            self.errors.setdefault(name, f"{name}, database: expected {now} by the jury, found {found}")

    def withhold(self, name: str, digest: bytes, link: tuple[int, bytes]) -> None:
        """Take a record that is not there into the chain, by the SHA-256 of its bytes."""
        self.absent += 1
        self._secret.add(name)
        self._add_link(name, digest, link)

    def _add_link(self, name: str, digest: bytes, link: tuple[int, bytes]) -> None:
        from arena_server.store.chain import ChainLink

        self._links.append(ChainLink(link[0], name, digest, link[1]))

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

    def check_entrants(self, results: Results, contest: ContestRow) -> None:
        """Check that the entrants of a stage are those whom the stages before it give."""
        from arena_server.store.stages import check_entrants

        if (problem := check_entrants(results, contest)) is not None:
            self.errors.setdefault(WHOLE, problem)

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

    def _sorted(self) -> list[ChainLink]:
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
        plain = {**counts, "validations": self.validations, "played_on": self.played_on, "wrong": wrong}
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
            case "agents":
                continue  # what a bot calls its program is in no record
            case "used_ms":
                expected: object = time_used(record.plies, len(record.names))
            case "plies":
                expected = len(record.plies)
            case "faults":
                expected = [(fault.seat, fault.ply, str(fault.kind), fault.line) for fault in record.faults]
            case _:
                expected = getattr(record, key)
        # A row has lists where a record has tuples: JSON knows no other.
        if isinstance(expected, tuple):
            expected = list(expected)
        if expected != found:
            raise RecordError(f"game {name}, database: {key}: expected {expected!r}, found {found!r}")
    return record
