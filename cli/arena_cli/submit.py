"""`arena submit`: an author sends versions of a bot to a contest, and chooses which one plays."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, responses
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode, urlsplit

import typer

from arena_cli.options import BotName, BotToken, ContestName, Json, check_login, contest_of, print_json
from arena_server.errors import ArenaError, ConfigError

PATH = "/api/v1/submissions"
#: Seconds for a whole answer; on a stream the server sends a blank line more often than that.
WAIT_S = 60.0
TOKEN_VARIABLE = "ARENA_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is done instead of sending a version."""

    list: Annotated[bool, typer.Option("--list", help="Show all versions.")] = False
    show: Annotated[
        int | None,
        typer.Option(metavar="N", help="Print what the admission of version N said.", show_default=False),
    ] = None
    activate: Annotated[
        int | None,
        typer.Option(metavar="N", help="Let version N play from the next game on.", show_default=False),
    ] = None
    roll_back: Annotated[
        bool, typer.Option("--roll-back", help="Let the version play that was active before.")
    ] = False

    def check(self, folder: Path | None) -> None:
        """Raise ConfigError unless one thing is wanted; what is sent has to be the folder of a bot."""
        given = {
            "FOLDER": folder is not None,
            "--list": self.list,
            "--show": self.show is not None,
            "--activate": self.activate is not None,
            "--roll-back": self.roll_back,
        }
        found = [word for word, there in given.items() if there]
        if len(found) != 1:
            known = ", ".join(given)
            raise ConfigError(f"submit: expected one of {known}, got {' and '.join(found) or 'none'}")
        if folder is not None:
            from arena_server.submissions.archive import ArchiveError, check_folder

            try:
                check_folder(folder)
            except ArchiveError as error:
                raise ConfigError(f"{folder}: {error}") from None


@dataclass(frozen=True, slots=True)
class Site:
    """The page of a server, and the bot at it."""

    url: str
    secure: bool
    host: str
    port: int
    token: str
    query: dict[str, str]

    @contextmanager
    def follow(self, body: bytes) -> Iterator[HTTPResponse]:
        """Send a version; the answer goes on until its admission ends. Raises ArenaError."""
        kind = HTTPSConnection if self.secure else HTTPConnection
        connection = kind(self.host, self.port, timeout=WAIT_S)
        try:
            headers = {"Authorization": f"Bearer {self.token}"}
            connection.request("POST", f"{PATH}?{urlencode(self.query)}", body, headers)
            response = connection.getresponse()
            if response.status != 200:
                raise ArenaError(f"{self.url}: {_problem(response.status, response.read(10_000))}")
            yield response
        except (OSError, HTTPException) as error:
            raise self._unanswered(error) from None
        finally:
            connection.close()

    def document(self, method: str, path: str = "", body: bytes = b"", **more: str) -> dict[str, Any]:
        """The JSON answer of a request, which has a limit of time in all. Raises ArenaError."""
        from arena_server.webhooks.outgoing import CallError, HttpConnection

        target = f"{PATH}{path}?{urlencode(self.query | more)}"
        headers = (("authorization", f"Bearer {self.token}"),)
        connection = HttpConnection("https" if self.secure else "http", self.host, self.port)
        try:
            status, answer = connection.fetch(method, target, headers, body, WAIT_S)
        except (OSError, CallError) as error:
            raise self._unanswered(error) from None
        if status != 200:
            raise ArenaError(f"{self.url}: {_problem(status, answer)}")
        return _object(answer, self.url)

    def _unanswered(self, error: Exception) -> ArenaError:
        if isinstance(error, TimeoutError):
            return ArenaError(f"the page at {self.url} did not answer within {WAIT_S:.0f} s")
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return ArenaError(
            f"no page answers at {self.url} ({why}); --connect is the address of the page, not the port"
            " of the bots"
        )


def _object(body: bytes, url: str) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ArenaError(f"at {url} there is something, but not the page of an arena server")
    return found


def _problem(status: int, body: bytes) -> str:
    """What the server says of a request that it refuses, in one line."""
    try:
        text = str(json.loads(body)["error"])
    except (ValueError, RecursionError, LookupError, TypeError):
        text = body.decode("utf-8", "replace").partition("\n")[0][:200]
    if status == 404 and text.startswith("nothing is at "):  # by `application` of the pages
        return "no bot of this server is sent by its author (submit = true)"
    return text or responses.get(status, f"status {status}")


def command(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder with a Dockerfile.", show_default=False)
    ] = None,
    connect: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The page of the server, HOST:PORT or a URL; else ARENA_SITE.",
            show_default=False,
        ),
    ] = None,
    name: BotName = None,
    token: BotToken = None,
    contest: ContestName = None,
    wanted: Wanted = Wanted(),
    as_json: Json = False,
) -> None:
    """Send a version of a bot to a contest that runs it, or choose which version plays.

    FOLDER has a Dockerfile; its image is built on the server, checked like `arena check bot`, and plays a
    deal like `arena check game`. Then it plays from the next game of the contest on; a game that runs ends
    with the version that began it. Every line of build, check and game is printed. If you leave meanwhile,
    the admission goes on: --list shows the versions, --show what was said. Exit status 1: the version is
    not admitted.

    Example: arena submit ./mybot --connect localhost:2080 --name mybot
    """
    wanted.check(folder)
    site = _site(connect, name, token, contest)
    if folder is not None:
        _submit(site, folder, as_json=as_json)
        return
    document = _ask(site, wanted)
    if as_json:
        print_json(document)
    elif wanted.list:
        _print_versions(document)
    else:
        done = [_active(document.get("active"), document)]
        for line in document.get("lines", done):
            typer.echo(line)


