"""`arena admin` and the organiser's port with real processes: orders, metrics, health, refusals."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from arena_server.core.invites import NO_CODE
from arena_server.store.reader import Results

from ..programs import ARENA, PATIENCE_S, Outcome, Players, Server, contest, inside

pytestmark = pytest.mark.real
TOKEN = "a-token-of-the-organiser"


class Organised(Server):
    """A server with an admin port, and the organiser's hands."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        config: str | None = None,
        before: Callable[[], None] | None = None,
        program: Sequence[str] | None = None,
    ) -> None:
        config = contest("a", "b", "c") if config is None else config
        super().__init__(config, folder, "--admin-port", "0", *options, before=before, program=program)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("admin on http://127.0.0.1:"), self.end()
        self.url = line.removeprefix("admin on ").rstrip()

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of a page."""
        try:
            with urlopen(f"{self.url}{path}", timeout=PATIENCE_S) as response:
                return response.status, response.read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def admin(self, *arguments: str) -> Outcome:
        return inside("admin", *arguments, "--database", f"sqlite:///{self.database}")

    def status(self) -> dict[str, object]:
        outcome = self.admin("status", "--json")
        assert outcome.code == 0, outcome.err
        found: dict[str, object] = json.loads(outcome.out)
        return found

    def ready(self) -> None:
        """Wait until the contest has begun: every question before is answered by 503."""
        while self.get("/readyz")[0] != 200:
            assert self.process.poll() is None

    def metrics(self) -> dict[str, float]:
        """Every sample by name and labels."""
        status, text = self.get("/metrics")
        assert status == 200
        return {
            sample.name + "".join(f" {value}" for value in sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }


class Client:
    """A bot of blocking lines."""

    def __init__(self, server: Server, name: str) -> None:
        self._sock = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)
        self._lines = self._sock.makefile("rb")
        self.say(f"HELLO 1 {name}")
        self.until("WELCOME")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._sock.close()

    def say(self, line: str) -> None:
        self._sock.sendall(line.encode() + b"\n")

    def until(self, verb: str) -> str:
        for line in self._lines:
            if line.startswith(verb.encode()):
                return line.decode().rstrip()
        raise EOFError(verb)


def answer_of(server: Server, hello: str) -> str:
    """What the server says to this HELLO."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as sock:
        sock.sendall(f"{hello}\n".encode())
        with sock.makefile("r") as lines:
            assert lines.readline().startswith("ARENA ")
            return lines.readline()


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


def test_orders_and_their_effect_on_a_contest(tmp_path: Path) -> None:
    with Organised(tmp_path, config=contest("a", "b", "c", "d", contest="games_per_pair = 2")) as server:
        server.ready()
        said = server.admin("pause")
        assert (said.code, said.out) == (0, "paused: no game begins; those that run go on\n")
        with Client(server, "a") as a, Client(server, "b") as b:
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
            with Client(server, "b") as late:
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
        full = server.admin("add", "yves")
        assert (full.code, full.line) == (
            1,
            "arena: no place for it: 19 connections are 3 slots of bots and 16 for clients that log in or "
            "watch; raise server.max_connections",
        )
        server.end(signal.SIGKILL)
    with Organised(tmp_path, config=config) as server:
        server.ready()
        with Client(server, f"zoe token={token}"):
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


def test_a_contest_with_hours_is_extended_and_broken_off(tmp_path: Path) -> None:
    """It is closed for all but a minute of the day, so no game starts."""
    hour = (time.localtime().tm_hour + 12) % 24
    hours = f'open = "{hour:02}:00-{hour:02}:01"\nabsent = "10ms"'
    with Organised(tmp_path, config=contest("a", "b", contest=hours)) as server:
        server.ready()
        with Client(server, "a"), Client(server, "b"):
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
    with Organised(tmp_path) as server:  # a new contest, as the other is over
        server.ready()
        assert server.status()["games"]["total"] == 6  # type: ignore[index]


