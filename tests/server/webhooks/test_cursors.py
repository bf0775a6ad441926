"""How far a webhook has read: over restarts, in other contests and databases, and the file that keeps it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arena_server.errors import ArenaError
from arena_server.host.log_events import WebhookFailed
from arena_server.store.database import Database
from arena_server.terms.spec import Webhook
from arena_server.webhooks import delivery as module
from arena_server.webhooks.delivery import (
    KEEP_S,
    READ_PAUSE_S,
    Cursors,
    cursors_path,
)
from arena_server.webhooks.message import Cursor, Message

from .world import HOOK, World, store_by_clock


def fail(_: object) -> None:
    raise OSError(28, "No space left on device")


def test_the_next_server_goes_on(world: World) -> None:
    world.store(1, 2, 3)
    delivery = world.delivery()
    world.now += READ_PAUSE_S
    for _ in range(2):
        assert delivery.step() == 0
        world.now += 2 * KEEP_S
    world.store(4)
    world.run(world.delivery(Cursor(1, 0, 4)))
    assert world.games == ["g1", "g2", "g3", "g4"]
    assert len(set(world.ids)) == 4


def test_an_attempt_whose_answer_was_lost_is_repeated_under_the_same_id(world: World) -> None:
    world.store(1)
    first = world.delivery()
    world.now += READ_PAUSE_S
    message = first._next(world.now)  # sent by a server that is killed before it keeps that
    assert isinstance(message, Message)
    world.send(message, int(world.now))
    world.run(world.delivery())
    assert world.games == ["g1", "g1"]
    assert len(set(world.ids)) == 1


def test_a_disk_that_fails_repeats_a_result(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.store(1)
    delivery = world.delivery()
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        assert world.run(delivery) == 1
    (failed,) = [event for event in world.events if isinstance(event, WebhookFailed)]
    assert failed.error.endswith("webhooks-cup: cannot be written: No space left on device")
    world.run(delivery)
    assert world.games == ["g1", "g1"]


def test_a_contest_that_began_by_an_earlier_clock_is_the_next_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first server had a clock that was a day ahead."""

    store_by_clock(world, monkeypatch)
    for number, ahead in ((1, 86_400), (2, 0), (3, 1)):
        world.set_by = ahead
        delivery = world.delivery(since=world.now + ahead)
        world.store(number, status="finished")
        world.now += 10
        world.run(delivery)
        assert world.games[-1] == f"g{number}"
    assert world.games == ["g1", "g2", "g3"]


def test_the_last_contest_is_delivered_before_the_next(world: World) -> None:
    world.store(1, 2, status="finished")
    delivery = world.delivery()
    world.now += READ_PAUSE_S
    assert delivery.step() == 0
    world.store(1)
    other = world.delivery()
    world.run(other)
    world.run(other)
    assert [(each["contest"]["id"], each["game"]["id"]) for each in world.sent] == [
        (1, "g1"),
        (1, "g2"),
        (2, "g1"),
    ]


def test_a_hook_that_is_new_begins_with_the_next_result(world: World) -> None:
    world.store(1, 2, status="finished")
    later = world.now + 60
    assert world.run(world.delivery(since=later)) is None, "an earlier contest of this name"
    world.store(1, 2)
    other = replace(HOOK, url="https://example.org/other")
    delivery = world.delivery(Cursor(2, 0, 1), other, since=later)
    world.run(delivery)
    assert world.games == ["g2"]
    assert world.run(world.delivery(Cursor(2, 0, 2), other)) is None, "it is known by now"


def test_a_database_that_is_new(world: World) -> None:
    world.store(1, 2)
    world.run(world.delivery())
    file = cursors_path(world.path, "cup")
    plain = json.loads(file.read_text())
    ((since, ((_, started, _),)),) = plain.values()
    for older in ([[1, started - 9, 50]], [[7, started - 9, 50]]):
        file.write_text(json.dumps({key: [since, older] for key in plain}))
        world.run(world.delivery())
        assert world.games == ["g1", "g2"] * 2
        world.sent = world.sent[:2]
        assert json.loads(file.read_text()) == plain


def test_a_copy_that_was_restored(world: World) -> None:
    world.store(1, 2)
    kept = world.path.read_bytes(), world.path.with_name("arena.db-head").read_bytes()
    world.store(3, 4)
    world.run(world.delivery())
    for name, data in zip(("arena.db", "arena.db-head"), kept, strict=True):
        world.path.with_name(name).write_bytes(data)
    delivery = world.delivery()
    world.run(delivery)
    world.store(5, 6)
    world.run(delivery)
    assert world.games == ["g1", "g2", "g3", "g4", "g5", "g6"]
    assert [each["game"]["place"] for each in world.sent] == [1, 2, 3, 4, 3, 4]
    assert len(set(world.ids)) == 6


def test_results_of_both_databases(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where the file is with PostgreSQL
    world = World(tmp_path, database)
    world.store(1, 2)
    world.run(world.delivery())
    world.store(3)
    world.run(world.delivery())
    assert world.games == ["g1", "g2", "g3"]
    assert (tmp_path / "arena.db-webhooks-cup").exists()


def test_a_backlog_is_read_without_pauses_and_kept_now_and_then(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READ_GAMES", 4)
    kept = []
    take = Cursors.take

    def counted(cursors: Cursors, hook: Webhook, cursor: Cursor) -> None:
        kept.append(cursor.place)
        take(cursors, hook, cursor)

    monkeypatch.setattr(Cursors, "take", counted)
    world.store(*range(1, 11))
    delivery = world.delivery()
    world.now += READ_PAUSE_S
    pauses = []
    while (pause := delivery.step()) == 0:
        pauses.append(pause)
    assert len(pauses) == 10, "the clock stands still"
    assert kept == [1, 4, 8, 10]


def test_a_place_is_kept_before_the_pause_after_a_failure_and_at_the_end(world: World) -> None:
    world.store(1, 2, 3, 4)
    delivery = world.delivery()
    world.now += READ_PAUSE_S
    assert [delivery.step() for _ in range(2)] == [0, 0]
    world.problem = "answered with status 500"
    assert delivery.step() == 1
    ((_, ((_, _, place),)),) = json.loads(cursors_path(world.path, "cup").read_text()).values()
    assert place == 2
    world.problem = None
    world.now += 1
    assert delivery.step() == 0
    delivery.close()
    world.run(world.delivery())
    assert world.games == ["g1", "g2", "g3", "g4"]


class TestFile:
    def test_the_file_names_no_address_and_is_private(self, world: World) -> None:
        world.store(1)
        world.run(world.delivery())
        file = cursors_path(world.path, "cup")
        assert file.name == "arena.db-webhooks-cup"
        assert file.stat().st_mode & 0o777 == 0o600
        assert "example" not in file.read_text()
        assert "t0ken" not in file.read_text()

    @pytest.mark.parametrize(
        "text",
        ["{", "[]", '{"a": 1}', '{"a": [0]}', '{"a": [0, [[1]]]}', '{"a": [0, [[1, 2, "x"]]]}', "\u00ff"],
    )
    def test_a_damaged_file(self, world: World, text: str) -> None:
        file = cursors_path(world.path, "cup")
        file.write_bytes(text.encode("latin-1"))
        with pytest.raises(ArenaError, match=r"webhooks-cup: expected what webhooks have taken, the file is"):
            world.cursors()

    def test_a_file_that_cannot_be_read(self, world: World) -> None:
        cursors_path(world.path, "cup").mkdir()
        with pytest.raises(ArenaError, match=r"webhooks-cup: cannot be read: Is a directory"):
            world.cursors()
