"""The files of the site: names, what a page asks for, the size of a first visit, modules that are joined."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from arena_server.web import bundle
from arena_server.web.bundle import LASTING, PAGES, SHARED, join_modules, site_files
from arena_server.web.languages import codes

MENU = ("index", "replay")


class TestFiles:
    def test_a_page_names_files_that_are_there(self) -> None:
        files = site_files(list(PAGES), MENU)
        named: set[str] = set()
        scripts: dict[str, str] = {}
        for page in PAGES:
            text = files[f"{page}.html"].decode()
            names = re.findall(r'(?:src|href|data-worker|data-feed)="([^"]+)"', text)
            names = re.findall(r"&quot;file&quot;:&quot;([^&]+)&quot;", text) + names
            assert all(LASTING.fullmatch(name) for name in names)
            named.update(names)
            scripts[page] = names[-1]
            loaded = "".join(files[each].decode() for each in self.scripts_of(files, page))
            # A page in English does not load the texts of another language.
            assert not re.search("[А-Яа-я]{3,}", loaded)
            assert f'data-page="{page}" data-menu="index.html replay.html"' in text
            # Until the script runs, which knows the reader's language, a page shows no words.
            shown = text.partition("<noscript>")[0] + text.partition("</noscript>")[2]
            assert re.findall(r"[A-Za-z]{2,}", re.sub("<[^>]*>", "", shown)) == ["insertion", "arena"] * 2
        # A browser that prints a page by command does so once it is loaded.
        for page in SHARED:
            script = files[scripts[page]].decode()
            assert script.count("loadedAfter(begin()") == 1
            assert 'await load("loading.js").loadedAfter(spoken.loadCatalogue(' in script
        assert named == {name for name in files if not name.endswith(".html")}
        assert len(set(scripts.values())) == len(PAGES)

    def scripts_of(self, files: dict[str, bytes], page: str) -> list[str]:
        """The script of a page, and those that it imports."""
        text = files[f"{page}.html"].decode()
        own = re.findall(r'<script type="module" src="([^"]+)"', text)
        imported = re.findall(
            r'^import (?:\{ bodies, load \} from )?"\./([^"]+)";$', files[own[0]].decode(), re.MULTILINE
        )
        # The browser asks for all at once.
        assert imported == re.findall(r'<link rel="modulepreload" href="([^"]+)">', text)
        return own + imported

    def test_the_pages_of_a_spectator_share_the_modules_that_two_of_them_need(self) -> None:
        files = site_files(list(PAGES), MENU)
        modules = {
            page: [re.findall(r'^bodies\["([^"]+)"\]', files[each].decode(), re.MULTILINE) for each in names]
            for page in SHARED
            if (names := self.scripts_of(files, page))
        }
        (common,) = {tuple(shared) for _, shared, *_ in modules.values()}
        own = [name for each, *_ in modules.values() for name in each]
        parts = {tuple(part) for _, _, *parts in modules.values() for part in parts}
        of_two = [name for part in parts for name in part]
        assert len({*own, *common, *of_two}) == len(own) + len(common) + len(of_two)
        assert {f"page-{page}.js" for page in SHARED} <= set(own)
        assert "wall.js" in of_two
        assert len(modules["game"]) == 2

    @pytest.mark.parametrize("page", SHARED)
    def test_a_first_visit_is_light(self, page: str) -> None:
        files = site_files(list(PAGES), MENU)
        style = re.findall(r'<link rel="stylesheet" href="([^"]+)"', files[f"{page}.html"].decode())
        catalogues = [name for name, data in files.items() if data.startswith(b"export const catalogue = ")]
        catalogues = [name for name in catalogues if name in files[f"{page}.html"].decode()]
        assert len(catalogues) == len(codes())
        loaded = [f"{page}.html", *style, *self.scripts_of(files, page)]
        sizes = {name: len(gzip.compress(files[name], 9)) for name in (*loaded, *catalogues)}
        assert sum(sizes[name] for name in loaded) <= 70_000
        # In another language one of these comes to it.
        assert max(sizes[name] for name in catalogues) <= 13_000

    def test_the_name_is_another_one_once_the_bytes_are(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = site_files(["index"], MENU)
        assert before == site_files(["index"], MENU)
        for path in [*bundle.STATIC.glob("*.*"), *bundle.STATIC.glob("js/**/*.js")]:
            target = tmp_path / path.relative_to(bundle.STATIC)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes() + (b"b {}\n" if path.name == "site.css" else b""))
        monkeypatch.setattr(bundle, "STATIC", tmp_path)
        after = site_files(["index"], MENU)
        changed = {name.rpartition(".")[2] for name in before.keys() ^ after.keys()}
        assert changed == {"css"}

    def test_a_module_runs_when_it_is_asked_for(self, tmp_path: Path) -> None:
        (tmp_path / "a.js").write_text(
            "// Of a.\n"
            'import { b } from "./sub/b.js";\n'
            "/** Two\n * lines. */\n"
            "export const a = b + 1; // one more\n"
        )
        (tmp_path / "other.js").write_text("throw new Error();\n")
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "b.js").write_text("export const b = 1;\n")
        script = join_modules(["a.js", "other.js"], '"a.js"', tmp_path)
        assert script.splitlines() == [
            "const modules = {}, bodies = {}, load = (name) => modules[name] ??= bodies[name]();",
            'bodies["sub/b.js"] = () => {',
            "const b=1;return { b };",
            "};",
            'bodies["a.js"] = () => {',
            'const{b}=load("sub/b.js");const a=b + 1;return { a };',
            "};",
            'bodies["other.js"] = () => {',
            "throw new Error();return {  };",
            "};",
            'load("a.js");',
        ]

    def test_a_module_outside_the_subset_cannot_be_joined(self, tmp_path: Path) -> None:
        (tmp_path / "a.js").write_text('import * as b from "./b.js";\n')
        with pytest.raises(ValueError, match=r"^a.js: not of the subset that can be joined: import \* as b"):
            join_modules(["a.js"], '"a.js"', tmp_path)
