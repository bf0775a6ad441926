"""Versions over HTTP: who may send them, how much, and how fast."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.server.submissions.script import KEY, Script, setup_in

from arena_server.submissions.service import SubmissionService
from arena_server.terms.submissions import ArchiveLimits, SubmissionRules
from arena_server.web import submit
from arena_server.web.app import application
from arena_server.web.bridge import LoopBridge
from arena_server.web.host_view import UnknownContestError
from arena_server.web.submit import PATH, SubmitApi

from .running import LIMIT_S, Running, running

pytestmark = pytest.mark.real

TOKEN = "the-author-s-token"
AUTHOR = f"Authorization: Bearer {TOKEN}\n"
WHERE = f"{PATH}?contest=friday&bot=ann"


class View:
    """What the page knows of the contest."""

    kept_out: str | None = None

    def barred(self, contest: str, bot: str) -> str | None:
        assert (contest, bot) == KEY
        return self.kept_out

    def author_of(self, contest: str | None, bot: str, token: str) -> tuple[str, bool] | None:
        if contest not in (None, "friday"):
            raise UnknownContestError(f"no contest {contest!r:.40} here", ["friday"])
        return ("friday", bot == "ann") if token == TOKEN and bot in ("ann", "remote") else None


class Site(Running):
    service: SubmissionService
    loop: asyncio.AbstractEventLoop


@contextmanager
def site(folder: Path, script: Script, rules: SubmissionRules | None = None) -> Iterator[Site]:
    """A page to which versions are sent."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    service = SubmissionService([setup_in(folder, rules)], {KEY[0]: script})
    loop.call_soon(lambda: loop.create_task(service.admit_all()))
    thread.start()
    bridge = LoopBridge(loop, 20.0)

    def make() -> Any:
        api = SubmitApi(bridge, View(), service, bridge)  # type: ignore[arg-type] # a part of it
        return application(api.routes())

    try:
        with running(make) as server:
            found = Site(server.address)
            found.service, found.loop = service, loop
            yield found
    finally:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        loop.call_soon_threadsafe(loop.call_soon, loop.stop)
        thread.join(LIMIT_S)
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        service.close()


def answer(server: Running, target: str, body: bytes = b"", headers: str = AUTHOR) -> tuple[int, Any]:
    status, found, text = (
        server.ask_body(target, body, headers) if body or "POST" in target else server.ask(target, headers)
    )
    if "json" in found["content-type"] and "ndjson" not in found["content-type"]:
        return status, json.loads(text)
    return status, text.strip()


