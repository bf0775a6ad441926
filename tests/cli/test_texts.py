"""`arena texts`: what a catalogue of the pages lacks, has too much or has wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.server.programs import Shell

from arena_server.web.languages import codes


def test_what_a_language_lacks_is_listed(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = shell("texts")
    assert (whole.code, whole.out.splitlines()) == (0, [f"{code}: complete" for code in codes()])
    empty = json.loads(shell("texts", "--template").out)
    empty["words"] |= {"swiss": "x", "no-such-word": "y"}
    empty["texts"]["{} of {}"] = "{}"
    Path("xx.json").write_text(json.dumps(empty), encoding="utf-8")
    found = shell("texts", "xx.json")
    assert found.code == 1
    assert 'xx.json: texts: "{} of {}": expected each of 2 values once\n' in found.out
    assert 'words: "swiss"' not in found.out
    assert found.out.splitlines()[-1].endswith(" missing, 1 unknown, 1 wrong")
    listed = shell("texts", "bg", "xx.json", "--json")
    assert (listed.code, json.loads(listed.out)["bg"]) == (1, [])
    gap = {"section": "words", "key": "no-such-word", "problem": "unknown"}
    assert gap in json.loads(listed.out)["xx.json"]


def test_what_is_no_language_is_one_line(shell: Shell) -> None:
    known = ", ".join(codes())
    assert shell("texts", "../bg").err == (
        f"arena: ../bg: no such language; expected some of {known}, or a FILE.json\n"
    )
    assert shell("texts", "en").code == 2
    assert shell("texts", "none.json").err.startswith("arena: none.json: expected a catalogue, a JSON file: ")
    assert shell("texts", "bg", "--template").err.startswith("arena: --template: ")
