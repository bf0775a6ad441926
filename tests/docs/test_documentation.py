"""The documentation site: it builds without a warning, its links lead somewhere, it needs no other host."""

from __future__ import annotations

import importlib.util
import re
import runpy
import subprocess
import sys
import tomllib
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import arena_client
from arena_client import asyncio_client, trio_client
from arena_protocol import messages

ROOT = Path(__file__).resolve().parents[2]
MISSING = [name for name in ("furo", "myst_parser", "sphinx") if importlib.util.find_spec(name) is None]
built = pytest.mark.skipif(
    bool(MISSING), reason=f"`make docs` installs what is missing: {', '.join(MISSING)}"
)


class Page(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.anchors.add(given.get("id", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and "href" in given:
            self.loaded.append(given["href"])
        elif "src" in given:
            self.loaded.append(given["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, built by the command of the Makefile."""
    folder = tmp_path_factory.mktemp("site")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    command = re.search(r"\$\(BIN\)/python (-m sphinx .*) -d build/doctrees \. build/docs\n", makefile)
    assert command
    built = subprocess.run(
        [sys.executable, *command[1].split(), "-d", str(folder / "doctrees"), ".", str(folder / "docs")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert (built.returncode, built.stderr) == (0, "")
    return folder / "docs"


@cache
def page(path: Path) -> Page:
    return Page(path)


def pages(site: Path) -> list[Path]:
    return [path for path in site.rglob("*.html") if "_downloads" not in path.parts]


@built
@pytest.mark.slow
def test_every_link_inside_the_site_leads_to_a_page_and_a_place_on_it(site: Path) -> None:
    lost = []
    for path in pages(site):
        for link in page(path).links:
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = unquote(link).partition("#")
            target = (path.parent / name).resolve() if name else path
            if not target.is_file() or (
                anchor and target.suffix == ".html" and anchor not in page(target).anchors
            ):
                lost.append((path.relative_to(site).as_posix(), link))
    assert not lost


@built
@pytest.mark.slow
def test_the_site_loads_nothing_from_other_hosts(site: Path) -> None:
    for path in pages(site):
        for address in page(path).loaded:
            if address.startswith("#"):
                continue  # the search page names itself
            assert not re.match(r"([a-z]+:)?//", address), (path, address)
            assert (path.parent / unquote(address).partition("?")[0]).is_file(), (path, address)
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", sheet.read_text(encoding="utf-8")), (
            sheet
        )


@built
@pytest.mark.slow
def test_the_sidebar_names_every_page_once(site: Path) -> None:
    text = (site / "docs" / "index.html").read_text(encoding="utf-8")
    sidebar = text.partition('<div class="sidebar-tree">')[2].partition("</aside>")[0]
    links = re.findall(r'href="(.*?)"', sidebar)
    assert len(links) == len(set(links))
    listed = {(site / "docs" / link.partition("#")[0]).resolve() for link in links}
    documents = {path for path in (site / "docs").glob("*.html") if path.name != "index.html"}
    assert documents <= listed


@built
@pytest.mark.slow
def test_every_document_is_a_page_of_the_site(site: Path) -> None:
    for document in [*(ROOT / "docs").glob("*.md"), *(ROOT / "protocol").glob("*.md")]:
        assert (site / document.relative_to(ROOT)).with_suffix(".html").is_file(), document
    assert "docs/index.html" in page(site / "index.html").links


def is_public(name: str, value: object) -> bool:
    return not name.startswith("_") and getattr(value, "__module__", "") == messages.__name__


@built
@pytest.mark.slow
def test_the_reference_has_every_public_name(site: Path) -> None:
    client = page(site / "docs" / "api-client.html").anchors
    assert {f"arena_client.{name}" for name in arena_client.__all__} <= client
    for module in (asyncio_client, trio_client):
        assert {f"{module.__name__}.{name}" for name in ("run", "play", "connect", "Connection")} <= client
    protocol = page(site / "docs" / "api-protocol.html").anchors
    own = {name for name, value in vars(messages).items() if is_public(name, value)}
    assert {f"arena_protocol.messages.{name}" for name in own} <= protocol


def test_the_index_begins_with_the_table_for_each_kind_of_user() -> None:
    first = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").partition("\n## ")[0]
    assert "| if you want to ... | start here |" in first
    assert re.findall(r"^\| \*\*(.*?)\*\*", first, re.MULTILINE)[:3] == [
        "bot author",
        "organiser",
        "spectator",
    ]
    assert len(first.splitlines()) < 30


def test_the_packages_of_the_site_are_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.split("[><=]", each)[0] for each in project["optional-dependencies"]["docs"]}
    pinned = {
        line.split("==")[0].lower()
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    }
    assert wanted == {"furo", "myst-parser", "sphinx"}
    assert wanted <= pinned


def test_the_documentation_has_the_colours_of_the_pages() -> None:
    """`conf.py` reads them from the style sheet: a colour that is renamed there would end the build."""
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    light, dark = (conf["html_theme_options"][f"{theme}_css_variables"] for theme in ("light", "dark"))
    sheet = (conf["STATIC"] / "site.css").read_text(encoding="utf-8")
    for theme in (light, dark):
        colours = [theme[name] for name in conf["COLOURS"]]
        assert all(re.fullmatch("#[0-9a-f]{6}", colour) and colour in sheet for colour in colours)
    assert light["color-background-primary"] != dark["color-background-primary"]
