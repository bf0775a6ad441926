"""`arena new bot`: the folder of a bot in one of eight languages, made from its starter."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena_cli.options import Json, print_json

if TYPE_CHECKING:
    from arena_server.terms.languages import Language

#: Where the tools of an author's machine have other names than those of the image, or other options.
_HERE: Final = {"python": "python3 bot.py", "java": "java -cp . Bot"}

_MAKEFILE: Final = """\
# `make check` tries the bot against the protocol, `make match` lets it play an engine of the house.
BOT = {run}

build:{needs}
{rule}
check: build
\tarena check bot -- $(BOT)

match: build
\tarena match "$(BOT)" greedy --deals 10

# In a container, as the server of a contest will run it.
image:
\tarena check bot -- build:.

submit:
\tarena submit . --name {name}

clean:
\trm -rf {made}

.PHONY: build check match image submit clean
"""
_README: Final = """\
# {name}: a bot in {title}

`{file}` is a whole bot: it logs in, keeps the board and comes back after a lost connection. Replace `choose`.

| to | run |
|---|---|
| {build_row} | `make build` |
| try it against the protocol, case by case | `make check` |
| let it play an engine of the house | `make match` |
| try its container, as a server runs it | `make image` |
| send it to a contest (`ARENA_SITE`, `ARENA_TOKEN`) | `make submit` |

Without make the commands are in `Makefile`; in Visual Studio Code they are tasks (`.vscode/tasks.json`).
The `Dockerfile` is the one with which a server builds a folder that has none: delete it, or change it.
"""


def _sources() -> Path:
    """The folder of the starters, which are files of the client's package."""
    return Path(str(files("arena_client"))) / "starters"


def starter(language: Language) -> str:
    """The source of the starter in a language, as the file that a bot without a Dockerfile is."""
    (path,) = [each for each in (_sources() / language.name).glob("[sS]tarter.*") if each.suffix != ".class"]
    text = path.read_text(encoding="utf-8")
    # In Java the class is called as its file is.
    return re.sub(r"\bStarter\b", "Bot", text) if language.name == "java" else text


def contents(name: str, language: Language) -> Mapping[str, str]:
    """The files of a new bot by their paths in its folder."""
    run = _HERE.get(language.name, " ".join(language.run))
    made = "*.class" if language.name == "java" else "bot" if language.build else "__pycache__"
    build = language.build.replace(" -static", "").replace(" -C target-feature=+crt-static", "")
    rule = f"bot: $(wildcard *{Path(language.file).suffix})\n\t{build}\n" if language.build else ""
    needs = " bot" if language.build else f" # {language.title} needs none"
    if language.name == "java":
        needs, rule = "", f"\t{build}\n"
    row = "build it" if language.build else f"nothing: {language.title} is not built"
    title, file = language.title, language.file
    return {
        file: starter(language),
        "README.md": _README.format(name=name, title=title, file=file, build_row=row),
        "Makefile": _MAKEFILE.format(run=run, needs=needs, rule=rule, name=name, made=made),
        "Dockerfile": language.dockerfile(language.image),
        ".gitignore": f"{made}\n",
        ".vscode/tasks.json": f"{json.dumps(_tasks(language), indent=2)}\n",
    }


def _tasks(language: Language) -> Mapping[str, object]:
    matcher = {"c": ["$gcc"], "cpp": ["$gcc"], "go": ["$go"], "rust": ["$rustc"]}.get(language.name, [])
    kinds = {"build": "build", "check": "test"}
    return {
        "version": "2.0.0",
        "tasks": [
            {"label": goal, "type": "shell", "command": f"make {goal}", "problemMatcher": matcher}
            | ({"group": {"kind": kinds[goal], "isDefault": True}} if goal in kinds else {})
            for goal in ("build", "check", "match", "image")
        ],
    }


def make_bot(folder: Path, language: str) -> list[str]:
    """Make the folder of a bot, which is called as the folder is; return its files.

    Raises ConfigError for a language that is not known, a name that no bot may have, and a folder that is
    there; StoreError if it cannot be written.
    """
    from arena_protocol.kinds import valid_name
    from arena_server.core.deal import REFEREE
    from arena_server.errors import ConfigError, StoreError
    from arena_server.terms.languages import LANGUAGES

    if language not in LANGUAGES:
        raise ConfigError(f"--language: expected one of {', '.join(LANGUAGES)}, got {language!r:.40}")
    if not valid_name(folder.name):
        raise ConfigError(
            f"expected the name of a bot, 1 to 32 letters, digits, `_`, `.` or `-`, got {folder.name!r:.40}"
        )
    if folder.name == REFEREE:
        raise ConfigError(f"a bot cannot be called {REFEREE}: the server itself plays by this name")
    if folder.exists() or folder.is_symlink():
        raise ConfigError(f"{folder} exists and stays as it is: choose another name")
    found = contents(folder.name, LANGUAGES[language])
    try:
        folder.mkdir(parents=True)
        for name, text in found.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from None
    return list(found)


def bot(
    name: Annotated[
        Path | None, typer.Argument(metavar="NAME", help="The folder to make.", show_default=False)
    ] = None,
    language: Annotated[str, typer.Option(help="In which language; --list has them.")] = "python",
    list_them: Annotated[bool, typer.Option("--list", help="List the languages and leave.")] = False,
    as_json: Json = False,
) -> None:
    """Make the folder of a bot: its source, Makefile, Dockerfile, tasks of an editor and a README.

    The source is the starter of the language, a whole bot for insertion; `make check` in the folder tries it
    against the protocol. The bot is called as the folder is.

    Example: arena new bot mybot --language rust
    """
    from arena_server.errors import ConfigError
    from arena_server.terms.languages import LANGUAGES

    if list_them:
        if as_json:
            print_json([{"language": each.name, "file": each.file} for each in LANGUAGES.values()])
            return
        for each in LANGUAGES.values():
            typer.echo(f"{each.name:10}  {each.title:10}  {each.file}")
        return
    if name is None:
        raise ConfigError("say how the bot is called: arena new bot NAME --language LANGUAGE")
    made = make_bot(name, language)
    following = f"cd {name} && make check"
    if as_json:
        print_json({"folder": str(name), "language": language, "files": made, "next": following})
        return
    typer.echo(f"written: {name}: {', '.join(made)}")
    typer.echo(f"next: {following}")
