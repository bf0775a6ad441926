"""Those who use a host that is killed: organiser, authors who register, readers, visitors, cron jobs.

Each is a thread that goes on until `ends`, and keeps in `told` what an answer has said. A request without
an answer told nothing. `problem` is the line by which the run ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from random import Random
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from arena_protocol.record import VOID
from arena_server.core.deal import game_id as id_of
from arena_server.store.reader import Results

from .processes import BotProcesses, verified

PATIENCE_S = 60.0
#: Of one kind of request, one after the other.
MOST_REFUSED = 40
TOKEN = "an-organiser-s-token"
ADMIN = os.environ | {"ARENA_ADMIN_TOKEN": TOKEN}
#: What a request raises while the server is away.
AWAY = (OSError, HTTPException, ValueError)


def asked(url: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    """Status and document of a request. Raises `AWAY` without an answer."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Authorization": f"Bearer {TOKEN}"})
    try:
        with urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


class Person(threading.Thread):
    """Does `turn` again and again."""

    pause_s = 1.0

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.ends = threading.Event()
        self.problem = ""

    def run(self) -> None:
        try:
            while not self.ends.is_set():
                with suppress(*AWAY):
                    self.turn()
                self.ends.wait(self.pause_s)
        except Exception as error:
            self.problem = f"{self.name}: {error!r}"

    def turn(self) -> None:
        raise NotImplementedError


