from __future__ import annotations

import asyncio
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


@pytest.fixture(scope="session")
def started() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """One browser for all modules, and the loop that it keeps running on this thread."""
    with chromium() as browser:
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)


@pytest.fixture(scope="module")
def browser(started: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    """The loop of the browser is that of the thread only here: elsewhere asyncio tests would fail."""
    browser, loop = started
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


@pytest.fixture
def pages(browser: Browser) -> Iterator[Watched]:
    """Opens pages; at the end no page may have broken a rule."""
    with watched(browser) as pages:
        yield pages
