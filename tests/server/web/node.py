"""The site's JavaScript, run by node: one process per test session, a JSON line per request."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

NODE = shutil.which("node")
SCRIPT = Path(__file__).parent / "js" / "check.mjs"


class Refused(Exception):  # noqa: N818
    """A GameError or RecordError of the JavaScript."""


class Node:
    def __init__(self) -> None:
        if NODE is None:
            pytest.skip("no node here")
        self._process = subprocess.Popen(
            [NODE, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def __call__(self, command: str, **arguments: object) -> Any:
        """The answer. Raises Refused for an error that the JavaScript reports on purpose."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"command": command, **arguments}) + "\n")
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            assert answer["kind"] == "expected", answer["kind"]
            raise Refused(answer["error"])
        return answer["value"]

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()
