"""The catalogue of the server's texts: complete, in Bulgarian, with values in their places."""

from __future__ import annotations

import re

import pytest
from tests.slices import all_of

from arena_protocol.games import GAMES, make_game
from arena_protocol.record import FaultKind, describe_fault
from arena_server.core.formats import FORMATS

from .node import Node
from .server_texts import server_texts, texts_in
from .test_texts_js import SOURCES, read_template, skip_string


def test_texts_are_read_from_a_source() -> None:
    source = """
NO: Final = "no such thing"
raise NotFoundError(f"no game {game:.40} here")
raise SeatError(NO if a else f"too many {what}")
raise SeatError(str(error))
raise NewcomerError(known.get(a) or "else this")
self._problem = f"it ends: {error}"
answer({"error": "it is late", "other": "not this"})
seat.close("no page there")
loop.call_later(1.0, self.end, f"after {hours} hours")
raise ValueError("nor this")
raise HTTPException(413, "too long a body")
"""
    assert set(texts_in(source)) == {
        *("no game {} here", "no such thing", "too many {}", "else this", "it is late", "too long a body"),
        *("it ends: {}", "no page there", "after {} hours"),
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


@all_of("kind", [kind for kind in FaultKind if kind != FaultKind.VOID])
@all_of("ply", [0, 12])
@all_of("line", [b"", b"MOVE 0; at ply 3"])
@all_of("move", [None, "6"])
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


#: What the check of a record says, and the call that says it: literals among its arguments.
CHECKS = ("verify.js", "record.js", "worker.js", "rules.js", "timeline.js", "insertion.js")
SAYS = re.compile(r"\b(?:new RecordError|new GameError|fail|equal)\(|problem: ")
#: Words that are names: of fields, options, games and commands.
CODE = re.compile(r"\w*_\w*|insertion|start|board|SHA|arena replay GAME --html FILE|--json|READY")


def literals(source: str) -> list[str]:
    """The texts in the calls of SAYS, with {} for each value."""
    found = []
    for call in SAYS.finditer(source):
        at, depth = call.end(), 1
        while depth and source[at] != "\n":
            if source[at] in "\"'":
                end = skip_string(source, at)
                found.append(source[at + 1 : end - 1])
                at = end
            elif source[at] == "`":
                text, at = read_template(source, at + 1)
                found.append(text)
            else:
                depth += {"(": 1, ")": -1, "}": -1}.get(source[at], 0)
                at += 1
    return found


def test_literals_are_read_from_a_call() -> None:
    source = 'this.fail("a b", `c ${d("e")} f`, g); new RecordError(`h ${i}`); other("no")'
    assert literals(source) == ["a b", "c {} f", "h {}"]


def english_in(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]{3,}", CODE.sub("", text))


def test_everything_that_a_check_says_is_translated(node: Node) -> None:
    texts = {text for path, source in SOURCES.items() if path.endswith(CHECKS) for text in literals(source)}
    assert len(texts) > 60
    known = node("said_texts", speaker="CHECK")
    for text in texts:
        shown = node("said", text=text.replace("{}", "17"), speaker="CHECK")
        assert not english_in(shown) or text in known, (text, shown)
    for key, translation in known.items():
        assert translation.count("{}") == key.count("{}"), key
        assert not english_in(translation), key


def test_a_check_is_translated_with_its_place(node: Node) -> None:
    text = "ply 12: seat of fault timeout: expected 1 to 2, found 3"
    shown = "ход 12: играч на грешката timeout: очаква се от 1 до 2, намерено 3"
    assert node("said", text=text, speaker="CHECK") == shown
    text = 'list of the contest: names: expected ["final","b"], found ["a","b"]'
    shown = 'списък на състезанието: имена: очаква се ["final","b"], намерено ["a","b"]'
    assert node("said", text=text, speaker="CHECK") == shown


@pytest.mark.parametrize("name", GAMES)
def test_every_text_of_a_board_is_translated(node: Node, name: str) -> None:
    rules = make_game(name, {})
    position = rules.start(rules.deal(1))
    scene = rules.scene(position)
    labels = [label.text for label in scene.layout.labels]
    for text in (*labels, scene.text, scene.words):
        assert not re.findall("[A-Za-z]{2,}", node("said", text=text or "", speaker="BOARD")), text
