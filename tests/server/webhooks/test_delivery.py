"""What a webhook gets next: order, repeats, bounds, several in one; clock and receiver have a script."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena_server.host.log_events import WebhookDelivered, WebhookDropped, WebhookFailed
from arena_server.webhooks import delivery as module
from arena_server.webhooks.delivery import (
    LONGEST_PAUSE_S,
    READ_PAUSE_S,
    cursors_path,
)
from arena_server.webhooks.message import Message

from .world import HOOK, World, store_by_clock


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

    def test_a_database_that_cannot_be_read_is_no_end(self, world: World) -> None:
        world.store(1)
        delivery = world.delivery()
        world.path.rename(world.path.with_name("away"))
        assert world.run(delivery) == 1
        world.path.with_name("away").rename(world.path)
        world.run(delivery)
        assert world.games == ["g1"]

    def test_only_the_events_that_are_wanted(self, world: World) -> None:
        world.store(1)
        delivery = world.delivery(hook=replace(HOOK, events=frozenset({"absence"})))
        delivery.notice(Message("probation-1-1", "probation", b"{}"))
        delivery.notice(Message("absence-1-2", "absence", b"{}"))
        assert world.run(delivery) is None
        assert world.ids == ["absence-1-2"]


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
