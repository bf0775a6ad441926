"""Measure the pages of a running site in Chromium: first paint, bytes, layout shift, frames a second.

    arena web --database sqlite:///arena.db --port 2080
    python -m benchmarks.page_speed http://127.0.0.1:2080 [--contest 1] [--game g1] [--slower 4]

The rival in the same run is a page of one sentence from a server of the standard library: it has the same
browser, machine and load. Each first paint is the median of RUNS loads with an empty cache, after one more
that warms the server up. Bytes are what goes over the wire, compressed, with documents and headers, until
half a second brings nothing new, or for five seconds. Frames are those of a replay on the profile of a phone
(390 x 844, 2 pixels a point) whose processor is `--slower` times as slow; without a graphics card Chromium
draws them with the processor, too.

The last lines say what is wanted of a page: at most 70,000 bytes for a first visit, no layout shift, 0.3 s of
the main thread a minute and live game, and clocks within 0.2 s of the charge on an idle machine.

With `--live N` the wall of the running contest N and one of its games are watched for `--seconds` each:
layout shift, processor seconds of the main thread a minute and live game, beside those of the plain page,
and by how much each clock jumps when the referee charges a ply: the error of what it has shown.
"""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from statistics import median
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

RUNS = 5
#: A page is there when nothing has come for so long, or after LONGEST_MS: a contest that plays sends more.
QUIET_MS, LONGEST_MS, LOOK_MS = 500, 5000, 50
#: What is wanted of the pages, beside what is measured.
VISIT_BYTES, BUSY_S, CLOCK_S = 70_000, 0.3, 0.2
DESKTOP, PHONE = (1366, 768), (390, 844)
PLAYED_MS = 10_000
PLAIN = b"<!doctype html><html lang=en><title>Plain</title><p>A page of one sentence."
#: Notes layout shifts, and when the first element of each selector of MARKS is there.
NOTES = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) window.shift += each.value;
}).observe({ type: "layout-shift", buffered: true });
window.seen = {};
new MutationObserver(() => {
  for (const [name, selector] of Object.entries(MARKS)) {
    if (!(name in window.seen) && document.querySelector(selector)) window.seen[name] = performance.now();
  }
}).observe(document, { childList: true, subtree: true });
"""
FIGURES = """() => ({
  paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  shift: window.shift,
  seen: window.seen,
})"""
FRAMES = """
window.frames_at = [];
const count = (at) => { window.frames_at.push(at); requestAnimationFrame(count); };
requestAnimationFrame(count);
"""


#: The text that a reader sees of a `.clock`: that of one which runs is on a strip, see `js/clock.js`.
SEEN = """
const seen = (clock) => {
  if (!clock.classList.contains("runs")) return clock.textContent;
  const [minutes, strip] = clock.querySelectorAll("[data-shows]");
  const rows = strip.dataset.shows.split("\\n");
  const { top, height } = strip.getBoundingClientRect();
  const moved = (strip.parentElement.parentElement.parentElement.getBoundingClientRect().top - top) / height;
  return minutes.dataset.shows + rows[Math.round(moved * rows.length)];
};
"""
#: Notes at each frame by how many ms a clock jumps when its seat has moved.
CLOCKS = (
    SEEN
    + """
window.jumps = [];
const before = new Map();
const ms = (text) => { const [m, s] = text.split(":"); return 60_000 * m + 1000 * s; };
const look = () => {
  for (const seat of document.querySelectorAll(".seat")) {
    const moving = seat.classList.contains("moving");
    const clock = ms(seen(seat.querySelector(".clock")));
    const last = before.get(seat);
    if (last?.moving && !moving) window.jumps.push(Math.abs(clock - last.clock));
    before.set(seat, { moving, clock });
  }
  requestAnimationFrame(look);
};
look();
"""
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Medians of loads: first paint and `seen` in ms, bytes over the wire, layout shift."""

    paint: float
    bytes: float
    shift: float
    seen: Mapping[str, float]


