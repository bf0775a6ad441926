"""Invitations: each registers one bot of one owner, once, up to its end."""

from __future__ import annotations

from typing import Any

import pytest
from tests.slices import all_of

from arena_server.core.deal import token_digest
from arena_server.core.overview import LinkState
from arena_server.core.parts import invitations as module
from arena_server.core.parts.invitations import NO_CODE
from arena_server.terms.config import Entrant

from .contest_harness import ONE_PLY, ContestHarness, restarted, seated

CODE = token_digest("a-code")


def invite(harness: ContestHarness, owner: str = "jan", code: str | None = CODE, **more: Any) -> str | None:
    given = {"until": 2_000, "at": 1_000} | more
    return harness.command("invite", owner, code=code, **given)


def register(
    harness: ContestHarness,
    name: str = "cid",
    code: str | None = CODE,
    at: int = 1_500,
    token: str = "secret",
) -> str | None:
    entrant = Entrant(name, token_digest(token), owner="eve", author="Jan J.", language="C")
    return harness.command("register", name, entrant=entrant, code=code, at=at, who="by invitation")


def owners(harness: ContestHarness) -> dict[str, str]:
    return {bot.name: bot.owner for bot in harness.contest.status.overview().bots}


def test_an_author_registers_one_bot_and_it_plays() -> None:
    harness = seated("ann", "bob", options=ONE_PLY)
    assert invite(harness) is None
    assert harness.last_entries == [(0, "invited", 1, "jan", CODE, 2_000)]
    assert register(harness, at=2_000) is None
    assert harness.last_entries[0] == (0, "joined", "cid", 3, 1, "jan", "Jan J.", "C", "")
    assert harness.last_entries[-1] == (0, "redeemed", 1, "cid")
    assert harness.last_orders == [(2, "register", "cid", "by invitation", 2_000, "")], "at the last moment"
    assert owners(harness)["cid"] == "jan", "whose bot it is says the invitation"
    harness.log_in("cid", " token=secret")
    assert any(line.startswith("WELCOME cid") for line in harness.received("cid"))


def test_a_code_works_once_also_after_a_restart() -> None:
    harness = seated("ann", "bob")
    assert invite(harness) is None
    again = restarted(harness)
    assert register(again) is None
    for each in (again, restarted(again)):
        assert register(each, "dan") == NO_CODE
    assert invite(restarted(again), code=token_digest("another")) is None


@pytest.mark.parametrize("restarts", [False, True])
def test_a_registration_whose_answer_is_lost_is_sent_again(restarts: bool) -> None:
    """Until the bot has logged in: then the link is used up."""
    harness = seated("ann", "bob", options=ONE_PLY)
    assert invite(harness) is None
    assert register(harness, token="lost") is None
    harness = restarted(harness) if restarts else harness
    assert register(harness, token="second") is None
    assert harness.last_entries == [(0, "token", "cid", token_digest("second"))]
    assert register(harness, at=2_001) == NO_CODE, "it has expired"
    assert register(harness, code=token_digest("guessed")) == NO_CODE
    harness.log_in("cid", " token=lost")
    assert harness.last_line("cid").startswith("ERROR token")
    harness.log_in("cid", " token=second")
    assert any(line.startswith("WELCOME cid") for line in harness.received("cid"))
    harness = restarted(harness) if restarts else harness
    assert register(harness, token="third") == NO_CODE


@pytest.mark.parametrize("restarts", [False, True])
def test_a_link_says_what_it_can_do(restarts: bool) -> None:
    """As `register` answers at the same moment, and which bot it has registered."""
    harness = seated("ann", "bob", options=ONE_PLY)

    def link(code: str = CODE, at: int = 2_000) -> LinkState:
        nonlocal harness
        harness = restarted(harness) if restarts else harness
        return harness.contest.status.link(code, at)

    assert link() == LinkState(works=False), "there is no invitation"
    assert invite(harness) is None
    assert [link(at=at).works for at in (2_000, 2_001)] == [True, False]
    assert link(token_digest("guessed")) == LinkState(works=False)
    assert register(harness) is None
    assert [link(at=at) for at in (2_000, 2_001)] == [LinkState(True, "cid"), LinkState(False, "cid")]
    harness.log_in("cid", " token=secret")
    assert link() == LinkState(False, "cid")
    everyone = token_digest("all")
    assert harness.command("registration", "2", code=everyone, until=3_000, at=1_000) is None
    assert [link(everyone, at) for at in (3_000, 3_001)] == [LinkState(True), LinkState(False)]


