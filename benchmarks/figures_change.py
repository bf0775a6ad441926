"""Give a name of a module another value for a while.

It must not know: which names there are, what for.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def changed(module: str, name: str, value: Any) -> Iterator[None]:
    """Let a name of a module stand for another value; a tuple takes the type of the old one.

    Raises AttributeError if the module has none of the name.
    """
    home = importlib.import_module(module)
    before = getattr(home, name)
    setattr(home, name, type(before)(*value) if isinstance(value, tuple) else value)
    try:
        yield
    finally:
        setattr(home, name, before)
