"""Insertion, the flagship game: pictures are pushed into a 5x5 board from its rim; see `RULES.md`."""

from arena_protocol.games.insertion.board import Planes, format_board, parse_board
from arena_protocol.games.insertion.game import MOVES, Insertion, Position

__all__ = ["MOVES", "Insertion", "Planes", "Position", "format_board", "parse_board"]
