"""The first view of a contest of ten thousand games in Chromium: when it is there, and what it loads.

    python -m benchmarks.scale page FOLDER           fill FOLDER/arena.db (once), serve it, then measure

`arena web` serves the database on 127.0.0.1 in a process of its own. Each figure is the median of RUNS loads
with an empty cache; before them one load warms the server up.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.scale import million

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: 190 pairs.
BOTS, GAMES_PER_PAIR = 20, 53
RUNS = 5
PAGES = {"contest": "contest.html?id=1", "bot": "bot.html?contest=1&bot=bot7"}
SIZES = {"1366x768": (1366, 768), "390x844": (390, 844)}
#: The first paint with content, the last element that is asked for, and the bytes of all documents.
FIGURES = """() => ({
  paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  moved: window.moved,
  bytes: performance.getEntriesByType("resource").reduce((sum, each) => sum + each.encodedBodySize, 0)
    + performance.getEntriesByType("navigation")[0].encodedBodySize,
})"""
NOTE_SHIFTS = """window.moved = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved += entry.value;
}).observe({ type: "layout-shift", buffered: true });
window.shown = {};
new MutationObserver(() => {
  for (const [name, found] of [["head", ".title h1"], ["games", ".games tbody td a"]]) {
    if (!(name in window.shown) && document.querySelector(found)) window.shown[name] = performance.now();
  }
}).observe(document, { childList: true, subtree: true });"""


def measure(folder: Path) -> None:
    """Print the figures of each page and size."""
    database = folder / "arena.db"
    if not database.exists():
        million.fill(database, BOTS, GAMES_PER_PAIR)
    command = [str(Path(sys.executable).with_name("arena")), "web", "--port", "0"]
    server = subprocess.Popen(
        [*command, "--database", f"sqlite:///{database}"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        _measure(server.stdout.readline().split()[2])
    finally:
        server.terminate()
        server.wait()


def _measure(url: str) -> None:
    from playwright.sync_api import sync_playwright

    print("| page | window | first paint | head of the page | list of games | loaded | layout shift |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for page, path in PAGES.items():
            for window, size in SIZES.items():
                runs = [_load(browser, f"{url}/{path}", size) for _ in range(RUNS + 1)][1:]
                paint, head, games, size_, moved = (median(each) for each in zip(*runs, strict=True))
                cells = (
                    f"{paint:.0f} ms | {head:.0f} ms | {games:.0f} ms | {size_ / 1000:.0f} kB | {moved:.3f}"
                )
                print(f"| {page} | {window} | {cells} |", flush=True)
        browser.close()


def _load(browser: Browser, url: str, size: tuple[int, int]) -> tuple[float, float, float, float, float]:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, locale="en-US")
    page = context.new_page()
    page.add_init_script(NOTE_SHIFTS)
    page.goto(url)
    page.wait_for_selector(".games tbody td a")
    page.wait_for_load_state("networkidle")
    found: dict[str, Any] = page.evaluate(FIGURES)
    shown: dict[str, float] = page.evaluate("window.shown")
    context.close()
    return found["paint"], shown["head"], shown["games"], found["bytes"], found["moved"]
