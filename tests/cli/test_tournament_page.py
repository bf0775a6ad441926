"""How long the page of `arena tournament` stays."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from tests.forked import Arena
from tests.server.programs import PATIENCE_S, Outcome, Players, arena, contest, engines

from arena_server.store.reader import Results


def visit(url: str, accept: str) -> None:
    with urlopen(Request(url, headers={"Accept": accept}), timeout=PATIENCE_S) as answer:
        assert answer.status == 200


@pytest.mark.real
class TestPage:
    """How long the page stays. The last bot comes after a visit: a browser's takes text/html."""

    def played(self, folder: Path, options: tuple[str, ...], *, accept: str, terminal: bool) -> Outcome:
        """The output of a tournament, in a terminal or in a pipe, stopped by Ctrl-C where its page stays."""
        bots = engines("dummy") + '[[bot]]\nname = "guest"\n'
        (folder / "c.toml").write_text(contest(bots=bots, seed=None))
        ours, theirs = os.openpty() if terminal else os.pipe()
        command = ["tournament", "c.toml", "--web-port", "0", *options]
        process = Arena(command, cwd=folder, stdout=theirs, stderr=theirs)
        os.close(theirs)
        said: list[str] = []
        with suppress(OSError), open(ours, encoding="utf-8") as lines:  # EIO: the terminal is closed
            for line in lines:
                said.append(line)
                if line.startswith("listening on"):
                    port = int(line.rpartition(":")[2])
                elif line.startswith("web on "):
                    url = line.split()[2]
                    visit(url, accept)
                    players = Players(port, [("guest", "first-legal")])
                elif "until Ctrl-C" in line:
                    visit(url, "*/*")
                    assert players.join() == {"guest": "finished"}
                    process.send_signal(signal.SIGINT)
        return Outcome(process.wait(PATIENCE_S), "".join(said), "")

    WAY = "to keep it as files: arena site FOLDER --contest trial"
    TITLE = "trial: insertion, 2 of 2 games, scored by points, finished"

    @pytest.mark.parametrize(
        ("options", "accept", "terminal"),
        [
            (("--keep-page",), "*/*", False),
            ((), "text/html,*/*;q=0.8", True),
        ],
    )
    def test_it_is_kept_where_asked_for_or_seen_in_a_terminal(
        self, tmp_path: Path, options: tuple[str, ...], accept: str, terminal: bool
    ) -> None:
        outcome = self.played(tmp_path, options, accept=accept, terminal=terminal)
        url = re.search(r"^web on (\S+)", outcome.out, re.M)
        assert url is not None
        assert outcome.code == 0
        assert f"the page stays at {url[1]} until Ctrl-C; {self.WAY}" in outcome.out
        assert outcome.out.count(self.TITLE) == 1
        assert "stopping" not in outcome.out
        with Results(tmp_path / "arena.db") as results:
            assert results.contest().status == "finished"

    @pytest.mark.parametrize(
        ("accept", "terminal", "end"), [("*/*", True, f"the page has ended; {WAY}"), ("text/html", False, "")]
    )
    @pytest.mark.soak
    def test_it_ends_with_the_contest_elsewhere(
        self, tmp_path: Path, accept: str, terminal: bool, end: str
    ) -> None:
        outcome = self.played(tmp_path, (), accept=accept, terminal=terminal)
        assert outcome.code == 0
        assert self.TITLE in outcome.out
        assert "until Ctrl-C" not in outcome.out
        assert end in outcome.out
        assert ("arena site" in outcome.out) == terminal

    @pytest.mark.soak
    def test_ctrl_c_does_not_change_the_status_of_an_incomplete_contest(self, tmp_path: Path) -> None:
        bots = engines("dummy", "random") + '[[bot]]\nname = "guest"\n'
        text = contest(bots=bots, contest='absent = "4s"', seed=None)
        (tmp_path / "c.toml").write_text(text)
        command = ["tournament", "c.toml", "--web-port", "0", "--keep-page"]
        with Arena(command, cwd=tmp_path, stderr=subprocess.PIPE) as tournament:
            assert tournament.stderr is not None
            lines = []
            for line in tournament.stderr:
                lines.append(line)
                if "until Ctrl-C" in line:
                    tournament.send_signal(signal.SIGINT)
        incomplete = (
            "the contest is incomplete: 4 of 6 games have no result (4 absent: guest); missing bots: guest"
        )
        assert lines[-3] == f"{incomplete}\n"
        assert lines[-1] == f"arena: {incomplete}\n"
        assert tournament.returncode == 1

    @pytest.mark.soak
    def test_there_has_to_be_one(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b"))
        outcome = arena("tournament", "c.toml", "--no-web", "--keep-page", cwd=tmp_path)
        assert outcome.code == 2
        assert (
            outcome.line == "arena: --keep-page: expected a page to keep, but --no-web or c.toml turns it off"
        )
