"""What the Dockerfile of a submitted bot may say: it builds on images that the organiser has named.

The engine itself would fetch any image of FROM and any address of ADD, whatever network the build has.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from arena_protocol.text import unmarked
from arena_server.submissions.archive import ArchiveError, shown

#: The longest Dockerfile.
DOCKERFILE_BYTES: Final = 64 * 1024
_CONTINUED = re.compile(r"\\[ \t]*\n(?:[ \t]*(?:#[^\n]*)?\n)*")
#: Words that make the engine read the file otherwise than we do, or fetch a program to read it.
_DIRECTIVE = re.compile(r"^\s*#\s*(syntax|escape|check)\s*=", re.IGNORECASE | re.MULTILINE)
_KNOWN: Final = frozenset(
    {"ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER"}
) | {"RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"}


def check_dockerfile(data: bytes, images: Collection[str], *, network: bool) -> list[str]:
    """The `images` that a Dockerfile builds on. Raises ArchiveError for one that is not taken.

    FROM names one of `images`, `scratch` or an earlier stage. ADD may have an address only with `network`.
    """
    if len(data) > DOCKERFILE_BYTES:
        raise ArchiveError(f"Dockerfile: expected at most {DOCKERFILE_BYTES // 1024} KiB")
    try:
        text = unmarked(data).decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ArchiveError(f"Dockerfile: not UTF-8 text (byte {error.start})") from None
    if (found := _DIRECTIVE.search(text)) is not None:
        raise ArchiveError(f"Dockerfile: the line # {found[1].lower()}= is not taken")
    bases = _check_instructions(_CONTINUED.sub("", text).split("\n"), images, network)
    # A second time line by line: what we take for the rest of an instruction may be one to the engine.
    risky = re.compile(r"\s*(?:FROM|ADD|ONBUILD|COPY\s.*--from)\b", re.IGNORECASE)
    _check_instructions([line for line in text.split("\n") if risky.match(line)], images, network)
    return bases


def _check_instructions(lines: list[str], images: Collection[str], network: bool) -> list[str]:
    """The images of FROM. Raises ArchiveError."""
    stages: list[str] = []
    bases: list[str] = []
    for line in lines:
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        word, rest = words[0].upper(), words[1:]
        if word not in _KNOWN:
            raise ArchiveError(f"Dockerfile: {shown(words[0])} is not taken here")
        flags = [each for each in rest if each.startswith("--")]
        if word == "FROM":
            bases += [each for each in rest[:1] if each in images]
            _check_base(rest, images, stages)
        elif word in ("COPY", "ADD", "RUN"):
            _check_sources(word, rest, flags, stages, network)
    return bases


def _check_base(rest: list[str], images: Collection[str], stages: list[str]) -> None:
    image = rest[0] if rest else ""
    if image not in images and image != "scratch" and image.lower() not in stages:
        known = ", ".join(sorted(images))
        raise ArchiveError(f"Dockerfile: FROM: expected one of {known}, got {shown(image)}")
    if len(rest) == 3 and rest[1].upper() == "AS":
        stages.append(rest[2].lower())
    elif len(rest) != 1:
        raise ArchiveError("Dockerfile: FROM: expected FROM IMAGE or FROM IMAGE AS NAME")
    else:
        stages.append(str(len(stages)))


def _check_sources(word: str, rest: list[str], flags: list[str], stages: list[str], network: bool) -> None:
    for flag in flags:
        key, _, value = flag.partition("=")
        if key == "--from" and value.lower() not in stages and not _is_stage(value, stages):
            raise ArchiveError(f"Dockerfile: {word} --from: expected an earlier stage, got {shown(value)}")
        if word == "RUN" and flag == rest[0] and key != "--network":
            raise ArchiveError(f"Dockerfile: RUN {shown(key)} is not taken")
        if word == "RUN" and flag == rest[0] and not network and value != "none":
            raise ArchiveError("Dockerfile: RUN --network: a build has no network here")
    if word == "ADD" and not network and any("://" in each or "@" in each for each in rest):
        raise ArchiveError(
            "Dockerfile: ADD: expected files of the folder, got an address; there is no network"
        )
    if word == "ADD" and not network and any("$" in each for each in rest):
        raise ArchiveError("Dockerfile: ADD: expected names of files, got a variable; use COPY")


def _is_stage(value: str, stages: list[str]) -> bool:
    return value.isascii() and value.isdigit() and len(value) < 4 and int(value) < len(stages)
