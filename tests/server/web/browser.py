"""Debian's Chromium under playwright, and pages that are watched for everything that must not happen."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium")
#: A folder for screenshots, to be looked at; without it none are taken.
SHOTS = os.environ.get("ARENA_SCREENSHOTS")
#: A foreign name that resolves to this machine, for attacks by DNS rebinding.
REBOUND = "rebound.test"
#: The first three are what Chromium 156 loads under its address bar: two more pages that are never seen,
#: each with a process, for every window. A page takes 0.3 s of processor time instead of 0.7 s.
#: Of two such arguments the last counts, so the rest repeats playwright's own that matter to a page.
SWITCHED_OFF = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "SpareRendererForSitePerProcess",
    "AimEnabled",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    # One process less for each page: a page opens in 0.55 s instead of 0.75 s.
    "--in-process-gpu",
    "--disable-background-networking",
    f"--disable-features={','.join(SWITCHED_OFF)}",
    f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1",
]
#: Size, colour scheme, motion and language.
Form = tuple[tuple[int, int], str, str, str]
DESKTOP, PHONE = (1280, 900), (390, 844)
LIMIT_MS = 150_000
#: Rules of axe-core that are off unless they are asked for.
EXPERIMENTAL = {"label-content-name-mismatch": {"enabled": True}}
#: The rules of axe-core that depend on colours.
OF_COLOURS = ("color-contrast", "link-in-text-block")
#: Collects what moves on a page without a visitor's doing, by the browser's own measure.
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) {
    const moved = sources.map(({ node, previousRect: a, currentRect: b }) =>
      `${node?.className || node?.nodeName} ${node?.nodeValue ?? ""} from ${a.x},${a.y} to ${b.x},${b.y}`);
    if (value) window.shifts.push(`${value}: ${moved.join("; ")}`);
  }
}).observe({ type: "layout-shift", buffered: true });
"""

#: Before any script: the page has its streams itself, and they go by its clock, its network and its routes.
WITHOUT_SHARED_WORKER = "delete globalThis.SharedWorker"