class Organiser(Person):
    """Adds Swiss and knockouts one after the other, gives orders, and registers bots of authors."""

    pause_s = 0.5
    #: Of a registered bot: how many turns of the organiser it plays.
    STAYS = 40

    def __init__(self, admin_port: int, web_port: int, bots: BotProcesses, seed: int) -> None:
        super().__init__("organiser")
        self._admin = f"http://127.0.0.1:{admin_port}"
        self._web = f"http://127.0.0.1:{web_port}"
        self._bots = bots
        self._chance = Random(seed)
        self._number = 0
        self._running: dict[str, str] = {}
        self._added = {"swiss": 0, "knockout": 0}
        self._links: dict[str, str] = {}
        self._guests: dict[str, int] = {}
        self._refused: Counter[str] = Counter()
        #: The orders that were carried out: contest, verb, target, by their reason.
        self.told: dict[str, tuple[str, str, str]] = {}
        self.tokens: dict[str, str] = {}
        self.finished: list[str] = []

    def progress(self) -> str:
        return (
            f"{len(self.finished)} Swiss and knockouts over, {len(self.told)} orders, "
            f"{len(self.tokens)} registrations"
        )

    def turn(self) -> None:
        for kind in self._added:
            self._go_on(kind)
        what = self._chance.choice((self._order, self._register, lambda: None, lambda: None))
        what()

    def _give(self, contest: str, verb: str, target: str = "", **more: str) -> dict[str, Any] | None:
        """Give an order; None: it was refused. Each has a reason of its own."""
        self._number += 1
        reason = f"order {self._number}"
        order = {"contest": contest, "verb": verb, "target": target, "by": "soak", "reason": reason, **more}
        status, answer = asked(f"{self._admin}/orders", order)
        if status != 200:
            assert status in (404, 409, 503), (order, status, answer)  # 404: it begins again, and is not open
            return None
        self.told[reason] = (contest, verb, target)
        return dict(answer)

    def _status(self, contest: str) -> dict[str, Any]:
        status, found = asked(f"{self._admin}/status?contest={contest}")
        return dict(found) if status == 200 else {}

    def _order(self) -> None:
        contest = self._chance.choice(("ladder", "league", *self._running.values()))
        is_drawn = contest not in ("ladder", "league")
        verb = "pause" if is_drawn else self._chance.choice(("pause", "kick", "void", "replay"))
        if verb == "pause":
            self._give(contest, "pause")
            self.ends.wait(self._chance.uniform(0, 1))
            self._insist(contest, "resume")
        elif verb == "kick":
            name = f"{contest[0] if contest == 'ladder' else 'r'}{self._chance.randrange(4)}"
            self._give(contest, "kick", name)
            self._insist(contest, "lift", name)
        else:
            running = [game["game_id"] for game in self._status(contest).get("running", [])]
            if running:
                self._give(contest, verb, self._chance.choice(running))

    def _insist(self, contest: str, verb: str, target: str = "") -> None:
        """Give an order until it is answered: what it takes back would hold for ever."""
        while True:
            with suppress(*AWAY):
                self._give(contest, verb, target)
                return
            self.ends.wait(0.3)

    def _go_on(self, kind: str) -> None:
        """See whether the contest of a format is over, and add the next one."""
        from .hosts import DRAWN, drawn_text

        name = self._running.get(kind)
        if name is not None:
            ended = self._status(name).get("ended")
            if ended in (None, "stopped"):  # the next server goes on with it
                return
            assert ended == "finished", f"{name} is {ended}"
            self.finished.append(name)
            self._bots.stop(name)
            del self._running[kind]
            self._give(name, "archive")  # a server with hundreds of contests shows those that are played
        if self.ends.is_set():
            return
        name = f"{kind}-{self._added[kind]}"
        body = {"file": f"{name}.toml", "text": drawn_text(name, kind, self._added[kind]), "by": "soak"}
        status, answer = asked(f"{self._admin}/contests", body)
        if self._answered("add", status, answer):
            self._added[kind] += 1
            self._running[kind] = name
            for bot in DRAWN:
                self._bots.start(name, bot, "fixed", think_s=0.01)

    def _register(self) -> None:
        """One more bot in the ladder, by a link; after a while it is removed."""
        for name, left in list(self._guests.items()):
            self._guests[name] = left - 1
            if left <= 0:
                self._bots.stop("ladder", name)
                self._insist("ladder", "remove", name)
                del self._guests[name]
        if len(self._guests) >= 2:
            return
        name = f"guest{len(self.tokens)}"
        if name not in self._links:
            answer = self._give("ladder", "invite", name)
            if answer is None:
                answer = self._give("ladder", "invite", name, renew="yes")
            if answer is None:
                return
            self._links[name] = answer["link"].rpartition("/")[2]
        body = {"contest": "ladder", "code": self._links[name], "name": name}
        status, answer = asked(f"{self._web}/api/v1/register", body)
        if self._answered("register", status, answer):
            self.tokens[name] = str(answer["token"])
            self._guests[name] = self.STAYS
            self._bots.start("ladder", name, "good", f"token={answer['token']}", think_s=0.03)

    def _answered(self, what: str, status: int, answer: Any) -> bool:
        """Whether it is done; a server that has just begun again may refuse, and not for long."""
        self._refused[what] = 0 if status == 200 else self._refused[what] + 1
        assert self._refused[what] < MOST_REFUSED, (what, status, answer)
        return status == 200

    def check(self, folder: Path) -> None:
        """Each order that was answered is kept, and none is there twice; who registered is a bot."""
        kept: dict[tuple[str, str], tuple[str, str]] = {}
        for contest in {contest for contest, _, _ in self.told.values()}:
            words = [sys.executable, "-m", "arena_cli", "admin", "orders", "--contest", contest, "--json"]
            found = subprocess.run(words, cwd=folder, check=True, capture_output=True)
            orders = json.loads(found.stdout)
            for order in orders["orders"] if isinstance(orders, dict) else orders:
                key = contest, order["reason"]
                assert key not in kept or not order["reason"], f"{key} is there twice"
                kept[key] = order["verb"], order["target"]
        for reason, (contest, verb, target) in self.told.items():
            assert kept.get((contest, reason)) == (verb, target), (contest, reason, verb, target)
        with Results(folder / "arena.db") as results:
            bots = set(results.bots(results.contest("ladder")))
        assert bots >= self.tokens.keys(), self.tokens.keys() - bots


class Reader(Person):
    """Reads the newest games of the host's contests on a page."""

    def __init__(self, name: str, port: int) -> None:
        super().__init__(name)
        self._api = f"http://127.0.0.1:{port}/api/v1"
        #: Totals and end by contest and game.
        self.told: dict[tuple[str, str], tuple[list[int], str]] = {}

    def turn(self) -> None:
        status, found = asked(f"{self._api}/contests.json")
        if status != 200:
            return
        for each in (*found["contests"][:2], *found["contests"][-2:]):
            status, contest = asked(f"{self._api}/contests/{each['id']}.json")
            if status != 200 or not contest["list"]["games"]:
                continue
            chunk = (contest["list"]["games"] - 1) // contest["list"]["chunk"]
            status, games = asked(f"{self._api}/contests/{each['id']}/games-{chunk}.json")
            for game, _, totals, end, *_ in games if status == 200 else []:
                told = self.told.setdefault((each["name"], game), (totals, end))
                assert told == (totals, end), f"{each['name']} {game} was {told}, is {totals} {end}"


