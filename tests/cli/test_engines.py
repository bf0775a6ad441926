"""`arena engines --compile`: which engines are compiled, and what it says of each."""

from __future__ import annotations

import logging

import pytest
from tests.server.programs import Shell

from arena_cli import bot
from arena_engines import jit
from arena_engines.engine import Engine
from arena_engines.insertion.champion import Champion


@pytest.fixture(autouse=True)
def kernels(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that are still to be compiled: those of champion, and none of any other engine."""
    left = ["champion.search", "perft.perft"]

    def warm_up(_: Engine) -> None:
        for name in left:
            logging.getLogger("arena_engines").warning("%s %s", jit.COMPILING, name)
        left.clear()

    monkeypatch.setattr(Champion, "warm_up", warm_up)
    monkeypatch.setattr(bot, "compiles", lambda spec, game: spec.partition(":")[0] == "champion")
    monkeypatch.setattr(jit, "cache_folder", lambda: "here")
    logger = logging.getLogger("arena_engines")
    monkeypatch.setattr(logger, "handlers", [])
    return left


COMPILED = (
    "compiling champion.search\ncompiling perft.perft\ninsertion champion: 2 functions compiled, in here\n"
)


@pytest.mark.parametrize("words", [("champion",), ("all",), ("all", "--game", "insertion")])
def test_a_line_for_each_function_and_each_engine(shell: Shell, words: tuple[str, ...]) -> None:
    assert shell("engines", "--compile", *words).out == COMPILED
    assert (
        shell("engines", "--compile", *words).out == "insertion champion: nothing left to compile, in here\n"
    )


def test_one_function_is_in_the_singular(shell: Shell, kernels: list[str]) -> None:
    kernels.pop()
    assert "1 function compiled," in shell("engines", "--compile", "champion:depth=3").out


def test_several_and_one_that_has_nothing_to_compile(shell: Shell) -> None:
    wanted = ("--compile", "greedy", "--compile", "champion", "--game", "insertion")
    assert shell("engines", *wanted).out == "insertion greedy: nothing to compile\n" + COMPILED


def test_an_unknown_engine_is_refused(shell: Shell) -> None:
    refused = shell("engines", "--compile", "no-such-engine")
    assert (refused.code, refused.line) == (
        2,
        "arena: --compile no-such-engine: no engine of this name; `arena engines` lists all",
    )
