"""`arena admin contest`: which contests a running server has, by orders that name one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import typer

from arena_cli.options import print_json
from arena_server.core.orders import ORDERS

if TYPE_CHECKING:
    from arena_server.web.admin_file import Access

#: What `contest` does; each is an order to the contest of this name.
ACTS: Final = ("start", "archive")
EXPECTED: Final = "start NAME or archive NAME"


def manage(
    act: str | None,
    name: str | None,
    find: Callable[[str], Access],
    kept: Mapping[str, str],
    *,
    as_json: bool,
) -> None:
    """Give the order `act` to the contest `name`, whose server `find` knows; `kept` is kept with it."""
    from arena_server.errors import ConfigError
    from arena_server.web import client

    if act not in ACTS or name is None:
        got = " ".join(each for each in (act, name) if each is not None) or "nothing"
        raise ConfigError(f"arena admin contest: expected {EXPECTED}, got {got!r}")
    client.order(find(name), act, "", name, **kept)
    if as_json:
        print_json({"order": act, "contest": name, "done": True})
    else:
        typer.echo(f"{name}: {ORDERS[act].done}")
