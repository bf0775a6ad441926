"""Take the pictures of docs/watch.md: play examples/local.toml and a knockout, photograph pages in Chromium.

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
    ("watch-bracket", "contest.html?id=2#rounds", (1152, 900), "light"),
    ("watch-play", "play.html", (1000, 600), "light"),
]
#: Of these pages the picture is that element.
ELEMENTS = {"watch-bracket": ".panel:has(.bracket)"}
KNOCKOUT = """[contest]
name = "autumn"
title = "Autumn cup"
format = "knockout"
games_per_pair = 2
seed = 13
[game]
plies = 20
"""
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
        cup = Path(scratch, "cup.toml")
        names = ["ann", "bob", "cleo", "dan", "eve", "finn", "gil", "ida", "ivo", "jan", "kaja", "liv", "max"]
        bots = [f'[[bot]]\nname = "{name}"\nengine = "random:seed={i}"\n' for i, name in enumerate(names)]
        cup.write_text(KNOCKOUT + "".join(bots), encoding="utf-8")
        for contest in (ROOT / "examples" / "local.toml", cup):
            subprocess.run(
                [*arena, "tournament", contest, "--no-web", "--database", database],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        # Both are over: it shows them, and offers games.
        server = subprocess.Popen(
            [*arena, "serve", cup, "--port", "0", "--web-port", "0", "--database", database],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            url = next(line.split()[-1] for line in server.stdout if line.startswith("web on "))
            take(url, folder, wanted)
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
    if "play.html" in url:
        page.wait_for_selector(".preview .board")
    if element := ELEMENTS.get(path.stem):
        page.locator(element).screenshot(path=path)
    else:
        page.screenshot(path=path)
    context.close()
    # A third of the bytes; the pages have few colours.
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
