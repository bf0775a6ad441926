"""Bots whose authors send versions, on a scripted pool: the images of jobs, and who is to blame."""

from __future__ import annotations

from typing import Any, cast

from tests.server.core.lease_harness import played
from tests.server.places.workers.test_audit import Contest, Pool

from arena_protocol.record_codec import encode
from arena_server.core.deal import Setting
from arena_server.core.effects import Assign
from arena_server.core.events import Command, NotPlayed, Returned
from arena_server.core.formats.base import Pairing
from arena_server.core.log_events import BotReplaced
from arena_server.places.base import LocalBot
from arena_server.places.workers.base import JobOutcome, Workers
from arena_server.places.workers.blame import MOST_FAILURES
from arena_server.places.workers.dispatch import Dispatcher
from arena_server.places.workers.runners import is_contained
from arena_server.terms.config import ContestConfig, game_of
from arena_server.terms.sandbox import ContainerLimits, Sandbox

LIMITS = ContainerLimits(cpus=2.0)
NAMES = ("ann", "bob")


def dispatched() -> tuple[Contest, Pool, Dispatcher]:
    contest, pool = Contest(), Pool()
    bots = {
        "ann": LocalBot("ann", (), "", sandbox=Sandbox("", LIMITS)),
        "bob": LocalBot("bob", ["true"], ""),
        "cid": LocalBot("cid", ["true"], ""),
    }
    workers = Workers(
        pool=cast(Any, pool),
        bots=bots,
        engines={},
        lease_ms=1000,
        far=True,
        saved=lambda bot, image: f"/{bot}/{image[7:]}.tar",
    )
    contest.dispatcher = Dispatcher(workers, cast(Any, contest))
    return contest, pool, contest.dispatcher


def setting(number: int, names: tuple[str, ...] = NAMES) -> Setting:
    config = ContestConfig(name="test", seed=0)
    return Setting.of(config, game_of(config), Pairing(number, names, number))


def test_a_job_has_the_image_of_its_lease_and_the_record_names_it() -> None:
    contest, pool, dispatcher = dispatched()
    for number, image in ((1, "sha256:a1"), (2, "sha256:a2")):
        dispatcher.carry_out(Assign(f"g{number}", 1, setting(number), (image, "")))
    dispatcher.carry_out(Assign("g3", 1, setting(3, ("bob", "cid"))))
    assert [each.bots[0].sandbox for each in pool.jobs] == [
        Sandbox("sha256:a1", LIMITS, "/ann/a1.tar"),
        Sandbox("sha256:a2", LIMITS, "/ann/a2.tar"),
        None,
    ]
    assert [is_contained(each) for each in pool.jobs] == [True, True, False]
    for each in reversed(pool.jobs[:2]):
        outcome = JobOutcome(encode(played(setting(int(each.game_id[1:])))))
        dispatcher.ended(each, outcome, "r1", "here")
    found = {each.game_id: each.record.images for each in contest.events if isinstance(each, Returned)}
    assert found == {"g1": ("sha256:a1", "-"), "g2": ("sha256:a2", "-")}


def lose(dispatcher: Dispatcher, pool: Pool, number: int, worker: str) -> None:
    dispatcher.carry_out(Assign(f"g{number}", 1, setting(number), ("sha256:bad", "")))
    outcome = JobOutcome(None, "bot ann cannot start: it ended", fatal=True)
    dispatcher.ended(pool.jobs[-1], outcome, worker, "here")


def test_a_version_that_cannot_start_ends_neither_the_contest_nor_a_worker() -> None:
    contest, pool, dispatcher = dispatched()
    lose(dispatcher, pool, 1, "r1")
    assert (contest.failed, [type(each) for each in contest.events]) == ([], [NotPlayed])


def test_a_new_version_that_cannot_start_is_to_blame_and_no_worker_is() -> None:
    contest, pool, dispatcher = dispatched()
    for number, worker in enumerate(("r1", "r2"), start=1):
        dispatcher.carry_out(Assign(f"g{number}", 1, setting(number), ("sha256:good", "")))
        dispatcher.ended(pool.jobs[-1], JobOutcome(encode(played(setting(number)))), worker, "here")
    dispatcher.happened(BotReplaced("ann", "v2"))
    for attempt in range(MOST_FAILURES):
        lose(dispatcher, pool, 3, ("r1", "r2")[attempt % 2])
    for attempt in range(MOST_FAILURES):
        lose(dispatcher, pool, 4, ("r1", "r2")[attempt % 2])
    orders = [(each.verb, each.target) for each in contest.events if isinstance(each, Command)]
    assert ("kick", "ann") in orders
    assert not any(verb == "void-worker" for verb, _ in orders)
    assert pool.excluded == contest.failed == []
