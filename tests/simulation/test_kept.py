"""What bots store: a server that is broken on purpose is found by `kept.py` and `leaks.py`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.simulation.bots import Reconnecter
from tests.simulation.crashes import QUEUED, at, run
from tests.simulation.invariants import Violation
from tests.simulation.network import MS
from tests.simulation.scenario import draw
from tests.simulation.world import Order, World
from tests.slices import all_of

from arena_server.core.fixtures import Fixtures
from arena_server.core.games import GameManager, past_of
from arena_server.core.handlers import Handlers
from arena_server.core.log_events import ConnectionLost
from arena_server.core.login import StoredBytes
from arena_server.core.news import Counted
from arena_server.core.parts.storage import Storage
from arena_server.terms.config import ContestConfig

Patch = pytest.MonkeyPatch


class Storing(Reconnecter):
    """Stores at each event."""

    def sometimes(self, number: int) -> bool:
        return super().sometimes(1 + number // 2)


def play(seed: int) -> World:
    """Two bots that store much and lose their connections; games are void, and the server is killed."""
    config = ContestConfig(
        name="kept",
        seed=3,
        options={"plies": 4, "lookahead": 2},
        games_per_pair=8,
        absent_ms=120_000,
        storage_bytes=16,
    )
    orders = [Order(30 * at * MS, "replay", at) for at in range(1, 12)]
    world = World(seed, config, {"ann": Storing, "bob": Storing}, QUEUED, orders=orders)
    run(world, at(20 + seed, 80 + seed, 110 + seed))
    return world


def test_a_contest_meets_all_ways_of_storing_and_many_draw_both_terms() -> None:
    world = play(17)
    assert (world.server.finished, world.server.crashes) == ("finished", 3)
    assert {"at once", "with a game", "void", "late"} == world.checker.kept.counted.keys()
    drawn = [draw(seed).config for seed in range(100)]
    assert {(each.anonymous, each.storage_bytes > 0) for each in drawn} == {
        (anonymous, stores) for anonymous in (False, True) for stores in (False, True)
    }
    assert {each.format for each in drawn if each.anonymous} == {"round-robin", "knockout", "ladder"}


def _keep_of_a_void_game(patch: Patch) -> None:
    right = GameManager.stored

    def stored(self: GameManager, game_id: str, now: int) -> None:
        live = self.by_number.get(int(game_id[1:]))
        right(self, game_id, now)
        if live is not None:
            self.notes.add(Counted(past_of(live)))

    patch.setattr(GameManager, "stored", stored)


def _keep_before_the_result(patch: Patch) -> None:
    patch.setattr(Storage, "_stage", lambda self, staged: self._keep(staged.name, staged.data))


def _keep_of_a_lost_game(patch: Patch) -> None:
    patch.setattr(Fixtures, "has_result", lambda self, number: True)


def _forget_what_a_result_keeps(patch: Patch) -> None:
    patch.setattr(Fixtures, "has_result", lambda self, number: False)


def _keep_it_twice(patch: Patch) -> None:
    patch.setattr(Storage, "_drop", lambda self, staged: self._staged.pop(staged.slot))


def _write_no_fact(patch: Patch) -> None:
    def keep(self: Storage, name: str, data: bytes) -> None:
        self._stored.by_name[name] = data

    patch.setattr(Storage, "_keep", keep)


def _give_to_another(patch: Patch) -> None:
    patch.setattr(StoredBytes, "of", lambda self, name: next(reversed(self.by_name.values()), b""))


def _log_the_bytes(patch: Patch) -> None:
    right = Handlers._store

    def store(self: Handlers, peer, message, line, now) -> None:  # type: ignore[no-untyped-def]
        right(self, peer, message, line, now)
        self._out.effects.append(ConnectionLost(peer.conn, peer.address, None, line.decode()))

    patch.setattr(Handlers, "_store", store)


@all_of(
    ("seed", "broken", "found"),
    [
        (17, _keep_of_a_void_game, r"[0-9a-f]{32} of (ann|bob) is kept, and may not be"),
        (1, _keep_before_the_result, r"[0-9a-f]{32} of (ann|bob) is kept, and may not be"),
        (2, _keep_of_a_lost_game, r"[0-9a-f]{32} of (ann|bob) is kept, and may not be"),
        (5, _forget_what_a_result_keeps, r"(ann|bob) has stored '[0-9a-f]{32}', and gets"),
        (3, _keep_it_twice, r"[0-9a-f]{32} of (ann|bob) was sent, and is lost"),
        (1, _write_no_fact, r"[0-9a-f]{32} of (ann|bob) was sent, and is lost"),
        (1, _give_to_another, r"(ann|bob) has stored '([0-9a-f]{32})?', and gets"),
        (1, _log_the_bytes, r"the log has stored bytes of (ann|bob) at"),
    ],
)
def test_a_server_that_is_broken_on_purpose_is_found(
    seed: int, broken: Callable[[Patch], None], found: str
) -> None:
    with Patch.context() as patch:
        broken(patch)
        with pytest.raises(Violation, match=found):
            play(seed)
