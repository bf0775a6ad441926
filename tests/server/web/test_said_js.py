"""The catalogue of the server's sentences: all that tell of a contest, with values in their places."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest
from tests.slices import all_of

from arena_protocol.games import GAMES, make_game
from arena_protocol.record import FaultKind, describe_fault
from arena_server.core.formats import FORMATS
from arena_server.web.languages import FOLDER, codes, read
from arena_server.web.said import SENTENCES

from .node import Node
from .server_texts import server_texts, texts_in


@pytest.fixture
def spoken(node: Node) -> Callable[..., str]:
    """A sentence in Bulgarian."""
    return partial(node, "said", catalogue=read(FOLDER / "bg.json"))


def test_texts_are_read_from_a_source() -> None:
    source = """
NO: Final = "no such thing"
self.end(f"it ends: {error}")
seat.close("no page there")
seat.close(NO)
loop.call_later(1.0, self.end, f"after {hours} hours")
raise ValueError("not this")

def _text(self):
    return "one of these" if a else f"or {what} that"
"""
    assert set(texts_in(source)) == {
        *("no such thing", "it ends: {}", "no page there", "after {} hours", "one of these", "or {} that"),
    }


def test_every_sentence_of_the_server_is_asked_for() -> None:
    texts = server_texts()
    assert len(texts) > 20
    assert texts <= {*SENTENCES}


@pytest.mark.parametrize("code", codes())
def test_a_translation_has_all_values(node: Node, code: str) -> None:
    catalogue = read(FOLDER / f"{code}.json")
    for key, text in catalogue["sentences"].items():
        shown = node("said", text=key.replace("{}", "17"), catalogue=catalogue)
        assert shown == text.replace("{}", "17"), key


def test_every_format_says_what_it_ranks_by() -> None:
    said = {form.RANKED_BY for form in FORMATS.values() if hasattr(form, "RANKED_BY")}
    titles = {"final", "semi-finals", "quarter-finals", "last {}", "group {}", "round {}"}
    assert len(said) >= 3
    assert said | titles <= {*SENTENCES}


@all_of("kind", [kind for kind in FaultKind if kind != FaultKind.VOID])
@all_of("ply", [0, 12])
@all_of("line", [b"", b"MOVE 0; at ply 3"])
@all_of("move", [None, "6"])
def test_every_fault_is_translated(
    spoken: Callable[..., str], kind: FaultKind, ply: int, line: bytes, move: str | None
) -> None:
    text = describe_fault("ann", kind, ply, line, zombie_move=move)
    shown = spoken(text=text)
    quoted = re.sub(r'"[^"]*"', "", shown)
    assert set(re.findall("[A-Za-z]+", quoted)) <= {"ann", "QUIT", "READY"}, shown


def test_a_sentence_in_a_sentence_is_translated_and_a_name_is_not(spoken: Callable[..., str]) -> None:
    assert spoken(text="what no server says") == "what no server says"
    assert spoken(text="on probation: paired no more after 1 faulty game, until `arena admin lift b`") == (
        "с изпитателен срок: без партии след 1 партия с грешка, до `arena admin lift b`"
    )
    assert spoken(text="final sent QUIT") == "final изпрати QUIT"
    assert spoken(text="final") == "финал"
    assert spoken(text="final", catalogue={}) == "final"


@pytest.mark.parametrize("name", GAMES)
def test_every_text_of_a_board_is_translated(spoken: Callable[..., str], name: str) -> None:
    rules = make_game(name, {})
    position = rules.start(rules.deal(1))
    scene = rules.scene(position)
    labels = [label.text for label in scene.layout.labels]
    for text in (*labels, scene.text, scene.words):
        assert not re.findall("[A-Za-z]{2,}", spoken(text=text or "")), text


def test_why_no_game_is_offered_is_one_sentence(node: Node) -> None:
    begun = {"hold": "not-begun", "until": None, "text": "not begun: 0 of 1 bots are there"}
    waits = {"hold": "waiting", "until": None, "text": ""}
    ann = {"bot": "ann", "reason": "never", "last_seen": None, "text": "never connected"}
    event = {"holds": [begun, waits], "waiting": [ann]}
    line = "Not begun: 0 of 1 bots are there; waiting for ann (never connected)"
    assert node("held", event=event) == line
    assert node("held", event={"holds": [waits], "waiting": [ann]}) == "Waiting for ann (never connected)"
    assert node("held", event={}) == ""
    assert [node("clock", ms=ms) for ms in (62_300, 250)] == ["1:02.3", "0:00.25"]
