"""The pages as files: HTML, one script and one style for all of them; and files that need no server.

The modules of `static/js` keep to a subset of ES modules, so that joining them takes no tool: each
import is one line of named imports from a relative path, and only declarations are exported. A module
runs when the first other one asks for it, so that a page runs what it needs:

    const modules = {}, bodies = {}, load = (name) => modules[name] ??= bodies[name]();
    bodies["a.js"] = () => { const { B } = load("b/b.js"); ...; return { A }; };
    load("a.js");

The pages that a spectator goes through share a script of the modules that two of them need, and each has one
with the rest; each of the others has a script of its own. A page loads the catalogue of its language
alone (`languages.py`), that of the spectators' pages without the texts of the others, and none in English.
Scripts and style have a digest of their bytes in their names: a browser may keep them for ever.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any, Final

from arena_server.web import blanks, languages
from arena_server.web.identity import NO_IDENTITY, SiteIdentity
from arena_server.web.security import digest_source

STATIC: Final = Path(__file__).parent / "static"
#: `page-NAME.js` is the entry of each page.
PAGES: Final = ("index", "contest", "bot", "game", "pair", "replay", "tv", "play", "organiser", "register")
#: The pages whose modules are shared, where two of them need one.
SHARED: Final = ("index", "contest", "bot", "game")
#: The title of a page whose organiser has given none.
NAME: Final = "insertion-arena"
WORKER: Final = "worker.js"
#: The connection that all pages of a browser share.
FEED: Final = "feed-worker.js"
LANGUAGE, LOADING = "language.js", "loading.js"
#: The files that never change under their name.
LASTING: Final = re.compile(r"site-[0-9a-f]{16}\.(js|css|svg|png)")

#: Comments on lines of their own: a fifth of what a browser would load.
_COMMENT: Final = re.compile(r"^[ \t]*(?://[^\n]*|/\*.*?\*/[ \t]*)\n", re.MULTILINE | re.DOTALL)
#: Blanks that a browser would load for nothing; no text of a module goes over several lines.
_INDENT: Final = re.compile(r"^ +", re.MULTILINE)
_IMPORT: Final = re.compile(r'^import \{\s([^}]+?),?\s\} from "(\.[^"]+)";$', re.MULTILINE)
#: Before the modules of a script.
_HEAD: Final = "const modules = {}, bodies = {}, load = (name) => modules[name] ??= bodies[name]();\n"
_EXPORT: Final = re.compile(r"^export ((?:async )?function\*?|class|const) ([A-Za-z_$][\w$]*)", re.MULTILINE)


def site_files(
    pages: Sequence[str], menu: Sequence[str], head: str = "", about: SiteIdentity = NO_IDENTITY
) -> dict[str, bytes]:
    """The files of a site with these pages (names of PAGES); the header of each links to those of `menu`.

    `head` is put into the head of every page.
    """
    imported, scripts = _shared_scripts()
    scripts = {page: scripts.get(page) or _script(page) for page in pages}
    shared = {script for page in SHARED for script in imported[page]}
    watched = [*shared, *(script for page, script in scripts.items() if page in SHARED)]
    kinds = {page in SHARED for page in pages}
    catalogues = {
        (code, part): _catalogue(code, watched if part else None)
        for code in languages.codes()
        for part in kinds
    }
    spoken = {
        part: _languages({code: _lasting(catalogues[code, part], "js") for code in languages.codes()})
        for part in kinds
    }
    # A file of its own: the check of a record on a phone begins without the pages' modules.
    worker = join_modules([WORKER], f'"{WORKER}"').encode()
    feed = join_modules([FEED], f'"{FEED}"').encode()
    assets = {"css": _style(), "svg": _static("icon.svg")}
    names = {kind: _lasting(data, kind) for kind, data in assets.items()}
    logo = {} if about.logo is None else {_lasting(about.logo, about.kind): about.logo}
    links = " ".join(f"{name}.html" for name in menu)
    said = _identity(about, next(iter(logo), None))
    parts = {"worker": worker, "feed": feed}
    own = " ".join(f'data-{name}="{_lasting(part, "js")}"' for name, part in parts.items())
    attributes = f'data-menu="{links}" {own}{said}'
    title = about.title or NAME
    # Else the browser would ask for them once it has the page's own script.
    soon = {
        page: "".join(f'<link rel="modulepreload" href="{_lasting(script, "js")}">\n' for script in needed)
        for page, needed in imported.items()
    }
    html = {
        f"{page}.html": _page(
            page,
            attributes + spoken[page in SHARED],
            names | {"js": _lasting(script, "js")},
            soon.get(page, "") + head,
            title,
        ).encode()
        for page, script in scripts.items()
    }
    all_scripts = (*scripts.values(), *parts.values(), *catalogues.values(), *shared)
    lasting = {_lasting(script, "js"): script for script in all_scripts}
    return html | {names[kind]: data for kind, data in assets.items()} | lasting | logo


#: In another language than English a page waits for the catalogue.
_WAIT: Final = (
    f'const spoken = load("{LANGUAGE}");\n'
    f'if (spoken.language !== "en") await load("{LOADING}").loadedAfter(spoken.loadCatalogue());\n'
)


def _script(page: str) -> bytes:
    """The whole script of a page."""
    return join_modules([LOADING, f"page-{page}.js"], f'"page-{page}.js"', before=_WAIT).encode()


def _shared_scripts() -> tuple[dict[str, list[bytes]], dict[str, bytes]]:
    """The scripts that each page of SHARED imports, and its own.

    The first is common to all. What two pages alone need, other than that of a game, is a script of theirs:
    most links lead to a game, which would load it for nothing.
    """
    needed = {page: _modules([LOADING, f"page-{page}.js"]) for page in SHARED}
    groups: dict[tuple[str, ...], str] = {SHARED: ""}
    own = dict.fromkeys(SHARED, "")
    for name, body in {name: body for modules in needed.values() for name, body in modules.items()}.items():
        users = tuple(page for page in SHARED if name in needed[page])
        if len(users) == 1:
            own[users[0]] += body
        else:
            group = users if len(users) == 2 and "game" not in users else SHARED
            groups[group] = groups.get(group, "") + body
    common = f"{_HEAD}{groups.pop(SHARED)}export {{ bodies, load }};\n".encode()
    begin = f'import {{ bodies, load }} from "./{_lasting(common, "js")}";\n'
    parts = {users: f"{begin}{text}".encode() for users, text in groups.items()}
    imported = {page: [common, *(part for users, part in parts.items() if page in users)] for page in SHARED}
    scripts = {}
    for page, text in own.items():
        more = "".join(f'import "./{_lasting(part, "js")}";\n' for part in imported[page][1:])
        scripts[page] = f'{begin}{more}{text}{_WAIT}load("page-{page}.js");\n'.encode()
    return imported, scripts


def _catalogue(code: str, scripts: Iterable[bytes] | None) -> bytes:
    """The catalogue of a language as a module; of the texts, those that stand in `scripts`, or all."""
    catalogue = languages.of_pages(code, None if scripts is None else map(bytes.decode, scripts))
    text = json.dumps(catalogue, ensure_ascii=False, separators=(",", ":"))
    return f"export const catalogue = {text};\n".encode()


def _languages(files: Mapping[str, str | None]) -> str:
    """The attribute by which a page knows the languages; `files` are the addresses of their catalogues."""
    known = {code: {"name": languages.name(code), "file": file} for code, file in files.items()}
    return f' data-languages="{escape(json.dumps(known, ensure_ascii=False, separators=(",", ":")))}"'


def _no_script() -> str:
    known = {code: languages.written(code, "These pages need JavaScript.") for code in languages.all_codes()}
    lines = (f'<p lang="{code}">{escape(text)}</p>' for code, text in known.items())
    return f"<noscript>{''.join(lines)}</noscript>"


def _identity(about: SiteIdentity, logo: str | None) -> str:
    """The attribute by which a page knows its organiser; `logo` is the address of the picture."""
    said = {"title": about.title, "text": about.text, "links": about.links, "logo": logo}
    shown = {key: value for key, value in said.items() if value}
    return f' data-site="{escape(json.dumps(shown, ensure_ascii=False))}"' if shown else ""


def _lasting(data: bytes, kind: str) -> str:
    return f"site-{sha256(data).hexdigest()[:16]}.{kind}"


def _static(name: str) -> bytes:
    return (STATIC / name).read_bytes()


def _style() -> bytes:
    """The style sheet without its comments and without blanks that say nothing."""
    text = re.sub(r"/\*.*?\*/", "", _static("site.css").decode("utf-8"), flags=re.DOTALL)
    return blanks.style(text).encode()


def _page(page: str, attributes: str, names: dict[str, str], head: str, title: str) -> str:
    # Its script knows the reader's language: until it runs no word of a language is shown.
    return f"""<!doctype html>