def _ask(site: Site, wanted: Wanted) -> dict[str, Any]:
    """The answer to anything but a version. Raises ArenaError."""
    if wanted.list:
        return site.document("GET")
    if wanted.show is not None:
        return site.document("GET", version=str(wanted.show))
    body = {} if wanted.roll_back else {"version": wanted.activate}
    return site.document("POST", "/active", json.dumps(body).encode())


def _site(connect: str | None, name: str | None, token: str | None, contest: str | None) -> Site:
    """Where and as whom to send. Raises ConfigError."""
    connect = connect or os.environ.get("ARENA_SITE")
    name = name or os.environ.get("ARENA_NAME")
    token = token or os.environ.get(TOKEN_VARIABLE)
    if not connect:
        raise ConfigError("say where the page is: --connect HOST:PORT or URL, or ARENA_SITE set")
    if not name:
        raise ConfigError("say which bot: --name, or ARENA_NAME set")
    if not token:
        raise ConfigError("give the bot's token: ARENA_TOKEN set, or --token")
    check_login(name, token)
    parts = urlsplit(connect if "://" in connect else f"http://{connect}")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        # The text is read as a number only here; 0 is refused below like every other wrong address.
        port = 0
    if parts.scheme not in ("http", "https") or not parts.hostname or not port or parts.path not in ("", "/"):
        raise ConfigError(f"--connect: expected HOST:PORT or http(s)://HOST of the page, got {connect!r:.80}")
    given = contest_of(contest)
    query = {"bot": name} | ({} if given is None else {"contest": given})
    return Site(connect, parts.scheme == "https", parts.hostname, port, token, query)


def _submit(site: Site, folder: Path, *, as_json: bool) -> None:
    """Send a folder and follow its admission. Raises ArenaError; exits with 1 if it is not admitted."""
    from arena_server.submissions.archive import ArchiveError, pack
    from arena_server.terms.submissions import ArchiveLimits

    # First: a version that is not taken is not sent, and the limits are those of the contest.
    limits = site.document("GET", wanted="submit")["limits"]
    try:
        data = pack(folder, ArchiveLimits(limits["packed"], limits["unpacked"], limits["files"]))
    except ArchiveError as error:
        raise ConfigError(f"{folder}: {error}") from None
    if not as_json:
        typer.echo(f"sending {folder}, {len(data):,} bytes packed ...", err=True)
    last: dict[str, Any] = {}
    with site.follow(data) as response:
        for line in response:
            if line.strip():
                event = _object(line, site.url)
                typer.echo(json.dumps(event)) if as_json else _print_event(event)
                # What a build prints says nothing of how the admission ends, nor does a place in the queue.
                last = event if event["fact"] not in ("line", "waits") else last
    if last.get("fact") == "failed":
        raise typer.Exit(1)
    if last.get("fact") not in ("activated", "admitted"):
        raise ArenaError("the connection ended before the admission; arena submit --list shows how it ended")


def _stage(word: str) -> str:
    from arena_server.submissions.versions import STAGE_NAMES

    return STAGE_NAMES.get(word, word)


def _place(waits: dict[str, Any]) -> str:
    """For what a version waits, and for how long."""
    left = waits["left_s"]
    time_left = "" if left is None else f", about {left // 60} min {left % 60} s to the end of the admission"
    return f"{waits['stage']}: place {waits['place']} of {waits['of']}{time_left}"


def _active(number: Any, told: dict[str, Any]) -> str:
    """What is said of a version that is active now."""
    if told.get("barred"):
        return f"version {number} is active; {told['barred']}"
    return f"version {number} plays from the next game on"


def _print_event(event: dict[str, Any]) -> None:
    number = event.get("number")
    match event["fact"]:
        case "stored":
            typer.echo(f"version {number}: sha256 {event['digest']}")
            if event.get("barred"):
                typer.echo(event["barred"])
        case "stage":
            typer.echo(f"{_stage(event['stage'])}:")
        case "line":
            typer.echo(f"  {event['text']}")
        case "waits":
            typer.echo(f"waits for its {_place(event)}")
        case "built":
            typer.echo(f"  image {event['image']}")
        case "failed":
            typer.echo(
                f"version {number} is not admitted: {_stage(event['stage'])} failed: {event['reason']}"
            )
        case "admitted":
            typer.echo(f"version {number} is admitted")
        case "activated":
            typer.echo(_active(number, event))


def _print_versions(document: dict[str, Any]) -> None:
    if not document["versions"]:
        typer.echo(f"{document['bot']}: no version yet")
    for each in document["versions"]:
        words = [f"{each['number']:3}", each["at"].replace("T", " ").replace("Z", " UTC")]
        words += [f"{each['size']:>11,} B", f"sha256 {each['digest'][:12]}", each["state"]]
        if each["state"] == "failed":
            words.append(f"({_stage(each['stage'])}: {each['reason']})")
        if each.get("waits"):
            words.append(f"waits for its {_place(each['waits'])}")
        if each["active"]:
            words.append(
                "active" if document["deployed"] == each["number"] else "active from the next game on"
            )
        elif document["deployed"] == each["number"]:
            words.append("plays the games that run")
        typer.echo("  ".join(words))
    if document.get("barred"):
        typer.echo(document["barred"])
    if document["freeze"] is not None:
        moment = datetime.fromtimestamp(document["freeze"] / 1000, UTC)
        what = "freeze at" if moment > datetime.now(UTC) else "are frozen since"
        typer.echo(f"the entries {what} {moment:%Y-%m-%d %H:%M} UTC")
