"""Search trees and AND/OR graphs as pictures: SVG to a file, text to the terminal.

`api.py` has one function for each kind of picture; `to_svg` and `to_text` print any of them.
"""

from arena_engines.explain.picture import Picture
from arena_engines.explain.svg import to_svg
from arena_engines.explain.text import to_text

__all__ = ["Picture", "to_svg", "to_text"]
