"""What is derived from the contest's seed, and what never may be.

Deals and nonces come from the seed, so that a contest can be played again to the byte. A
session id or a resume key must not: whoever knew the seed could take a seat. Those are
drawn from a source that the shell passes in (`secrets.token_hex`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

#: Gives a fresh secret of that many bytes, as twice as many hexadecimal digits.
Secret = Callable[[int], str]

#: A session id only tells log lines apart; a resume key has to be unguessable.
SESSION_BYTES = 4
RESUME_BYTES = 24

#: Too many seeds to try them all against the pictures in sight.
SEED_BITS = 128


def game_id(number: int) -> str:
    """How game `number` of a contest is called; `number_of` reads it back."""
    return f"g{number}"


def number_of(name: str) -> int:
    """The number of the game that is called so; 0 for a word that calls none."""
    digits = name[1:]
    return int(digits) if name[:1] == "g" and digits.isascii() and digits.isdigit() else 0


def deal_seed(contest_seed: int, names: Sequence[str], deal: int) -> int:
    """The seed of the `deal`-th (1, 2, ...) board and sequence of these players, in any order."""
    players = ",".join(sorted(names))
    digest = sha256(f"deal:{contest_seed}:{players}:{deal}".encode("ascii")).digest()
    return int.from_bytes(digest) >> (256 - SEED_BITS)


def nonce(contest_seed: int, game_id: str) -> str:
    """The 32 hexadecimal digits that hide this game's deal in its commit."""
    return sha256(f"nonce:{contest_seed}:{game_id}".encode("ascii")).hexdigest()[:32]


def token_digest(token: str) -> str:
    """How a log-in token is kept: its SHA-256 in hexadecimal."""
    return sha256(token.encode("ascii")).hexdigest()
