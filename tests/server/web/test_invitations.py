"""`arena admin invite` with real processes: authors register bots by links, over a kill."""

from __future__ import annotations

import json
import re
import signal
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from arena_server.core.parts.invitations import NO_CODE
from arena_server.web.security import WRONG_SECRETS

from ..programs import PATIENCE_S
from .organised import Organised, answer_of


@pytest.mark.real
def test_an_author_registers_a_bot_by_a_link(tmp_path: Path) -> None:
    with Organised(tmp_path, "--web-port", "0") as server:
        server.ready()
        said = server.admin("invite", "jan", "--json")
        answer = json.loads(said.out)
        site, _, code = answer["link"].partition("/register.html#trial/")
        assert re.fullmatch("[0-9a-f]{32}", code)
        with urlopen(f"{site}/register.html", timeout=PATIENCE_S) as page:
            assert b'data-page="register"' in page.read()

        def send(path: str, given: dict[str, str]) -> tuple[int, dict[str, Any]]:
            try:
                body = json.dumps({"contest": "trial", "code": code} | given).encode()
                request = urllib.request.Request(f"{site}/api/v1/{path}", body)
                with urlopen(request, timeout=PATIENCE_S) as response:
                    return response.status, json.load(response)
            except HTTPError as error:
                with error:
                    return error.code, json.load(error)

        def post(**given: str) -> tuple[int, dict[str, Any]]:
            return send("register", {"name": "zoe"} | given)

        def link(**given: str) -> tuple[int, dict[str, Any]]:
            return send("register/link", given)

        assert link(code="0" * 32) == link(code="\u00e4") == link(contest="b") == (409, {"error": NO_CODE})
        wrong = [post(code="0" * 32) for _ in range(WRONG_SECRETS.burst + 20)]
        assert wrong[0] == (409, {"error": NO_CODE})
        assert wrong[-1] == (
            429,
            {"error": "too many wrong links from this address; try again in a minute"},
        )
        assert post(contest="other")[0] in (409, 429)
        assert link() == (200, {"works": True, "bot": None}), "who has the right code passes"
        assert post(name="x" * 33)[0] == post(code="\u00e4")[0] == post(verb="add")[0] == 400
        assert post(name="a") == (409, {"error": "a is a bot of this contest already"})
        meaning = "1 to 60 characters, a letter or digit among them, all of which are seen"
        assert post(author="...") == (409, {"error": f"author: expected {meaning}, got '...'"})
        status, registered = post(author="Jan J.", language="C")
        assert (status, registered["name"]) == (200, "zoe")
        assert link() == (200, {"works": True, "bot": "zoe"})
        assert post(name="yan")[0] in (409, 429)
        lost, (status, registered) = registered["token"], post(author="Jan J.", language="C")
        assert (status, registered["name"]) == (200, "zoe"), "the first answer was lost"
        assert answer_of(server, f"HELLO 1 zoe token={lost}").startswith("ERROR token ")
        assert answer_of(server, f"HELLO 1 zoe token={registered['token']}").startswith("WELCOME zoe")
        orders = json.loads(server.admin("orders", "--json").out)
        assert [(each["verb"], each["target"], each["who"]) for each in orders][1:] == 2 * [
            ("register", "zoe", "by invitation (127.0.0.1)")
        ]
        assert post()[0] in (409, 429)
        assert link() == (200, {"works": False, "bot": "zoe"})
        end = server.end(signal.SIGTERM)
        secrets = (code, registered["token"])
        assert not any(secret in text for secret in secrets for text in (end.err, json.dumps(orders)))
    stored = [path.read_bytes() for path in tmp_path.iterdir() if path.is_file()]
    assert not any(secret.encode() in data for secret in secrets for data in stored)


@pytest.mark.real
def test_a_class_is_invited_and_registers_over_a_kill(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("ann\nbob\n", encoding="utf-8")
    file = ("invite", "--file", str(tmp_path / "names.csv"))
    with Organised(tmp_path, "--web-port", "0") as server:
        server.ready()
        made = json.loads(server.admin(*file, "--json").out)["made"]
        opened = json.loads(server.admin("registration", "1", "--approval", "--json").out)
        site, _, code = opened["link"].partition("/register.html#trial/")
        assert code.endswith("/all")

        def post(**given: str) -> tuple[int, dict[str, object]]:
            body = json.dumps({"contest": "trial", "code": code.removesuffix("/all")} | given).encode()
            try:
                request = urllib.request.Request(f"{site}/api/v1/register", body)
                with urlopen(request, timeout=PATIENCE_S) as response:
                    return response.status, json.load(response)
            except HTTPError as error:
                with error:
                    return error.code, json.load(error)

        status, answer = post(name="zoe", owner="jan", author="Jan J.")
        assert (status, answer["waiting"]) == (200, True)
        assert post(name="yan", owner="jan") == (409, {"error": "jan has 1 of 1 bots already"})
        of_eve = server.admin("registration", "1", "eve").out
        assert re.fullmatch(r"registration of eve is open until .*, up to 1 bots, at: .*#trial/\w+\n", of_eve)
        eves = of_eve.strip().rpartition("/")[2]
        assert post(name="eve-1", owner="invented", code=eves)[0] == 200
        assert post(name="eve-2", owner="another", code=eves)[1] == {"error": "eve has 1 of 1 bots already"}
        hello = f"HELLO 1 zoe token={answer['token']}"
        assert answer_of(server, hello).startswith("ERROR token ")
        server.end(signal.SIGKILL)
    with Organised(tmp_path, "--web-port", "0") as server:
        server.ready()
        again = json.loads(server.admin(*file, "--json").out)
        assert (again["made"], [each["name"] for each in again["existed"]]) == ([], ["ann", "bob"])
        shown = server.admin("status").out
        assert "\ninvited: 2, of which 0 have registered; not yet: ann, bob\n" in shown
        assert "\nwaiting for approval: zoe of jan\n" in shown
        assert "\nregistration of eve is open: 1 bots until " in shown
        assert server.admin("registration", "0", "eve").out == "registration of eve is closed\n"
        assert server.admin("approve", "--all").out == "approved: zoe plays from now on\n"
        assert answer_of(server, hello).startswith("WELCOME zoe")
        assert server.admin("registration", "0").out == "registration is closed\n"
        end = server.end(signal.SIGTERM)
    secrets = [each["link"].rpartition("/")[2] for each in made]
    secrets += [code.removesuffix("/all"), str(answer["token"])]
    assert not any(secret in end.err for secret in secrets)
    stored = [path.read_bytes() for path in tmp_path.iterdir() if path.is_file()]
    assert not any(secret.encode() in data for secret in secrets for data in stored)


@pytest.mark.real
@pytest.mark.soak
def test_without_a_page_there_are_no_invitations(tmp_path: Path) -> None:
    with Organised(tmp_path, "--no-web") as server:
        server.ready()
        assert server.admin("invite", "jan").line == (
            "arena: no page to register on is served: see server.web"
        )
