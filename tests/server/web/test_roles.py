"""Roles: a token that may give some orders, and no other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.slices import all_of

from arena_server.core.deal import token_digest
from arena_server.core.facts import Order
from arena_server.errors import ConfigError
from arena_server.host.host import Host
from arena_server.terms.file import parse_contest
from arena_server.web.app import organiser_app
from arena_server.web.bridge import LoopBridge
from arena_server.web.host_view import HostView
from arena_server.web.roles import Role, role_of, roles_of

from .running import TOKEN, Running, running
from .test_api import GUARD, NOT_STARTED, host, loop_that_runs, order

assert host  # a fixture
ARBITER = Role("arbiter", token_digest("a" * 20), frozenset(("pause", "resume", "lift", "undo")))
HELPER = Role("helper", token_digest("h" * 20), frozenset(("lift",)))


def toml(roles: str) -> str:
    return f"""
[contest]
name = "cup"
game = "tictactoe"
{roles}
[[bot]]
name = "ann"
[[bot]]
name = "bob"
"""


def one(name: str = "arbiter", token: str = "a" * 20, may: str = '"pause"', more: str = "") -> str:
    digest = token_digest(token)
    return f'[[server.role]]\nname = "{name}"\ntoken_sha256 = "{digest}"\nmay = [{may}]\n{more}'


def test_the_roles_of_a_file() -> None:
    text = one(may='"pause", "resume", "lift", "undo"') + one("helper", "h" * 20, '"lift"')
    roles = roles_of(parse_contest(toml(text), "cup.toml").server.role)
    assert roles == (ARBITER, HELPER)
    assert role_of(roles, "h" * 20) == HELPER
    assert role_of(roles, "\xff" * 20) is None


@all_of(
    ("roles", "problem"),
    [
        (one(may=""), "server.role 1: may: expected a list with an entry, got []"),
        (one("two words"), "server.role 1: name: expected 1 to 32 letters"),
        (one(more="nmae = 1"), "server.role 1: nmae: unknown key; did you mean 'name'?"),
        ('[[server.role]]\nname = "x"\nmay = ["pause"]', "server.role 1: token_sha256: missing"),
        (one(may='"dance"'), "server.role 1: may: expected orders, some of pause, "),
        (one() + one(token="b" * 20), "server.role 2: expected a name and a token of its own"),
        (one() + one("helper"), "server.role 2: expected a name and a token of its own"),
    ],
)
def test_roles_that_cannot_be(roles: str, problem: str) -> None:
    with pytest.raises(ConfigError) as found:
        roles_of(parse_contest(toml(roles), "cup.toml").server.role)
    assert problem in str(found.value)


def test_a_role_takes_back_the_orders_alone_that_it_may_give() -> None:
    paused, voided = Order(1, "pause", "", "", 0, ""), Order(2, "void", "g1", "", 0, "")
    assert ARBITER.refusal("undo", [paused]) is None
    assert ARBITER.refusal("undo", []) is None
    assert ARBITER.refusal("undo", [paused, voided]) == (
        "the role arbiter may not undo void, an order that it may not give"
    )
    assert ARBITER.refusal("undo", [paused, voided, Order(3, "undo", "2", "", 0, "")]) is None
    assert HELPER.refusal("undo", [paused]) == "the role helper may not undo; it may lift"


@contextmanager
def served(host: Host) -> Iterator[Running]:
    with loop_that_runs() as loop:
        bridge = LoopBridge(loop)
        view = HostView(host, bridge)
        with running(lambda: organiser_app(bridge, view, TOKEN, roles=(ARBITER, HELPER))) as server:
            yield server


def test_the_port_refuses_what_a_role_may_not_do(host: Host) -> None:
    def guard(token: str) -> str:
        return f"Authorization: Bearer {token}\n"

    with served(host) as server:
        refused = {"error": "the role helper may not pause; it may lift"}
        assert order(server, b'{"verb": "pause"}', guard("h" * 20)) == (403, refused)
        for token in ("a" * 20, TOKEN):
            assert order(server, b'{"verb": "pause"}', guard(token)) == (503, {"error": NOT_STARTED})
        assert order(server, b'{"verb": "undo"}', guard("a" * 20)) == (503, {"error": NOT_STARTED})
        assert server.ask("GET /status", guard("h" * 20))[0] == 503
        assert server.ask("GET /orders", guard("h" * 20))[0] == 503
        status, _, body = server.ask("GET /logs/ann", guard("h" * 20))
        assert (status, json.loads(body)) == (403, {"error": "the role helper may not see this"})
        assert order(server, b'{"verb": "pause"}', guard("x" * 20))[0] == 401
        assert order(server, b'{"verb": "lift"}', GUARD)[0] == 503
