"""The table of the organiser's orders, and what follows it: the command line and the organiser's page."""

from __future__ import annotations

import re
from pathlib import Path

from tests.slices import all_of

import arena_server
from arena_server.core.orders import ORDERS, VERBS

PAGE = Path(arena_server.__file__).parent / "web" / "static" / "js" / "page-organiser.js"


def test_the_page_asks_before_the_orders_that_the_table_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    questions = text.partition("const CONFIRM = {")[2].partition("};")[0]
    asked = set(re.findall(r'^ {2}"?([a-z-]+)"?: ', questions, re.MULTILINE))
    assert asked == {verb for verb, kind in ORDERS.items() if kind.asked}


@all_of("verb", VERBS)
def test_an_order_has_a_target_where_what_is_said_names_it_and_an_inverse_of_the_same_kind(verb: str) -> None:
    kind = ORDERS[verb]
    assert ("{}" in kind.done) == bool(kind.about)
    assert kind.inverse == "" or ORDERS[kind.inverse].about == kind.about