def test_a_link_whose_bot_was_removed_is_used_up() -> None:
    harness = seated("ann", "bob")
    assert invite(harness) is None
    assert register(harness) is None
    assert harness.command("remove", "cid") is None
    assert harness.contest.status.link(CODE, 1_500) == LinkState(False, "cid")
    assert register(harness) == NO_CODE


def test_another_code_of_an_invitation_makes_the_first_one_useless() -> None:
    harness = seated("ann", "bob")
    newer = token_digest("newer")
    assert invite(harness) is None
    assert invite(harness, code=newer, renews=True, until=3_000) is None
    assert harness.last_entries == [(0, "invited", 1, "jan", newer, 3_000)]
    for each in (harness, restarted(harness)):
        listed = each.contest.status.overview().invitations
        assert [(one.number, one.owner, one.until, one.bot) for one in listed] == [(1, "jan", 3_000, None)]
        assert register(each) == NO_CODE
    assert register(harness, code=newer) is None
    assert [one.bot for one in restarted(harness).contest.status.overview().invitations] == ["cid"]
    assert invite(harness, renews=True) == "jan has no invitation that is still open"
    assert invite(harness) is None, "for another bot of the same author"
    assert [one.bot for one in harness.contest.status.overview().invitations] == ["cid", None]


def test_a_bot_that_was_removed_is_not_brought_back_by_its_link() -> None:
    harness = seated("ann", "bob")
    assert invite(harness) is None
    assert register(harness) is None
    assert harness.command("remove", "cid") is None
    assert register(harness) == NO_CODE


def test_the_bot_of_an_author_gets_no_other_token_by_add() -> None:
    harness = seated("ann", "bob")
    assert invite(harness) is None
    assert register(harness) is None
    entrant = Entrant("cid", token_digest("mine"), owner="jan", author="Jan J.", language="C")
    assert harness.command("add", "cid", entrant=entrant) == "cid is a bot of this contest already"


@all_of(
    ("given", "problem"),
    [
        ({"code": None}, NO_CODE),
        ({"code": token_digest("guessed")}, NO_CODE),
        ({"at": 2_001}, NO_CODE),
        ({"name": "ann"}, "ann is a bot of this contest already"),
        ({"name": "no name"}, "a bot cannot be called 'no name': see the names in PROTOCOL.md"),
    ],
)
def test_who_cannot_register_leaves_the_invitation_as_it_was(given: dict[str, Any], problem: str) -> None:
    harness = seated("ann", "bob")
    assert invite(harness) is None
    assert register(harness, **given) == problem
    assert harness.last_entries == []
    assert register(harness) is None


def test_an_author_cannot_bring_back_what_the_organiser_has_removed() -> None:
    harness = seated("ann", "bob", "eve")
    assert invite(harness) is None
    assert harness.command("remove", "ann") is None
    assert register(harness, "ann") == "ann is a bot of this contest already"


@pytest.mark.parametrize("name", ["matches", "knockout", "double-elimination"])
def test_no_link_is_given_out_by_which_nobody_can_come(name: str) -> None:
    """Only the author would learn it."""
    harness = seated("ann", "bob", format=name)
    problem = str(harness.command("add", "cid", entrant=Entrant("cid", token_digest("secret"))))
    assert problem.startswith("contest.format: ")
    assert invite(harness) == problem
    assert harness.command("registration", "2", code=CODE, until=2_000, at=1_000) == problem
    assert (owners(harness), harness.last_entries) == ({"ann": "", "bob": ""}, [])
    assert harness.command("registration", "0", code=CODE, until=2_000, at=1_000) is None, "this closes it"


def test_what_is_no_invitation(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = seated("ann", "bob")
    assert invite(harness, "two words") == "invite: expected the name of an author, got 'two words'"
    assert invite(harness, code=None) == "invite needs a code"
    assert harness.command("register", "cid") == "register needs the token of 'cid'"
    monkeypatch.setattr(module, "MOST_OPEN", 1)
    assert invite(harness) is None
    assert invite(harness, code="ab" * 32) == "there are 1 open invitations already"
    assert invite(harness, code="ab" * 32, at=2_001, until=3_000) is None, "the first one has expired"