def test_an_author_registers_a_bot_by_a_link(tmp_path: Path) -> None:
    with Organised(tmp_path, "--web-port", "0") as server:
        server.ready()
        said = server.admin("invite", "jan", "--json")
        answer = json.loads(said.out)
        site, _, code = answer["link"].partition("/register.html#trial/")
        assert re.fullmatch("[0-9a-f]{32}", code)
        with urlopen(f"{site}/register.html", timeout=PATIENCE_S) as page:
            assert b"Register a bot" in page.read()

        def post(**given: str) -> tuple[int, dict[str, str]]:
            body = json.dumps({"contest": "trial", "code": code, "name": "zoe"} | given).encode()
            try:
                request = urllib.request.Request(f"{site}/api/v1/register", body)
                with urlopen(request, timeout=PATIENCE_S) as response:
                    return response.status, json.load(response)
            except HTTPError as error:
                with error:
                    return error.code, json.load(error)

        assert post(code="0" * 32) == (409, {"error": NO_CODE})
        assert post(contest="other") == (409, {"error": NO_CODE})
        assert post(name="x" * 33)[0] == post(code="\u00e4")[0] == post(verb="add")[0] == 400
        assert post(name="a") == (409, {"error": "a is a bot of this contest already"})
        status, registered = post(author="Jan J.", language="C")
        assert (status, registered["name"]) == (200, "zoe")
        assert post(name="yan") == (409, {"error": NO_CODE})
        assert answer_of(server, f"HELLO 1 zoe token={registered['token']}").startswith("WELCOME zoe")
        orders = json.loads(server.admin("orders", "--json").out)
        assert [(each["verb"], each["target"], each["who"]) for each in orders][1:] == [
            ("register", "zoe", "by invitation (127.0.0.1)")
        ]
        end = server.end(signal.SIGTERM)
        secrets = (code, registered["token"])
        assert not any(secret in text for secret in secrets for text in (end.err, json.dumps(orders)))
    stored = [path.read_bytes() for path in tmp_path.iterdir() if path.is_file()]
    assert not any(secret.encode() in data for secret in secrets for data in stored)


def test_each_bot_has_address_agent_mean_time_and_log(tmp_path: Path) -> None:
    config = contest("a", "b", contest="games_per_pair = 2", server=f'bot_logs = "{tmp_path}/logs"')
    with Organised(tmp_path, config=config) as server:
        server.ready()
        with Client(server, "a agent=mine/2"), Client(server, "b"):
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


def test_without_a_page_there_are_no_invitations(tmp_path: Path) -> None:
    with Organised(tmp_path, "--no-web") as server:
        server.ready()
        assert server.admin("invite", "jan").line == (
            "arena: no page to register on is served: see server.web"
        )


def test_without_orders_the_list_says_so(tmp_path: Path) -> None:
    with Organised(tmp_path) as server:
        server.ready()
        assert server.admin("orders").out == "no orders\n"


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
    outcome = inside("admin", *arguments, cwd=tmp_path, env={"ARENA_ADMIN_TOKEN": TOKEN})
    assert (outcome.code, outcome.out, outcome.line) == (2, "", f"arena: {line}")


def test_a_server_that_was_killed_does_not_answer(tmp_path: Path) -> None:
    with Organised(tmp_path) as server:
        address = server.url.removeprefix("http://")
        server.end(signal.SIGKILL)
        outcome = server.admin("status")
        assert (outcome.code, outcome.line) == (
            1,
            f"arena: no server answers at {address} (Connection refused); is it running, with --admin-port?",
        )


def test_no_server_with_an_admin_port(tmp_path: Path) -> None:
    with Server(contest("a", "b"), tmp_path) as server:
        outcome = inside("admin", "pause", "--database", f"sqlite:///{server.database}")
        assert outcome.code == 1
        assert outcome.line == (
            f"arena: {server.database}: no server with an admin port plays here; start it by "
            "arena serve --admin-port 0, or say where it is by --connect, and its token by ARENA_ADMIN_TOKEN"
        )


def test_a_token_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", TOKEN)
    with Organised(tmp_path) as server:
        server.ready()
        assert server.admin("pause").code == 0
        address = server.url.removeprefix("http://")
        elsewhere = inside("admin", "status", "--connect", address, cwd=tmp_path)
        assert elsewhere.out.startswith("trial: paused, 0 of 6 games, 0 running, 0 void, 0 plies, ")
        monkeypatch.delenv("ARENA_ADMIN_TOKEN")
        assert server.admin("status").line == (
            "arena: the server has its token from ARENA_ADMIN_TOKEN; set the same here"
        )


