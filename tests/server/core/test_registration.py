"""Registration by one link for all authors: quota, approval, what a restart keeps."""

from __future__ import annotations

from typing import Any

import pytest

from arena_server.core.deal import token_digest
from arena_server.core.journal import Past
from arena_server.core.parts import registration as module
from arena_server.core.parts.invitations import NO_CODE
from arena_server.terms.config import NO_TOKEN, Entrant

from .contest_harness import ONE_PLY, ContestHarness, restarted, seated

CODE = token_digest("a-code")
APPLIED = (0, "applied", "j1", True, "jan", "", "", "", token_digest("secret"), False, True)


def opened(quota: str = "2", *, approval: bool = False, **options: Any) -> ContestHarness:
    harness = seated("ann", "bob", **options)
    assert set_quota(harness, quota, approval=approval) is None
    return harness


def set_quota(harness: ContestHarness, quota: str, *, approval: bool = False, **more: Any) -> str | None:
    given = {"code": CODE, "until": 2_000, "at": 1_000, "confirmed": approval} | more
    return harness.command("registration", quota, **given)


def register(harness: ContestHarness, name: str, owner: str = "jan", **more: Any) -> str | None:
    entrant = Entrant(name, token_digest("secret"), owner=owner, author="Jan J.", language="C")
    return harness.command("register", name, **{"entrant": entrant, "code": CODE, "at": 1_500} | more)


def names(harness: ContestHarness) -> list[str]:
    return [bot.name for bot in harness.contest.status.overview().bots]


def waiting(harness: ContestHarness) -> list[str]:
    return [each.name for each in harness.contest.status.overview().applicants]


def plays(harness: ContestHarness, name: str) -> bool:
    harness.log_in(name, " token=secret")
    return any(line.startswith(f"WELCOME {name}") for line in harness.received(name))


def test_each_author_registers_up_to_the_quota() -> None:
    harness = opened(options=ONE_PLY)
    assert harness.last_entries == [(0, "registration", "", CODE, 2_000, 2, False)]
    (state,) = harness.contest.status.overview().registrations
    assert (state.quota, state.until, state.approves, state.owner) == (2, 2_000, False, "")
    assert register(harness, "j1") is None
    assert register(harness, "j2") is None
    assert register(harness, "j3") == "jan has 2 of 2 bots already"
    assert register(harness, "e1", "eve") is None
    assert plays(harness, "j1")
    assert harness.command("remove", "j2") is None
    assert register(harness, "j3") is None, "one of the two has left"
    assert names(harness) == ["ann", "bob", "j1", "j2", "e1", "j3"]


@pytest.mark.parametrize("restarts", [False, True])
def test_one_that_waits_for_approval_is_no_bot_until_then(restarts: bool) -> None:
    harness = opened(approval=True, options=ONE_PLY)
    assert register(harness, "j1") is None
    about = "jan", "Jan J.", "C", "", token_digest("secret")
    assert harness.last_entries == [(0, "applied", "j1", True, *about, False, True)]
    harness = restarted(harness) if restarts else harness
    assert (names(harness), waiting(harness)) == (["ann", "bob"], ["j1"])
    assert not plays(harness, "j1")
    assert harness.command("add", "j1", entrant=Entrant("j1", token_digest("other"))) == (
        "j1 waits for approval by the organiser already"
    )
    assert register(harness, "j1", "eve") == "j1 waits for approval by the organiser already"
    assert register(harness, "j1", "eve", code=token_digest("guessed")) == NO_CODE, "it learns no names"
    invited = token_digest("invited")
    assert harness.command("invite", "eve", code=invited, until=2_000, at=1_000) is None
    assert register(harness, "j1", "eve", code=invited) == "j1 waits for approval by the organiser already"
    assert harness.command("approve", "j1") is None
    harness = restarted(harness) if restarts else harness
    assert (names(harness), waiting(harness)) == (["ann", "bob", "j1"], [])
    assert harness.contest.status.overview().bots[-1].owner == "jan"
    assert plays(harness, "j1")
    assert harness.command("approve", "j1") == "no bot called 'j1' waits for approval"


def test_a_rejected_name_is_free_and_those_that_wait_count() -> None:
    harness = opened("1", approval=True)
    assert register(harness, "j1") is None
    assert register(harness, "j2") == "jan has 1 of 1 bots already"
    assert harness.command("reject", "j1") is None
    assert register(restarted(harness), "j2") is None
    harness = restarted(harness)
    assert register(harness, "j1", "eve") is None, "after it was rejected"
    again = restarted(harness)
    assert [(each.name, each.owner) for each in again.contest.status.overview().applicants] == [("j1", "eve")]


