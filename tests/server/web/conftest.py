from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from .browser import Watched, chromium, watched
from .node import Node

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    node = Node()
    yield node
    node.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for the session: it keeps an event loop running on this thread, and asyncio tests would fail."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def pages(browser: Browser) -> Iterator[Watched]:
    """Opens pages; at the end no page may have broken a rule."""
    with watched(browser) as pages:
        yield pages
