"""What the server tells `arena tournament` of a result."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from tests.server.records import game

from arena_server.places.reporter import result_json


def test_games_on_one_deal_have_an_equal_word_that_tells_nothing_of_it() -> None:
    """A digest of board and sequence would confirm a guess of what is still hidden."""
    first = game(1)
    second = replace(first, game_id="g2", names=first.names[::-1], nonce="22" * 16)
    other = replace(first, game_id="g3", seed=8)
    deals = [result_json(record)["deal"] for record in (first, second, other)]
    assert deals[0] == deals[1] != deals[2]
    guess = sha256(f"{first.board}:{first.sequence}".encode()).hexdigest()
    assert not guess.startswith(deals[0])
