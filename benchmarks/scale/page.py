"""The first view of a contest of ten thousand games in Chromium: when it is there, and what it loads.

    python -m benchmarks.scale page FOLDER           fill FOLDER/arena.db (once), serve it, then measure

`arena web` serves the database on 127.0.0.1 in a process of its own; `benchmarks.page_speed` has the rival
and says how a page is loaded.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.page_speed import DESKTOP, PHONE, chromium, loaded, plain_page
from benchmarks.scale import million

#: 190 pairs.
BOTS, GAMES_PER_PAIR = 20, 53
PAGES = {"contest": "contest.html?id=1", "bot": "bot.html?contest=1&bot=bot7"}
MARKS = {"head": ".title h1", "games": ".games tbody td a"}


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
    with chromium() as browser, plain_page() as plain:
        print(
            "| page | window | first paint | of a plain page | head | list of games | loaded | layout shift |"
        )
        print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name, path in PAGES.items():
            for size in (DESKTOP, PHONE):
                rival, page = loaded(browser, plain, size), loaded(browser, f"{url}/{path}", size, MARKS)
                cells = (
                    f"{name} | {size[0]}x{size[1]}",
                    f"{page.paint:.0f} ms | {page.paint / rival.paint:.2f}",
                    f"{page.seen['head']:.0f} ms | {page.seen['games']:.0f} ms",
                    f"{page.bytes / 1000:.0f} kB | {page.shift:.3f}",
                )
                print(f"| {' | '.join(cells)} |", flush=True)
