"""The contest of docs/check.md, served by a real `arena serve`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..forked import Arena

PAGE = Path(__file__).resolve().parents[2] / "docs" / "check.md"
TOKEN = "s3cret"


def config() -> str:
    """The TOML block of the page."""
    found = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


@contextmanager
def serving(folder: Path, server: str = "") -> Iterator[int]:
    """Serve the contest of the page, with these lines in its table [server]; gives the port."""
    file = folder / "check.toml"
    logs = folder / "logs"
    file.write_text(f'{config()}\n[server]\nbot_logs = "{logs}"\n{server}\n', encoding="utf-8")
    command = ["serve", str(file), "--port", "0", "--log-level", "error"]
    command += ["--database", f"sqlite:///{folder / 'arena.db'}"]
    process = Arena(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("listening on "), process.communicate()[1]
        yield int(line.rpartition(":")[2])
    finally:
        process.kill()
        process.communicate()