def test_a_bot_whose_versions_are_sent_keeps_its_author_s_token() -> None:
    harness = opened(approval=True)
    sent = Entrant("j1", NO_TOKEN, owner="jan", author_sha256=token_digest("secret"), ponders=False)
    assert register(harness, "j1", entrant=sent) is None
    harness = restarted(harness)
    assert harness.command("approve", "j1") is None
    assert harness.contest.entrants.sent == {"j1": True}


@pytest.mark.parametrize("restarts", [False, True])
def test_the_link_of_an_owner_bounds_the_bots_of_its_holders(restarts: bool) -> None:
    """The owner is that of the link, not the one that they name; the link for all is another one."""
    of_jan, of_eve = token_digest("of-jan"), token_digest("of-eve")
    harness = opened(options=ONE_PLY)
    assert set_quota(harness, "2 jan", code=of_jan) is None
    assert harness.last_entries == [(0, "registration", "jan", of_jan, 2_000, 2, False)]
    assert set_quota(harness, "1 eve", code=of_eve) is None
    assert register(harness, "j1", "invented", code=of_jan) is None
    harness = restarted(harness) if restarts else harness
    states = harness.contest.status.overview().registrations
    assert [(each.owner, each.quota) for each in states] == [("", 2), ("jan", 2), ("eve", 1)]
    assert register(harness, "j2", "another", code=of_jan) is None
    assert register(harness, "j3", "a-third", code=of_jan) == "jan has 2 of 2 bots already"
    assert register(harness, "e1", "", code=of_eve) is None
    assert register(harness, "e2", "jan2", code=of_eve) == "eve has 1 of 1 bots already"
    bots = harness.contest.status.overview().bots
    assert [(bot.name, bot.owner) for bot in bots[2:]] == [("j1", "jan"), ("j2", "jan"), ("e1", "eve")]
    assert set_quota(harness, "0 jan", code=token_digest("x")) is None
    harness = restarted(harness) if restarts else harness
    assert register(harness, "j3", "jan", code=of_jan) == NO_CODE
    assert register(harness, "k1", "kim") is None, "by the link for all"


def test_links_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BOTS", 2)
    harness = opened()
    assert set_quota(harness, "1 jan", code=token_digest("1")) is None
    assert set_quota(harness, "1 eve", code=token_digest("2")) == "2 links are open already"
    assert set_quota(harness, "2 jan", code=token_digest("3")) is None


def test_what_is_closed_or_past_takes_none() -> None:
    harness = opened()
    assert register(harness, "j1", at=2_001) == NO_CODE
    assert set_quota(harness, "0") is None
    assert harness.contest.status.overview().registrations == ()
    assert register(restarted(harness), "j1") == NO_CODE
    assert register(harness, "j1") == NO_CODE
    assert set_quota(harness, "1", code=token_digest("newer")) is None
    assert register(harness, "j1") == NO_CODE, "by the older link"
    assert register(restarted(harness), "j1", code=token_digest("newer")) is None


def test_a_lost_answer_is_not_given_again_by_a_link_that_all_have() -> None:
    harness = opened()
    assert register(harness, "j1") is None
    assert register(harness, "j1") == "j1 is a bot of this contest already"


@pytest.mark.parametrize(
    ("quota", "more", "problem"),
    [
        ("2", {"code": None}, "registration needs a code"),
        ("-1", {}, "registration: expected how many bots each author may register, 0 to 1,000, got '-1'"),
        ("2 no name", {}, "registration: expected the name of an author, got 'no name'"),
        ("1001", {}, "registration: expected how many bots each author may register, 0 to 1,000, got '1001'"),
    ],
)
def test_what_is_no_registration(quota: str, more: dict[str, Any], problem: str) -> None:
    assert set_quota(seated("ann", "bob"), quota, **more) == problem


def test_who_cannot_register(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = opened("5", approval=True)
    assert register(harness, "ann") == "ann is a bot of this contest already"
    assert (
        register(harness, "two words") == "a bot cannot be called 'two words': see the names in PROTOCOL.md"
    )
    assert register(harness, "j1", "") == "expected the name of an author, got ''"
    monkeypatch.setattr(module, "MOST_BOTS", 0)
    assert register(harness, "j1") == "0 bots wait for approval already"
    assert (waiting(harness), harness.last_entries) == ([], [])


def test_nobody_applies_or_is_approved_once_none_can_come() -> None:
    entries = [(0, "registration", "", CODE, 2_000, 2, True), APPLIED]
    harness = ContestHarness("ann", "bob", format="matches", past=Past(entries=tuple(entries)))
    problem = 'contest.format: "matches" takes no late entrants: who meets whom is fixed'
    assert register(harness, "j2") == problem
    assert harness.command("approve", "j1") == problem
    assert waiting(harness) == ["j1"]