<html lang="en" data-page="{page}" {attributes}>
<meta charset="utf-8">
{head}<title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="{names["svg"]}">
<link rel="stylesheet" href="{names["css"]}">
<main id="main"><h1>{escape(title)}</h1><p class="empty">...</p>{_no_script()}</main>
<script type="module" src="{names["js"]}"></script>
</html>
"""


def join_modules(
    entries: Iterable[str], first: str, folder: Path = STATIC / "js", *, before: str = ""
) -> str:
    """One script of the modules `entries` and all that they import; it runs the one that `first` names.

    `first` is an expression; the statements `before` run before it. Raises ValueError for an import or
    export that is not of the subset.
    """
    return f"{_HEAD}{''.join(_modules(entries, folder).values())}{before}load({first});\n"


def _modules(entries: Iterable[str], folder: Path = STATIC / "js") -> dict[str, str]:
    """The statements that define `entries` and all that they import, by their names."""
    done: dict[str, str] = {}
    for entry in entries:
        _join(entry, folder, done)
    return done


def _join(name: str, folder: Path, done: dict[str, str]) -> None:
    """Add `name` to `done`, and everything that it imports."""
    if name in done:
        return
    imported, statement = _converted(name, (folder / name).read_text(encoding="utf-8"))
    for each in imported:
        _join(each, folder, done)
    done[name] = statement


@cache  # each page is joined of nearly the same modules
def _converted(name: str, source: str) -> tuple[tuple[str, ...], str]:
    """The modules that a module imports, and the statement that defines it. Raises ValueError."""
    imported = tuple(_resolve(name, path) for _, path in _IMPORT.findall(source))
    body = _IMPORT.sub(lambda found: f'const {{ {found[1]} }} = load("{_resolve(name, found[2])}");', source)
    body = _COMMENT.sub("", body)
    exported = ", ".join(match[2] for match in _EXPORT.finditer(body))
    body = _EXPORT.sub(r"\1 \2", body)
    body = _INDENT.sub("", body)
    rest = re.search(r"^\s*(import|export)\b(?!\.).*", body, re.MULTILINE)
    if rest:
        raise ValueError(f"{name}: not of the subset that can be joined: {rest[0]}")
    body = blanks.script(body)
    return imported, f'bodies["{name}"] = () => {{\n{body}return {{ {exported} }};\n}};\n'


def _resolve(importer: str, path: str) -> str:
    parts: list[str] = []
    for part in (PurePosixPath(importer).parent / path).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def replay_page(title: str, record: bytes, scenes: Mapping[str, Any] | None = None) -> str:
    """The page that replays `record` (the bytes of an exported file).

    `scenes` are its positions, for a game whose rules the page does not have.
    """
    shown = json.dumps(scenes, separators=(",", ":")).encode()
    texts = {'id="record"': record, 'id="scenes"': shown}
    data = {attribute: b64encode(each).decode("ascii") for attribute, each in texts.items()}
    return _one_file(title, "", _whole_script(["page-replay.js"], '"page-replay.js"'), data)


#: The pages of a report; the first is that of an address without `page=`.
REPORT_PAGES: Final = ("contest", "bot", "game", "pair")


def packed(data: bytes) -> str:
    """A document as a report holds it."""
    return b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")


def report_page(
    title: str, contest: int, documents: Mapping[str, str], about: SiteIdentity = NO_IDENTITY
) -> str:
    """The pages of one contest, its number, in one file; `documents` are those of the API, each `packed`."""
    known = ", ".join(f'{name}: "page-{name}.js"' for name in REPORT_PAGES)
    first = f'({{ {known} }})[new URLSearchParams(location.search).get("page") ?? "{REPORT_PAGES[0]}"]'
    script = _whole_script([f"page-{name}.js" for name in REPORT_PAGES], first)
    data = {f'data-path="{path}"': text for path, text in documents.items()}
    logo = None
    if about.logo is not None:
        kind = {"svg": "svg+xml"}.get(about.kind, about.kind)
        logo = f"data:image/{kind};base64,{b64encode(about.logo).decode('ascii')}"
    return _one_file(title, f' data-contest="{contest}"{_identity(about, logo)}', script, data)


def _whole_script(entries: Sequence[str], first: str) -> str:
    """The script of a file that holds the catalogues itself."""
    return join_modules([LANGUAGE, LOADING, *entries], first, before=_WAIT)


def _one_file(title: str, attributes: str, script: str, data: Mapping[str, str]) -> str:
    """A page that needs no other file; `data` by the attribute of the element that holds it."""
    style = _style().decode("utf-8")
    icon = b64encode(_static("icon.svg")).decode("ascii")
    # `</script` cannot be part of a script; no module has a reason to contain it.
    script = script.replace("</script", "<\\/script")
    worker = join_modules([WORKER], f'"{WORKER}"').replace("</script", "<\\/script")
    policy = (
        f"default-src 'none'; script-src {digest_source(script)}; style-src {digest_source(style)}; "
        "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )
    own = {f'data-language="{code}"': languages.of_pages(code, [script]) for code in languages.codes()}
    texts = {
        name: packed(json.dumps(catalogue, ensure_ascii=False).encode()) for name, catalogue in own.items()
    }
    spoken = _languages(dict.fromkeys(languages.codes()))
    held = "\n".join(
        f'<script type="text/plain" {attribute}>{text}</script>'
        for attribute, text in (texts | dict(data)).items()
    )
    return f"""<!doctype html>
<html lang="en"{attributes}{spoken}>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:image/svg+xml;base64,{icon}">
<style>{style}</style>
<main id="main"></main>
<script type="text/plain" id="worker">{worker}</script>
{held}
<script type="module">{script}</script>
</html>
"""