def test_the_metrics_of_a_contest_agree_with_its_results(tmp_path: Path) -> None:
    with Organised(tmp_path, config=contest("a", "b", "c", contest="probation = 0")) as server:
        server.ready()
        before = server.metrics()
        assert before["arena_games pending"] == 6
        assert before["arena_connections"] == before["arena_plies_total"] == 0
        assert before["arena_connections_max"] > 100
        played = Players(server.port, [("a", "first-legal"), ("b", "fixed:move=6"), ("c", "zero-based")])
        assert set(played.join().values()) == {"finished"}
        after = server.metrics()
        with Results(server.database) as results:
            chosen = results.contest()
            plies = sum(row["plies"] for row in results.rows(chosen))
            faults = sum(len(row["faults"]) for row in results.rows(chosen))
        states = {state: after[f"arena_games {state}"] for state in ("pending", "running", "done", "void")}
        assert states == {"pending": 0, "running": 0, "done": 6, "void": 0}
        assert after["arena_games_ended_total complete"] == 6
        assert after["arena_plies_total"] == plies == 36
        kinds = {key: value for key, value in after.items() if key.startswith("arena_faults_total")}
        assert kinds == {"arena_faults_total illegal": faults} == {"arena_faults_total illegal": 4}
        # A latency for each line that led to another's TURN; zombies' plies follow at once.
        assert 0 < after["arena_ply_latency_seconds_count"] <= plies + 6
        assert after["arena_ply_latency_seconds_bucket +Inf"] == after["arena_ply_latency_seconds_count"]
        assert after["arena_ply_latency_seconds_sum"] > 0
        assert after["arena_journal_delay_seconds_count"] >= plies
        assert after["arena_store_delay_seconds_count"] == 6
        assert after["process_resident_memory_bytes"] > 1e6
        assert server.get("/healthz") == (200, "ok\n")
        info = [key for key in after if key.startswith("arena_contest_info")]
        assert info == ["arena_contest_info insertion trial insertion-arena/0.1"]


def test_a_loop_that_stands_still_is_not_healthy(tmp_path: Path) -> None:
    """The process is stopped and does not answer; a probe counts that as not healthy."""
    with Organised(tmp_path, program=ARENA) as server:  # `waitid` takes a child
        server.ready()
        server.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, server.process.pid, os.WSTOPPED | os.WNOWAIT)
        with pytest.raises(OSError, match="timed out"), urlopen(f"{server.url}/healthz", timeout=0.4):
            pass
        server.process.send_signal(signal.SIGCONT)
        assert server.get("/healthz") == (200, "ok\n")
        while not (metrics := server.metrics())["arena_loop_stalls_total"]:
            assert server.process.poll() is None
        assert metrics["arena_loop_stalled_seconds_total"] > 0.2  # shorter ones are none


def test_the_configuration_may_have_the_admin_port(tmp_path: Path) -> None:
    lines = 'admin_port = 0\nadmin_host = "localhost"'
    with Server(contest("a", "b", server=lines), tmp_path) as server:
        assert server.process.stdout is not None
        assert re.fullmatch(r"admin on http://127\.0\.0\.1:\d+\n", server.process.stdout.readline())


def fetch(url: str) -> tuple[int, str]:
    try:
        with urlopen(url, timeout=PATIENCE_S) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


ORGANISERS = ("organiser.html", "status", "orders", "metrics", "healthz")


