"""An anonymous contest on the wire: GAME to seats and spectators, now, resumed and after a restart; notes."""

from __future__ import annotations

import pytest

from arena_server.core.formats import format_of
from arena_server.core.journal import Past
from arena_server.terms.config import ContestConfig, ContestConfigError
from arena_server.terms.formats import order_of

from .contest_harness import ContestHarness, restarted, seated

BOTS = tuple(f"bot{number}" for number in range(8))


def named(harness: ContestHarness, name: str) -> list[str]:
    """The names of the players in each GAME that `name` got."""
    lines = (line for line in harness.received(name) if line.startswith("GAME "))
    return [
        word.removeprefix("names=") for line in lines for word in line.split() if word.startswith("names=")
    ]


def test_a_seat_sees_its_own_name_and_a_spectator_none() -> None:
    harness = seated("ann", "bob", anonymous=True)
    harness.log_in("eye", " role=spectator")
    harness.send("eye", "WATCH *")
    first = "ann" if named(harness, "ann")[0].startswith("ann") else "bob"
    second = {"ann": "bob", "bob": "ann"}[first]
    assert named(harness, first) == [f"{first},player-2"]
    assert named(harness, second) == [f"player-1,{second}"]
    assert named(harness, "eye") == ["player-1,player-2"]


def test_a_bot_that_comes_back_learns_no_more() -> None:
    harness = seated("ann", "bob", anonymous=True)
    before = named(harness, "ann")
    key = next(line for line in harness.received("ann") if line.startswith("WELCOME")).rpartition("=")[2]
    harness.disconnect("ann")
    harness.log_in("ann", f" resume={key}")
    assert named(harness, "ann") == before
    again = restarted(harness)
    again.log_in("ann")
    assert named(again, "ann") == before


def test_the_notes_of_a_bot_go_to_the_record_alone() -> None:
    harness = seated("ann", "bob", anonymous=True)
    harness.log_in("eye", " role=spectator")
    harness.send("eye", "WATCH *")
    note = "INFO game=g1 ply=1 text=I am ann"
    harness.send("ann", note)
    assert not any(line.startswith("INFO") for line in harness.received("eye"))
    live = harness.contest._games.find("g1")
    assert live is not None
    assert [info.text for info in live.match.infos] == ["I am ann"]


@pytest.mark.parametrize("name", ["player-1", "Player-9", "player-x"])
def test_no_bot_is_called_as_players_are_shown(name: str) -> None:
    problem = f"a bot of an anonymous contest cannot be called {name}: its players are shown by such names"
    with pytest.raises(ContestConfigError, match=problem):
        ContestHarness(name, "bob", anonymous=True)
    ContestHarness(name, "bob", past=Past())


def test_the_number_of_a_game_does_not_tell_its_players() -> None:
    plain, secret = (
        [pairing.names for pairing in format_of(config, BOTS, 2).planned(1, 29)]
        for config in (ContestConfig(name="c", seed=3, anonymous=hidden) for hidden in (False, True))
    )
    assert plain != secret
    assert {frozenset(names) for names in plain} == {frozenset(names) for names in secret}
    orders = {order_of(BOTS, seed, anonymous=True) for seed in range(50)}
    assert len(orders) == 50
    assert order_of(BOTS, 3, anonymous=False) == BOTS
