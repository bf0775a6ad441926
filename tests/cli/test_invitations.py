"""`arena admin invite --file` against a scripted server: links, tokens, cards, and the same command again."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest
import segno
from tests.server.programs import Shell

from arena_cli.cards import Card, sheet
from arena_server.errors import ArenaError
from arena_server.web import client
from arena_server.web.admin_file import TOKEN_VARIABLE
from arena_server.web.languages import codes, written

SITE = "http://127.0.0.1:2080/register.html#course/"
UNTIL = "2026-12-12 12:00 UTC"


@dataclass
class Scripted:
    """A server with a contest `course`: what it has made, and after how many orders it answers no more."""

    owners: dict[str, str | None] = field(default_factory=dict)
    bots: list[str] = field(default_factory=lambda: ["house"])
    applicants: list[str] = field(default_factory=list)
    orders: list[dict[str, str]] = field(default_factory=list)
    answers: int = 1_000
    used: set[str] = field(default_factory=set)
    expired: set[str] = field(default_factory=set)

    def status(self, access: object, contest: str | None = None) -> dict[str, Any]:
        return {
            "contest": "course",
            "invitations": [
                {"owner": owner, "until": UNTIL, "bot": bot, "expired": owner in self.expired}
                for owner, bot in self.owners.items()
            ],
            "bots": [{"name": name, "where": "away"} for name in self.bots],
            "applicants": [{"name": name, "owner": "x"} for name in self.applicants],
        }

    def order(
        self, access: object, verb: str, target: str, contest: str | None = None, **more: str
    ) -> dict[str, Any]:
        if len(self.orders) >= self.answers:
            raise ArenaError("no server answers")
        if target in self.used:
            raise client.OrderRefused(f"{target} has been used")
        self.orders.append(
            {"verb": verb, "target": target} | {key: text for key, text in more.items() if text}
        )
        number = f"{len(self.orders):032x}"
        if verb == "add":
            self.bots.append(target)
            return {"done": True, "token": number}
        self.owners[target] = None
        return {"done": True, "link": f"{SITE}{number}", "until": UNTIL}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Scripted:
    scripted = Scripted()
    monkeypatch.setattr(client, "status", scripted.status)
    monkeypatch.setattr(client, "order", scripted.order)
    monkeypatch.setenv(TOKEN_VARIABLE, "x" * 20)
    monkeypatch.chdir(tmp_path)
    Path("names.csv").write_text("name,author\nann,Ann A.\nbob,\ncid,\n", encoding="utf-8")
    return scripted


INVITE = ("admin", "invite", "--connect", "127.0.0.1:1", "--file", "names.csv")


def link(number: int) -> str:
    return f"{SITE}{number:032x}"


def test_each_name_gets_a_link_once(server: Scripted, shell: Shell) -> None:
    said = shell(*INVITE, "--by", "jan")
    assert (said.code, said.out.splitlines()) == (
        0,
        [
            *(
                f"{name}: {link(number)} (until {UNTIL})"
                for number, name in enumerate(("ann", "bob", "cid"), 1)
            ),
            "course: 3 links, which are shown only now",
        ],
    )
    assert said.line.startswith("note: only this machine reaches these links: give --site URL")
    assert [order["target"] for order in server.orders] == ["ann", "bob", "cid"]
    assert {order["by"] for order in server.orders} == {"jan"}
    server.owners["bob"] = "bobbot"
    again = shell(*INVITE)
    assert (again.code, again.out.splitlines()) == (
        0,
        [
            f"ann: invited before, until {UNTIL}",
            "bob: invited before, has registered bobbot",
            f"cid: invited before, until {UNTIL}",
            "course: 0 links; 3 existed before: their links are not shown again, --renew makes others",
        ],
    )
    assert len(server.orders) == 3


def test_other_links_for_who_has_not_used_them(server: Scripted, shell: Shell) -> None:
    server.owners |= {"ann": None, "bob": "bobbot"}
    server.used = {"bob"}
    said = shell(*INVITE, "--renew", "--json")
    assert json.loads(said.out) == {
        "order": "invite",
        "contest": "course",
        "made": [
            {"name": "ann", "until": UNTIL, "link": link(1)},
            {"name": "cid", "until": UNTIL, "link": link(2)},
        ],
        "existed": [{"name": "bob", "state": "invited before, has registered bobbot"}],
        "cards": None,
    }
    assert [(order["target"], order.get("renew")) for order in server.orders] == [
        ("ann", "yes"),
        ("cid", None),
    ]


def test_who_has_let_a_link_expire_gets_another_one(server: Scripted, shell: Shell) -> None:
    server.owners |= {"ann": None, "bob": None, "cid": None}
    server.expired = {"bob"}
    assert shell(*INVITE).out.splitlines()[0] == f"bob: {link(1)} (until {UNTIL})"
    assert [(order["target"], order.get("renew")) for order in server.orders] == [("bob", None)]


def test_an_end_in_the_middle_leaves_what_was_made_and_the_same_command_goes_on(
    server: Scripted, shell: Shell
) -> None:
    server.answers = 2
    said = shell(*INVITE, "--cards", "a.html")
    problem = "arena: no server answers; 2 of 3 were made: the same command goes on"
    assert (said.code, said.err.splitlines()[-1]) == (1, problem)
    assert said.out == "course: 2 links on a.html\n"
    assert Path("a.html").read_text(encoding="utf-8").count("<article>") == 2
    server.answers = 9
    said = shell(*INVITE, "--cards", "b.html", "--site", "https://arena.example/")
    assert said.out.splitlines()[-1].startswith("course: 1 links on b.html; 2 existed before")
    page = unescape(Path("b.html").read_text(encoding="utf-8"))
    assert f"https://arena.example/register.html#course/{3:032x}" in page
    said = shell(*INVITE, "--cards", "c.html")
    assert said.code == 0
    assert not Path("c.html").exists(), "there was nothing for a card"


def test_cards_have_the_links_and_the_output_has_none(server: Scripted, shell: Shell) -> None:
    said = shell(*INVITE, "--cards", "cards.html", "--json")
    assert json.loads(said.out)["cards"] == "cards.html"
    assert not re.search("[0-9a-f]{32}", said.out + said.err)
    assert Path("cards.html").stat().st_mode & 0o777 == 0o600
    again = shell(*INVITE, "--cards", "cards.html")
    assert (again.code, again.line) == (
        2,
        "arena: --cards: cards.html is there already, and may have the only links: name another file",
    )
    assert shell(*INVITE, "--cards", "no/cards.html").line == (
        "arena: --cards: no/cards.html cannot be written: No such file or directory"
    )
    assert len(server.orders) == 3


def test_bots_with_tokens(server: Scripted, shell: Shell) -> None:
    Path("names.csv").write_text("name,owner,language\nhouse\nx1,ann,C\nwaits\n", encoding="utf-8")
    server.applicants = ["waits"]
    said = shell(*INVITE, "--tokens")
    assert said.out.splitlines() == [
        f"x1: {1:032x}",
        "house: is a bot already (away)",
        "waits: waits for approval",
        "course: 1 bots with tokens, which are shown only now; 2 existed before: their tokens are not shown "
        "again, --renew makes others",
    ]
    assert said.err == ""
    (order,) = server.orders
    assert (order["verb"], order["owner"], order["language"]) == ("add", "ann", "C")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("invite", "--tokens"), "arena admin invite: expected the name of an author"),
        (("invite", "ann", "--tokens"), "--tokens: expected with invite --file"),
        (
            ("invite", "ann", "--file", "names.csv"),
            "arena admin invite: expected no name beside --file or --all",
        ),
        (
            ("invite", "--file", "names.csv", "--lang", "bg"),
            "--lang: expected with --cards, where it is shown",
        ),
        (("invite", "--file", "names.csv", "--site", "here"), "--site: expected https://HOST or http://HOST"),
        (
            ("invite", "--file", "names.csv", "--tokens", "--site", "https://a"),
            "--site: expected without --tokens: a token is no link",
        ),
        (
            ("invite", "--file", "names.csv", "--cards", "c.html", "--address", "a:1"),
            "--address: expected with --tokens: the page has it",
        ),
        (("invite", "--file", "owners.csv"), "owners.csv: expected no owner without --tokens"),
        (("pause", "--renew"), "--renew: expected with invite"),
        (("pause", "--file", "names.csv"), "--file: expected with invite"),
        (("kick", "ann", "--all"), "--all: expected with approve"),
        (("kick", "ann", "--approval"), "--approval: expected with registration"),
        (("approve", "ann", "--all"), "arena admin approve: expected no name beside --file or --all"),
    ],
)
def test_options_without_an_effect(
    server: Scripted, shell: Shell, arguments: tuple[str, ...], problem: str
) -> None:
    Path("owners.csv").write_text("name,owner\nx,ann\n", encoding="utf-8")
    said = shell("admin", *arguments, "--connect", "127.0.0.1:1")
    assert (said.code, said.out) == (2, "")
    assert said.line.startswith(f"arena: {problem}")
    assert server.orders == []


def test_all_that_wait_are_approved(server: Scripted, shell: Shell) -> None:
    approve = ("admin", "approve", "--all", "--connect", "127.0.0.1:1")
    said = shell(*approve)
    assert (said.code, said.line) == (1, "arena: no bot waits for approval")
    server.applicants = ["x", "y"]
    assert shell(*approve).out == "approved: x plays from now on\napproved: y plays from now on\n"


@pytest.mark.parametrize("language", ["en", *codes()])
def test_a_sheet_loads_nothing_and_escapes_what_it_is_given(language: str) -> None:
    author = '<img src="x">&'
    cards = [
        Card("ann", author, link(1), UNTIL),
        Card("bob", "", "f" * 32),
        Card("a" * 32, "", "e" * 32, submit=True),
    ]
    page = sheet("course", cards, "arena.example:2006", language)
    assert not re.search(r"(src|href)=|url\(|@import|<script", page.replace(escape(author), ""))
    assert "<img" not in page
    assert f'<html lang="{language}">' in page
    codes = (link(1), f"arena.example 2006 bob {'f' * 32}")
    for text in codes:
        assert segno.make(text, error="m", micro=False).svg_inline(border=1, omitsize=True) in page
    assert f"--name {'a' * 32}" in page
    assert "@page { size: A4" in page
    assert f"<title>{written(language, 'Cards for {}').format('course')}</title>" in page
