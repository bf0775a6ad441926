"""A game that the scripted referee of `arena check bot` plays: its deal, its position, its lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena_protocol.games import make_game, printed_options
from arena_protocol.games.base import Game

#: The deal of every game: cases are to be the same each time.
SEED = 2006
#: What a game is offered with where a case says nothing else; short, and the sequence is not all in sight.
DEFAULTS: dict[str, dict[str, str]] = {"insertion": {"plies": "8", "colours": "6", "lookahead": "3"}}


@dataclass
class Table:
    """A game that the bench referees: its rules, its position, the bot's seat and what was sent of it."""

    id: str
    rules: Game[Any]
    seat: int
    clock: int
    increment: int
    position: Any
    sequence: str
    visible: str
    offer: tuple[str, ...] = ()
    clocks: list[int] = field(default_factory=list)
    ply: int = 1
    told: list[str] = field(default_factory=list)

    @property
    def to_move(self) -> int:
        """The seat whose turn it is."""
        return self.rules.to_move(self.position)

    @property
    def is_over(self) -> bool:
        """Whether the game has come to its end."""
        return self.rules.end(self.position) is not None

    def turn(self, extra: str = "") -> str:
        """The TURN line of this ply."""
        return f"TURN {self.ply} clock={_list(self.clocks)} lag=0 credit=0{extra}"

    def play(self, move: str, milliseconds: int = 0) -> str:
        """Play a legal move for the seat that is to move; return its PLAYED line."""
        seat, before = self.to_move, self.rules.totals(self.position)
        self.position = self.rules.play(self.position, move).position
        after = self.rules.totals(self.position)
        self.clocks[seat - 1] += self.increment - milliseconds
        reveal = ""
        if self.sequence:
            shown = len(self.visible) + self.ply
            picture = self.sequence[shown - 1 : shown]
            reveal = f" reveal={picture}" if picture else ""
        line = (
            f"PLAYED {self.ply} seat={seat} move={move} time={milliseconds} clock={_list(self.clocks)} "
            f"points={after[seat - 1] - before[seat - 1]} total={_list(after)}{reveal}"
        )
        self.ply += 1
        self.told.append(line)
        return line

    def rival_move(self) -> str:
        """A legal move for another seat, not the same at each ply."""
        legal = self.rules.legal_moves(self.position)
        return legal[self.ply * 7 % len(legal)]

    def over(self, end: str | None = None) -> str:
        """The OVER line; `end` where the game did not end by its rules."""
        total = _list(self.rules.totals(self.position))
        return f"OVER {self.id} total={total} end={end or self.rules.end(self.position)}"


def deal(
    id_: str,
    game: str,
    seat: int,
    names: Sequence[str],
    options: Mapping[str, str],
    clock: int,
    increment: int,
    extra: str,
) -> Table:
    """Deal a game for the bot at `seat`; times in ms. `extra` goes to the end of its GAME line."""
    rules = make_game(game, {**DEFAULTS.get(game, {}), **options, "seats": str(len(names))})
    dealt = rules.deal(SEED)
    preview = rules.preview(dealt)
    zombie = "" if rules.zombie_move is None else f" zombie={rules.zombie_move}"
    printed = "".join(f" {key}={value}" for key, value in printed_options(rules).items())
    lines = [
        f"GAME {id_} {game} seat={seat} seats={len(names)} names={','.join(names)}{printed} "
        f"clock={clock} increment={increment}{zombie}{extra}",
        f"STATE {dealt.board}",
    ]
    if preview is not None:
        lines.append(f"NEXT {preview}")
    return Table(
        id=id_,
        rules=rules,
        seat=seat,
        clock=clock,
        increment=increment,
        position=rules.start(dealt),
        sequence=dealt.sequence,
        visible=preview or "",
        offer=tuple(lines),
        clocks=[clock] * len(names),
    )


def _list(values: Iterable[int]) -> str:
    return ",".join(map(str, values))
