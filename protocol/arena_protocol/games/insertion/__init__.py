"""Insertion, the flagship: a 5x5 board, pictures pushed in from its rim. `RULES.md` tells the rules."""

from arena_protocol.games.insertion.board import Planes, format_board, parse_board
from arena_protocol.games.insertion.game import MOVES, Insertion, Position

__all__ = ["MOVES", "Insertion", "Planes", "Position", "format_board", "parse_board"]
