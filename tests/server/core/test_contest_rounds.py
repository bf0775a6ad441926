"""A contest whose format draws: rounds, walkovers and the table, live and after a restart."""

from __future__ import annotations

import pytest

from arena_server.core.log_events import RoundDrawn, WalkedOver

from .contest_harness import ONE_PLY, ContestHarness, play_on, restarted, rows, seated

BOTS = ("ann", "bob", "cid", "dan")


def table(harness: ContestHarness) -> dict[str, tuple[int, int]]:
    """Score (in hundredths) and games of each bot."""
    return {name: (int(100 * (row.score or 0)), row.games) for name, row in rows(harness).items()}


# With one ply a game every pairing is tied: the better seed goes on, after two more pairs of games.
@pytest.mark.parametrize(
    ("name", "draws", "expected"),
    [
        ("knockout", 6, {"ann": (200, 6), "bob": (100, 12), "cid": (0, 6), "dan": (0, 0)}),
        # ann and cid tie, bob has the walkover; then cid has the bye.
        ("swiss", 2, {"bob": (150, 2), "cid": (150, 2), "ann": (100, 4), "dan": (0, 0)}),
        ("groups", 4, {"ann": (200, 10), "bob": (100, 10), "cid": (66, 4), "dan": (0, 0)}),
    ],
)
def test_one_that_is_kicked_loses_the_rest_of_its_round(
    name: str, draws: int, expected: dict[str, tuple[int, int]]
) -> None:
    """Its opponent has the point without a game, and a server that starts again has the same table."""
    harness = seated(*BOTS, format=name, options=ONE_PLY, ready=False, games_per_pair=2, logs=True)
    assert harness.command("kick", "dan") is None
    play_on(harness)
    assert harness.finished == "finished"
    assert len(harness.logged(RoundDrawn)) == draws
    assert harness.logged(WalkedOver)[0].absent == ("dan",)
    assert table(harness) == table(restarted(harness)) == expected


def test_a_void_game_of_an_earlier_round_is_not_played_again() -> None:
    harness = seated(*BOTS, format="swiss", options=ONE_PLY, ready=False, logs=True)
    assert harness.command("void", "g1") is None
    while len(harness.logged(RoundDrawn)) < 2:
        game = harness.contest.status.overview().running[0]
        for name in game.names:
            harness.send(name, f"READY {game.game_id}")
        harness.send(game.names[0], "MOVE 7")
    refusal = harness.command("replay", "g1")
    assert refusal is not None
    assert "g1" in refusal
