"""Scripted bots, good and bad, by name: for tests, trials and `arena bot NAME`.

Bots that keep the protocol are Bots. Those that break it are Scripts (`script.py`). Every fault can be had at
every moment of a contest: `flooder:moment=lobby`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from arena_client import asyncio_client
from arena_client.bot import Bot, GameView
from arena_client.errors import ClientError
from arena_client.retry import DEFAULT, RetryPolicy
from arena_client.script import (
    HONEST,
    MINE,
    OPEN,
    Act,
    Close,
    On,
    Raw,
    Say,
    Script,
    ScriptedClient,
    StopReading,
    drip,
    run_script,
)
from arena_client.transport import TlsLike


class FirstLegal(Bot):
    """Plays the first legal move of any game, `1` if the rules are unknown."""

    instant = True

    def choose(self, view: GameView) -> str:
        return view.legal_moves[0] if view.legal_moves else "1"


class Fixed(Bot):
    """Always plays the same move, legal or not."""

    instant = True

    def __init__(self, move: str = "6") -> None:
        self._move = move

    def choose(self, view: GameView) -> str:
        return self._move


class ZeroBased(Bot):
    """Plays 0, 1, ... 14, 0, ... from the start of each game: moves counted from 0."""

    instant = True

    def __init__(self) -> None:
        self._count = 0

    def new_game(self, view: GameView) -> None:
        self._count = 0

    def choose(self, view: GameView) -> int:
        self._count += 1
        return (self._count - 1) % 15


class IllegalAt(FirstLegal):
    """Plays legal moves before `ply`, then `99`, which is illegal in every game."""

    def __init__(self, ply: int = 1) -> None:
        self._ply = ply

    def choose(self, view: GameView) -> str:
        return super().choose(view) if view.ply < self._ply else "99"


#: Moments of a contest, and the line that begins each.
MOMENTS = {
    "open": OPEN,  # connected, before the first line of the server
    "login": "ARENA",  # instead of HELLO
    "lobby": "WELCOME",  # logged in, waiting for a game
    "offer": "GAME",  # instead of READY
    "turn": "TURN",  # instead of the move
    "waiting": MINE,  # after the own move, during another seat's turn
    "over": "OVER",  # the game has ended
}

Made = Bot | Script


@dataclass(frozen=True, slots=True)
class Recipe:
    """One scripted bot: its help text, its constructor, its parameters (whole numbers or words)."""

    help: str
    make: Callable[..., Made]
    defaults: Mapping[str, int | str] = field(default_factory=dict)


def _fault(help_: str, acts: Callable[[int], tuple[Act, ...]], size: int = 0, moment: str = "turn") -> Recipe:
    """Return the recipe of a fault on the wire; `size` scales its acts."""

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
    "fixed": Recipe("always plays the same move", lambda move: Fixed(str(move)), {"move": "6"}),
    "zero-based": Recipe("counts its moves from zero", ZeroBased),
    "illegal": Recipe("plays an illegal move from a ply on", IllegalAt, {"ply": 1}),
    "silent": Recipe("does not answer TURN", _never("TURN")),
    "never-ready": Recipe("does not answer GAME", _never("GAME")),
    "out-of-turn": Recipe("moves twice", lambda: HONEST.but(On(MINE, (Say("MOVE {move}"),)))),
    "slow-bytes": Recipe(
        "sends its moves byte by byte", lambda gap: HONEST.but(On("TURN", drip("MOVE 6", gap))), {"gap": 50}
    ),
    "malformed": _fault("sends lines that cannot be parsed", lambda _: (Say("MOVE"), Say("MOOVE 6"))),
    "garbage": _fault("sends bytes that are not ASCII", lambda _: (Raw(b"\xff\xfe\x00\x80\r\x07\n"),)),
    "overlong": _fault("sends an over-long line", lambda size: (Raw(b"MOVE " + b"6" * size + b"\n"),), 5000),
    # More than the 100 of a flood, but less than the 200 that close the connection.
    "flooder": _fault("sends many unasked lines", lambda size: (Say("READY {game}", size),), 150),
    "move-flooder": _fault("sends a move many times", lambda size: (Say("MOVE 7", size),), 150),
    "quitter": _fault("sends QUIT", lambda _: (Say("QUIT"),)),
    "disconnector": _fault("closes the connection", lambda _: (Close(),)),
    "resetter": _fault("resets the connection", lambda _: (Close(reset=True),)),
    "half-line": _fault("closes in the middle of a line", lambda _: (Raw(b"MOV"), Close())),
    "vanisher": _fault("stops reading and writing", lambda _: (StopReading(),)),
    "never-reads": _fault(
        "sends PINGs and reads nothing", lambda size: (Say("PING x", size), StopReading()), 20_000, "lobby"
    ),
}


def create(spec: str) -> Made:
    """Make a scripted bot from `name` or `name:parameter=value,...`.

    Raises ClientError, which lists the known ones, for an unknown name, parameter or value.
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
    slot: int | None = None,
    contest: str | None = None,
    policy: RetryPolicy = DEFAULT,
    tls: TlsLike = None,
) -> str:
    """Play a contest with a scripted bot; return the reason of BYE, or the result of `run_script`.

    Raises ClientError as `create` and `asyncio_client.play` do, and for a Script if the connection is
    refused or `tls` is given.
    """
    made = create(spec)
    if isinstance(made, Bot):
        return asyncio_client.run(
            made, host, port, name=name, token=token, slot=slot, contest=contest, policy=policy, tls=tls
        )
    if tls:
        raise ClientError(f"{spec} has a raw connection, without TLS")
    try:
        return run_script(ScriptedClient(made, name, token, slot, contest), host, port)
    except OSError as error:
        raise ClientError(f"cannot reach {host}:{port}: {error.strerror or error}") from error