#: Every text on a page, with those for screen readers, without code and what is in another language.
SHOWN_TEXTS = """
(() => {
  const found = [document.title];
  const own = (element) => !element.closest("code, pre, script, body [lang]");
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { parentElement: element, textContent } = texts.currentNode;
    const isShown = element.localName === "option" || element.checkVisibility();
    if (own(element) && isShown) found.push(textContent);
  }
  for (const name of ["title", "aria-label", "aria-valuetext", "placeholder", "alt"]) {
    const named = [...document.querySelectorAll(`[${name}]`)].filter(own);
    found.push(...named.map((element) => element.getAttribute(name)));
  }
  return found;
})()
"""
#: The ends of a digest, as the page names the head of a chain; letters among them are no words.
SHORT_DIGEST = "[0-9a-f]{8}…[0-9a-f]{8}"
#: Units, keys and commands; they are the same in all languages.
NOT_WORDS = (
    *(
        "insertion-arena",
        "UTC",
        "ms",
        "MB",
        "SVG",
        "GIF",
        "PNG",
        "Atom",
        "ICS",
        "URL",
    ),
    *(
        "Home",
        "End",
        "ASCII",
        "ARENA_ADMIN_TOKEN",
        ".admin",
        "--admin-port",
        "READY",
        "QUIT",
        "MOVE",
        "arena verify",
    ),
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser; skips the test where there is none."""
    if CHROMIUM is None:
        pytest.skip("no chromium here")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=ARGUMENTS,
        )
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """Opens pages, and afterwards holds that no page broke a rule: see `complaints`."""

    def __init__(self, browser: Browser) -> None:
        self.complaints: list[str] = []
        #: Texts of console errors that a test expects, such as those of a lost connection.
        self.expected: list[str] = []
        self.bytes = 0
        self._browser = browser
        #: What each page was opened with; None for one that was prepared.
        self._pages: dict[Page, Form | None] = {}
        self._origins: dict[Page, str] = {}
        #: Pages that `keep` has kept, by what they were opened with.
        self._kept: dict[Form, Page] = {}

    def open(
        self,
        url: str,
        size: tuple[int, int] = DESKTOP,
        scheme: str = "light",
        motion: str = "no-preference",
        prepare: Callable[[Page], object] | None = None,
        locale: str = "en-US",
        routes: Callable[[Page], object] = lambda page: None,
    ) -> Page:
        """`prepare` may do anything to a page; one with `routes` alone can be kept, without them."""
        form = size, scheme, motion, locale
        page = (None if prepare else self._kept.pop(form, None)) or self._new_page(*form)
        self._pages[page] = None if prepare else form
        self._origins[page] = "/".join(url.split("/")[:3])
        if prepare:
            prepare(page)
        routes(page)
        page.goto(url)
        return page

    def _new_page(self, size: tuple[int, int], scheme: str, motion: str, locale: str) -> Page:
        context = self._browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            locale=locale,
            color_scheme=scheme,  # type: ignore[arg-type]
            reduced_motion=motion,  # type: ignore[arg-type]
        )
        page = context.new_page()
        page.set_default_timeout(LIMIT_MS)

        def request(made: Any) -> None:
            if not made.url.startswith((self._origins[page], "data:", "blob:")):
                self.complaints.append(f"a request to another host: {made.url}")

        page.on("request", request)
        page.on("pageerror", lambda error: self.complaints.append(f"an error: {error}"))
        page.on("console", self._console)
        page.on("response", self._response)
        page.add_init_script(
            "addEventListener('securitypolicyviolation', (event) => "
            "console.error(`a violation of the policy: ${event.violatedDirective} ${event.blockedURI}`))"
        )
        return page

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning") and not any(text in message.text for text in self.expected):
            self.complaints.append(f"on the console: {message.text} ({message.location.get('url')})")

    def _response(self, response: Any) -> None:
        length = response.headers.get("content-length")
        self.bytes += int(length) if length else 0

    def shoot(self, page: Page, name: str) -> None:
        """Keep a picture of the whole page, where ARENA_SCREENSHOTS names a folder."""
        if SHOTS is not None:
            page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)

    def check_access(self, page: Page, rules: tuple[str, ...] = ()) -> None:
        """Hold the page against axe-core's rules for accessibility; all of them unless some are named."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright")
        # Pictures on the way from one place to another have no contrast to judge.
        page.evaluate("document.getAnimations().forEach((animation) => animation.finish())")
        options: dict[str, Any] = {"resultTypes": ["violations"], "rules": EXPERIMENTAL}
        options |= {"runOnly": list(rules)} if rules else {}
        checker = axe.Axe("0") if page.evaluate("'axe' in window") else axe.Axe()
        for found in checker.run(page, options=options).response["violations"]:
            nodes = "; ".join(node["html"][:120] for node in found["nodes"][:3])
            self.complaints.append(f"axe: {found['id']}: {found['help']}: {nodes}")

    def check_schemes(self, page: Page, name: str) -> None:
        """The same in both colour schemes, with a picture of each; the second changes colours alone."""
        for scheme, rules in (("light", ()), ("dark", OF_COLOURS)):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            self.check_access(page, rules)
            self.shoot(page, f"{name}-{scheme}")

    def check_still(self, page: Page, least: float = 0.0) -> None:
        """Hold that nothing has moved by itself by more than `least`; `WATCH_SHIFTS` is its first script."""
        shifts: list[str] = page.evaluate("window.shifts")
        self.complaints += [f"moved: {each}" for each in shifts if float(each.partition(":")[0]) > least]

    def check_language(self, page: Page, *names: str) -> None:
        """Hold that a page in Bulgarian shows no other word in Latin letters than code, units and `names`."""
        words = map(re.escape, sorted((*NOT_WORDS, *names), key=len, reverse=True))
        known = re.compile("|".join([SHORT_DIGEST, *words]))
        for text in page.evaluate(SHOWN_TEXTS):
            if found := re.findall(r"[A-Za-z]{2,}", known.sub(" ", text)):
                self.complaints.append(f"not Bulgarian, on {page.url}: {found} in {text!r:.120}")

    def close(self) -> None:
        """Close all pages; what they complain of afterwards does not count."""
        for page in (*self._pages, *self._kept.values()):
            page.context.close()
        self._pages.clear()
        self._kept.clear()

    def keep(self) -> None:
        """Hold that no rule was broken, and keep the pages for the next test, as they were opened.

        To load one again takes a fifth of the time. Only for a server that lives on.
        """
        complaints, self.complaints = self.complaints, []
        self.expected.clear()
        self.bytes = 0
        for page, form in self._pages.items():
            if form is None or form in self._kept or complaints:
                page.context.close()
                continue
            size, scheme, *_ = form
            page.unroute_all()
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.evaluate("localStorage.clear(), sessionStorage.clear()")
            page.context.clear_cookies()
            self._kept[form] = page
        self._pages.clear()
        assert not complaints, "\n".join(complaints)


@contextmanager
def watched(browser: Browser) -> Iterator[Watched]:
    pages = Watched(browser)
    yield pages
    pages.close()
    assert not pages.complaints, "\n".join(pages.complaints)


def kept_pages() -> tuple[Any, Any]:
    """Fixtures `kept` and `pages` of a module: pages that stay open from test to test."""

    @pytest.fixture(scope="module")
    def kept(browser: Browser) -> Iterator[Watched]:
        pages = Watched(browser)
        yield pages
        pages.close()

    @pytest.fixture
    def pages(kept: Watched) -> Iterator[Watched]:
        yield kept
        kept.keep()

    return kept, pages
