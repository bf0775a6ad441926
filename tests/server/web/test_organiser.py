"""`arena admin` with real processes: orders and their effect, and bots that are added."""

from __future__ import annotations

import json
import re
import signal
import time
import urllib.request
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from ..programs import PATIENCE_S, Players, contest, inside
from .organised import Organised, answer_of, log_in


@pytest.mark.real
@pytest.mark.soak
def test_the_status_says_how_fast_games_end(tmp_path: Path) -> None:
    config = contest("a", "b", contest="games_per_pair = 4")
    with Organised(tmp_path, config=config) as server:
        server.ready()
        assert server.status()["pace"] is None
        assert "pace" not in server.admin("status").out
        Players(server.port, [("a", "first-legal"), ("b", "first-legal")]).join()
        pace = server.status()["pace"]
        assert pace["left_s"] == 0  # type: ignore[index]
        shown = server.admin("status").out
        assert re.search(r"^pace: [\d,]+ games an hour, ETA 0:00$", shown, re.MULTILINE), shown


@pytest.mark.real
def test_orders_and_their_effect_on_a_contest(tmp_path: Path) -> None:
    with Organised(tmp_path, config=contest("a", "b", "c", "d", contest="games_per_pair = 2")) as server:
        server.ready()
        said = server.admin("pause")
        assert (said.code, said.out) == (0, "paused: no game begins; those that run go on\n")
        with log_in(server, "a") as a, log_in(server, "b") as b:
            seen = server.status()
            assert (seen["contest"], seen["state"], seen["running"]) == ("trial", "paused", [])
            assert [bot["where"] for bot in seen["bots"]] == ["free", "free", "away", "away"]  # type: ignore[attr-defined]
            assert server.admin("resume").out == "resumed: games begin again\n"
            game = a.until("GAME").split()[1]
            assert b.until("GAME").split()[1] == game
            shown = server.admin("status").out
            assert shown.startswith("trial: open, 0 of 12 games, 1 running, 0 void, 0 plies, 2 connections\n")
            assert re.findall("^waiting for .*$", shown, re.MULTILINE) == [
                "waiting for c (never connected)",
                "waiting for d (never connected)",
            ]
            assert re.search(rf"^ {game} +a - b +0 *$", shown, re.MULTILINE)
            assert re.search(r"^ a +playing +0 +0 +0 *$", shown, re.MULTILINE)
            said = server.admin("replay", game, "--json")
            assert json.loads(said.out) == {"order": "replay", "target": game, "done": True}
            assert " end=void" in a.until("OVER")
            again = a.until("GAME").split()[1]
            assert b.until("OVER")
            assert b.until("GAME").split()[1] == again
            assert server.admin("void", again).out == f"void: {again}; it is not played again\n"
            assert " end=void" in a.until("OVER")
            assert b.until("OVER")
            assert a.until("GAME")
            assert b.until("GAME")
            assert server.admin("kick", "b").out == "kicked b: its game is void, and it is paired no more\n"
            assert b.until("BYE") == "BYE reason=kicked"
            assert " end=void" in a.until("OVER")
            with log_in(server, "b") as late:
                seen = server.status()
                assert [bot["where"] for bot in seen["bots"]][1] == "kicked"  # type: ignore[attr-defined]
                assert server.admin("lift", "b").out == "lifted: b is paired again\n"
                late.until("GAME")
            assert server.admin("drain").code == 0
            running = server.status()["running"]
            assert isinstance(running, list)
            for each in running:
                server.admin("void", each["game_id"])
            assert a.until("BYE") == "BYE reason=stopped"
        orders = {
            key: value for key, value in server.metrics().items() if key.startswith("arena_orders_total")
        }
        assert orders.pop("arena_orders_total void") >= 2
        assert orders == {
            f"arena_orders_total {verb}": 1 for verb in ("pause", "resume", "replay", "kick", "lift", "drain")
        }
        assert server.status()["state"] == "stopped"
        assert server.get("/readyz") == (503, "the contest is over: stopped\n")
        assert server.end(signal.SIGTERM).code == 0
        assert sorted(path.name for path in tmp_path.glob("*.admin")) == []


@pytest.mark.real
def test_an_order_outlives_the_server(tmp_path: Path) -> None:
    """`kill -9` right after the command has returned: it was durable by then."""
    with Organised(tmp_path) as server:
        server.ready()
        assert server.admin("kick", "c", "--reason", "floods", "--by", "jan").code == 0
        assert server.admin("pause").code == 0
        server.end(signal.SIGKILL)
    # No server runs: the orders are read from the database, where the thread may not have put them yet.
    assert server.admin("orders", "--json").code == 0
    with Organised(tmp_path) as server:
        server.ready()
        seen = server.status()
        assert seen["state"] == "paused"
        assert [bot["where"] for bot in seen["bots"]] == ["away", "away", "kicked"]  # type: ignore[attr-defined]
        orders = json.loads(server.admin("orders", "--json").out)
        assert [(each["number"], each["verb"], each["target"], each["reason"]) for each in orders] == [
            (1, "kick", "c", "floods"),
            (2, "pause", "", ""),
        ]
        assert orders[0]["who"] == "jan (127.0.0.1)"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", orders[0]["at"])
        assert re.search(
            r"^ 1 +\S+ +jan \(127\.0\.0\.1\) +kick c +floods *$", server.admin("orders").out, re.M
        )
        assert server.end(signal.SIGTERM).code == 0
    assert json.loads(server.admin("orders", "--json").out) == orders


