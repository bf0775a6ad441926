"""The server suite against ours, and against ours with one defect each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from arena_client.conformance.cases import Result, Verdict
from arena_client.conformance.runner import SERVER_SUITE, check_server
from arena_client.conformance.server.bench import ServerSettings

from .contest import TOKEN, serving
from .mutants import MUTANTS, MutantServer, all_cases

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(tmp_path_factory.mktemp("check")) as port:
        yield port


def check(port: int, *selections: str, patience: float = 10.0, limits: float = 45.0) -> list[Result]:
    settings = ServerSettings("127.0.0.1", port, token=TOKEN, patience=patience, quiet=0.15, limits=limits)
    return list(check_server(settings, SERVER_SUITE.select(selections)))


def test_our_server_passes_every_case(port: int) -> None:
    results = check(port)
    assert [
        (result.case.id, result.verdict, result.actual) for result in results if result.verdict != "ok"
    ] == []
    assert len(results) == len(SERVER_SUITE.cases)


@pytest.mark.parametrize("name", MUTANTS)
def test_each_defect_is_reported_by_the_case_that_names_it(port: int, name: str) -> None:
    mutant = MUTANTS[name]
    for case in mutant.cases:
        (before,) = check(port, "4.8/1")  # leaves a game that has not started
        assert before.verdict is Verdict.OK
        with MutantServer(port, mutant) as server:
            (result,) = check(server.port, case, patience=1.0, limits=2.5)
        assert result.verdict == mutant.verdict, f"{case}: {result.expected}; got {result.actual}"
        assert result.log


def test_every_case_names_a_defect() -> None:
    assert set(SERVER_SUITE.cases) - set(all_cases()) == set()


def test_a_server_that_is_not_there_is_not_reached() -> None:
    (result,) = check(1, "4.1/1")
    assert result.verdict is Verdict.NOT_REACHED
    assert result.expected == "a connection to 127.0.0.1:1"
