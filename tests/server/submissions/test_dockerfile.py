"""What a stranger's Dockerfile may say."""

from __future__ import annotations

import pytest
from tests.slices import all_of

from arena_server.submissions.archive import ArchiveError
from arena_server.submissions.dockerfile import DOCKERFILE_BYTES, check_dockerfile

IMAGES = ("python:3.12-slim", "gcc:13")


def check(text: str | bytes, *, network: bool = False) -> None:
    check_dockerfile(text.encode() if isinstance(text, str) else text, IMAGES, network=network)


def refusal(text: str | bytes, *, network: bool = False) -> str:
    with pytest.raises(ArchiveError) as caught:
        check(text, network=network)
    assert str(caught.value).isprintable()
    return str(caught.value)


@all_of(
    "text",
    [
        'FROM python:3.12-slim\nCOPY bot.py /bot.py\nCMD ["python", "-u", "/bot.py"]\n',
        "# a bot\nfrom gcc:13 as build\nCOPY . .\nRUN gcc \\\n  # fast\n\n  -O2 bot.c\nFROM scratch\n"
        "COPY --from=build /bot /bot\nADD book.txt /\n",
        "FROM gcc:13\nFROM python:3.12-slim\nCOPY --from=0 /bot /bot\nRUN --network=none true\n",
        "FROM python:3.12-slim\r\nENV A=1\r\n",
        "\ufeffFROM python:3.12-slim\n",
    ],
)
def test_what_is_taken(text: str) -> None:
    bases = check_dockerfile(text.encode(), IMAGES, network=False)
    assert set(bases) == {image for image in IMAGES if image in text}


FROM = "FROM gcc:13\n"


@all_of(
    ("text", "why"),
    [
        ("FROM debian\n", "FROM: expected one of gcc:13, python:3.12-slim, got 'debian'"),
        ("FROM $BASE\n", "FROM: expected one of gcc:13, python:3.12-slim, got '$BASE'"),
        ("FROM --platform=x gcc:13\n", "got '--platform=x'"),
        ("FROM\n", "got ''"),
        ("FROM gcc:13 AS\n", "expected FROM IMAGE or FROM IMAGE AS NAME"),
        ("FR\\\nOM debian\n", "got 'debian'"),
        (f"{FROM}RUN true \\\nFROM debian\n", "got 'debian'"),
        (f"{FROM}RUN true \\\n# \\\nFROM debian\n", "got 'debian'"),
        (f"{FROM}COPY --from=debian /etc/passwd /\n", "COPY --from: expected an earlier stage, got 'debian'"),
        (f"{FROM}COPY --fr\\\nom=debian /etc/passwd /\n", "expected an earlier stage, got 'debian'"),
        (f"{FROM}COPY --from=1 /etc/passwd /\n", "COPY --from: expected an earlier stage, got '1'"),
        (f"{FROM}RUN x \\\ncopy --from=debian a b\n", "expected an earlier stage, got 'debian'"),
        (f"{FROM}ADD http://10.0.0.1/secret /\n", "ADD: expected files of the folder, got an address"),
        (f"{FROM}ADD git@host:x /\n", "ADD: expected files of the folder, got an address"),
        (f"{FROM}ENV A=http\nADD $A:x /\n", "ADD: expected names of files, got a variable"),
        (f"{FROM}RUN --mount=type=bind,from=debian true\n", "RUN '--mount' is not taken"),
        (f"{FROM}RUN --network=host true\n", "RUN --network: a build has no network here"),
        (f"{FROM}ONBUILD ADD http://x /\n", "'ONBUILD' is not taken here"),
        (f"{FROM}INCLUDE x\n", "'INCLUDE' is not taken here"),
        ("# syntax=docker/dockerfile:1\nFROM gcc:13\n", "the line # syntax= is not taken"),
        ("#escape=`\nFROM gcc:13\n", "the line # escape= is not taken"),
        (b"FROM \xff\n", "not UTF-8 text (byte 5)"),
        ("#" * (DOCKERFILE_BYTES + 1), "expected at most 64 KiB"),
    ],
)
def test_what_is_not(text: str | bytes, why: str) -> None:
    assert why in refusal(text)


def test_with_a_network_the_images_are_still_those_of_the_organiser() -> None:
    check(f"{FROM}ADD https://example.org/book /\nRUN --network=default true\n", network=True)
    assert "got 'debian'" in refusal("FROM debian\n", network=True)