@pytest.mark.real
def test_a_bot_that_is_added_logs_in_by_the_token_that_was_shown_once(tmp_path: Path) -> None:
    config = contest("a", "b", contest="games_per_pair = 2", server="max_connections = 19")
    with Organised(tmp_path, config=config) as server:
        server.ready()
        said = server.admin("add", "zoe", "--owner", "ann", "--language", "C", "--reason", "late")
        found = re.fullmatch(
            r"added: zoe plays from now on; its token, which is shown only now: ([0-9a-f]{32})\n", said.out
        )
        assert found, said
        token = found[1]
        status = json.loads(server.admin("status", "--json").out)
        zoe = next(bot for bot in status["bots"] if bot["name"] == "zoe")
        assert (zoe["owner"], zoe["language"], zoe["where"]) == ("ann", "C", "away")
        assert status["games"]["total"] == 6
        again = server.admin("add", "zoe", "--owner", "ann", "--language", "C", "--json")
        assert json.loads(again.out)["token"] != token, "the answer to the first order may be lost"
        token = json.loads(again.out)["token"]
        full = server.admin("add", "yves")
        assert (full.code, full.line) == (
            1,
            "arena: no place for it: 19 connections are 3 slots of bots and 16 for clients that log in or "
            "watch; raise server.max_connections",
        )
        server.end(signal.SIGKILL)
    with Organised(tmp_path, config=config) as server:
        server.ready()
        with log_in(server, f"zoe token={token}"):
            pass
        fresh = json.loads(server.admin("token", "zoe", "--json").out)
        assert fresh["token"] != token
        assert answer_of(server, f"HELLO 1 zoe token={token}").startswith("ERROR token ")
        assert server.admin("remove", "zoe").code == 0
        end = server.end(signal.SIGTERM)
        assert token not in end.err
        assert fresh["token"] not in end.err
        shown = inside("standings", "--json", "--database", f"sqlite:///{server.database}")
        assert json.loads(shown.out)["contest"]["games"]["total"] == 2
    assert not any(secret.encode() in path.read_bytes() for path in tmp_path.iterdir() for secret in (token,))


@pytest.mark.real
@pytest.mark.soak
def test_a_contest_with_hours_is_extended_and_broken_off(tmp_path: Path) -> None:
    """It is closed for all but a minute of the day, so no game starts."""
    hour = (time.localtime().tm_hour + 12) % 24
    hours = f'open = "{hour:02}:00-{hour:02}:01"\nabsent = "10ms"'
    with Organised(tmp_path, config=contest("a", "b", contest=hours)) as server:
        server.ready()
        with log_in(server, "a"), log_in(server, "b"):
            status = server.status()
            assert (status["state"], status["running"]) == ("closed", [])
            shown = server.admin("status").out
            assert re.match(
                r"trial: closed until \d{4}-\d\d-\d\d \d\d:\d\d UTC, 0 of 2 games, 0 running", shown
            )
        assert server.admin("extend", "2").out == (
            "extended by 2: see the number of games in arena admin status\n"
        )
        assert server.admin("extend", "3").line == "arena: expected a multiple of 2 games, got 3"
        assert server.status()["games"]["total"] == 4  # type: ignore[index]
        said = server.admin("abort", "--reason", "no power", "--by", "jan")
        assert said.out.startswith("aborted: the contest is over")
        assert server.status()["state"] == "aborted"
        assert server.admin("extend", "2").line == "arena: the contest is over: aborted"
        assert server.end(signal.SIGTERM).code == 0
    shown = inside("standings", "--database", f"sqlite:///{server.database}").out
    assert "0 of 4 games, scored by points, aborted" in shown
    orders = json.loads(server.admin("orders", "--json").out)
    assert [(each["verb"], each["target"], each["reason"]) for each in orders] == [
        ("extend", "2", ""),
        ("abort", "", "no power"),
    ]
    with Organised(tmp_path, "--new") as server:  # the other is over
        server.ready()
        assert server.status()["games"]["total"] == 6  # type: ignore[index]


