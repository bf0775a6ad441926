"""Take the pictures of docs/watch.md: play examples/local.toml, and photograph its pages with Chromium.

    python tools/page_pictures.py [FOLDER]        (default: docs/pictures; two minutes)

It needs the browser's driver of the tests (playwright) and the system's chromium. With `--all` every page is
taken at all sizes in both themes, to be looked at; then FOLDER has to be named.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
GAME = "game.html?contest=1&game=g29#ply=71"
#: Name, page, window, theme.
PICTURES = [
    ("watch-contest", "contest.html?id=1", (1000, 1150), "light"),
    ("watch-game", GAME, (1280, 760), "light"),
    ("watch-phone", GAME, (390, 844), "dark"),
]
SIZES = [(1280, 800), (1366, 768), (1920, 1080), (390, 844), (844, 390)]
PAGES = {
    "index": "index.html",
    "contest": "contest.html?id=1",
    "rounds": "contest.html?id=1#rounds",
    "games": "contest.html?id=1#games",
    "bots": "contest.html?id=1#bots",
    "stats": "contest.html?id=1#stats",
    "bot": "bot.html?contest=1&bot=champion",
    "game": GAME,
    "end": "game.html?contest=1&game=g29",
    "replay": "replay.html",
    "missing": "nothing.html",
}


def main() -> int:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="where to (default: docs/pictures)")
    parser.add_argument("--all", action="store_true", help="every page, at all sizes, in both themes")
    given = parser.parse_args()
    if given.all and given.folder is None:
        parser.error("--all: name a folder")
    folder = given.folder or ROOT / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = PICTURES
    if given.all:
        wanted = [
            (f"{name}-{width}-{theme}", page, (width, height), theme)
            for name, page in PAGES.items()
            for width, height in SIZES
            for theme in ("light", "dark")
        ]
    arena = [sys.executable, "-m", "arena_cli"]
    with tempfile.TemporaryDirectory() as scratch:
        database = f"sqlite:///{scratch}/arena.db"
        contest = ROOT / "examples" / "local.toml"
        subprocess.run(
            [*arena, "tournament", contest, "--no-web", "--database", database],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        server = subprocess.Popen(
            [*arena, "web", "--database", database, "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            take(server.stdout.readline().split()[2], folder, wanted)
        finally:
            server.terminate()
            server.wait()
    print(f"written: {len(wanted)} pictures to {folder}")
    return 0


def take(url: str, folder: Path, wanted: list[tuple[str, str, tuple[int, int], str]]) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, page, size, theme in wanted:
            shoot(browser, f"{url}/{page}", folder / f"{name}.png", size, theme)
        browser.close()


def shoot(browser: Browser, url: str, path: Path, size: tuple[int, int], theme: str) -> None:
    from PIL import Image

    scheme = "dark" if theme == "dark" else "light"
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, locale="en-US"
    )
    page = context.new_page()
    page.goto(url)
    if "game.html" in url:
        page.wait_for_selector(".badge.true")
    page.wait_for_load_state("networkidle")
    page.screenshot(path=path)
    context.close()
    # A third of the bytes; the pages have few colours.
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
