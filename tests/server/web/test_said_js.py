"""The catalogue of the server's texts: complete, in Bulgarian, with values in their places."""

from __future__ import annotations

import re

import pytest

from arena_protocol.record import FaultKind, describe_fault
from arena_server.core.formats import FORMATS

from .node import Node
from .server_texts import server_texts, texts_in


def test_texts_are_read_from_a_source() -> None:
    source = """
NO: Final = "no such thing"
raise NotFoundError(f"no game {game:.40} here")
raise SeatError(NO if a else f"too many {what}")
raise SeatError(str(error))
raise NoPlaceError(known.get(a) or "else this")
self._problem = f"it ends: {error}"
answer({"error": "it is late", "other": "not this"})
raise ValueError("nor this")
raise HTTPException(413, "too long a body")
"""
    assert set(texts_in(source)) == {
        *("no game {} here", "no such thing", "too many {}", "else this", "it is late", "too long a body"),
        "it ends: {}",
    }


def test_every_text_of_the_server_is_translated(node: Node) -> None:
    texts = server_texts()
    assert len(texts) > 60
    # The value of a text may be a word of it, without which the first is never said.
    texts = texts - {"no {} {}"} | {"no chunk {}", "no place {}"}
    whole = {re.sub(r"^\{\}(?=; there are)", "no contest {} here", text) for text in texts}
    missing = sorted(whole - node("said_texts").keys())
    assert not missing


def test_a_translation_is_bulgarian_and_has_all_values(node: Node) -> None:
    for key, text in node("said_texts").items():
        assert re.search("[а-я]", text), key
        assert text.count("{}") == key.count("{}"), key
        shown = node("said", text=key.replace("{}", "17"))
        assert shown == text.replace("{}", "17"), key


def test_every_format_says_what_it_ranks_by(node: Node) -> None:
    said = {form.RANKED_BY for form in FORMATS.values() if hasattr(form, "RANKED_BY")}
    titles = {"final", "semi-finals", "quarter-finals", "last {}", "group {}", "round {}"}
    assert len(said) >= 3
    assert said | titles <= node("said_texts").keys()


@pytest.mark.parametrize("kind", [kind for kind in FaultKind if kind != FaultKind.VOID])
@pytest.mark.parametrize("ply", [0, 12])
@pytest.mark.parametrize("line", [b"", b"MOVE 0; at ply 3"])
@pytest.mark.parametrize("move", [None, "6"])
def test_every_fault_is_translated(
    node: Node, kind: FaultKind, ply: int, line: bytes, move: str | None
) -> None:
    text = describe_fault("ann", kind, ply, line, zombie_move=move)
    shown = node("said", text=text)
    quoted = re.sub(r'"[^"]*"', "", shown)
    assert set(re.findall("[A-Za-z]+", quoted)) <= {"ann", "QUIT", "READY"}, shown


def test_a_text_about_something_is_translated_behind_its_name(node: Node) -> None:
    assert (
        node("said", text="127.0.0.1:2006: cannot be reached: Connection refused")
        == "127.0.0.1:2006: не може да се достигне: връзката е отказана"
    )
    assert node("said", text="what no server says") == "what no server says"
    assert node(
        "said", text="on probation: paired no more after 1 faulty game, until `arena admin lift b`"
    ) == ("с изпитателен срок: без партии след 1 партия с грешка, до `arena admin lift b`")