@pytest.mark.real
@pytest.mark.soak
def test_each_bot_has_address_agent_mean_time_and_log(tmp_path: Path) -> None:
    config = contest("a", "b", contest="games_per_pair = 2", server=f'bot_logs = "{tmp_path}/logs"')
    with Organised(tmp_path, config=config) as server:
        server.ready()
        with log_in(server, "a agent=mine/2"), log_in(server, "b"):
            bots = server.status()["bots"]
            assert bots[0]["agent"] == "mine/2"  # type: ignore[index]
            assert bots[0]["address"].startswith("127.0.0.1:")  # type: ignore[index]
            assert bots[0]["move_ms"] is None  # type: ignore[index]
            access = json.loads(next(tmp_path.glob("*.admin")).read_text())
            head = {"Authorization": f"Bearer {access['token']}"}

            def log(bot: str) -> tuple[int, str]:
                request = urllib.request.Request(f"{server.url}/logs/{bot}", headers=head)
                try:
                    with urlopen(request, timeout=PATIENCE_S) as response:
                        return response.status, response.read().decode()
                except HTTPError as error:
                    with error:
                        return error.code, error.read().decode()

            status, text = log("a")
            assert status == 200
            assert re.search(r"\* login .*agent=mine/2", text)
            assert log("zoe") == (404, '{"error":"no bot of this contest is called \'zoe\'"}')
            assert server.get("/logs/a")[0] == 401


@pytest.mark.real
@pytest.mark.soak
def test_without_orders_the_list_says_so(tmp_path: Path) -> None:
    with Organised(tmp_path) as server:
        server.ready()
        assert server.admin("orders").out == "no orders\n"


@pytest.mark.real
@pytest.mark.soak
def test_a_refusal_is_one_line(tmp_path: Path) -> None:
    with Organised(tmp_path) as server:
        server.ready()
        for arguments, line in (
            (("kick", "zoe"), "no bot of this contest is called 'zoe'"),
            (("lift", "zoe"), "no bot of this contest is called 'zoe'"),
            (("void", "g9"), "no game 'g9' is running"),
            (("replay", "g1"), "no game 'g1' is running or void; the result of any other stands"),
        ):
            outcome = server.admin(*arguments)
            assert (outcome.code, outcome.out, outcome.line) == (1, "", f"arena: {line}")
        outcome = inside(
            "admin",
            "pause",
            "--database",
            f"sqlite:///{server.database}",
            env={"ARENA_ADMIN_TOKEN": "x" * 20},
        )
        address = server.url.removeprefix("http://")
        assert (outcome.code, outcome.line) == (
            1,
            f"arena: the server at {address} has another token; see ARENA_ADMIN_TOKEN, "
            "or the file beside its database",
        )
        assert server.status()["state"] == "open"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("kick",), "arena admin kick: expected the name of a bot"),
        (("replay",), "arena admin replay: expected a game"),
        (("pause", "g1"), "arena admin pause: expected nothing more, got 'g1'"),
        (("status", "x"), "arena admin status: expected nothing more, got 'x'"),
        (("status", "--connect", "nowhere"), "--connect: expected HOST:PORT, got 'nowhere'"),
    ],
)
def test_a_wrong_command_line(tmp_path: Path, arguments: tuple[str, ...], line: str) -> None:
    outcome = inside("admin", *arguments, cwd=tmp_path, env={"ARENA_ADMIN_TOKEN": "a-token-of-the-organiser"})
    assert (outcome.code, outcome.out, outcome.line) == (2, "", f"arena: {line}")


@pytest.mark.real
def test_the_decisions_of_a_jury_over_a_kill(tmp_path: Path) -> None:
    """Each is durable when the command returns, the table follows at once, and verify agrees."""
    reason = ("--reason", "seen by the jury")
    with Organised(tmp_path, config=contest("a", "b", contest="games_per_pair = 2")) as server:
        server.ready()
        with log_in(server, "a") as a, log_in(server, "b") as b:
            for bot in (a, b):
                bot.say(f"READY {bot.until('GAME').split()[1]}")
            assert server.admin("pause").code == 0
            for bot in (a, b):
                bot.say("QUIT")
        while server.status()["games"]["done"] != 1:  # type: ignore[index]
            pass
        assert server.admin("forfeit", "g1", "b").err.startswith("arena: forfeit: expected a reason")
        assert server.admin("forfeit", "g1", "b", *reason).out == "forfeit: g1 b, who has lost the game\n"
        assert server.admin("correct", "g1", "7-3", *reason).out == "corrected: g1 7-3\n"
        assert server.admin("penalty", "a", "1", *reason).code == 0
        assert server.admin("undo").out == "undone: penalty a 1\n"
        assert server.admin("disqualify", "b", "leave", *reason).code == 0
        assert server.admin("undo", "--json").out.endswith('"undone": "disqualify b leave"\n}\n')
        server.end(signal.SIGKILL)
    database = f"sqlite:///{server.database}"
    with Organised(tmp_path, config=contest("a", "b", contest="games_per_pair = 2")) as again:
        again.ready()
        points = {bot["name"]: bot["points"] for bot in again.status()["bots"]}  # type: ignore[attr-defined]
        assert points == {"a": 7, "b": 3}
        # In order: a server that is killed has its last facts in the journal alone.
        assert again.end(signal.SIGTERM).code == 0
    assert inside("verify", "--database", database).out == "verified: 1 game\n"
    assert "jury: correct g1 7-3: seen by the jury" in inside("standings", "--database", database).out
