"""Bots whose authors send versions, played by workers: each lease is of the version that is active then."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.record import VOID
from arena_server.core.deal import number_of, token_digest
from arena_server.core.effects import Assign
from arena_server.core.events import Capacity, NotPlayed, Replace, Tick
from arena_server.core.journal import Live, Past
from arena_server.core.log_events import BotReplaced
from arena_server.terms.config import Entrant

from .harness import MS, past_game
from .lease_harness import LEASE_MS, Workers

ANN = Entrant("ann", token_digest("unknown"), author_sha256=token_digest("author"))


def send(run: Workers, number: int, bot: str = "ann") -> None:
    run.event(Replace(bot, token_digest(f"run-{number}"), f"v{number}", f"sha256:{number}"))


def waiting(run: Workers) -> list[tuple[str, str]]:
    return [(each.name, each.reason) for each in run.contest.status.held()[1]]


def image_of(assign: Assign, bot: str = "ann") -> str:
    return assign.images[assign.setting.names.index(bot)] if assign.images else ""


def offers(run: Workers, game: str = "g1") -> list[Sequence[str | None]]:
    """What the journal has of the programs of a game, once for each time that they changed."""
    return [entry[5] for entry in run.journal if entry[:2] == (number_of(game), "offer")]


def next_server(run: Workers, **config: object) -> Workers:
    """The contest on the next server, which knows of its file whose author sends versions."""
    live = Live()
    live.add(run.journal)
    results = tuple(past_game(record, run.journal) for record in run.records.values())
    past = Past((*run.past.results, *results), tuple(live))
    return Workers(*run.entrants, past=past, now=run.now, **config)


def test_a_bot_is_not_paired_before_its_first_version() -> None:
    run = Workers(ANN, "bob", "cid", games_per_pair=1)
    run.event(Capacity(9))
    assert [each.setting.names for each in run.assigned] == [("bob", "cid")]
    assert (run.assigned[0].images, waiting(run)) == ((), [("ann", "no-version")])
    send(run, 1)
    assert [image_of(each) for each in run.assigned[1:]] == ["sha256:1"] * 2
    assert waiting(run) == []


def test_a_game_that_is_out_ends_with_its_version_and_the_next_lease_has_the_new_one() -> None:
    run = Workers(ANN, "bob", games_per_pair=2)
    send(run, 1)
    run.event(Capacity(1))
    send(run, 2)
    assert run.of(BotReplaced) == [BotReplaced("ann", "v1"), BotReplaced("ann", "v2")]
    assert len(run.assigned) == 1
    run.give(run.assigned[0])
    assert [image_of(each) for each in run.assigned] == ["sha256:1", "sha256:2"]
    assert [set(offers(run, f"g{number}")[-1]) for number in (1, 2)] == [{"v1", None}, {"v2", None}]
    run.give(run.assigned[1])
    assert run.finished == "finished"


def test_a_game_that_was_lost_is_played_by_the_version_of_its_next_lease() -> None:
    run = Workers(ANN, "bob", games_per_pair=2)
    send(run, 1)
    run.event(Capacity(1))
    run.event(NotPlayed("g1", 1, "w1", "leaving"))
    send(run, 2)
    run.now = LEASE_MS * MS
    run.event(Tick())
    assert [(each.fence, image_of(each)) for each in run.assigned] == [
        (1, "sha256:1"),
        (2, "sha256:1"),
        (3, "sha256:2"),
    ]
    assert [set(each) for each in offers(run)] == [{"v1", None}, {"v2", None}], "as often as it changed"
    run.give(run.assigned[1], worker="slow")
    assert run.records == {}
    run.give(run.assigned[2])
    assert list(run.records) == ["g1"]


def test_after_a_restart_a_game_waits_for_a_version_also_while_the_contest_drains() -> None:
    run = Workers(ANN, "bob", games_per_pair=2)
    send(run, 1)
    run.event(Capacity(1))
    again = next_server(run, games_per_pair=2)
    assert again.command("drain") is None
    again.event(Capacity(1))
    assert again.assigned == []
    send(again, 2)
    assert [(each.game_id, each.fence, image_of(each)) for each in again.assigned] == [("g1", 2, "sha256:2")]
    again.give(again.assigned[0])
    assert (again.finished, list(again.records)) == ("stopped", ["g1"])


def test_a_bot_that_gets_no_version_is_absent_and_one_that_does_is_not() -> None:
    run = Workers(ANN, "bob", games_per_pair=2, absent_ms=10)
    run.now = 11 * MS
    run.event(Tick())
    assert run.finished is not None
    other = Workers(ANN, "bob", games_per_pair=2, absent_ms=10)
    send(other, 1)
    other.now = 11 * MS
    other.event(Tick())
    assert other.finished is None
    other.event(Capacity(1))
    for each in other.assigned:  # it grows
        other.give(each)
    assert other.finished == "finished"


@given(seed=st.integers(0, 10**6))
def test_each_lease_is_of_the_newest_version_and_each_game_counts_once(seed: int) -> None:
    """Versions, lost leases, results that come twice and restarts, in any order."""
    rng = Random(seed)
    bob = Entrant("bob", token_digest("unknown"), author_sha256=token_digest("author"))
    run = Workers(ANN, bob, "cid", games_per_pair=2)
    newest = {"ann": 0, "bob": 0, "cid": 0}
    known = dict.fromkeys(newest, False) | {"cid": True}
    out: list[Assign] = []
    for step in range(150):
        seen = len(run.assigned)
        done = run.finished is not None
        match rng.randrange(6):
            case 0:
                run.event(Capacity(rng.randrange(4)))
            case 1 | 2:
                name = rng.choice(("ann", "bob"))
                newest[name], known[name] = step + 1, True
                send(run, step + 1, name)
            case 3 if out:
                lost = rng.choice(out)
                run.event(NotPlayed(lost.game_id, lost.fence, "w", "leaving"))
            case 4 if not done and rng.random() < 0.3:
                run = next_server(run, games_per_pair=2)
                known.update(ann=False, bob=False)
                seen = 0
            case 5 if out:
                run.give(rng.choice(out))
        for each in run.assigned[seen:]:
            for name in each.setting.names:
                assert known[name], "no program is leased that is not known"
                assert image_of(each, name) == (f"sha256:{newest[name]}" if name != "cid" else "")
        out = [*out, *run.assigned[seen:]]
    for name in ("ann", "bob"):
        send(run, 150, name)
    run.event(Capacity(9))
    for each in run.assigned:  # it grows
        run.give(each)
    results = [*run.past.results, *run.records.values()]
    assert run.finished == "finished"
    assert len(results) == 6
    assert not any(record.end == VOID for record in run.records.values())
