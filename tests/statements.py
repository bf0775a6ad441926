"""SQLAlchemy makes the text of a statement once for all engines of a kind, not once for each.

A server has one engine for weeks, and the tests have thousands, each of which would compile its dozens of
statements again: a tenth of the processor time of the tests of the store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Dialect, Engine
from sqlalchemy.util import LRUCache


def share(change: Callable[[type, str, Any], None]) -> None:
    """All engines that are made from now on have one cache, in which dialects of a class are equal.

    They are: the product sets no option that changes the text of a statement, and the tests have one version
    of each database.
    """
    cache: LRUCache[Any, Any] = LRUCache(5000)
    shared = property(lambda engine: cache, lambda engine, own: None)
    change(Engine, "_compiled_cache", shared)
    for kind in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        change(kind, "__eq__", _equal)
        change(kind, "__hash__", lambda dialect: hash(type(dialect)))


def _equal(one: Dialect, other: object) -> bool:
    return type(one) is type(other)
