"""A contest's configuration file as a whole, with the tables of its server, pages, bots and webhooks.

`[contest]` and `[game]` are in `contest_table.py`, the tables of containers and submissions in `tables.py`.
"""

from __future__ import annotations

import base64
import math
import re
from ipaddress import ip_network
from typing import Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from arena_protocol.kinds import valid_name
from arena_server.terms.about import URL, check_line, check_links
from arena_server.terms.config import GUESTS_PER_ADDRESS, MOST_SLOTS, check_url
from arena_server.terms.contest_table import ContestTable, GameTable
from arena_server.terms.spec import USUAL_EVENTS, WEBHOOK_EVENTS
from arena_server.terms.tables import ContainerTable, FileTable, SubmissionsTable, check_name

DEFAULT_PORT = 2006
MAX_BOTS = 10_000
#: Results in one message of a webhook.
MOST_BATCH: Final = 1000

#: A scheme and a host, without a path; nothing else may stand in the header that lists them.
ORIGIN: Final = re.compile(r"https?://[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?")


def check_proxy(text: str) -> None:
    """Raises ValueError for anything but an address or a network."""
    try:
        ip_network(text)
    except ValueError:
        expected = 'expected addresses or networks such as "127.0.0.1", "10.0.0.0/8"'
        raise ValueError(f"{expected}, got {text!r}") from None


def _check_folder(value: object) -> object:
    # `true` is what an author writes who takes the key for a switch.
    if isinstance(value, str):
        return value
    raise ValueError('expected the folder for the files, in quotes, such as "bot-logs"')


#: Roles of a server.
MOST_ROLES: Final = 16


class RoleTable(FileTable):
    """`[[server.role]]`: a token that may give some of the organiser's orders."""

    name: str
    token_sha256: str = Field(pattern="^[0-9a-f]{64}$")
    #: Which orders, by their names.
    may: list[str] = Field(min_length=1)

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not valid_name(name):
            raise ValueError("expected 1 to 32 letters, digits, `_ . -`, a letter or digit first")
        return name


class ServerTable(FileTable):
    """`[server]`: addresses and limits of the process; the command line overrides host and port."""

    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=DEFAULT_PORT, ge=0, le=65_535)
    max_connections: int = Field(default=4_000, ge=1, le=1_000_000)
    #: None: all that bots and log-ins leave of max_connections.
    max_spectators: int | None = Field(default=None, ge=0, le=1_000_000)
    spectators_per_address: int = Field(default=GUESTS_PER_ADDRESS, ge=1, le=1_000_000)
    #: PEM files; with both, every connection is encrypted.
    tls_certificate: str | None = Field(default=None, min_length=1)
    tls_key: str | None = Field(default=None, min_length=1)
    #: None disables metrics and the organiser's commands.
    admin_port: int | None = Field(default=None, ge=0, le=65_535)
    admin_host: str = Field(default="127.0.0.1", min_length=1)
    #: The web page for spectators; without a port 2080, or a free one if that is taken.
    web: bool = True
    web_port: int | None = Field(default=None, ge=0, le=65_535)
    web_host: str = Field(default="127.0.0.1", min_length=1)
    #: Host names by which browsers reach this server; addresses and localhost need no entry.
    web_names: list[str] = Field(default_factory=list)
    #: Addresses of proxies whose X-Forwarded-For says where a request comes from.
    web_proxies: list[str] = Field(default_factory=list)
    #: Origins whose pages may show a game in a frame.
    web_embed: list[str] = Field(default_factory=list)
    #: Games that visitors of the page may have at once; None: 2 where only this machine reaches it, else 0.
    play: int | None = Field(default=None, ge=0, le=100)
    #: The folder of private logs of bots; None keeps none.
    bot_logs: str | None = Field(default=None, min_length=1)
    #: What a move waits for with PostgreSQL: see `store.database.Postgres`.
    journal_commit: Literal["sync", "async"] = "sync"
    role: list[RoleTable] = Field(default_factory=list, max_length=MOST_ROLES)

    _bot_logs = field_validator("bot_logs", mode="before")(_check_folder)

    @field_validator("web_proxies")
    @classmethod
    def _check_proxies(cls, proxies: list[str]) -> list[str]:
        for proxy in proxies:
            check_proxy(proxy)
        return proxies

    @field_validator("web_embed")
    @classmethod
    def _check_origins(cls, origins: list[str]) -> list[str]:
        for origin in origins:
            if not ORIGIN.fullmatch(origin):
                raise ValueError(f'expected origins such as "https://example.org", got {origin!r}')
        return origins

    @model_validator(mode="after")
    def _check_pair(self) -> Self:
        if (self.tls_certificate is None) != (self.tls_key is None):
            given = "tls_key" if self.tls_certificate is None else "tls_certificate"
            raise ValueError(f"expected tls_certificate and tls_key or neither, got {given} alone")
        return self


