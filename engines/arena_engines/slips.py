"""Weaker players of any game: an engine that plays some of its moves at random.

    champion:depth=2,slip=40      two moves of five are any legal move

Which moves they are follows from the position, so that the same game is played the same way again.
"""

from __future__ import annotations

from hashlib import sha256

from arena_engines.engine import AnyPosition, Engine


def with_slips(kind: type[Engine], percent: int) -> type[Engine]:
    """Return the engine `kind` that plays a random legal move in `percent` of all positions.

    Its analysis is that of `kind`.
    """

    def choose(self: Engine, position: AnyPosition) -> int | str:
        rules, state = position.rules, position.state
        text = f"{rules.state_text(state)} {position.start} {len(position.moves)} {position.seat}"
        slips, which = divmod(int.from_bytes(sha256(text.encode()).digest()[:8]), 1 << 32)
        if slips % 100 >= percent:
            return kind.choose(self, position)
        self.report = None
        moves: tuple[str, ...] = rules.legal_moves(state)
        return moves[which % len(moves)]

    def spec(self: Engine) -> str:
        own = str(kind.spec.__get__(self))
        return f"{own}{',' if ':' in own else ':'}slip={percent}"

    changed = {"choose": choose, "spec": property(spec)}
    return type(kind.__name__, (kind,), {**changed, "__doc__": kind.__doc__, "__module__": kind.__module__})
