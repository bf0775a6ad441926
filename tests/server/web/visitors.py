"""A server on which visitors start games, and what is known of these games."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from ..programs import PATIENCE_S, contest, inside
from .persons import Web

if TYPE_CHECKING:
    pass


@contextmanager
def server_of(folder: Path, server: str = "", about: str = "") -> Iterator[Web]:
    with Web(
        contest("ann", "bob", contest=about, game='plies = 6\nclock = "10m"', server=server), folder
    ) as web:
        yield web


def played(server: Web) -> list[dict[str, Any]]:
    with urlopen(f"{server.url}/api/v1/played.json", timeout=PATIENCE_S) as response:
        found: list[dict[str, Any]] = json.load(response)["contests"]
    return found


def running(server: Web) -> int:
    with urlopen(f"{server.url}/api/v1/play/offer.json", timeout=PATIENCE_S) as response:
        return int(json.load(response)["running"])


def verified(server: Web, name: str) -> str:
    outcome = inside("verify", "--contest", name, "--database", f"sqlite:///{play_database(server)}")
    assert outcome.code == 0, outcome.err
    return outcome.out


def play_database(server: Web) -> Path:
    return server.database.with_name("arena-play.db")