def loaded(
    browser: Browser, url: str, size: tuple[int, int] = DESKTOP, marks: Mapping[str, str] | None = None
) -> Loaded:
    """Load a page with an empty cache; `marks` are selectors of elements that are waited for."""
    runs = [_load(browser, url, size, marks or {}) for _ in range(RUNS + 1)][1:]
    return Loaded(
        median(run.paint for run in runs),
        median(run.bytes for run in runs),
        median(run.shift for run in runs),
        {name: median(run.seen[name] for run in runs) for name in marks or {}},
    )


def _load(browser: Browser, url: str, size: tuple[int, int], marks: Mapping[str, str]) -> Loaded:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, locale="en-US")
    page = context.new_page()
    page.add_init_script(f"const MARKS = {dict(marks)!r};{NOTES}")
    sizes: list[int] = []
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
    page.goto(url)
    for selector in marks.values():
        page.wait_for_selector(selector)
    # A running contest sends for ever: its network is never idle.
    seen, quiet = len(sizes), 0
    for _ in range(LONGEST_MS // LOOK_MS):
        page.wait_for_timeout(LOOK_MS)
        seen, quiet = len(sizes), quiet + LOOK_MS if len(sizes) == seen else 0
        if quiet >= QUIET_MS:
            break
    found: dict[str, Any] = page.evaluate(FIGURES)
    context.close()
    return Loaded(found["paint"], sum(sizes), found["shift"], found["seen"])


@contextmanager
def plain_page() -> Iterator[str]:
    """The address of the rival."""

    class Plain(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(PLAIN)))
            self.end_headers()
            self.wfile.write(PLAIN)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Plain) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


@contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        sys.exit("page_speed measures in Chromium: there is no program `chromium` in PATH")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def frames(browser: Browser, url: str, slower: float, *, replay: bool) -> list[float]:
    """The times between two frames (ms, ascending) on a slow phone, of a replay or of a page at rest."""
    context = browser.new_context(
        viewport={"width": PHONE[0], "height": PHONE[1]},
        device_scale_factor=2,
        is_mobile=True,
        has_touch=True,
    )
    page: Page = context.new_page()
    page.goto(url)
    if replay:
        page.wait_for_selector(".badge.true")
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
    if replay:
        page.keyboard.press("Space")
    page.evaluate(FRAMES)
    page.wait_for_timeout(PLAYED_MS)
    at: list[float] = page.evaluate("window.frames_at")
    context.close()
    return sorted(after - before for before, after in pairwise(at))


@dataclass(frozen=True, slots=True)
class Watched:
    """Main thread in s a minute, layout shift, running games, jumps of clocks in ms."""

    busy: float
    shift: float
    games: int
    jumps: list[float]


def watched(browser: Browser, url: str, seconds: float, ready: str) -> Watched:
    """Watch `url` once `ready` is there; what loading takes is not counted, what it moves is."""
    context = browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, locale="en-US")
    page = context.new_page()
    page.add_init_script(f"const MARKS = {{}};{NOTES}")
    session = context.new_cdp_session(page)
    # By the processor time of the main thread: another process that has the processor does not count.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(url)
    page.wait_for_selector(ready)
    page.wait_for_timeout(2000)
    games = page.locator(".card:not(.over)").count()

    def busy() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))

    before = busy()
    page.wait_for_timeout(1000 * seconds)
    used = (busy() - before) * 60 / seconds
    shift: float = page.evaluate("window.shift")
    # Behind the measured time: to look at the clocks takes time of the main thread, too.
    jumps: list[float] = []
    if page.locator(".seat .clock").count():
        page.evaluate(CLOCKS)
        page.wait_for_timeout(1000 * seconds)
        jumps = page.evaluate("window.jumps")
    context.close()
    return Watched(used, shift, games, sorted(jumps))