class SiteTable(FileTable):
    """`[site]`: what the pages say of their organiser."""

    title: str | None = Field(default=None, min_length=1, max_length=60)
    text: str | None = Field(default=None, min_length=1, max_length=500)
    #: Addresses by the text of their links.
    links: dict[str, str] = Field(default_factory=dict, max_length=8)
    #: A file, relative to the configuration.
    logo: str | None = Field(default=None, min_length=1)

    _title = field_validator("title")(check_line)
    _links = field_validator("links")(check_links)


class BotTable(ContainerTable):
    """`[[bot]]`: a name, and at most one of: an engine, a command, an image, a digest, a person."""

    name: str
    engine: str | None = Field(default=None, min_length=1)
    command: list[str] | None = Field(default=None, min_length=1)
    #: The launcher of a plug-in that starts `command`.
    launcher: str | None = Field(default=None, min_length=1)
    #: A container's image, or a folder with a Dockerfile; `command` is then what is run in it.
    image: str | None = Field(default=None, min_length=1)
    build: str | None = Field(default=None, min_length=1)
    token_sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    #: Its author sends versions of it, with the token of that digest; they run in containers here.
    submit: bool = False
    #: A person plays in a browser: the server prints a link that works once.
    person: bool = False
    #: Its author: bots of one author meet late, or never.
    owner: str | None = None
    #: What its author says of it, for people.
    author: str = Field(default="", max_length=60)
    language: str = Field(default="", max_length=60)
    url: str = Field(default="", max_length=200)
    #: How many games it may play at once, each on a connection of its own.
    concurrency: int = Field(default=1, ge=1, le=MOST_SLOTS)
    #: What a worker has to have for it, and how much of it: the resources of Dask.
    resources: dict[str, float] = Field(default_factory=dict, max_length=8)

    _name = field_validator("name", "owner")(check_name)
    _details = field_validator("author", "language")(check_line)
    _url = field_validator("url")(check_url)

    @field_validator("resources")
    @classmethod
    def _check_resources(cls, resources: dict[str, float]) -> dict[str, float]:
        for name, amount in resources.items():
            if not valid_name(name) or not 0 < amount < math.inf:
                raise ValueError(
                    f"expected amounts above 0 by name, such as {{ GPU = 1 }}, got {name:.40} = {amount:g}"
                )
        return resources

    @field_validator("command", mode="before")
    @classmethod
    def _check_command(cls, command: object) -> object:
        if isinstance(command, str):
            words = ", ".join(f'"{word}"' for word in command.split())
            raise ValueError(f"expected a list of words, [{words}], got a text")
        return command

    @model_validator(mode="after")
    def _check_limits(self) -> Self:
        limits = [key for key in ("cpus", "memory", "pids", "ponder") if getattr(self, key) is not None]
        if limits and not (self.in_container or self.submit):
            raise ValueError(f"{limits[0]}: expected image, build or submit beside it, got none of them")
        return self

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        keys = ["engine", "image", "build", "token_sha256"] + ([] if self.in_container else ["command"])
        given = [key for key in keys if getattr(self, key) is not None]
        given += ["person"] if self.person else []
        if len(given) > 1:
            raise ValueError(
                "expected at most one of engine, command, image, build, token_sha256 and person, got "
                f"{' and '.join(given)}"
            )
        if self.launcher is not None and (self.command is None or self.in_container):
            raise ValueError("launcher: expected command beside it, and neither image nor build")
        if self.submit and self.token_sha256 is None:
            raise ValueError(
                "submit: expected token_sha256 beside it, the digest of its author's token, got none"
            )
        if self.person and self.concurrency > 1:
            raise ValueError(f"expected concurrency 1 of a person, got {self.concurrency}")
        return self

    @property
    def is_local(self) -> bool:
        """Whether `arena tournament` starts this bot itself."""
        return self.engine is not None or self.command is not None or self.in_container

    @property
    def in_container(self) -> bool:
        """Whether it runs in a container."""
        return self.image is not None or self.build is not None


