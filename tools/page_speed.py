"""Measure the pages of a running site in Chromium: first paint, bytes, layout shift, frames a second.

    arena web --database sqlite:///arena.db --port 2080
    python tools/page_speed.py http://127.0.0.1:2080 [--contest 1] [--game g1] [--slower 4]

Frames are those of a replay on the profile of a phone (390 x 844, 2 pixels a point) whose processor is
`--slower` times as slow; without a graphics card Chromium draws them with the processor, too. Bytes are what
goes over the wire, compressed. A figure of a busy machine says little: look at the load first.
"""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SHIFTS = """
window.shift = 0;
new PerformanceObserver((list) => { for (const each of list.getEntries()) window.shift += each.value; })
  .observe({ type: "layout-shift", buffered: true });
"""
FRAMES = """
window.frames_at = [];
const count = (at) => { window.frames_at.push(at); requestAnimationFrame(count); };
requestAnimationFrame(count);
"""
SETTLED_MS, PLAYED_MS = 1500, 10_000


def main() -> int:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("url", help="the address of the site")
    parser.add_argument("--contest", default="1", help="the number of a contest (default: 1)")
    parser.add_argument("--game", default="g1", help="a game of it that is over (default: g1)")
    parser.add_argument("--slower", type=float, default=4, help="of the phone's processor (default: 4)")
    given = parser.parse_args()
    pages = {
        "index": "index.html",
        "contest": f"contest.html?id={given.contest}",
        "game": f"game.html?contest={given.contest}&game={given.game}",
        "replay": "replay.html",
    }
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        print(f"{'page':10} {'first paint':>12} {'bytes':>9} {'layout shift':>13}")
        for name, path in pages.items():
            paint, size, shift = load(browser, f"{given.url}/{path}")
            print(f"{name:10} {paint:9.0f} ms {size:9,} {shift:13.4f}")
        print(played(browser, f"{given.url}/{pages['game']}#ply=0", given.slower))
        browser.close()
    return 0


def load(browser: Browser, url: str) -> tuple[float, int, float]:
    """First paint (ms), bytes over the wire, and layout shift of a page in an empty cache."""
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    page.add_init_script(SHIFTS)
    sizes: list[int] = []
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
    page.goto(url)
    page.wait_for_timeout(SETTLED_MS)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    shift = page.evaluate("window.shift")
    context.close()
    return paint, sum(sizes), shift


def played(browser: Browser, url: str, slower: float) -> str:
    """The frames of a replay on a slow phone, as a line."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, device_scale_factor=2, is_mobile=True, has_touch=True
    )
    page: Page = context.new_page()
    page.goto(url)
    page.wait_for_selector(".badge.true")
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.keyboard.press("Space")
    page.evaluate(FRAMES)
    page.wait_for_timeout(PLAYED_MS)
    at: list[Any] = page.evaluate("window.frames_at")
    gaps = sorted(after - before for before, after in pairwise(at))
    context.close()
    rate = 1000 * len(gaps) / (at[-1] - at[0])
    usual, most = gaps[len(gaps) // 2], gaps[int(0.95 * len(gaps))]
    return (
        f"replay, processor {slower:g} times slower: {rate:.1f} frames a second; "
        f"a frame takes {usual:.1f} ms (median), {most:.1f} (95 %), {gaps[-1]:.1f} (worst)"
    )


if __name__ == "__main__":
    sys.exit(main())
