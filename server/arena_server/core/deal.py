"""The deal of a game: derived from the contest's secret, hidden until its end, fixed by a commitment.

    deal seed = first 128 bits of SHA-256("deal:SECRET:NAMES:NUMBER")     NAMES sorted, with commas
    nonce     = first 32 hexadecimal digits of SHA-256("nonce:SECRET:GAME_ID")

SECRET is a decimal number of 256 bits that the server draws and publishes with the final standings,
so that everyone can derive every deal then; or the organiser's `seed`. Session ids and resume keys
never derive from it: they come from a source that the shell passes in (`secrets.token_hex`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from arena_protocol import messages as wire
from arena_protocol.games import printed_game, printed_options
from arena_protocol.games.base import Deal, Game
from arena_protocol.messages import printer
from arena_protocol.record import FaultRecord, GameRecord, InfoRecord, PlyRecord, commitment
from arena_server.core.cut import shown_names
from arena_server.core.formats.base import Pairing
from arena_server.terms.config import ContestConfig
from arena_server.terms.terms import GameTerms

_print_game = printer(wire.Game)
_print_state = printer(wire.State)
_print_next = printer(wire.Next)

#: Gives a fresh secret of that many bytes, as twice as many hexadecimal digits.
Secret = Callable[[int], str]

#: A session id only tells log lines apart; a resume key has to be unguessable.
SESSION_BYTES = 4
RESUME_BYTES = 24

#: A token with the number of a slot behind it.
_SLOT_TOKEN: Final = re.compile(r"(.+)\.([1-9][0-9]?)")

#: Digits of the greatest number of a game; int() refuses texts of more than 4,300.
GAME_DIGITS = 18

#: The first letter of a game's id, and the sign of its number: games of the contest, validation games.
_SIGNS: Final = {"g": 1, "v": -1}

#: The player in the seats of a validation game that the server plays itself.
REFEREE: Final = "referee"

#: Too many seeds to try them all against the pictures in sight.
SEED_BITS = 128


def game_id(number: int) -> str:
    """How game `number` of a contest is called; `number_of` reads it back. Validation game 3 has -3."""
    return f"g{number}" if number > 0 else f"v{-number}"


def number_of(name: str) -> int:
    """The number of the game that is called so; 0 for a word that calls none."""
    digits = name[1:]
    # isdigit alone takes digits of other alphabets, which int() reads, too.
    if not (name[:1] in _SIGNS and digits.isascii() and digits.isdigit() and len(digits) <= GAME_DIGITS):
        return 0
    return _SIGNS[name[0]] * int(digits)


def deal_seed(contest_seed: int, names: Sequence[str], deal: int) -> int:
    """The seed of the `deal`-th (1, 2, ...) board and sequence of these players, in any order.

    A game that repeats a void one on a deal of its own has its number as the number of the deal: it is
    beyond those of the schedule, so no other game of these players has it.
    """
    # In any order of the seats: the games of a pair on one deal have the same seed.
    players = ",".join(sorted(names))
    digest = sha256(f"deal:{contest_seed}:{players}:{deal}".encode("ascii")).digest()
    # The first bits, as PROTOCOL.md says, so that others can derive it.
    return int.from_bytes(digest) >> (256 - SEED_BITS)


def nonce(contest_seed: int, game_id: str) -> str:
    """The 32 hexadecimal digits that hide this game's deal in its commit."""
    return sha256(f"nonce:{contest_seed}:{game_id}".encode("ascii")).hexdigest()[:32]


def own_move(contest_seed: int, game_id: str, ply: int, moves: Sequence[str]) -> str:
    """Which of the legal `moves` the server plays in a seat of its own."""
    digest = sha256(f"move:{contest_seed}:{game_id}:{ply}".encode("ascii")).digest()
    return moves[int.from_bytes(digest) % len(moves)]


def other_move(record: GameRecord, contest_seed: int) -> int:
    """The first ply of the server in a game, whose record is true, that it would not have played; 0: none."""
    game = printed_game(record.game, record.options, len(record.names))
    position: Any = game.start(Deal(record.board, record.sequence))
    for number, ply in enumerate(record.plies, start=1):
        if record.names[ply.seat - 1] == REFEREE:
            moves = game.legal_moves(position)
            if ply.move != own_move(contest_seed, record.game_id, number, moves):
                return number
        position = game.play(position, ply.move).position
    return 0


def may_show_deal(*, paired: bool, results: int, seats: int, final: bool = False) -> bool:
    """Whether the deal of a game that is over may be shown: no game will be played on it any more.

    All that shows sequence, nonce or seed of a game asks this: OVER, and every reader of records.
    `results` counts the games of this deal that have a result, which a void game has not; `final`: no
    game of the contest will be played any more.
    """
    # A fresh deal is dealt once: the repeat of a void game has a deal of its own.
    return final or not paired or results >= seats


