"""Lines of clients outside their games, PING and PONG, and rate limits on lines that need no answer."""

from __future__ import annotations

from .contest_harness import ContestHarness, seated


def test_ping_and_pong() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", "PING 17", "PONG 4", "")
    assert harness.received("ann")[2:] == ["PONG 17"]


def test_ping_in_a_game() -> None:
    harness = seated("ann", "bob")
    harness.send("ann", "PING now")
    assert harness.last_line("ann") == "PONG now"


def test_in_the_lobby_a_late_line_is_dropped_and_a_bad_one_answered() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", "MOVE 7", "READY g1", "what?")
    harness.send_overlong("ann")
    assert harness.received("ann")[2:] == [
        "ERROR unknown-verb there is no verb 'what?'",
        "ERROR too-long a line may have 1024 bytes at most",
    ]
    assert not harness.is_closed("ann")


def test_a_flood_in_the_lobby() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", *["MOVE 7"] * 99)
    assert not harness.is_closed("ann")
    harness.send("ann", "MOVE 7")
    assert harness.last_line("ann") == "ERROR flood too many lines that were not asked for"
    assert harness.is_closed("ann")
    harness.log_in("ann", conn="again")
    assert harness.last_line("again").startswith("WELCOME")


def test_a_game_resets_the_count_of_refused_lines() -> None:
    harness = ContestHarness("ann", "bob", "eve", flood_limit=3, options={"plies": 1, "start": "empty"})
    harness.log_in("ann")
    harness.send("ann", "MOVE 7", "MOVE 7")
    harness.log_in("bob")
    for mover in ("ann", "bob"):
        game_id = [line.split()[1] for line in harness.received("bob") if line.startswith("GAME")][-1]
        for name in ("ann", "bob"):
            harness.send(name, f"READY {game_id}")
        harness.send(mover, "MOVE 7")
    assert harness.last_line("ann").startswith("OVER")
    harness.send("ann", "MOVE 7", "MOVE 7")
    assert not harness.is_closed("ann")
    harness.send("ann", "MOVE 7")
    assert harness.last_line("ann") == "ERROR flood too many lines that were not asked for"


def test_quit_in_the_lobby() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", "QUIT")
    assert harness.last_line("ann") == "BYE reason=quit"
    harness.log_in("bob")
    assert not any(line.startswith("GAME") for line in harness.received("bob"))


def test_a_thousand_pings_at_once_are_free_and_one_more_is_a_flood() -> None:
    harness = ContestHarness("ann", "bob")
    harness.log_in("ann")
    harness.send("ann", *["PING 1"] * 998, "", "PONG 1")
    assert harness.last_line("ann") == "PONG 1"
    harness.send("ann", "PING 1")
    assert harness.last_line("ann") == "ERROR flood too many lines that were not asked for"
    assert harness.is_closed("ann")


def test_endless_blank_lines_before_the_login() -> None:
    harness = ContestHarness("ann", "bob")
    harness.connect("ann")
    harness.send("ann", *[""] * 1001)
    assert harness.last_line("ann").startswith("ERROR flood ")
    assert harness.is_closed("ann")


def test_endless_pings_in_a_game_are_a_flood() -> None:
    harness = seated("ann", "bob")
    harness.send("ann", *["PING 1"] * 1001)
    assert harness.is_muted("ann")
    assert "ZOMBIE ply=1 reason=flood" in harness.received("ann")
    harness.send("ann", "PING 1")
    harness.stop()
    assert [fault.kind for fault in harness.records["g1"].faults] == ["flood", "void"]


def test_a_move_with_an_unknown_option_is_a_move() -> None:
    """A line that is not canonical is not remembered."""
    harness = seated("ann", "bob")
    harness.send("ann", "MOVE 7 depth=9")
    harness.send("bob", "MOVE 8")
    harness.send("ann", "MOVE 7 depth=11")
    assert "PLAYED 3 seat=1 move=7" in harness.transcript("ann")
