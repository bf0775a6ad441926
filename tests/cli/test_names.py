"""The file of `arena admin invite --file`: what is read, and what is said of which line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.slices import all_of

from arena_cli.names import MOST_NAMES, NAME_TEXT, Invitee, read_names
from arena_server.errors import ConfigError

HEADS = b"name,owner,author,language,url\n"


def read(folder: Path, data: bytes) -> list[Invitee]:
    path = folder / "names.csv"
    path.write_bytes(data)
    return read_names(path)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"ann\nbob\n", [Invitee("ann"), Invitee("bob")]),
        (b"\xef\xbb\xbfann\r\nbob", [Invitee("ann"), Invitee("bob")]),
        (b"\xef\xbb\xbfName\r\nann\r\n", [Invitee("ann")]),
        (b'name\n"ann"\n\n  \n bob \n', [Invitee("ann"), Invitee("bob")]),
        (b'name,author\nann,"Ann, A."\nbob\n', [Invitee("ann", author="Ann, A."), Invitee("bob")]),
        (b'name;author\r\nann;"Ann; A."\r\n', [Invitee("ann", author="Ann; A.")]),
        (b"author\tname\nAnn A.\tann\n", [Invitee("ann", author="Ann A.")]),
        (b"name,author\nann,\xd0\x90\xd0\xbd\xd0\xbd\xd0\xb0\n", [Invitee("ann", author="Анна")]),
        (HEADS + b"x,ann,Ann,C,https://a.example\n", [Invitee("x", "ann", "Ann", "C", "https://a.example")]),
        (b"name,author\nann,Ann,,\n", [Invitee("ann", author="Ann")]),
    ],
)
def test_a_file_is_read(tmp_path: Path, data: bytes, expected: list[Invitee]) -> None:
    assert read(tmp_path, data) == expected


@all_of(
    ("data", "problem"),
    [
        (b"", "expected 1 to 1,000 names, got 0"),
        (b"name\n", "expected 1 to 1,000 names, got 0"),
        ("".join(f"n{i}\n" for i in range(MOST_NAMES + 1)).encode(), "expected 1 to 1,000 names, got 1,001"),
        (b"ann\n\nann\n", "line 3: 'ann' stands in line 1, too"),
        (b"ann\nAnn A.\n", f"line 2: name: expected {NAME_TEXT}, got 'Ann A.'"),
        (b"=ann\n", f"line 1: name: expected {NAME_TEXT}, got '=ann'"),
        (HEADS + b"ann,a b\n", f"line 2: owner: expected {NAME_TEXT}, got 'a b'"),
        (HEADS + b',ann\n"",b\n', f"line 2: name: expected {NAME_TEXT}, got ''; line 3: name: expected"),
        (b"ann,Ann\n", "line 1: expected 1 values at most, got 2; a line of heads such as name,author"),
        (b"name,author\nann,Ann,C\n", "line 2: expected 2 values at most, got 3"),
        (
            b"name,mail\nann,a\n",
            "line 1: expected columns of name, owner, author, language, url, each once, got",
        ),
        (b"name,name\nann,a\n", "each once, got one twice"),
        (b"name,author\nann," + b"x" * 61, "line 2: author: expected at most 60 characters in one line"),
        (b'name,author\nann,"two\nlines"\n', "line 2: author: expected at most 60 characters in one line"),
        (
            HEADS + b"ann,,,,ftp://a\n",
            "line 2: expected a url such as https://HOST/PATH, or none, got 'ftp://a'",
        ),
        (b'ann\n"bob\n', "line 2: expected comma-separated values: unexpected end of data"),
        (b'ann\n"bo"b\n', "line 2: expected comma-separated values: "),
        (b"ann\n\xff\n", "line 2: expected a text in UTF-8, got another encoding"),
        (b"a b\n" * 10, "; and 2 lines more"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, data: bytes, problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        read(tmp_path, data)
    text = str(error.value)
    assert text.startswith(f"{tmp_path}/names.csv: ")
    assert problem in text
    assert "\n" not in text


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.csv: cannot be read: No such file"):
        read_names(tmp_path / "nothing.csv")
