"""`arena admin invite --file`: links or tokens for all names of a file, printed or on cards.

The names are read, and the file of the cards is made, before the first order. What exists already is shown
and gets nothing new: the same command again, after an answer that was lost or an end in the middle, makes
what is missing. Links and tokens are where they are asked for, on stdout or on the cards, and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO
from urllib.parse import urlsplit

import typer

from arena_cli.cards import Card, sheet
from arena_cli.options import print_json, refuse
from arena_server.errors import ArenaError, ConfigError
from arena_server.web.languages import ENGLISH, all_codes

if TYPE_CHECKING:
    from arena_cli.names import Invitee
    from arena_server.web.admin_file import Access


@dataclass(frozen=True, slots=True)
class InviteOptions:
    """What all names of a file get."""

    file: Annotated[
        Path | None,
        typer.Option(metavar="NAMES.CSV", help="invite: all names of this file.", show_default=False),
    ] = None
    tokens: Annotated[
        bool, typer.Option("--tokens", help="invite --file: bots with tokens instead of links.")
    ] = False
    cards: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.HTML",
            help="invite --file: a page of cards to print, with QR codes, instead of a list.",
            show_default=False,
        ),
    ] = None
    renew: Annotated[
        bool,
        typer.Option("--renew", help="invite: another link for who has not used it; the old one is dead."),
    ] = False
    site: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="invite --file: where authors reach the page, in the links.",
            show_default=False,
        ),
    ] = None
    address: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="invite --tokens: the port for bots, on the cards."),
    ] = ""
    lang: Annotated[str, typer.Option(metavar="CODE", help="invite --cards: their language.")] = ENGLISH

    def check(self) -> None:
        """Raise ConfigError for options that have no effect together."""
        if self.file is None:
            refuse(self, "expected with invite --file", "tokens", "cards", "site", "address")
        if self.cards is None:
            refuse(self, "expected with --cards, where it is shown", "address", "lang")
        if self.lang not in all_codes():
            raise ConfigError(f"--lang: expected one of {', '.join(all_codes())}, got {self.lang!r:.60}")
        if self.tokens:
            refuse(self, "expected without --tokens: a token is no link", "site")
        else:
            refuse(self, "expected with --tokens: the page has it", "address")
        if self.site is not None and (
            urlsplit(self.site).scheme not in ("http", "https") or not urlsplit(self.site).hostname
        ):
            raise ConfigError(f"--site: expected https://HOST or http://HOST:PORT, got {self.site!r:.60}")

    def persons(self, file: Path) -> list[Invitee]:
        """Whom the lines of the file name. Raises ConfigError."""
        from arena_cli.names import read_names

        persons = read_names(file)
        for key in () if self.tokens else ("owner", "language", "url"):
            if any(getattr(person, key) for person in persons):
                raise ConfigError(f"{file}: expected no {key} without --tokens: who registers says it")
        return persons


NO_INVITATIONS = InviteOptions()


@dataclass(slots=True)
class _Outcome:
    """What was made, and of whom there was something."""

    made: list[Card] = field(default_factory=list)
    existed: list[tuple[str, str]] = field(default_factory=list)


def invite_all(
    access: Access,
    contest: str | None,
    options: InviteOptions,
    persons: Sequence[Invitee],
    given: dict[str, str],
    *,
    as_json: bool,
) -> None:
    """Carry out the command; `given` has the texts that are kept with each order. Raises ArenaError."""
    from arena_server.web import client

    status = client.status(access, contest)
    name = status["contest"]
    out = None if options.cards is None else _new_file(options.cards)
    outcome = _Outcome()
    try:
        _order_all(access, name, options, persons, _known(status, tokens=options.tokens), given, outcome)
    except ArenaError as error:
        count = f"{len(outcome.made):,} of {len(persons):,} were made"
        raise type(error)(f"{error}; {count}: the same command goes on") from None
    finally:
        _write(out, options, name, outcome)
        _show(options, name, outcome, as_json=as_json)


def _known(status: dict[str, Any], *, tokens: bool) -> dict[str, str]:
    """What there is already, by the name of a line, and what is said of it."""
    if tokens:
        waiting = {each["name"]: "waits for approval" for each in status["applicants"]}
        return waiting | {bot["name"]: f"is a bot already ({bot['where']})" for bot in status["bots"]}
    return {
        each["owner"]: f"invited before, until {each['until']}"
        if each["bot"] is None
        else f"invited before, has registered {each['bot']}"
        for each in status["invitations"]
        if not each["expired"]
    }


def _order_all(
    access: Access,
    contest: str,
    options: InviteOptions,
    persons: Sequence[Invitee],
    known: dict[str, str],
    given: dict[str, str],
    outcome: _Outcome,
) -> None:
    """One order a name: each is durable when it is answered."""
    from arena_server.web import client
    from arena_server.web.orders import YES

    verb = "add" if options.tokens else "invite"
    for person in persons:
        exists = person.name in known
        if exists and not options.renew:
            outcome.existed.append((person.name, known[person.name]))
            continue
        more = {key: text for key, text in asdict(person).items() if key != "name"} if options.tokens else {}
        if exists and not options.tokens:
            more = {"renew": YES}
        try:
            answer = client.order(access, verb, person.name, contest, **given, **more)
        except client.OrderRefused:
            if not exists:
                raise
            outcome.existed.append((person.name, known[person.name]))  # it was used meanwhile
            continue
        secret = answer["token"] if options.tokens else _link(answer["link"], options.site)
        submit = bool(answer.get("submit"))
        outcome.made.append(Card(person.name, person.author, secret, answer.get("until", ""), submit))


def _link(link: str, site: str | None) -> str:
    """A link to the page as others reach it."""
    if site is None:
        return link
    return site.rstrip("/") + "/" + link.partition("//")[2].partition("/")[2]


def _new_file(path: Path) -> TextIO:
    """A new file that only its owner reads. Raises ConfigError: one that is there may have the only links."""
    try:
        return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
    except FileExistsError:
        raise ConfigError(
            f"--cards: {path} is there already, and may have the only links: name another file"
        ) from None
    except OSError as error:
        raise ConfigError(f"--cards: {path} cannot be written: {error.strerror}") from None


def _write(out: TextIO | None, options: InviteOptions, contest: str, outcome: _Outcome) -> None:
    if out is None or options.cards is None:
        return
    with out:
        if outcome.made:
            out.write(sheet(contest, outcome.made, options.address, options.lang))
    if not outcome.made:
        options.cards.unlink()


def _show(options: InviteOptions, contest: str, outcome: _Outcome, *, as_json: bool) -> None:
    """Print what was made: links and tokens only where no card has them."""
    from arena_server.terms.file import LOOPBACK

    kind, made, existed = ("token" if options.tokens else "link"), outcome.made, outcome.existed
    on_cards = options.cards is not None
    if as_json:
        shown = [
            {"name": card.name}
            | ({"until": card.until} if card.until else {})
            | ({} if on_cards else {kind: card.secret})
            for card in made
        ]
        before = [{"name": name, "state": text} for name, text in existed]
        cards = str(options.cards) if on_cards and made else None
        print_json({"order": "invite", "contest": contest, "made": shown, "existed": before, "cards": cards})
        return
    for card in made:
        if not on_cards:
            until = f" (until {card.until})" if card.until else ""
            typer.echo(f"{card.name}: {card.secret}{until}")
    for name, text in existed:
        typer.echo(f"{name}: {text}")
    what = "bots with tokens" if options.tokens else "links"
    place = f" on {options.cards}" if on_cards and made else ", which are shown only now" if made else ""
    again = ""
    if existed:
        again = f"; {len(existed):,} existed before" + (
            "" if options.renew else f": their {kind}s are not shown again, --renew makes others"
        )
    typer.echo(f"{contest}: {len(made):,} {what}{place}{again}")
    if made and not options.tokens and urlsplit(made[0].secret).hostname in LOOPBACK:
        typer.echo("note: only this machine reaches these links: give --site URL, and see web_host", err=True)
