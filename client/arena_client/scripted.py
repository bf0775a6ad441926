"""Bots that do one thing, well or badly, by name: for tests, trials and `arena bot NAME`.

Those that keep to the wire are Bots; those that break it are scripts for a raw connection,
and every fault can be had at every moment of a contest: `flooder:moment=lobby`.
It must not know: the server, engines, the tournament.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from arena_client import asyncio_shell, raw_socket
from arena_client.bot import Bot, GameView
from arena_client.errors import ClientError
from arena_client.patience import PATIENT, Patience
from arena_client.rascal import HONEST, MINE, OPEN, Act, Close, Deaf, On, Rascal, Raw, Say, Script, drip


class FirstLegal(Bot):
    """Plays the first legal move of any game; `1` where the rules are not known."""

    instant = True

    def choose(self, view: GameView) -> str:
        """Return the first legal move."""
        return view.legal_moves[0] if view.legal_moves else "1"


class Fixed(Bot):
    """Plays one and the same move, legal or not."""

    instant = True

    def __init__(self, move: str = "6") -> None:
        self._move = move

    def choose(self, view: GameView) -> str:
        """Return the move."""
        return self._move


class ZeroBased(Bot):
    """Counts its moves 0, 1, ... 14 and round, from each game's start: the bug of a first evening."""

    instant = True

    def __init__(self) -> None:
        self._count = 0

    def new_game(self, view: GameView) -> None:
        """Begin to count anew."""
        self._count = 0

    def choose(self, view: GameView) -> int:
        """Return the count."""
        self._count += 1
        return (self._count - 1) % 15


class IllegalAt(FirstLegal):
    """Plays well up to a ply, and from there on a move that no game has."""

    def __init__(self, ply: int = 1) -> None:
        self._ply = ply

    def choose(self, view: GameView) -> str:
        """Return the first legal move, and `99` from the fatal ply on."""
        return super().choose(view) if view.ply < self._ply else "99"


#: The moments of a contest: which line begins each.
MOMENTS = {
    "open": OPEN,  # connected, before the server speaks
    "login": "ARENA",  # instead of HELLO
    "lobby": "WELCOME",  # logged in, waiting for a game
    "offer": "GAME",  # instead of READY
    "turn": "TURN",  # instead of the move
    "waiting": MINE,  # the own move is played, another seat's turn
    "over": "OVER",  # the game has ended
}

Made = Bot | Script


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make one scripted bot: `defaults` are its parameters, all of them whole numbers or words."""

    help: str
    make: Callable[..., Made]
    defaults: Mapping[str, int | str] = field(default_factory=dict)


def _fault(help_: str, acts: Callable[[int], tuple[Act, ...]], size: int = 0, moment: str = "turn") -> Recipe:
    """Make the recipe of a fault on the wire; `size` is what its acts may be scaled by."""

    def make(moment: str, ply: int, size: int = size) -> Script:
        timed = ply if MOMENTS[moment] in ("TURN", MINE) else None
        return HONEST.but(On(MOMENTS[moment], acts(size), timed))

    defaults: dict[str, int | str] = {"moment": moment, "ply": 1}
    return Recipe(help_, make, defaults | ({"size": size} if size else {}))


def _never(verb: str) -> Callable[[], Script]:
    return lambda: HONEST.but(On(verb, ()))


#: Every scripted bot by its name.
SCRIPTED: dict[str, Recipe] = {
    "first-legal": Recipe("plays the first legal move", FirstLegal),
    "fixed": Recipe("plays the same move for ever", lambda move: Fixed(str(move)), {"move": "6"}),
    "zero-based": Recipe("counts its moves from zero", ZeroBased),
    "illegal": Recipe("plays an illegal move from a ply on", IllegalAt, {"ply": 1}),
    "silent": Recipe("answers no TURN", _never("TURN")),
    "never-ready": Recipe("answers no GAME", _never("GAME")),
    "out-of-turn": Recipe(
        "moves again when it has moved", lambda: HONEST.but(On(MINE, (Say("MOVE {move}"),)))
    ),
    "slow-bytes": Recipe(
        "sends its moves byte by byte",
        lambda gap: HONEST.but(On("TURN", drip("MOVE 6", gap))),
        {"gap": 50},
    ),
    "malformed": _fault("sends lines that are no message", lambda _: (Say("MOVE"), Say("MOOVE 6"))),
    "garbage": _fault("sends bytes that are no text", lambda _: (Raw(b"\xff\xfe\x00\x80\r\x07\n"),)),
    "overlong": _fault(
        "sends a line longer than allowed", lambda size: (Raw(b"MOVE " + b"6" * size + b"\n"),), 5000
    ),
    # More than the 100 that a server takes, and not 100 more than that: it stays connected.
    "flooder": _fault("sends lines that nothing asked for", lambda size: (Say("READY {game}", size),), 150),
    "move-flooder": _fault("sends a move many times", lambda size: (Say("MOVE 7", size),), 150),
    "quitter": _fault("says QUIT", lambda _: (Say("QUIT"),)),
    "disconnector": _fault("closes the connection", lambda _: (Close(),)),
    "resetter": _fault("resets the connection", lambda _: (Close(reset=True),)),
    "half-line": _fault("closes in the middle of a line", lambda _: (Raw(b"MOV"), Close())),
    "vanisher": _fault("reads and says nothing any more", lambda _: (Deaf(),)),
    "never-reads": _fault(
        "asks for much and reads nothing", lambda size: (Say("PING unread", size), Deaf()), 20_000, "lobby"
    ),
}


def create(spec: str) -> Made:
    """Make a scripted bot from `name` or `name:parameter=value,...`.

    Raises ClientError, naming what there is, for an unknown name, parameter or value.
    """
    name, _, text = spec.partition(":")
    if name not in SCRIPTED:
        raise ClientError(f"no scripted bot {name!r}; there are: {', '.join(SCRIPTED)}")
    recipe = SCRIPTED[name]
    given = dict(_parameter(name, recipe, part) for part in text.split(",") if part)
    return recipe.make(**{**recipe.defaults, **given})


def _parameter(name: str, recipe: Recipe, text: str) -> tuple[str, int | str]:
    key, _, value = text.partition("=")
    if key not in recipe.defaults:
        known = ", ".join(recipe.defaults) or "none"
        raise ClientError(f"{name} has no parameter {key!r}; it has: {known}")
    if key == "moment" and value not in MOMENTS:
        raise ClientError(f"{name}: moment is one of {', '.join(MOMENTS)}, not {value!r}")
    if not isinstance(recipe.defaults[key], int):
        return key, value
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise ClientError(f"{name}: {key} is a whole number, not {value!r}")
    return key, int(value)


def run(
    spec: str,
    host: str,
    port: int,
    *,
    name: str,
    token: str | None = None,
    patience: Patience = PATIENT,
    tls: ssl.SSLContext | None = None,
) -> str:
    """Let a scripted bot play a contest; return the reason of BYE, or how a raw connection ended.

    Raises ClientError as `create` and `asyncio_shell.play` do, if nobody answers a raw one, or
    if it is to be encrypted.
    """
    made = create(spec)
    if isinstance(made, Bot):
        return asyncio_shell.run(made, host, port, name=name, token=token, patience=patience, tls=tls)
    if tls is not None:
        raise ClientError(f"{spec} speaks on a raw connection, without TLS")
    try:
        return raw_socket.visit(Rascal(made, name, token), host, port)
    except OSError as error:
        raise ClientError(f"cannot reach {host}:{port}: {error.strerror or error}") from error
