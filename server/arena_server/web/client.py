"""The client of the organiser's API, for `arena admin`.

Every function returns the server's answer or raises ArenaError with one line.
"""

from __future__ import annotations

import json
import time
from http.client import responses
from typing import Any
from urllib.parse import urlencode

from arena_server.errors import ArenaError, ConfigError
from arena_server.host.sockets import parse_address
from arena_server.web.admin_file import TOKEN_VARIABLE, Access
from arena_server.web.bridge import NOT_STARTED, ORDER_S

#: A little more than the server itself takes before it reports that there is no answer.
TIMEOUT_S = ORDER_S + 2.0
#: A database is open within a moment; a large one takes seconds.
OPENING_PAUSE_S, OPENING_TRIES = 0.2, 100


class OrderRefused(ArenaError):  # noqa: N818 - a regular answer of the contest, not a failure
    """The contest refused the order; the text is its reason."""


def status(access: Access, contest: str | None = None) -> dict[str, Any]:
    """The status of a contest, the only one for None, as `api.overview_json` makes it."""
    return _request(access, "GET", f"/status{_query(contest)}")


def contests(access: Access) -> list[dict[str, Any]]:
    """A row of each contest of a server, as `host_view.contest_row` makes it."""
    found: list[dict[str, Any]] = _request(access, "GET", "/contests")["contests"]
    return found


def order(
    access: Access, verb: str, target: str, contest: str | None = None, **more: str | None
) -> dict[str, Any]:
    """Give an order and wait until it is carried out; `more` are other texts of it, such as `reason`.

    Returns the server's answer. Raises OrderRefused and other ArenaErrors.
    """
    given = {"contest": contest, **more}
    texts = {"verb": verb, "target": target} | {key: text for key, text in given.items() if text}
    return _request(access, "POST", "/orders", json.dumps(texts))


def add_contest(access: Access, file: str, text: str, by: str) -> dict[str, Any]:
    """Have a server host the contest of this text, and wait until it does; `file` is its name in errors.

    Returns the server's answer. Raises ConfigError for a text that is wrong, OrderRefused and other
    ArenaErrors.
    """
    texts = {"file": file, "text": text} | ({"by": by} if by else {})
    return _request(access, "POST", "/contests", json.dumps(texts))


def orders(access: Access, contest: str | None = None) -> list[dict[str, Any]]:
    """The orders to a contest that were carried out, as `api.order_json` makes them."""
    found: list[dict[str, Any]] = _request(access, "GET", f"/orders{_query(contest)}")["orders"]
    return found


def _query(contest: str | None) -> str:
    return "" if contest is None else f"?{urlencode({'contest': contest})}"


def _request(access: Access, method: str, path: str, body: str | None = None) -> dict[str, Any]:
    status, answer = _ask(access, method, path, body)
    # A server that was started a moment ago; nothing was done.
    for _ in range(OPENING_TRIES):
        if status != 503 or answer.get("error") != NOT_STARTED:
            break
        time.sleep(OPENING_PAUSE_S)
        status, answer = _ask(access, method, path, body)
    if status == 401:
        raise ArenaError(
            f"the server at {access.address} has another token; see {TOKEN_VARIABLE}, "
            "or the file beside its database"
        )
    if status == 422:
        raise ConfigError(answer["error"])
    if status in (403, 409):
        raise OrderRefused(answer["error"] + (" by --yes" if answer.get("confirm") else ""))
    if status != 200:
        reason = responses.get(status, f"status {status}")
        raise ArenaError(f"the server at {access.address}: {answer.get('error', reason)}")
    return answer


def _ask(access: Access, method: str, path: str, body: str | None) -> tuple[int, dict[str, Any]]:
    from arena_server.webhooks.outgoing import CallError, HttpConnection

    # The server prints the address of its admin port with a scheme.
    host, port = parse_address(access.address.removeprefix("http://").removesuffix("/"), "--connect")
    headers = (("authorization", f"Bearer {access.token}"),)
    data = (body or "").encode()
    try:
        status, found = HttpConnection("http", host, port).fetch(method, path, headers, data, TIMEOUT_S)
    except TimeoutError:
        raise ArenaError(f"the server at {access.address} did not answer within {TIMEOUT_S:.0f} s") from None
    except (OSError, CallError) as error:
        named = str(error) if isinstance(error, CallError) else type(error).__name__
        why = getattr(error, "strerror", None) or named
        raise ArenaError(
            f"no server answers at {access.address} ({why}); is it running, with --admin-port?"
        ) from None
    return status, _document(access, found)


def _document(access: Access, body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ArenaError(f"at {access.address} there is something, but not the admin port of an arena server")
    return document