def facts(text: str) -> list[dict[str, Any]]:
    """The facts in a chunked stream."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_a_version_is_sent_listed_and_chosen(tmp_path: Path) -> None:
    with site(tmp_path, Script()) as server:
        for number in (1, 2):
            status, text = answer(server, f"POST {WHERE}", b"archive %d" % number)
            assert status == 200
            told = facts(text)
            assert told[0] == {
                "fact": "stored",
                "number": number,
                "digest": told[0]["digest"],
                "size": 9,
            }
            assert [each["fact"] for each in told[-2:]] == ["admitted", "activated"]
        assert answer(server, f"POST {PATH}/active?bot=ann", b'{"version": 1}') == (200, {"active": 1})
        assert answer(server, f"POST {PATH}/active?bot=ann") == (200, {"active": 2})
        status, document = answer(server, f"GET {WHERE}")
        assert (status, document["active"]) == (200, 2)
        assert [each["state"] for each in document["versions"]] == ["admitted", "admitted"]
        status, log = answer(server, f"GET {WHERE}&version=1")
        assert (status, len(log["lines"])) == (200, 3)
        assert (tmp_path / "friday/ann/1.tar.gz").read_bytes() == b"archive 1"


@pytest.mark.parametrize(
    ("target", "headers", "expected"),
    [
        (f"GET {WHERE}", "", (401, {"error": "no bot of this contest has this name and this token"})),
        (
            f"GET {WHERE}",
            "Authorization: Bearer wrong\n",
            (401, {"error": "no bot of this contest has this name and this token"}),
        ),
        (
            f"GET {PATH}?bot=other",
            AUTHOR,
            (401, {"error": "no bot of this contest has this name and this token"}),
        ),
        (f"GET {PATH}", AUTHOR, (401, {"error": "no bot of this contest has this name and this token"})),
        (
            f"GET {PATH}?bot=remote",
            AUTHOR,
            (409, {"error": "remote connects by itself: no versions are sent of it (submit = true)"}),
        ),
        (f"GET {PATH}?bot=ann&contest=x", AUTHOR, (404, {"error": "no contest 'x' here; there are: friday"})),
        (f"GET {WHERE}&version=7", AUTHOR, (409, {"error": "there is no version 7; there are none yet"})),
        (f"GET {WHERE}&version=x", AUTHOR, (409, {"error": "there is no version 0; there are none yet"})),
        (f"POST {PATH}/active?bot=ann", AUTHOR, (409, {"error": "no version was active before this one"})),
        (
            f"POST {WHERE}",
            f"{AUTHOR}Origin: http://evil.example\n",
            (403, {"error": "a page of another server asked for this"}),
        ),
        (
            f"POST {WHERE}",
            AUTHOR,
            (400, {"error": "expected a tar of a folder with a Dockerfile, got nothing"}),
        ),
    ],
)
def test_what_is_refused(target: str, headers: str, expected: object, tmp_path: Path) -> None:
    with site(tmp_path, Script()) as server:
        assert answer(server, target, headers=headers) == expected
        assert server.service.bots[KEY].versions.all() == []
        assert not server.service.bots[KEY].uploading


@pytest.mark.parametrize("body", [b"x", b"[]", b'{"version": "1"}', b'{"version": true}', b"[" * 1000])
@pytest.mark.soak
def test_an_order_that_is_none(body: bytes, tmp_path: Path) -> None:
    with site(tmp_path, Script()) as server:
        assert answer(server, f"POST {PATH}/active?bot=ann", body)[0] == 400


@pytest.mark.soak
def test_who_guesses_tokens_is_slowed_and_the_author_is_not(tmp_path: Path) -> None:
    with site(tmp_path, Script()) as server:
        found = {answer(server, f"GET {WHERE}", headers=f"Authorization: Bearer {n}\n")[0] for n in range(30)}
        assert found == {401, 429}
        assert answer(server, f"GET {WHERE}")[0] == 200


LITTLE = SubmissionRules(limits=ArchiveLimits(packed=1000))


@pytest.mark.soak
def test_a_version_that_is_too_large_is_not_kept(tmp_path: Path) -> None:
    with site(tmp_path, Script(), LITTLE) as server:
        assert answer(server, f"POST {WHERE}", b"x" * 1001)[0] == 413
        head = f"POST {WHERE} HTTP/1.1\nHost: {server.address}\nConnection: close\n{AUTHOR}"
        chunks = b"3f0\r\n" + b"x" * 0x3F0 + b"\r\n"
        data = (
            f"{head}Transfer-Encoding: chunked\n\n".replace("\n", "\r\n").encode() + chunks * 3 + b"0\r\n\r\n"
        )
        text = server.send(data).decode()
        assert text.startswith("HTTP/1.1 413 ")
        assert json.loads(text.partition("\r\n\r\n")[2]) == {"error": "a version may have 1000 bytes at most"}
        assert os.listdir(tmp_path / "friday/ann") == ["versions.jsonl"]
        assert answer(server, f"GET {WHERE}&wanted=submit")[0] == 200, "the next one may be sent"


def begin(server: Running) -> socket.socket:
    """An upload of which nothing but the beginning comes."""
    host, port = server.address.rsplit(":", 1)
    sock = socket.create_connection((host, int(port)), LIMIT_S)
    head = f"POST {WHERE} HTTP/1.1\nHost: {server.address}\nContent-Length: 1000\n{AUTHOR}\n"
    sock.sendall(head.replace("\n", "\r\n").encode() + b"x")
    return sock


def wait_for(server: Site, uploading: bool) -> None:
    done = threading.Event()
    while server.service.bots[KEY].uploading is not uploading:
        done.wait(0.01)


def test_an_upload_that_stops_is_broken_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit, "CHUNK_S", 0.3)
    with site(tmp_path, Script()) as server, begin(server) as sock:
        assert sock.recv(100).startswith(b"HTTP/1.1 408 ")
        wait_for(server, uploading=False)
        assert os.listdir(tmp_path / "friday/ann") == ["versions.jsonl"]


@pytest.mark.soak
def test_a_connection_that_is_lost_leaves_nothing(tmp_path: Path) -> None:
    with site(tmp_path, Script()) as server:
        with begin(server):
            wait_for(server, uploading=True)
            expected = 409, {"error": "a version of this bot is being sent already"}
            assert answer(server, f"GET {WHERE}&wanted=submit") == expected
            assert answer(server, f"POST {WHERE}", b"x") == expected
        wait_for(server, uploading=False)
        assert os.listdir(tmp_path / "friday/ann") == ["versions.jsonl"]


@pytest.mark.soak
def test_ten_uploads_at_once_are_one_version(tmp_path: Path) -> None:
    """All of them begin; one is taken, and the others get the reason."""
    script = Script(waits={"build": asyncio.Event()})
    with site(tmp_path, script) as server:
        found: list[int] = []

        def send() -> None:
            found.append(answer(server, f"POST {WHERE}", b"x" * 1000)[0])
            if found.count(409) == 9:  # all others are refused: the one that was taken may go on
                server.loop.call_soon_threadsafe(script.waits["build"].set)

        threads = [threading.Thread(target=send) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT_S)
        assert sorted(found) == [200] + [409] * 9
        assert len(server.service.bots[KEY].versions.all()) == 1
