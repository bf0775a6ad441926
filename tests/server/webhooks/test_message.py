"""Messages: the signature of the specification, and each way in which an attempt ends."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from tests.slices import all_of

from arena_server.core.life import ENDINGS, STOPPED
from arena_server.core.log_events import (
    BotAbsent,
    BotOnProbation,
    CommandDone,
    ContestBegun,
    GameOver,
    LogEvent,
    LoopStalled,
    RoundDrawn,
    ValidationFailed,
    WalkedOver,
)
from arena_server.terms.spec import WEBHOOK_EVENTS, Webhook
from arena_server.webhooks import message as module
from arena_server.webhooks.message import Message, Sender, notice_of, over_of, sign

from ...ports import deaf_port
from .receiver import SECRET, receiver

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "operating.md").read_text(encoding="utf-8")
MESSAGE = Message("game-7-1-1", "game", b'{"type":"game"}')


def test_the_example_of_the_specification() -> None:
    found = sign(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (200, None),
        (204, None),
        (302, "answered with status 302"),
        (404, "answered with status 404"),
        (500, "answered with status 500"),
        ("close", "it closed the connection without an answer"),
        ("slow", "no answer within 0.2 s"),
        (b"no HTTP\r\n\r\n", "what it answered is not HTTP"),
    ],
)
def test_an_attempt(answer: int | str | bytes, problem: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if answer == "slow":
        monkeypatch.setattr(module, "TIMEOUT_S", 0.2)
    with receiver([answer]) as found:
        with closing(Sender(Webhook(found.url, SECRET))) as sender:
            assert sender.post(MESSAGE, 1_700_000_000) == problem
        assert found.asked == 1, "a redirection is not followed"
        assert found.messages == ([{"type": "game"}] if problem is None else [])


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "no-such-host.invalid"])
def test_nobody_listens(host: str) -> None:
    with deaf_port() as port:
        problem = Sender(Webhook(f"http://{host}:{port}/t0ken", SECRET)).post(MESSAGE, 1)  # nothing is open
    assert problem
    assert "t0ken" not in problem


def test_neither_address_nor_secret_is_printed() -> None:
    assert repr(Webhook("https://example.org/t0ken", SECRET)).count("'") == 6  # the names of the events


@all_of(
    ("event", "more"),
    [
        (BotOnProbation("ann", 3), {"type": "probation", "bot": "ann", "faulty_games": 3}),
        (BotAbsent("bob"), {"type": "absence", "bot": "bob"}),
        (ContestBegun(5), {"type": "begun", "bots": 5}),
        (RoundDrawn(2, 4, 1), {"type": "round", "draw": 2, "pairings": 4, "byes": 1}),
        (WalkedOver(2, ("ann", "bob")), {"type": "walkover", "draw": 2, "absent": ["ann", "bob"]}),
        (
            ValidationFailed("ann", "v3", "illegal", 5),
            {"type": "validation", "bot": "ann", "game": "v3", "fault": "illegal", "ply": 5},
        ),
        (
            CommandDone("forfeit", "g7 ann", "jan (::1)", "late"),
            {"type": "jury", "verb": "forfeit", "target": "g7 ann", "reason": "late"},
        ),
        (CommandDone("pause", ""), None),
        (LoopStalled(4000), {"type": "stall", "ms": 4000}),
        (GameOver("g1", "complete", (1, 2)), None),
    ],
)
def test_events_that_are_no_results(event: LogEvent, more: dict[str, object] | None) -> None:
    found = notice_of("cup", event, 1_700_000_000.5, 9)
    if more is None:
        assert found is None
        return
    assert found is not None
    assert found.identity == f"{more['type']}-1700000000-9"
    plain = {"timestamp": "2023-11-14T22:13:20Z", "contest": {"name": "cup"}, **more}
    assert json.loads(found.body) == plain


@all_of("ended", ENDINGS)
def test_the_end_of_a_contest(ended: str) -> None:
    """Of every ending but that of a server that leaves: then the contest goes on."""
    found = over_of("cup", ended, 1_700_000_000.5, 9)
    if ended == STOPPED:
        assert found is None
        return
    assert found is not None
    body = json.loads(found.body)
    assert (found.kind, body["type"], body["contest"], body["ended"]) == (
        "over",
        "over",
        {"name": "cup"},
        ended,
    )
    assert body["reason"] == (ENDINGS[ended].reason or None)


def test_the_example_of_the_page() -> None:
    """The message of a round, and the keys of the file."""
    text = " ".join(PAGE.partition("A message of a round is then `")[2].partition("`")[0].split())
    found = notice_of("cup", RoundDrawn(2, 4, 1), 1_798_135_200.0, 1)
    assert found is not None
    assert json.loads(found.body) == json.loads(text)
    table = re.findall(
        r"^\| `(\w+)` \|", PAGE.partition("## Webhooks")[2].partition("\n## ")[0], re.MULTILINE
    )
    assert set(table) == {*WEBHOOK_EVENTS, "games"}
