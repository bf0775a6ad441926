from __future__ import annotations

from collections.abc import Iterator

import pytest

from .node import Node


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    node = Node()
    yield node
    node.close()
