"""The organiser's orders: what the command `arena admin`, the organiser's page and the core know of each.

Standard library alone: the command line reads this table before it connects to a server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from arena_server.core.life import ABORTED, ContestPhase

if TYPE_CHECKING:
    from arena_server.core.facts import Order

VOID_WORKER: Final = "void-worker"
_BOT, _GAME, _LENGTH = "the name of a bot", "a game", "a number of games or rounds"

_PAIR: Final = "two bots as ann:bob"

_PLANNED, _PLAYING, _SUSPENDED = ContestPhase.PLANNED, ContestPhase.PLAYING, ContestPhase.SUSPENDED
#: An order that another server has to carry out, too: its fact is there when the contest goes on.
_UNTIL_OVER: Final = frozenset((_PLANNED, _PLAYING, _SUSPENDED))
#: An order to the server that plays.
_PLAYED: Final = frozenset((_PLANNED, _PLAYING))
#: An order that is the last one; that it is given again does no harm.
_ENDED: Final = frozenset((ContestPhase.OVER, ContestPhase.ARCHIVED))


def standing(orders: Iterable[Order]) -> list[Order]:
    """Those of the orders that were not undone: `undo` takes back the last one that stands."""
    found: list[Order] = []
    for order in orders:
        if order.verb == "undo":
            found.pop()
        else:
            found.append(order)
    return found


class OrderKind(NamedTuple):
    """What is known of an order.

    `done` is said once it is carried out; {} stands for its target. `about`: what the target is, empty
    without one; it has this many `words`, of which the second may be `optional`. The page asks before an
    order that is `asked`. `inverse` takes it back. It exists in these `phases` of a contest, and in every
    other one it is refused: as `refused` says, {} stands for the phase, or as REFUSED.
    """

    done: str
    about: str = ""
    asked: bool = False
    inverse: str = ""
    phases: frozenset[ContestPhase] = _UNTIL_OVER
    refused: str = ""
    words: int = 1
    optional: bool = False


ORDERS: Final[Mapping[str, OrderKind]] = {
    "pause": OrderKind("paused: no game begins; those that run go on", inverse="resume", phases=_PLAYED),
    "resume": OrderKind("resumed: games begin again", inverse="pause", phases=_PLAYED),
    "drain": OrderKind(
        "draining: no game begins any more, and the contest stops once none runs",
        asked=True,
        inverse="resume",
        phases=_PLAYED,
    ),
    "abort": OrderKind(
        "aborted: the contest is over, its running games are void, and the table stays as it is", asked=True
    ),
    "start": OrderKind("begun: it waits for no quorum and no starts_at any more", asked=True, phases=_PLAYED),
    "archive": OrderKind(
        "archived: the contest is shown, and served no more",
        asked=True,
        phases=_ENDED,
        refused="archive: expected a contest that is over, this one is {}; abort ends it",
    ),
    "extend": OrderKind(
        "extended by {}: see the number of games in arena admin status",
        _LENGTH,
        asked=True,
        inverse="shorten",
    ),
    "shorten": OrderKind(
        "shortened by {}: see the number of games in arena admin status",
        _LENGTH,
        asked=True,
        inverse="extend",
    ),
    "pair": OrderKind("paired by hand: {}", "a round as ann:bob,cid:dan,eve", asked=True),
    "forbid": OrderKind("forbidden: {} do not meet in later rounds", _PAIR, inverse="allow"),
    "allow": OrderKind("allowed: {} may meet in later rounds", _PAIR, inverse="forbid"),
    "kick": OrderKind(
        "kicked {}: its game is void, and it is paired no more", _BOT, asked=True, inverse="lift"
    ),
    "lift": OrderKind("lifted: {} is paired again", _BOT),
    "validate": OrderKind("{} plays a validation game before it is paired", _BOT),
    "void": OrderKind(
        "void: {}; it is not played again", _GAME, asked=True, inverse="replay", phases=_PLAYED
    ),
    VOID_WORKER: OrderKind(
        "void: all games of {}, as far as no later round follows from them; they are played again, "
        "and it gets none any more",
        "the name of a worker",
        asked=True,
        phases=_PLAYED,
    ),
    "replay": OrderKind(
        "{} is played again under a new number",
        _GAME,
        asked=True,
    ),
    "add": OrderKind(
        "added: {} plays from now on; its token, which is shown only now: {token}", _BOT, inverse="remove"
    ),
    "remove": OrderKind(
        "removed {}: its running games are void, and no other is played; its results stand",
        _BOT,
        asked=True,
        inverse="add",
    ),
    "token": OrderKind(
        "{} has a new token, which is shown only now: {token}; the old one and its connections are dead",
        _BOT,
        asked=True,
    ),
    "invite": OrderKind("{} can register one bot until {until}, at: {link}", "the name of an author"),
    "registration": OrderKind(
        "registration is open until {until}, up to {} for each author, at: {link}",
        "how many bots each author may register; 0 closes the registration",
        words=2,
        optional=True,
    ),
    "approve": OrderKind("approved: {} plays from now on", _BOT),
    "reject": OrderKind("rejected: {}; its name is free", _BOT, asked=True),
    "forfeit": OrderKind(
        "forfeit: {}, who has lost the game", "a game and the bot that loses it", asked=True, words=2
    ),
    "correct": OrderKind("corrected: {}", "a game and its points, seat by seat (2-0)", asked=True, words=2),
    "disqualify": OrderKind(
        "disqualified: {}; the bot is withdrawn",
        "a bot and what becomes of its games: leave (the table) or lost (for it)",
        asked=True,
        words=2,
    ),
    "penalty": OrderKind("penalty: {} points", "a bot and penalty points", asked=True, words=2),
    "undo": OrderKind("undone: the last order that stood", asked=True),
    # Authors give it, by the page of an invitation.
    "register": OrderKind("registered: {}", _BOT),
}
VERBS: Final = tuple(ORDERS)

#: Why `undo` cannot take an order back, and what to do instead.
FIXED: Final[Mapping[str, str]] = {
    "pair": "the round stands: pair it again before its games begin",
    "abort": "the contest is over",
    "archive": "the contest is over",
    "start": "games have begun: pause it",
    "lift": "its faulty games are forgiven: kick it",
    "validate": "lift it: then it needs no such game",
    "void": "the game was broken off: replay it",
    VOID_WORKER: "its games are played again",
    "replay": "the game is played again: void the new one",
    "token": "the old one is dead: make another",
    "invite": "the link is out: remove who registers by it",
    "registration": "give it another number, 0 closes it",
    "approve": "it plays: remove it",
    "reject": "its author has the answer: let it register again",
    "register": "its author has a token: remove it",
}

#: Why an order is refused in a phase in which it does not exist; {} stands for the ending.
REFUSED: Final[Mapping[ContestPhase, str]] = {
    ContestPhase.SUSPENDED: "the contest has stopped: give the order once `arena serve` goes on with it",
    ContestPhase.OVER: "the contest is over: {}",
    ContestPhase.ARCHIVED: "the contest is archived: it is shown, and takes no order",
}


def superfluous(verb: str, target: str) -> str | None:
    """Why an order of ORDERS, which has a target that it has no use for, is refused; None: it has none."""
    return f"{verb}: expected no target, got {target!r:.40}" if target and not ORDERS[verb].about else None


def refusal(verb: str, phase: ContestPhase, ended: str | None) -> str | None:
    """Why there is no such order in this phase of a contest, or none at all; None: there is."""
    if verb not in ORDERS:
        return f"the commands are {', '.join(VERBS)}, not {verb!r:.40}"
    kind = ORDERS[verb]
    if phase in kind.phases:
        return None
    # One that is aborted has no ending while its last games are stored.
    return kind.refused.format(phase) if kind.refused else REFUSED[phase].format(ended or ABORTED)
