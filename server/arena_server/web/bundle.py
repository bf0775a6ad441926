"""One HTML file with the replay page, its scripts, its style and a record: it needs no server.

The modules of `static/js` keep to a subset of ES modules, so that joining them takes no tool: each
import is one line of named imports from a relative path, and only declarations are exported.

    const modules = {};
    modules["a.js"] = (() => { const { B } = modules["b/b.js"]; ...; return { A }; })();
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path, PurePosixPath
from typing import Final

STATIC: Final = Path(__file__).parent / "static"

_IMPORT: Final = re.compile(r'^import \{ ([^}]+) \} from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ((?:async )?function\*?|class|const) ([A-Za-z_$][\w$]*)", re.MULTILINE)


def join_modules(entry: str, folder: Path = STATIC / "js") -> str:
    """One script that does what the module `entry` and all that it imports do.

    Raises ValueError for an import or export that is not of the subset.
    """
    done: dict[str, str] = {}
    _join(entry, folder, done)
    return "const modules = {};\n" + "".join(done.values())


def _join(name: str, folder: Path, done: dict[str, str]) -> None:
    """Add `name` to `done` behind everything that it imports."""
    source = (folder / name).read_text(encoding="utf-8")
    imported = [_resolve(name, path) for _, path in _IMPORT.findall(source)]
    for other in imported:
        if other not in done:
            _join(other, folder, done)
    body = _IMPORT.sub(
        lambda found: f'const {{ {found[1]} }} = modules["{_resolve(name, found[2])}"];', source
    )
    exported = ", ".join(match[2] for match in _EXPORT.finditer(body))
    body = _EXPORT.sub(r"\1 \2", body)
    rest = re.search(r"^\s*(import|export)\b(?!\.).*", body, re.MULTILINE)
    if rest:
        raise ValueError(f"{name}: not of the subset that can be joined: {rest[0]}")
    done[name] = f'modules["{name}"] = (() => {{\n{body}return {{ {exported} }};\n}})();\n'


def _resolve(importer: str, path: str) -> str:
    parts: list[str] = []
    for part in (PurePosixPath(importer).parent / path).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def replay_page(title: str, record: bytes) -> str:
    """The page that replays `record` (the bytes of an exported file)."""
    style = (STATIC / "site.css").read_text(encoding="utf-8")
    icon = b64encode((STATIC / "icon.svg").read_bytes()).decode("ascii")
    # `</script` cannot be part of a script; no module has a reason to contain it.
    script = join_modules("page-replay.js").replace("</script", "<\\/script")
    worker = join_modules("worker.js").replace("</script", "<\\/script")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:image/svg+xml;base64,{icon}">
<style>{style}</style>
<main id="main"></main>
<script type="text/plain" id="worker">{worker}</script>
<script type="text/plain" id="record">{b64encode(record).decode("ascii")}</script>
<script type="module">{script}</script>
</html>
"""


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}"