@pytest.mark.parametrize(
    ("lines", "options"), [("", ["--web-host", "0.0.0.0"]), ('web_names = ["arena.example.org"]', [])]
)
def test_a_page_that_others_reach_has_nothing_of_the_organisers(
    tmp_path: Path, lines: str, options: list[str]
) -> None:
    """It asks for no token; orders are given on a port of loopback, which `arena admin` finds."""
    with Server(contest("a", "b", server=lines), tmp_path, "--web-port", "0", *options) as server:
        assert server.process.stdout is not None
        admin, web = (server.process.stdout.readline() for _ in range(2))
        local = r"http://127\.0\.0\.1:\d+"
        assert re.fullmatch(rf"admin on {local}\n", admin)
        outside = r" \(from other machines: http://[\w.:\[\]]+\)" if options else ""
        assert re.fullmatch(rf"web on {local}(?:{outside})?\n", web)
        site, organiser = web.split()[2], admin.split()[2]
        assert {fetch(f"{site}/{path}")[0] for path in ORGANISERS} == {404}
        assert "organiser" not in fetch(f"{site}/")[1]
        assert json.loads(fetch(f"{site}/api/v1/site.json")[1])["organiser"] is False
        assert fetch(f"{organiser}/healthz") == (200, "ok\n")
        # Its first page is the organiser's, and it has no other.
        assert fetch(f"{organiser}/") == fetch(f"{organiser}/organiser.html")
        assert 'data-menu="organiser.html"' in fetch(f"{organiser}/")[1]
        assert fetch(f"{organiser}/index.html")[0] == 404
        status = inside("admin", "status", "--json", "--database", f"sqlite:///{server.database}")
        assert json.loads(status.out)["contest"] == "trial"


def test_a_page_of_this_machine_alone_has_the_organisers(tmp_path: Path) -> None:
    with Server(contest("a", "b"), tmp_path, "--web-port", "0") as server:
        assert server.process.stdout is not None
        site = server.process.stdout.readline().split()[2]
        assert fetch(f"{site}/organiser.html")[0] == 200
        menu = "index.html replay.html tv.html play.html organiser.html"
        assert f'data-menu="{menu}"' in fetch(f"{site}/")[1]


def test_the_menu_leads_to_nothing_that_is_off(tmp_path: Path) -> None:
    text = contest("a", "b", contest="guests = false", server="play = 0\nadmin_port = 0")
    with Server(text, tmp_path, "--web-port", "0") as server:
        assert server.process.stdout is not None
        site = [server.process.stdout.readline() for _ in range(2)][1].split()[2]
        assert 'data-menu="index.html replay.html"' in fetch(f"{site}/")[1]
        assert {fetch(f"{site}/{page}")[0] for page in ("tv", "tv.html", "play", "play.html")} == {404}


def test_the_admin_port_is_off_unless_asked_for(tmp_path: Path) -> None:
    with Server(contest("a", "b"), tmp_path) as server:
        outcome = server.end(signal.SIGTERM)
        assert (outcome.code, outcome.out) == (0, "")


def test_without_the_port_nothing_is_loaded_for_it() -> None:
    program = (
        "import sys, arena_cli.app, arena_cli.serve, arena_server.web.thread\n"
        "sys.exit(bool({'prometheus_client', 'http.server', 'starlette', 'uvicorn'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


class TestRefusals:
    """Nothing is started, and one line says why."""

    def test_the_admin_port_is_taken(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b"))
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = str(other.getsockname()[1])
            outcome = inside("serve", "c.toml", "--port", "0", "--admin-port", port, cwd=tmp_path)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.line == (
            f"arena: cannot listen on 127.0.0.1:{port}: the port is in use; "
            "choose another by --admin-port (0 picks one)"
        )

    def test_a_token_that_can_be_guessed(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b", server="admin_port = 0"))
        outcome = inside("serve", "c.toml", "--port", "0", cwd=tmp_path, env={"ARENA_ADMIN_TOKEN": "short"})
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.line == (
            "arena: ARENA_ADMIN_TOKEN: expected at least 16 ASCII characters without a blank, "
            "got 5 characters"
        )


def test_the_log_as_json(tmp_path: Path) -> None:
    with Server(contest("a", "b"), tmp_path, "--log-format", "json") as server:
        Players(server.port, [("a", "first-legal"), ("b", "zero-based")]).join()
        outcome = server.end(signal.SIGTERM)
    lines = [json.loads(line) for line in outcome.err.splitlines()]
    assert {"login", "game", "over", "stopping"} <= {line["event"] for line in lines}
    for line in lines:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
    login = next(line for line in lines if line["event"] == "login")
    assert isinstance(login["conn"], int)
    assert login["resumed"] is False
