"""The languages in which a bot needs no Dockerfile: one file of its folder says how it is built and run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

#: The words of the compilers; each is tried by the tests with the starter of its language.
_GO: Final = "CGO_ENABLED=0 go build -o bot *.go"
_JAVA: Final = "javac -d . *.java"
_RUST: Final = "rustc -O -C target-feature=+crt-static -o bot bot.rs"


@dataclass(frozen=True, slots=True)
class Language:
    """`file` at the top of a folder says that its bot is in this language.

    `image` is the usual one to build on; `build` is the shell's command there, `run` the words that start the
    bot. What is built `alone` needs no image when it runs: its program is linked statically.
    """

    name: str
    title: str
    file: str
    image: str
    run: tuple[str, ...]
    build: str = ""
    alone: bool = False

    def dockerfile(self, image: str) -> str:
        """The Dockerfile of a folder in this language, on an image."""
        lines = [f"FROM {image}{' AS build' if self.alone else ''}", "WORKDIR /bot", "COPY . ."]
        lines += [f"RUN {self.build}"] if self.build else []
        lines += ["FROM scratch", "WORKDIR /bot", "COPY --from=build /bot ."] if self.alone else []
        words = ", ".join(f'"{word}"' for word in self.run)
        return "\n".join([*lines, f"CMD [{words}]", ""])


LANGUAGES: Final[Mapping[str, Language]] = {
    each.name: each
    for each in (
        Language("bash", "Bash", "bot.sh", "debian:12-slim", ("bash", "bot.sh")),
        Language(
            "c", "C", "bot.c", "gcc:14", ("./bot",), "gcc -std=c11 -O2 -static -o bot *.c -lm", alone=True
        ),
        Language(
            "cpp",
            "C++",
            "bot.cpp",
            "gcc:14",
            ("./bot",),
            "g++ -std=c++17 -O2 -static -o bot *.cpp",
            alone=True,
        ),
        Language("go", "Go", "bot.go", "golang:1.24", ("./bot",), _GO, alone=True),
        Language(
            "java", "Java", "Bot.java", "eclipse-temurin:21", ("java", "-XX:+UseSerialGC", "Bot"), _JAVA
        ),
        Language("javascript", "JavaScript", "bot.js", "node:22-slim", ("node", "bot.js")),
        Language("python", "Python", "bot.py", "python:3.12-slim", ("python", "-u", "bot.py")),
        Language("rust", "Rust", "bot.rs", "rust:1-slim", ("./bot",), _RUST, alone=True),
    )
}

#: The images that are taken if the organiser names none: one of each language, in this order.
IMAGES: Final = tuple(dict.fromkeys(each.image for each in LANGUAGES.values()))


def find_language(files: Collection[str], known: Collection[str] = tuple(LANGUAGES)) -> Language:
    """The language of a folder that has `files` at its top, among the `known` ones.

    Raises ValueError, with what would be taken, if none fits or several do.
    """
    wanted = {LANGUAGES[name].file: LANGUAGES[name] for name in known}
    found = [each for file, each in wanted.items() if file in files]
    if len(found) == 1:
        return found[0]
    if found:
        both = " and ".join(each.file for each in found)
        raise ValueError(f"expected one file that says the language, got {both}")
    others = [each.file for each in LANGUAGES.values() if each.file in files]
    got = f", got {' and '.join(others)}" if others else ""
    raise ValueError(f"without it expected one of {', '.join(wanted) or 'no language'}{got}")
