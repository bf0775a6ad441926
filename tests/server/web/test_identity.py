"""`[site]`: its bounds, the logo that is read, and what the pages are given."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from arena_server.errors import ConfigError
from arena_server.terms.schema import SiteTable
from arena_server.web.app import application
from arena_server.web.bundle import LASTING, site_files
from arena_server.web.identity import LOGO_BYTES, NO_IDENTITY, SiteIdentity, identity_of
from arena_server.web.pages import Pages

from .running import running

LOGO = b"PNG of a test"
HOSTILE = "<script>alert('1')</script> \" &"


def test_without_a_table_the_pages_say_nothing(tmp_path: Path) -> None:
    assert identity_of(SiteTable(), tmp_path / "a.toml") == NO_IDENTITY
    assert b"data-site" not in site_files(["index"], ["index"])["index.html"]


def test_texts_and_logo_come_to_every_page(tmp_path: Path) -> None:
    (tmp_path / "club.PNG").write_bytes(LOGO)
    links = {"Rules": "https://example.org/r"}
    table = SiteTable(title=HOSTILE, text="Welcome", links=links, logo="club.PNG")
    about = identity_of(table, tmp_path / "a.toml")
    assert about == SiteIdentity(HOSTILE, "Welcome", (("Rules", "https://example.org/r"),), LOGO, "png")
    files = site_files(["index", "game"], ["index"], about=about)
    (logo,) = (name for name in files if name.endswith(".png"))
    assert LASTING.fullmatch(logo)
    assert files[logo] == LOGO
    for page in ("index.html", "game.html"):
        found = re.search(r'data-site="([^"]*)"', files[page].decode())
        assert found is not None
        assert "<" not in found[1]
        assert json.loads(html.unescape(found[1])) == {
            "title": HOSTILE,
            "text": "Welcome",
            "links": [["Rules", "https://example.org/r"]],
            "logo": logo,
        }
    with running(lambda: application(Pages(["index"], ["index"], about).routes())) as server:
        status, headers, _ = server.ask(f"GET /{logo}")
    assert (status, headers["content-type"]) == (200, "image/png")


@pytest.mark.parametrize(
    ("name", "size", "text"),
    [
        ("logo.gif", 10, r"site.logo: expected a file \*.svg or \*.png, got 'logo.gif'"),
        ("none.svg", None, "site.logo: none.svg: No such file or directory"),
        ("big.svg", LOGO_BYTES + 1, "site.logo: expected at most 100,000 bytes, got 100,001"),
    ],
)
def test_a_logo_that_cannot_be_shown(tmp_path: Path, name: str, size: int | None, text: str) -> None:
    if size is not None:
        (tmp_path / name).write_bytes(b"x" * size)
    with pytest.raises(ConfigError, match=f"a.toml: {text}$"):
        identity_of(SiteTable(logo=name), tmp_path / "a.toml")


@pytest.mark.parametrize(
    "links",
    [{"Rules": "javascript:alert(1)"}, {"x" * 41: "https://example.org"}, {"": "https://example.org"}],
)
def test_a_link_is_an_address_of_the_web(links: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match='expected TEXT = "https://HOST/PATH" with at most 40'):
        SiteTable(links=links)
