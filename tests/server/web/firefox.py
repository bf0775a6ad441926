"""Debian's Firefox under WebDriver BiDi (W3C): pages that are watched for errors and refused content.

Playwright drives a Firefox of its own alone. One connection, commands one after the other; events that come
between are kept.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ..programs import PATIENCE_S

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
#: Nothing of this may go to the network, and no page of the browser's own may open.
PREFERENCES = """
user_pref("app.update.disabledForTesting", true);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("extensions.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,none");
user_pref("toolkit.telemetry.enabled", false);
"""
#: The console has no event for content that the policy refuses.
WATCH_POLICY = """() => addEventListener("securitypolicyviolation", (event) =>
  console.error(`a violation of the policy: ${event.violatedDirective} ${event.blockedURI}`))"""
POLL_S = 0.05


class Firefox:
    """`complaints` are errors of scripts and of the console."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._number = 0
        self.complaints: list[str] = []
        self.version: str = self.call("session.new", capabilities={})["capabilities"]["browserVersion"]
        self.call("session.subscribe", events=["log.entryAdded"])
        self.call("script.addPreloadScript", functionDeclaration=WATCH_POLICY)

    def call(self, method: str, **parameters: Any) -> Any:
        """The result of a command. Raises AssertionError for an error."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            found = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if found.get("id") == self._number:
                assert found["type"] == "success", found
                return found["result"]
            if found.get("method") == "log.entryAdded" and found["params"]["level"] == "error":
                place = found["params"]["source"].get("context")
                self.complaints.append(f"{found['params']['text']} ({place})")

    def open(self, url: str, size: tuple[int, int] = (1280, 900)) -> FirefoxPage:
        context = self.call("browsingContext.create", type="tab")["context"]
        viewport = {"width": size[0], "height": size[1]}
        self.call("browsingContext.setViewport", context=context, viewport=viewport)
        page = FirefoxPage(self, context)
        page.go(url)
        return page


class FirefoxPage:
    """One tab."""

    def __init__(self, browser: Firefox, context: str) -> None:
        self._browser = browser
        self._context = context

    def go(self, url: str) -> None:
        self._browser.call("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def close(self) -> None:
        self._browser.call("browsingContext.close", context=self._context)

    def evaluate(self, code: str) -> Any:
        """The value of an expression of JSON's types."""
        found = self._browser.call(
            "script.evaluate",
            expression=f"JSON.stringify({code})",
            target={"context": self._context},
            awaitPromise=True,
        )
        assert found["type"] == "success", found
        return json.loads(found["result"].get("value", "null"))

    def wait(self, code: str) -> Any:
        """The value of an expression, once it is true; in front: a page that is hidden has no stream."""
        self._browser.call("browsingContext.activate", context=self._context)
        until = time.monotonic() + PATIENCE_S
        while not (value := self.evaluate(code)):
            assert time.monotonic() < until, f"{code}: {self.evaluate('document.body.innerText')}"
            time.sleep(POLL_S)
        return value

    def see(self, text: str, selector: str = "body") -> None:
        """Wait for a text in one of the elements."""
        self.wait(
            f"[...document.querySelectorAll({json.dumps(selector)})].some(each => each.checkVisibility()"
            f" && each.innerText.replace(/\\s+/g, ' ').includes({json.dumps(text)}))"
        )

    def click(self, selector: str, text: str = "") -> None:
        """Press and release the mouse on the first such element with this text, which is waited for."""
        find = (
            f"[...document.querySelectorAll({json.dumps(selector)})].find(each => "
            f"!each.disabled && each.checkVisibility() && each.textContent.includes({json.dumps(text)}))"
        )
        x, y = self.wait(
            "(each => { each?.scrollIntoView({block: 'center'}); const box = each?.getBoundingClientRect();"
            f" return box && [box.x + box.width / 2, box.y + box.height / 2]; }})({find})"
        )
        pointer = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": pointer})

    def press(self, *keys: str) -> None:
        """Press keys, as WebDriver writes them."""
        pressed = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keys", "actions": pressed})

    def _act(self, source: dict[str, Any]) -> None:
        self._browser.call("input.performActions", context=self._context, actions=[source])


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """A browser with a new profile in `folder`; skips the test where there is none."""
    if FIREFOX is None:
        pytest.skip("no firefox here")
    client = pytest.importorskip("websockets.sync.client")
    profile = folder / "profile"
    profile.mkdir()
    (profile / "user.js").write_text(PREFERENCES)
    command = [FIREFOX, "--headless", "--no-remote", "--profile", str(profile)]
    with subprocess.Popen(
        [*command, "--remote-debugging-port", "0", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        try:
            said = (re.search(r"WebDriver BiDi listening on (ws://\S+)", line) for line in process.stderr)
            address = next(found[1] for found in said if found)
            with client.connect(f"{address}/session", max_size=None, proxy=None) as socket:
                browser = Firefox(socket)
                yield browser
                assert not browser.complaints, "\n".join(browser.complaints)
        finally:
            process.kill()
