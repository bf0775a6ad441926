"""The generated parts of docs/check.md. `python -m tests.check.page` writes them again."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from arena_check.bot.bench import BotSettings
from arena_check.bot.process import Process
from arena_check.cases import CaseResult, Suite, Verdict
from arena_check.clauses import CLAUSES, order
from arena_check.runner import BOT_SUITE, SERVER_SUITE, check_bot

from ..client.starters.toolchains import FOLDER, LANGUAGES, build, starter
from . import (  # noqa: F401 - they enter their bots and servers
    defects_client,
    defects_lines,
    defects_messages,
    defects_moves,
    defects_play,
    defects_start,
    mutants_lines,
    mutants_messages,
    mutants_play,
)
from .bots import DEFECTS
from .contest import PAGE
from .mutants import MUTANTS

#: The columns of the matrix: the starters, and the bot of 15 lines.
COLUMNS = (*LANGUAGES, "smallest")
#: The worst verdict first, and its sign in the matrix.
SIGNS = {
    Verdict.FAILED: "FAILED",
    Verdict.NOT_REACHED: "not reached",
    Verdict.NOT_IMPLEMENTED: "not implemented",
    Verdict.NON_STRICT: "non-strict",
    Verdict.OK: "ok",
}


def part(name: str) -> str:
    """A generated part as the page has it."""
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, f"docs/check.md has no part {name}"
    return found[1]


def clauses() -> str:
    """The table of all clauses, with the numbers of their cases."""
    lines = ["| clause | section | rule | bot | server |", "| --- | --- | --- | --- | --- |"]
    for clause in CLAUSES:
        counts = " | ".join(_kinds(suite, clause.id) for suite in (BOT_SUITE, SERVER_SUITE))
        lines.append(f"| {clause.id} | {clause.section} | {clause.text} | {counts} |")
    return "\n".join(lines) + "\n"


def _kinds(suite: Suite[Any], clause: str) -> str:
    kinds = [case.kind for case in suite.cases.values() if case.clause == clause]
    counted = (("+", kinds.count("positive")), ("-", kinds.count("negative")))
    return " ".join(f"{count}{sign}" for sign, count in counted if count)


def score() -> str:
    """How many defects there are, and which case names each."""
    lines = [
        f"- bots: {len(DEFECTS)} defects, all of them reported by the cases that name them; "
        f"{len(BOT_SUITE.cases)} cases",
        f"- servers: {len(MUTANTS)} defects, all of them reported by the cases that name them; "
        f"{len(SERVER_SUITE.cases)} cases",
        "",
        "| peer | reported by | as | defects |",
        "| --- | --- | --- | --- |",
    ]
    bots = [("bot", each.what, each.cases, each.verdict) for each in DEFECTS.values()]
    servers = [("server", each.what, each.cases, each.verdict) for each in MUTANTS.values()]
    for rows in (bots, servers):
        grouped: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
        for peer, what, cases, verdict in sorted(rows, key=lambda row: [order(case) for case in row[2]]):
            grouped.setdefault((peer, cases, verdict), []).append(what)
        for (peer, cases, verdict), defects in grouped.items():
            lines.append(f"| {peer} | {', '.join(cases)} | {verdict} | {' '.join(defects)} |")
    return "\n".join(lines) + "\n"


def check(column: str, folder: Path, chosen: Collection[str] = ()) -> list[CaseResult]:
    """Check the bot of one column, built in `folder`: by all cases, or by the plain game and `chosen` ones.

    Skips if its toolchain is not installed.
    """
    if column == "smallest":
        command = [sys.executable, str(FOLDER / "python" / "bot.py")]
    else:
        command = build(column, folder)
    words = [*command, "{host}", "{port}", "{name}"]
    cases = [case for case in BOT_SUITE.select() if not chosen or case.plain or case.id in chosen]
    return list(check_bot(Process(words), BotSettings(), cases))


def cells(results: Iterable[CaseResult]) -> dict[str, str]:
    """The sign of each clause that has cases for bots."""
    found: dict[str, set[Verdict]] = {}
    for result in results:
        found.setdefault(result.case.clause, set()).add(result.verdict)
    return {
        clause: next(sign for verdict, sign in SIGNS.items() if verdict in verdicts)
        for clause, verdicts in found.items()
    }


def matrix(columns: dict[str, dict[str, str]]) -> str:
    """The table of clauses by columns."""
    lines = [f"| clause | {' | '.join(columns)} |", f"| --- |{' --- |' * len(columns)}"]
    rows = sorted({case.clause for case in BOT_SUITE.cases.values()}, key=order)
    lines += [f"| {row} | {' | '.join(column[row] for column in columns.values())} |" for row in rows]
    return "\n".join(lines) + "\n"


def published(column: str) -> dict[str, str]:
    """A column of the matrix as the page has it."""
    head, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in part("starters").splitlines()
    ]
    place = head.index(column)
    return {row[0]: row[place] for row in rows}


def main() -> None:
    """Write the generated parts."""
    columns = {}
    for column in COLUMNS:
        missing = None if column == "smallest" else starter(column).missing
        if missing is not None:
            print(f"{column}: {missing} is not installed; its column stays as it is")
            columns[column] = published(column)
            continue
        with tempfile.TemporaryDirectory() as folder:
            columns[column] = cells(check(column, Path(folder)))
    text = PAGE.read_text(encoding="utf-8")
    for name, table in (("clauses", clauses()), ("starters", matrix(columns)), ("score", score())):
        whole = f"<!-- {name} -->\n{table}<!-- end -->"
        found = re.search(rf"<!-- {name} -->\n.*?<!-- end -->", text, re.DOTALL)
        assert found is not None
        text = text[: found.start()] + whole + text[found.end() :]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
