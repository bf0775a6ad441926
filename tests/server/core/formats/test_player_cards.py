"""The cards of a Swiss say of each meeting the same from both sides; other formats have none."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_server.core.formats.history import History
from arena_server.core.formats.player_cards import cards_of, player_cards

from .drawn import Field, disturb
from .test_rounds import DRAWING, STEPS, draw_terms

BACK = {"1": "0", "0": "1", "1/2": "1/2", "+": "-", "-": "+-", "*": "*"}


def match(one: str, other: str | None, state: str = "over", winner: str | None = None) -> dict[str, Any]:
    return {"names": [one, other], "state": state, "winner": winner}


def test_the_fields() -> None:
    rounds = [
        {"matches": [match("ann", "bob", winner="ann"), match("cid", None, "bye", "cid")]},
        {"matches": [match("bob", "cid")]},
        {"matches": [match("cid", "ann", "walkover", "ann")]},
        {"matches": [match("bob", "ann", "open")]},
    ]
    rows = [{"bot": "ann", "score": 2.0}, {"bot": "cid", "score": 1.5}, {"bot": "bob", "score": 0.5}]
    assert player_cards(rows, rounds) == [
        {"no": 1, "bot": "ann", "rounds": ["3w1", "-", "2b+", "3b*"], "score": 2.0},
        {"no": 2, "bot": "cid", "rounds": ["bye", "3b1/2", "1w-", "-"], "score": 1.5},
        {"no": 3, "bot": "bob", "rounds": ["1b0", "2w1/2", "-", "1w*"], "score": 0.5},
    ]


@pytest.mark.parametrize("name", DRAWING)
def test_each_meeting_is_on_two_cards(name: str) -> None:
    @settings(deadline=None, max_examples=settings().max_examples if name == "swiss" else 3)
    @given(st.data(), STEPS, st.integers(0, 1 << 32))
    def holds(data: st.DataObject, steps: str, seed: int) -> None:
        field = Field(DRAWING[name], draw_terms(DRAWING[name], data), Random(seed))
        disturb(field, steps)
        field.finish()
        history = History(field.kind(field.terms))
        history.extend(field.facts)
        rows = [{"bot": bot, "score": 0.0} for bot in history.form.terms.names]
        cards = cards_of(history, rows)
        if name != "swiss":
            assert cards is None
            return
        assert cards is not None
        assert [card["bot"] for card in cards] == [row["bot"] for row in rows]
        assert {len(card["rounds"]) for card in cards} == {len(history.document()["rounds"])}
        for card in cards:
            for place, text in enumerate(card["rounds"]):
                if text not in ("-", "bye"):
                    found = re.fullmatch(r"(\d+)([wb])(1/2|[10+*-])", text)
                    assert found is not None, text
                    other = cards[int(found[1]) - 1]["rounds"][place]
                    back = re.fullmatch(rf"{card['no']}([wb])(1/2|[10+*-])", other)
                    assert back is not None, other
                    assert {found[2], back[1]} == {"w", "b"}
                    assert back[2] in BACK[found[3]]

    holds()