class Visitor(Person):
    """Starts games on /play and plays them to the end."""

    pause_s = 4.0

    def __init__(self, port: int) -> None:
        super().__init__("visitor")
        self._api = f"http://127.0.0.1:{port}/api/v1/play"
        #: Totals and end that were shown, by contest.
        self.told: dict[str, tuple[list[int], str]] = {}
        self.compared = 0

    def turn(self) -> None:
        wanted = {"game": "insertion", "opponent": "dummy", "clock": False, "seat": 1, "hints": False}
        status, started = asked(f"{self._api}/start", wanted)
        if status != 200:
            assert status in (409, 503), started
            return
        status, taken = asked(f"{self._api}/take", {"key": started["links"][0]["key"]})
        if status != 200:
            return
        session = taken["session"]
        with urlopen(f"{self._api}/events?session={session}", timeout=PATIENCE_S) as events:
            kind, done = "", set[object]()
            for line in events:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "event":
                    kind = value
                elif name == "data" and kind == "over":
                    over = json.loads(value)
                    if over["end"] != VOID:
                        self.told[str(started["contest"])] = over["totals"], over["end"]
                    return
                elif name == "data" and kind == "seat":
                    seat = json.loads(value)
                    if seat["state"] == "finished":
                        return
                    if seat["state"] == "invited" and "ready" not in done:
                        done.add("ready")
                        asked(f"{self._api}/ready", {"session": session})
                    elif (ply := seat.get("turn")) is not None and ply not in done:
                        done.add(ply)
                        asked(f"{self._api}/move", {"session": session, "ply": ply, "move": "7"})

    def check(self, folder: Path) -> None:
        if not self.told:
            return
        with Results(folder / "arena-play.db") as results:
            for contest in results.contests():
                if contest.name in self.told:
                    records = verified(results, contest).values()
                    kept = [(list(record.totals), record.end) for record in records]
                    assert self.told.pop(contest.name) in kept, contest.name
                    self.compared += 1
        assert not self.told, f"games of visitors are lost: {self.told}"


class Publisher(Person):
    """`arena publish` and `arena backup`, as cron runs them; both may be killed."""

    pause_s = 5.0

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__("publisher")
        self._folder = folder
        self._chance = Random(seed)
        self._lock = threading.Lock()
        self._running: tuple[str, subprocess.Popen[bytes]] | None = None
        self.published = 0
        self.backups = 0
        #: Results that bots had been sent before a backup, and that it has.
        self.compared = 0

    def wait_for_results(self, patience_s: float) -> None:
        """Wait until both contests have some: an empty database cannot be published."""
        until = time.monotonic() + patience_s
        while not all(list(self._folder.glob(f"{contest}.[lr][0-9]")) for contest in ("ladder", "league")):
            assert time.monotonic() < until, "no result"
            time.sleep(0.1)

    def _run(self, *words: str) -> int:
        process = subprocess.Popen(
            [sys.executable, "-m", "arena_cli", *words],
            cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        with self._lock:
            self._running = words[0], process
        _, said = process.communicate(timeout=10 * PATIENCE_S)
        with self._lock:
            self._running = None
        assert process.returncode in (0, -9), f"arena {' '.join(words)}: {said.decode()}"
        return process.returncode

    def kill(self, what: str) -> bool:
        """Kill the command, if it runs."""
        with self._lock:
            if self._running is None or self._running[0] != what:
                return False
            self._running[1].kill()
        return True

    def turn(self) -> None:
        contest = self._chance.choice(("ladder", "league"))
        self.published += self._run("publish", f"public-{contest}", "--contest", contest) == 0
        if not self.backups or self._chance.random() < 0.3:
            self._back_up()

    def _back_up(self) -> None:
        copy = self._folder / f"copy-{self.backups}.db"
        told = {
            file.name: file.read_text().splitlines()
            for file in self._folder.glob("l*.[lr][0-9]")
            if file.suffix != ".key"
        }
        if self._run("backup", copy.name) == 0:
            self.backups += 1
            with Results(copy) as results:
                kept = {name: self._totals(results, name) for name in ("ladder", "league")}
            for name, lines in told.items():
                contest = kept[name.partition(".")[0]]
                for game, totals in map(str.split, lines):
                    assert contest.get(game) == totals, f"{copy.name} lacks {game} of {name}"
                self.compared += len(lines)
        for each in self._folder.glob(f"{copy.name}*"):
            each.unlink()

    @staticmethod
    def _totals(results: Results, contest: str) -> dict[str, str]:
        """What each game of a contest has come to, as bots keep it."""
        played = (game for game, _ in results.games.played(results.contest(contest)))
        return {id_of(game.number): ",".join(map(str, game.totals)) for game in played}

    def check(self) -> None:
        for contest in ("ladder", "league"):
            if (self._folder / f"public-{contest}" / "head.json").exists():
                self._run("verify", "--published", f"public-{contest}")