def token_digest(token: str) -> str:
    """How a log-in token is kept: its SHA-256 in hexadecimal."""
    return sha256(token.encode("ascii")).hexdigest()


def slot_token(token: str, slot: int) -> str:
    """The token of a program that is started for one slot of a bot: HELLO needs no `slot=` beside it."""
    return token if slot == 1 else f"{token}.{slot}"


def split_token(text: str) -> tuple[str, int]:
    """The reverse of `slot_token`."""
    found = _SLOT_TOKEN.fullmatch(text)
    return (text, 1) if found is None else (found[1], int(found[2]))


@dataclass(frozen=True, slots=True)
class Setting:
    """One game as it is dealt: the same config and pairing give the same setting.

    `secret` is the seed of the contest, from which the moves of the server's own seats follow.
    """

    terms: GameTerms
    contest: str
    secret: int
    game: Game[Any]
    number: int
    game_id: str
    names: tuple[str, ...]
    seed: int
    deal_number: int
    deal: Deal
    nonce: str
    commit: str
    #: The seats that the server plays itself.
    own_seats: frozenset[int] = frozenset()

    @classmethod
    def of(cls, config: ContestConfig, game: Game[Any], pairing: Pairing) -> Setting:
        """Deal the game that `pairing` names."""
        name = game_id(pairing.number)
        seed, salt = (
            pairing.dealt
            or config.dealt
            or (
                deal_seed(config.seed, pairing.names, pairing.deal),
                nonce(config.seed, name),
            )
        )
        deal = game.deal(seed)
        commit = commitment(salt, deal.board, deal.sequence)
        own = frozenset(seat for seat, name in enumerate(pairing.names, start=1) if name == REFEREE)
        numbers = pairing.number, name, pairing.names, seed, pairing.deal
        return cls(config, config.name, config.seed, game, *numbers, deal, salt, commit, own)

    def offer(self, seat: int) -> bytes:
        """The lines GAME, STATE and, if something is visible, NEXT: for `seat`, or for spectators (0)."""
        # A spectator may watch several games: its lines name theirs.
        watched = None if seat else self.game_id
        game, terms = self.game, self.terms
        lines = _print_game(
            self.game_id,
            game.name,
            seat,
            game.seats,
            shown_names(self.names, seat, anonymous=terms.anonymous),
            terms.clock_ms,
            terms.increment_ms,
            game.zombie_move,
            self.commit,
            terms.move_limit_ms or None,
            terms.byoyomi_ms or None,
            terms.lag_quota_ms or None,
            terms.first_move_limit_ms or None,
            printed_options(game),
        ) + _print_state(self.deal.board, watched)
        preview = game.preview(self.deal)
        return lines if preview is None else lines + _print_next(preview, watched)

    def introduction(self) -> list[wire.ServerMessage]:
        """What `offer` sends to spectators."""
        messages = map(wire.parse_server, self.offer(0).splitlines())
        return [message for message in messages if message is not None]

    def over(self, totals: tuple[int, ...], end: str, opened: bool) -> wire.Over:
        """OVER; `opened` tells whether it opens the commit."""
        if not opened:
            return wire.Over(self.game_id, totals, end)
        return wire.Over(self.game_id, totals, end, self.nonce, self.deal.sequence or None)

    def record(
        self,
        plies: tuple[PlyRecord, ...],
        faults: tuple[FaultRecord, ...],
        final: str,
        totals: tuple[int, ...],
        end: str,
        infos: tuple[InfoRecord, ...],
    ) -> GameRecord:
        """The record of this game, given how it went."""
        return GameRecord(
            software=self.terms.software,
            contest=self.contest,
            game_id=self.game_id,
            game=self.game.name,
            options=printed_options(self.game),
            names=self.names,
            seed=self.seed,
            nonce=self.nonce,
            commit=self.commit,
            board=self.deal.board,
            sequence=self.deal.sequence,
            clock_ms=self.terms.clock_ms,
            increment_ms=self.terms.increment_ms,
            margin_ms=self.terms.margin_ms,
            move_limit_ms=self.terms.move_limit_ms,
            byoyomi_ms=self.terms.byoyomi_ms,
            lag_quota_ms=self.terms.lag_quota_ms,
            first_move_limit_ms=self.terms.first_move_limit_ms,
            plies=plies,
            faults=faults,
            final=final,
            totals=totals,
            end=end,
            infos=infos,
        )
