"""The rows of a contest's results as its server writes them: games, their hash chain, faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sqlalchemy import Connection, insert, select
from sqlalchemy.orm import Session

from arena_protocol.record import VOID, GameRecord
from arena_server.core.deal import game_id as id_of
from arena_server.core.deal import number_of
from arena_server.core.facts import Ruled
from arena_server.core.game_facts import Offered
from arena_server.store import schema
from arena_server.store.chain import GENESIS, extend
from arena_server.store.checks import faults_by_game
from arena_server.store.schema import fault_row, game_checksum, game_row, pairing_row

#: Games that are changed by one query.
CHANGED_AT_ONCE = 1_000


class ResultRows:
    """The results of one contest, on the writer's connection and in its transactions.

    `place` and `chain` are the last record of the hash chain. `written` counts the records stored here.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._contest = 0
        self.place, self.chain = 0, GENESIS
        self.written = 0

    def begin(self, contest: int) -> None:
        """Have the results of this new contest."""
        self._contest = contest

    def resume(self, session: Session, contest: schema.ContestRow) -> None:
        """Have the results of this contest, after those that are stored."""
        self._contest = contest.id
        mine = select(schema.GameRow.place, schema.GameRow.chain).where(
            schema.GameRow.contest_id == contest.id
        )
        if last := session.execute(mine.order_by(schema.GameRow.place.desc()).limit(1)).first():
            self.place, self.chain = last

    def add(
        self,
        results: Sequence[tuple[str, GameRecord, bytes]],
        bots: Mapping[str, int],
        offer: Callable[[int], Offered | None],
    ) -> None:
        """Write results: game id, record, encoded record. `bots` are rows by name, `offer` finds a deal."""
        games, pairings = [], []
        for game_id, record, data in results:
            self.place, self.chain = self.place + 1, extend(self.chain, data)
            offered = offer(number_of(game_id))
            agents = () if offered is None else offered.agents
            games.append(game_row(self._contest, game_id, record, data, (self.place, self.chain), agents))
            if offered is not None:
                pairings.append(pairing_row(self._contest, game_id, record.names, offered.deal))
        # A statement costs ten times as much as a row of it.
        self.connection.execute(insert(schema.GameRow), games)
        if pairings:
            self.connection.execute(insert(schema.PairingRow), pairings)
        for game_id, record, _ in results:
            if record.faults:
                self._add_faults(game_id, record, bots)
        self.written += len(results)

    def _add_faults(self, game_id: str, record: GameRecord, bots: Mapping[str, int]) -> None:
        mine = (schema.GameRow.contest_id == self._contest, schema.GameRow.game_id == game_id)
        (key,) = self.connection.execute(select(schema.GameRow.id).where(*mine)).one()
        faults = [fault_row(key, record.names, bots, each) for each in record.faults]
        self.connection.execute(insert(schema.FaultRow), faults)

    def annul(self, names: Sequence[str]) -> None:
        """These games are void now. Their records, and the chain, stay."""

        def change(game: schema.GameRow) -> None:
            game.end = VOID

        self._change(names, change)

    def rule(self, rulings: Iterable[Ruled]) -> None:
        """These games have other results now, each that of its last ruling."""
        latest = {id_of(ruled.game): ruled for ruled in rulings}

        def change(game: schema.GameRow) -> None:
            ruled = latest[game.game_id]
            game.totals, game.end = list(ruled.totals), ruled.end

        self._change(list(latest), change)

    def _change(self, names: Sequence[str], change: Callable[[schema.GameRow], None]) -> None:
        with Session(self.connection) as session:
            contest = session.get_one(schema.ContestRow, self._contest)
            faults = faults_by_game(session, contest)
            mine = select(schema.GameRow).where(schema.GameRow.contest_id == self._contest)
            for at in range(0, len(names), CHANGED_AT_ONCE):
                part = mine.where(schema.GameRow.game_id.in_(names[at : at + CHANGED_AT_ONCE]))
                for game in session.scalars(part):
                    change(game)
                    game.checksum = game_checksum(game, faults.get(game.id, []))
            session.flush()
