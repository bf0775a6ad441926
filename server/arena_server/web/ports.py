"""The web ports of a server, and what is offered on them: seats of persons, games of visitors."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_server.host.sockets import urls_of
from arena_server.web.identity import NO_IDENTITY, SiteIdentity

if TYPE_CHECKING:
    from arena_server.store.database import Database
    from arena_server.terms.spec import ContestSpec
    from arena_server.web.previews import Painter
    from arena_server.web.roles import Role

#: 128 bits, as hexadecimal digits.
TOKEN_BYTES: Final = 16
#: Connections of the organiser's port: a scraper, a probe and a few commands need fewer than ten.
ORGANISER_CONNECTIONS = 64
#: Connections of the site: a stream per viewer, and those that load pages.
SITE_CONNECTIONS = 6_400


@dataclass(frozen=True, slots=True)
class Invitation:
    """A seat for a person in `contest` of `game`: the bot's name and token, and the key of the link.

    The key works once.
    """

    name: str
    contest: str
    game: str
    token: str
    key: str


@dataclass(frozen=True, slots=True)
class MoveScript:
    """The moves of all seats with which a game begins, and where they come from, for a note in its record."""

    moves: tuple[str, ...]
    note: str


def invite(name: str, contest: str, game: str) -> Invitation:
    return Invitation(name, contest, game, secrets.token_hex(TOKEN_BYTES), secrets.token_hex(TOKEN_BYTES))


#: Reads the text of a file with this name; raises ConfigError.
ReadContest = Callable[[str, str], "ContestSpec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adding:
    """What a server needs to take a contest more: `beside` are those of its own files.

    `entered` is called on the loop of the referee with the name of each that has been added.
    """

    database: Database
    beside: Collection[str]
    read: ReadContest
    entered: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class CasualSetup:
    """How persons start games on the page /play (`casual.py`): at most `limit` at once, into `database`.

    `arena` is the command line of the command arena. Its engines connect to `sock`, a port of 127.0.0.1, at
    `address`: the site is made at its first request, when a server that ends may have closed the port.
    """

    limit: int
    database: Path
    arena: Sequence[str]
    sock: socket.socket
    #: The engines that play the contests of this server, as `arena bot` is given them, by contest and bot.
    engines: Mapping[tuple[str, str], str] = field(default_factory=dict)
    address: tuple[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", self.sock.getsockname())


@dataclass(frozen=True, slots=True)
class WebPorts:
    """The listening sockets of the site and of the organiser's port; None: there is none.

    Without a port of their own the organiser's pages are part of the site. Without a `token` there are none;
    those of `roles` give some orders. `names` are the host names by which the ports are reached, beside
    addresses and localhost; `proxies` say where a request comes from (X-Forwarded-For); pages of the origins
    `embed` may show a game in a frame. The pages say `about`. The site holds at most `connections`. `persons`
    play in a browser. With `casual` visitors of the site may start games of their own. With a `painter` links
    to games have pictures. `visited` is set when a browser has been on the site.
    """

    site: socket.socket | None = None
    organiser: socket.socket | None = None
    token: str | None = None
    names: Sequence[str] = ()
    proxies: Sequence[str] = ()
    embed: Sequence[str] = ()
    about: SiteIdentity = NO_IDENTITY
    connections: int = SITE_CONNECTIONS
    persons: Sequence[Invitation] = ()
    casual: CasualSetup | None = None
    painter: Painter | None = None
    roles: Sequence[Role] = ()
    visited: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str | None:
        """Where others find the site, if there is one; behind a proxy only the organiser knows."""
        if self.site is None:
            return None
        url, outside = urls_of(self.site)
        return outside or url