def live_pages(browser: Browser, plain: str, url: str, contest: str, seconds: float) -> None:
    at_rest = watched(browser, plain, seconds, "p")
    print(f"plain page at rest: main thread {at_rest.busy:.2f} s a minute")
    wall = watched(browser, f"{url}/contest.html?id={contest}", seconds, ".card:not(.over)")
    games = max(1, wall.games)
    print(
        f"wall of {games}: layout shift {wall.shift:.4f}, main thread {wall.busy:.2f} s a minute, "
        f"{wall.busy / games:.2f} a game",
        flush=True,
    )
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{url}/contest.html?id={contest}")
    page.wait_for_selector(".card:not(.over)")
    address: str = page.evaluate("document.querySelector('.card:not(.over)').href")
    context.close()
    game = watched(browser, address, seconds, ".seat.moving")
    print(f"running game: layout shift {game.shift:.4f}, main thread {game.busy:.2f} s a minute")
    if game.jumps:
        print(
            f"clocks of {len(game.jumps)} plies: error {median(game.jumps) / 1000:.2f} s (median), "
            f"{game.jumps[-1] / 1000:.2f} s (worst)"
        )
    print(
        f"wanted: layout shift 0.0000, main thread at most {BUSY_S} s a minute and live game, "
        f"clocks within {CLOCK_S} s on an idle machine"
    )


def main() -> int:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("url", help="the address of the site")
    parser.add_argument("--contest", default="1", help="the number of a contest (default: 1)")
    parser.add_argument("--game", default="g1", help="a game of it that is over (default: g1)")
    parser.add_argument("--slower", type=float, default=4, help="of the phone's processor (default: 4)")
    parser.add_argument("--live", metavar="N", help="watch this running contest, and nothing else")
    parser.add_argument("--seconds", type=float, default=60, help="how long to watch a page (default: 60)")
    given = parser.parse_args()
    from playwright.sync_api import Error

    try:
        return measured(given)
    except Error as error:
        print(f"page_speed: {error.message.splitlines()[0]}", file=sys.stderr)
        return 1


def measured(given: Namespace) -> int:
    if given.live is not None:
        with chromium() as browser, plain_page() as plain:
            live_pages(browser, plain, given.url, given.live, given.seconds)
        return 0
    game = f"game.html?contest={given.contest}&game={given.game}"
    pages = {
        "index": "index.html",
        "contest": f"contest.html?id={given.contest}",
        "game": game,
        "replay": "replay.html",
    }
    with chromium() as browser, plain_page() as plain:
        rival = loaded(browser, plain)
        print(f"{'page':10} {'first paint':>12} {'of plain':>9} {'bytes':>9} {'layout shift':>13}")
        for name, url in {
            "plain": plain,
            **{name: f"{given.url}/{path}" for name, path in pages.items()},
        }.items():
            page = rival if name == "plain" else loaded(browser, url)
            share = page.paint / rival.paint
            print(
                f"{name:10} {page.paint:9.0f} ms {share:9.2f} {page.bytes:9,.0f} {page.shift:13.4f}",
                flush=True,
            )
        print(f"wanted: at most {VISIT_BYTES:,} bytes for a first visit, layout shift 0.0000", flush=True)
        shown = browser.new_page()
        shown.goto(f"{given.url}/{game}")
        shown.wait_for_selector(".badge, .seat.moving, .error")
        if not shown.locator(".badge").count():
            print(f"no replay: game {given.game} of contest {given.contest} has no record yet; see --game")
            return 0
        at_rest = frames(browser, plain, given.slower, replay=False)
        gaps = frames(browser, f"{given.url}/{game}#ply=0", given.slower, replay=True)
    rate, most = 1000 * len(gaps) / sum(gaps), gaps[int(0.95 * len(gaps))]
    print(
        f"replay, processor {given.slower:g} times slower: {rate:.1f} frames a second, "
        f"{rate / (1000 * len(at_rest) / sum(at_rest)):.2f} of those of the plain page at rest; "
        f"a frame takes {median(gaps):.1f} ms (median), {most:.1f} (95 %), {gaps[-1]:.1f} (worst)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