class WebhookTable(FileTable):
    """`[[webhook]]`: an address that takes messages about the contest. Errors show no value of it."""

    url: str
    #: The key of the signatures: a text, or `whsec_` and base64.
    secret: str | None = None
    #: A file with the secret, relative to the configuration.
    secret_file: str | None = None
    events: list[str] = Field(default_factory=lambda: list(USUAL_EVENTS))
    batch: int = Field(default=1, ge=1, le=MOST_BATCH)

    @field_validator("url", mode="before")
    @classmethod
    def _check_url(cls, url: object) -> object:
        expected = "expected https://HOST/PATH or http://HOST/PATH without a user name"
        if not isinstance(url, str) or not URL.fullmatch(url):
            raise ValueError(f"{expected}, got something else")
        return url

    @field_validator("secret", mode="before")
    @classmethod
    def _check_secret(cls, secret: object) -> object:
        return check_secret(secret)

    @field_validator("secret_file", mode="before")
    @classmethod
    def _check_file(cls, file: object) -> object:
        if not isinstance(file, str) or not file:
            raise ValueError("expected the name of a file in quotes, got something else")
        return file

    @field_validator("events")
    @classmethod
    def _check_events(cls, events: list[str]) -> list[str]:
        if not events or len(set(events)) < len(events) or not set(events) <= set(WEBHOOK_EVENTS):
            raise ValueError(f"expected some of {', '.join(WEBHOOK_EVENTS)}, each once")
        return events

    @model_validator(mode="after")
    def _check_one_secret(self) -> Self:
        if (self.secret is None) == (self.secret_file is None):
            given = "neither" if self.secret is None else "both"
            raise ValueError(f"expected secret or secret_file, got {given}")
        return self


#: The least length of a secret's text.
LEAST_SECRET: Final = 16


def check_secret(secret: object) -> str:
    """The secret of a webhook. Raises ValueError without showing it."""
    if not isinstance(secret, str) or len(secret) < LEAST_SECRET or not secret.isprintable():
        raise ValueError(f"expected a text of {LEAST_SECRET} or more characters, got another one")
    if secret.startswith("whsec_"):
        try:
            base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except ValueError:
            raise ValueError("expected base64 behind whsec_, got something else") from None
    return secret


class ContestFile(FileTable):
    """A whole file."""

    contest: ContestTable
    game: GameTable = Field(default_factory=GameTable)
    server: ServerTable = Field(default_factory=ServerTable)
    site: SiteTable = Field(default_factory=SiteTable)
    container: ContainerTable = Field(default_factory=ContainerTable)
    submissions: SubmissionsTable = Field(default_factory=SubmissionsTable)
    bot: list[BotTable] = Field(max_length=MAX_BOTS)
    webhook: list[WebhookTable] = Field(default_factory=list, max_length=8)

    @property
    def takes_versions(self) -> bool:
        """Whether authors send versions of bots, or may send some later."""
        return self.submissions.late > 0 or any(bot.submit for bot in self.bot)

    @field_validator("webhook")
    @classmethod
    def _check_urls_differ(cls, hooks: list[WebhookTable]) -> list[WebhookTable]:
        if len({hook.url for hook in hooks}) < len(hooks):
            raise ValueError("expected every webhook to have a url of its own, got one twice")
        return hooks

    @field_validator("bot")
    @classmethod
    def _check_names_differ(cls, bots: list[BotTable]) -> list[BotTable]:
        seen: set[str] = set()
        for bot in bots:
            if bot.name in seen:
                raise ValueError(f"expected every bot to have a name of its own, got {bot.name!r} twice")
            seen.add(bot.name)
        return bots
