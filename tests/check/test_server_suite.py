"""The server suite against ours, and against ours with one defect each."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

import pytest

from arena_check.cases import CaseResult, Verdict
from arena_check.runner import SERVER_SUITE, check_server
from arena_check.server.bench import ServerSettings

from ..protocol.test_tls import make_pair
from . import mutants_lines, mutants_messages, mutants_play  # noqa: F401 - they enter their servers
from .contest import TOKEN, serving
from .mutants import MUTANTS, Mutant, MutantServer, all_cases

pytestmark = pytest.mark.real
#: How many servers are checked at once.
SERVERS = 6


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(tmp_path_factory.mktemp("check")) as port:
        yield port


def check(
    port: int,
    *selections: str,
    patience: float = 10.0,
    limits: float = 45.0,
    tls: ssl.SSLContext | None = None,
) -> list[CaseResult]:
    settings = ServerSettings(
        "localhost", port, token=TOKEN, patience=patience, quiet=0.15, limits=limits, tls=tls
    )
    return list(check_server(settings, SERVER_SUITE.select(selections)))


def test_our_server_passes_every_case(port: int) -> None:
    bad = [(each.case.id, each.verdict, each.actual) for each in check(port) if each.verdict != "ok"]
    assert bad == [(id_, "not implemented", "--tls was not given") for id_ in ("10.1/1", "10.1/2")]


@pytest.mark.soak
def test_our_server_passes_over_tls(tmp_path: Path) -> None:
    certificate, key = make_pair(tmp_path)
    trusting = ssl.create_default_context(cafile=certificate)
    tables = f'tls_certificate = "{certificate}"\ntls_key = "{key}"'
    with serving(tmp_path, tables) as port:
        results = check(port, "1", "3", "8", "10", tls=trusting)
        assert [(each.case.id, each.actual) for each in results if each.verdict != "ok"] == []
        (distrusted,) = check(port, "10.1/1", tls=ssl.create_default_context())
    assert (distrusted.verdict, distrusted.expected) == ("failed", "a TLS handshake")


def report(port: int, mutant: Mutant) -> dict[str, CaseResult]:
    """What each case that names the defect says of it, before the server at `port`."""
    results = {}
    for case in mutant.cases:
        # The server draws the deal of each game: one in eight hides a move that is not the one played.
        for _ in range(6):
            (before,) = check(port, "4.8/1")  # leaves a game that has not started
            assert before.verdict is Verdict.OK
            with MutantServer(port, mutant) as server:
                tls = ssl.create_default_context() if case.startswith("10.") else None
                (results[case],) = check(server.port, case, patience=1.0, limits=2.5, tls=tls)
            if results[case].verdict == mutant.verdict:
                break
    return results


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Future[dict[str, CaseResult]]]:
    """The reports of all mutants. Most of the time a case waits: several servers are checked at once."""
    free: SimpleQueue[int] = SimpleQueue()

    def on_a_free_server(mutant: Mutant) -> dict[str, CaseResult]:
        port = free.get()
        try:
            return report(port, mutant)
        finally:
            free.put(port)

    with ExitStack() as stack:
        for _ in range(SERVERS):
            free.put(stack.enter_context(serving(tmp_path_factory.mktemp("mutants"))))
        threads = stack.enter_context(ThreadPoolExecutor(SERVERS))
        return {name: threads.submit(on_a_free_server, mutant) for name, mutant in MUTANTS.items()}


@pytest.mark.parametrize("name", MUTANTS)
def test_each_defect_is_reported_by_the_case_that_names_it(
    name: str, reported: dict[str, Future[dict[str, CaseResult]]]
) -> None:
    for case, result in reported[name].result().items():
        assert result.verdict == MUTANTS[name].verdict, f"{case}: {result.expected}; got {result.actual}"
        assert result.log or name == "no_tls"


def test_every_case_names_a_defect() -> None:
    assert set(SERVER_SUITE.cases) - set(all_cases()) == set()


def test_a_server_that_is_not_there_is_not_reached() -> None:
    (result,) = check(1, "4.1/1")
    assert result.verdict is Verdict.NOT_REACHED
    assert result.expected == "a connection to localhost:1"
