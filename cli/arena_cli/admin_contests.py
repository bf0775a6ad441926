"""`arena admin contest`: which contests a running server has, by orders that name one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from arena_cli.options import print_json
from arena_server.core.orders import ORDERS

if TYPE_CHECKING:
    from arena_server.web.admin_file import Access

ADD: Final = "add"
#: The others; each is an order to the contest of this name.
ACTS: Final = ("start", "archive")
EXPECTED: Final = "add FILE, start NAME or archive NAME"


def manage(
    act: str | None,
    about: str | None,
    find: Callable[[str | None], Access],
    kept: Mapping[str, str],
    *,
    as_json: bool,
) -> None:
    """Add the contest of the file `about`, or give the order `act` to the contest of this name.

    `find` knows the server of a contest, for None that to which one is added; `kept` is kept with an order.
    Raises ConfigError and other ArenaErrors.
    """
    from arena_server.errors import ConfigError
    from arena_server.web import client

    if act not in (ADD, *ACTS) or about is None:
        got = " ".join(each for each in (act, about) if each is not None) or "nothing"
        raise ConfigError(f"arena admin contest: expected {EXPECTED}, got {got!r}")
    if act == ADD:
        _add(about, find, kept, as_json=as_json)
        return
    client.order(find(about), act, "", about, **kept)
    _show({"order": act, "contest": about, "done": True}, ORDERS[act].done, as_json=as_json)


def _add(file: str, find: Callable[[str | None], Access], kept: Mapping[str, str], *, as_json: bool) -> None:
    from arena_server.errors import ConfigError
    from arena_server.terms.file import read_file
    from arena_server.web import client

    if kept["reason"]:
        raise ConfigError("--reason: expected with an order, with which it is kept")
    text = read_file(Path(file))
    answer = client.add_contest(find(None), file, text, kept["by"])
    answer = {"order": ADD, "contest": answer["contest"], "done": True} | answer
    if answer["ended"] is None:
        done = f"added: the contest is {answer['phase']}"
    else:
        done = f"added: the contest is over ({answer['ended']}), and shown as it ended"
    _show(answer, done, as_json=as_json)


def _show(answer: Mapping[str, Any], done: str, *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
    else:
        typer.echo(f"{answer['contest']}: {done}")
