"""Webhooks of `arena serve`, as processes: failures, slowness, a killed server, nothing secret in the log."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from ..programs import Gate, Players, Server, contest
from .receiver import SECRET, Receiver, receiver

NAMES = ("ann", "bob", "cleo")


def text(found: Receiver, *, games: int = 2, contest_keys: str = "") -> str:
    keys = f'games_per_pair = {games}\nspectator_delay = "0s"\n{contest_keys}'
    hook = f'[[webhook]]\nurl = "{found.url}"\nsecret = "{SECRET}"\n'
    return contest(*NAMES, contest=keys, game='plies = 6\nclock = "10m"') + hook


def play(server: Server, plan: str | Gate = "first-legal") -> Players:
    return Players(server.port, [(name, plan) for name in NAMES])


@pytest.mark.real
def test_a_receiver_that_fails_at_first(tmp_path: Path) -> None:
    with receiver([500, 200]) as found:
        options = ("--until-finished", "--log-level", "debug")
        with Server(text(found), tmp_path, *options) as server:
            play(server).join()
            outcome = server.end()
        assert outcome.code == 0
        assert len(found.ids) == len(set(found.ids)) == 6
        assert [each["game"]["place"] for each in found.messages] == [1, 2, 3, 4, 5, 6]
        assert {each["contest"]["name"] for each in found.messages} == {"trial"}
        assert "webhook-failed hook=1 error=" in outcome.err
        assert "answered with status 500" in outcome.err
        assert outcome.err.count(" webhook hook=1 kind=game id=game-") == 6
        for secret in (SECRET, "t0ken", "k3y", found.url):
            assert secret not in outcome.err + outcome.out


@pytest.mark.real
@pytest.mark.soak
def test_a_receiver_that_does_not_answer_keeps_no_game_waiting(tmp_path: Path) -> None:
    with receiver(["slow"]) as found:
        with Server(text(found), tmp_path) as server:
            assert set(play(server).join().values()) == {"finished"}
            found.wait_for_attempts(1)
            assert found.messages == []
            server.process.send_signal(signal.SIGKILL)
        # The next server of the contest's name delivers what is left, although the contest is finished.
        found.script[:] = [200]
        found.released.set()
        with Server(text(found), tmp_path):
            found.wait_for(6)
        assert [each["contest"]["id"] for each in found.messages] == [1] * 6


@pytest.mark.real
def test_a_server_that_is_killed_delivers_every_result_at_least_once(tmp_path: Path) -> None:
    games = 8
    with receiver([200, 503, 200]) as found:
        for round_ in range(3):
            gate = Gate(6)
            with Server(text(found, games=games), tmp_path) as server:
                players = play(server, gate)
                found.wait_for(4 * (round_ + 1))
                os.kill(server.process.pid, signal.SIGKILL)
                gate.open()
                players.join()
        with Server(text(found, games=games), tmp_path, "--until-finished") as server:
            play(server).join()
            assert server.end().code == 0
        found.wait_for(3 * games)
        places = {each["game"]["place"] for each in found.messages}
        assert places == set(range(1, len(places) + 1)), "none is left out"
        assert (
            len({each["game"]["id"] for each in found.messages if each["game"]["end"] != "void"}) == 3 * games
        )


@pytest.mark.real
@pytest.mark.soak
def test_probation_and_absence(tmp_path: Path) -> None:
    keys = 'probation = 1\nabsent = "4s"'
    with receiver() as found:
        hooked = text(found, contest_keys=keys) + 'events = ["probation", "absence"]\n'
        with Server(hooked, tmp_path) as server:
            plans = [("ann", "first-legal"), ("bob", "zero-based")]
            players = Players(server.port, plans)
            found.wait_for(2)
            server.end(signal.SIGTERM)
            players.join()
        kinds = {each["type"]: each for each in found.messages}
        assert kinds["probation"]["bot"] == "bob"
        assert kinds["absence"]["bot"] in NAMES


@pytest.mark.real
def test_the_life_of_a_contest(tmp_path: Path) -> None:
    """It begins, its rounds are drawn, it is over; results are not asked for."""
    with receiver([200]) as found:
        events = 'events = ["begun", "round", "over"]\n'
        given = text(found, contest_keys='format = "knockout"\nquorum = 3') + events
        with Server(given, tmp_path, "--until-finished") as server:
            play(server).join()
            assert server.end().code == 0
    told = [(each["type"], each.get("draw", each.get("ended"))) for each in found.messages]
    assert told[0] == ("begun", None)
    assert told[1:3] == [("round", 1), ("round", 2)]
    assert told[-1] == ("over", "finished")
