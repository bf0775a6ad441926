"""A message to a webhook: its body and its signature, and one attempt after the other to send it.

Form and signature are those of the Standard Webhooks specification 1.0 (standardwebhooks.com): the header
`webhook-signature` is `v1,` and the base64 of HMAC-SHA256 over `ID.TIMESTAMP.BODY`.
"""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from arena_server.core.life import STOPPED, reason_of
from arena_server.core.log_events import (
    BotAbsent,
    BotOnProbation,
    CommandDone,
    ContestBegun,
    LogEvent,
    LoopStalled,
    RoundDrawn,
    ValidationFailed,
    WalkedOver,
)
from arena_server.core.rulings import JURY
from arena_server.terms.spec import Webhook

if TYPE_CHECKING:
    from arena_server.store.game_reader import GameSummary
    from arena_server.store.schema import ContestRow
    from arena_server.webhooks.outgoing import HttpConnection

#: How long an attempt may take in all, from the name of the receiver to the head of its answer.
TIMEOUT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place of a result in its contest, which is known by its number and its beginning (s since 1970).

    `started` is 0 where it is not known.
    """

    contest: int
    started: int
    place: int


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent: `identity` is the same at every attempt; `at` is where its result stands.

    Of a batch of `results` it is the place of the last one.
    """

    identity: str
    kind: str
    body: bytes
    at: Cursor | None = None
    results: int = 1


def sign(secret: str, identity: str, seconds: int, body: bytes) -> str:
    """The header `webhook-signature`; the key is the secret's text, or its base64 behind `whsec_`."""
    prefix = "whsec_"
    key = base64.b64decode(secret[len(prefix) :]) if secret.startswith(prefix) else secret.encode()
    digest = hmac.digest(key, b"%s.%d.%s" % (identity.encode(), seconds, body), "sha256")
    return f"v1,{base64.b64encode(digest).decode()}"


class Sender:
    """Sends messages to a hook over one connection, as long as the receiver keeps it; for one thread."""

    def __init__(self, hook: Webhook) -> None:
        self._hook = hook
        self._parts = urlsplit(hook.url)
        self._connection: HttpConnection | None = None

    def post(self, message: Message, seconds: int) -> str | None:
        """Send a message once, and wait for the answer: None if that was 2xx, else what went wrong.

        The text has nothing of the address or the secret. Redirections are not followed.
        """
        from arena_server.webhooks.outgoing import CallError, HttpConnection

        parts = self._parts
        if self._connection is None:
            self._connection = HttpConnection(parts.scheme, str(parts.hostname), parts.port)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = (
            ("content-type", "application/json"),
            ("user-agent", "insertion-arena"),
            ("webhook-id", message.identity),
            ("webhook-timestamp", str(seconds)),
            ("webhook-signature", sign(self._hook.secret, message.identity, seconds, message.body)),
        )
        try:
            status = self._connection.call("POST", target, headers, message.body, TIMEOUT_S)
        except TimeoutError:
            return f"no answer within {TIMEOUT_S:g} s"
        except CallError as error:
            return str(error)
        except OSError as error:
            return error.strerror or type(error).__name__
        return None if 200 <= status < 300 else f"answered with status {status}"

    def close(self) -> None:
        """Close the connection; another message makes a new one."""
        if self._connection is not None:
            self._connection.close()


def started_at(contest: ContestRow) -> int:
    return int(contest.started_at.replace(tzinfo=UTC).timestamp())


def result_of(contest: ContestRow, place: int, head: bytes, game: GameSummary) -> Message:
    """The message about the result at this place, at which the chain of records has the value `head`."""
    from arena_server.store.schema import plain_time

    body = {
        "type": "game",
        "timestamp": plain_time(game.stored_at),
        "contest": {"id": contest.id, "name": contest.name},
        "game": {
            "id": game.game_id,
            "place": place,
            "names": game.names,
            "totals": game.totals,
            "end": game.end,
            "plies": game.plies,
            "used_ms": game.used_ms,
            "faults": [{"seat": seat, "ply": ply, "kind": kind} for seat, ply, kind in game.faults],
        },
    }
    at = Cursor(contest.id, started_at(contest), place)
    # With the chain: another result may come to this place after a copy of the database was restored.
    return Message(f"game-{contest.id}-{place}-{head.hex()[:16]}", "game", _encoded(body), at)


def batch_of(results: Sequence[Message]) -> Message:
    """One message about results that follow each other in one contest, each as it would be sent alone."""
    last = results[-1]
    bodies = [json.loads(each.body) for each in results]
    _, contest, place, head = last.identity.split("-")
    identity = f"games-{contest}-{bodies[0]['game']['place']}-{place}-{head}"
    common = {key: bodies[-1][key] for key in ("timestamp", "contest")}
    body = {"type": "games", **common, "games": bodies}
    return Message(identity, "games", _encoded(body), last.at, len(results))


def notice_of(contest: str, event: LogEvent, now: float, number: int) -> Message | None:
    """The message about an event that is no result; None for an event that has none."""
    more: Mapping[str, Any]
    match event:
        case BotOnProbation(bot=bot, games=games):
            kind, more = "probation", {"bot": bot, "faulty_games": games}
        case BotAbsent(bot=bot):
            kind, more = "absence", {"bot": bot}
        case ContestBegun(bots=bots):
            kind, more = "begun", {"bots": bots}
        case RoundDrawn(draw=draw, pairings=pairings, byes=byes):
            kind, more = "round", {"draw": draw, "pairings": pairings, "byes": byes}
        case WalkedOver(draw=draw, absent=absent):
            kind, more = "walkover", {"draw": draw, "absent": list(absent)}
        case ValidationFailed(bot=bot, game=game, kind=fault, ply=ply):
            kind, more = "validation", {"bot": bot, "game": game, "fault": fault, "ply": ply}
        case CommandDone(verb=verb, target=target, reason=reason) if verb in (*JURY, "undo"):
            kind, more = "jury", {"verb": verb, "target": target, "reason": reason}
        case LoopStalled(ms=ms):
            kind, more = "stall", {"ms": ms}
        case _:
            return None
    return _notice(kind, contest, more, now, number)


def over_of(contest: str, ended: str, now: float, number: int) -> Message | None:
    """The message about the end of a contest; None where it may go on."""
    if ended == STOPPED:
        return None
    return _notice("over", contest, {"ended": ended, "reason": reason_of(ended) or None}, now, number)


def _notice(kind: str, contest: str, more: Mapping[str, Any], now: float, number: int) -> Message:
    at = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body: Mapping[str, Any] = {"type": kind, "timestamp": at, "contest": {"name": contest}, **more}
    return Message(f"{kind}-{int(now)}-{number}", kind, _encoded(body))


def _encoded(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
