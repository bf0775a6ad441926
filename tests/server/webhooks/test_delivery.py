"""What a webhook gets next: order, repeats, restarts, delay, bounds; clock and receiver have a script."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena_server.errors import ArenaError
from arena_server.host.log_events import WebhookDelivered, WebhookDropped, WebhookFailed
from arena_server.store.database import Database
from arena_server.terms.spec import Webhook
from arena_server.webhooks import delivery as module
from arena_server.webhooks.delivery import (
    KEEP_S,
    LONGEST_PAUSE_S,
    READ_PAUSE_S,
    Cursors,
    cursors_path,
)
from arena_server.webhooks.message import Cursor, Message

from .world import HOOK, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def store_by_clock(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are stored by the clock of `world`, as it is set."""

    def stored_now() -> datetime:
        return datetime.fromtimestamp(world.now + world.set_by, UTC).replace(tzinfo=None)

    monkeypatch.setattr("arena_server.store.schema.now", stored_now)


class TestResults:
    def test_what_a_result_says(self, world: World) -> None:
        world.store(1, 2)
        delivery = world.delivery()
        assert world.run(delivery) == pytest.approx(READ_PAUSE_S)
        assert world.run(delivery) is None
        first, second = world.sent
        assert world.games == ["g1", "g2"]
        assert {key: first[key] for key in ("type", "contest")} == {
            "type": "game",
            "contest": {"id": 1, "name": "cup"},
        }
        assert second["game"] == {
            "id": "g2",
            "place": 2,
            "names": ["a", "b"],
            "totals": [30, 10],
            "end": "complete",
            "plies": 1,
            "used_ms": [3, 0],
            "faults": [{"seat": 2, "ply": 1, "kind": "illegal"}],
        }
        delivered = [event for event in world.events if isinstance(event, WebhookDelivered)]
        assert [(each.hook, each.kind, each.id) for each in delivered] == [
            (1, "game", each) for each in world.ids
        ]

    def test_each_once_and_in_order_over_many_reads(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "READ_GAMES", 3)
        world.store(*range(1, 9))
        delivery = world.delivery()
        while world.run(delivery) is not None:
            pass
        world.store(9)
        assert delivery.step() == pytest.approx(READ_PAUSE_S), "the database is not opened again at once"
        world.run(delivery)
        assert world.games == [f"g{number}" for number in range(1, 10)]

    def test_the_next_server_goes_on(self, world: World) -> None:
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

    def test_an_attempt_whose_answer_was_lost_is_repeated_under_the_same_id(self, world: World) -> None:
        world.store(1)
        first = world.delivery()
        world.now += READ_PAUSE_S
        message = first._next(world.now)  # sent by a server that is killed before it keeps that
        assert isinstance(message, Message)
        world.send(message, int(world.now))
        world.run(world.delivery())
        assert world.games == ["g1", "g1"]
        assert len(set(world.ids)) == 1

    def test_a_disk_that_fails_repeats_a_result(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        world.store(1)
        delivery = world.delivery()
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", fail)
            assert world.run(delivery) == 1
        (failed,) = [event for event in world.events if isinstance(event, WebhookFailed)]
        assert failed.error.endswith("webhooks-cup: cannot be written: No space left on device")
        world.run(delivery)
        assert world.games == ["g1", "g1"]

    def test_pauses_double_up_to_a_bound_and_begin_again(self, world: World) -> None:
        world.store(1, 2)
        delivery = world.delivery()
        world.problem = "answered with status 500"
        pauses = []
        for _ in range(40):
            pause = world.run(delivery)
            assert pause is not None
            pauses.append(pause)
            assert delivery.step() == pytest.approx(pause), "not sooner"
            world.now += pause
        assert pauses[:4] == [1, 2, 4, 8]
        assert pauses == sorted(pauses)
        assert pauses[-1] == LONGEST_PAUSE_S
        assert world.attempts == 40
        failed = [event for event in world.events if isinstance(event, WebhookFailed)]
        assert failed[2] == WebhookFailed(1, "answered with status 500", 4)
        world.problem = None
        delivery.step()
        world.problem = "answered with status 500"
        assert delivery.step() == 1

    def test_a_clock_that_is_set_back_stops_no_results(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Pauses go on, and what was stored by the later clock is seen with the next result."""

        store_by_clock(world, monkeypatch)
        world.store(1, delay_ms=3_000)
        delivery = world.delivery()
        world.now += 3
        world.run(delivery)
        world.store(2, delay_ms=3_000)
        world.set_by = -86_400
        assert world.run(delivery) == LONGEST_PAUSE_S, "the clock may be set again"
        world.store(3, delay_ms=3_000)
        pause = world.run(delivery)
        assert pause is not None
        assert READ_PAUSE_S < pause < 3
        world.now += pause
        world.problem = "answered with status 500"
        assert world.run(delivery) == 1
        world.problem = None
        world.set_by -= 86_400
        world.now += 1
        world.run(delivery)
        assert world.games == ["g1", "g2", "g3"]

    def test_a_contest_that_began_by_an_earlier_clock_is_the_next_one(
        self, world: World, monkeypatch: pytest.MonkeyPatch
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

    def test_nothing_before_the_spectator_delay(self, world: World) -> None:
        world.store(1, 2, delay_ms=60_000)
        delivery = world.delivery()
        pause = world.run(delivery)
        assert pause is not None
        assert 50 < pause <= 60
        assert world.sent == []
        world.now += pause
        world.run(delivery)
        world.run(delivery)
        assert world.games == ["g1", "g2"]

    def test_the_end_thaws_after_the_delay(self, world: World) -> None:
        """A hook that has read of the end before is awake then."""
        world.store(1, 2, delay_ms=60_000, freeze_at_ms=0, status="finished")
        delivery = world.delivery()
        pause = world.run(delivery)
        assert pause is not None
        assert 50 < pause <= 60
        assert world.sent == []
        world.now += pause
        world.run(delivery)
        assert world.games == ["g1", "g2"]

    def test_what_is_stopped_stays_frozen(self, world: World) -> None:
        world.store(1, freeze_at_ms=0)
        assert world.run(world.delivery()) is None

    def test_nothing_behind_a_freeze_before_the_end(self, world: World) -> None:
        frozen = int((world.now - 60) * 1000)
        world.store(1, freeze_at_ms=frozen)
        delivery = world.delivery()
        assert world.run(delivery) is None
        assert world.sent == []
        world.store(2, freeze_at_ms=frozen, status="finished")
        world.run(delivery)
        assert world.games == ["g1", "g2"]

    def test_the_last_contest_is_delivered_before_the_next(self, world: World) -> None:
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

    def test_a_hook_that_is_new_begins_with_the_next_result(self, world: World) -> None:
        world.store(1, 2, status="finished")
        later = world.now + 60
        assert world.run(world.delivery(since=later)) is None, "an earlier contest of this name"
        world.store(1, 2)
        other = replace(HOOK, url="https://example.org/other")
        delivery = world.delivery(Cursor(2, 0, 1), other, since=later)
        world.run(delivery)
        assert world.games == ["g2"]
        assert world.run(world.delivery(Cursor(2, 0, 2), other)) is None, "it is known by now"

    def test_a_database_that_is_new(self, world: World) -> None:
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

    def test_a_copy_that_was_restored(self, world: World) -> None:
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

    def test_a_database_that_cannot_be_read_is_no_end(self, world: World) -> None:
        world.store(1)
        delivery = world.delivery()
        world.path.rename(world.path.with_name("away"))
        assert world.run(delivery) == 1
        world.path.with_name("away").rename(world.path)
        world.run(delivery)
        assert world.games == ["g1"]

    @pytest.mark.parametrize("with_results", [False, True])
    def test_a_hook_with_results_learns_all_else_as_late(self, world: World, with_results: bool) -> None:
        """One without is the organiser's."""
        events = frozenset({"over", *(["game"] if with_results else [])})
        world.store()
        delivery = world.delivery(hook=replace(HOOK, events=events), delay_ms=60_000)
        delivery.notice(Message("over-1-1", "over", b'{"type": "over"}'))
        if with_results:
            pause = world.run(delivery)
            assert pause is not None
            assert world.sent == []
            world.now += pause
        world.run(delivery)
        assert [each["type"] for each in world.sent] == ["over"]

    def test_only_the_events_that_are_wanted(self, world: World) -> None:
        world.store(1)
        delivery = world.delivery(hook=replace(HOOK, events=frozenset({"absence"})))
        delivery.notice(Message("probation-1-1", "probation", b"{}"))
        delivery.notice(Message("absence-1-2", "absence", b"{}"))
        assert world.run(delivery) is None
        assert world.ids == ["absence-1-2"]


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


class TestNotices:
    def test_they_go_before_results_and_are_bounded(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "MOST_NOTICES", 2)
        world.store(1)
        delivery = world.delivery()
        for number in (1, 2, 3):
            delivery.notice(Message(f"absence-1-{number}", "absence", b'{"game": {"id": "none"}}'))
        assert world.events == [WebhookDropped(1)]
        world.run(delivery)
        assert world.ids[:2] == ["absence-1-2", "absence-1-3"]
        assert world.ids[2].startswith("game-")


class TestCursors:
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


def fail(_: object) -> None:
    raise OSError(28, "No space left on device")


class TestBatches:
    """`batch` in the file: several results in one message."""

    HOOK = replace(HOOK, batch=3)

    def test_what_it_says(self, world: World) -> None:
        world.store(*range(1, 6))
        world.run(world.delivery())
        single, ids = world.sent, world.ids
        world.sent, world.ids = [], []
        cursors_path(world.database, "cup").unlink()
        world.run(world.delivery(hook=self.HOOK))
        places = [[each["game"]["place"] for each in sent["games"]] for sent in world.sent]
        assert places == [[1, 2, 3], [4, 5]]
        assert [game for sent in world.sent for game in sent["games"]] == single
        for sent in world.sent:
            last = sent["games"][-1]
            assert {key: sent[key] for key in sent if key != "games"} == {
                "type": "games", "timestamp": last["timestamp"], "contest": last["contest"]
            }  # fmt: skip
        ends = [ids[place].removeprefix("game-1-") for place in (2, 4)]
        assert world.ids == [f"games-1-1-{ends[0]}", f"games-1-4-{ends[1]}"]

    def test_one_that_is_refused_is_repeated_as_it_was(self, world: World) -> None:
        world.store(1, 2)
        delivery = world.delivery(hook=self.HOOK)
        world.problem = "answered with status 503"
        pause = world.run(delivery)
        world.store(3)
        world.problem = None
        world.now += pause or 0
        world.run(delivery)
        world.run(delivery)
        games = [[each["game"]["id"] for each in sent["games"]] for sent in world.sent]
        assert games == [["g1", "g2"], ["g3"]]

    def test_the_next_server_goes_on_behind_the_last_one(self, world: World) -> None:
        world.store(*range(1, 8))
        delivery = world.delivery(hook=self.HOOK)
        world.now += READ_PAUSE_S
        assert delivery.step() == 0
        delivery.close()
        world.run(world.delivery(hook=self.HOOK))
        places = [[each["game"]["place"] for each in sent["games"]] for sent in world.sent]
        assert places == [[1, 2, 3], [4, 5, 6], [7]]


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
