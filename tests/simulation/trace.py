"""What was sent of a running game: the same line of a ply for every reader, clocks that do not rise."""

from __future__ import annotations

from collections.abc import Callable

from arena_protocol.messages import Played, parse_server


class GameTrace:
    """A game that began at `began`: a line a ply, and the clocks after the last."""

    def __init__(self, began: int, clocks: tuple[int, ...]) -> None:
        self.began = began
        self.plies: list[bytes] = []
        self.clocks = clocks

    def reset(self, clock_ms: int) -> None:
        """Nothing that was sent holds any more."""
        self.plies.clear()
        self.clocks = (clock_ms,) * len(self.clocks)

    def played(
        self, game_id: str, text: bytes, increment_ms: int, require: Callable[[bool, str], None]
    ) -> None:
        """A line of a ply: as it was sent before, or the one that follows from the last."""
        ply = int(text.split(b" ", 2)[1])
        if ply <= len(self.plies):
            require(self.plies[ply - 1] == text, f"{game_id}, ply {ply} was sent in two forms")
            return
        require(ply == len(self.plies) + 1, f"{game_id}: ply {ply} was sent after {len(self.plies)}")
        played = parse_server(text)
        assert isinstance(played, Played)
        for seat, (before, after) in enumerate(zip(self.clocks, played.clock, strict=True), start=1):
            earned = increment_ms if seat == played.seat else 0
            rises = f"{game_id}, ply {ply}: the clock of seat {seat} rose from {before} to {after}"
            require(after <= before + earned, rises)
            require(after == before or seat == played.seat, f"{rises}, and it was not its ply")
        self.clocks = played.clock
        self.plies.append(text)
