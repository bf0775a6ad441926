"""Cores are divided equally, and named as Linux names them."""

from __future__ import annotations

import os
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.places import cores as cores_module
from arena_server.places.cores import (
    cpu_model,
    crowding_of,
    describe_cores,
    on_cores,
    own_cores,
    shares,
)
from arena_server.terms.config import Entrant
from arena_server.terms.spec import entrant_of

CORES = st.lists(st.integers(0, 300), unique=True, max_size=40).map(sorted)


@given(CORES, st.integers(1, 9))
def test_parts_are_equal_and_have_no_core_in_common(cores: list[int], parts: int) -> None:
    found = shares(cores, parts)
    assert len(found) == parts
    assert {len(each) for each in found} == {len(cores) // parts}
    together = [core for each in found for core in each]
    assert together == cores[: len(together)]


@given(CORES)
def test_a_list_of_cores_reads_back(cores: list[int]) -> None:
    runs = [run.split("-") for run in describe_cores(cores).split(",") if run]
    assert [core for run in runs for core in range(int(run[0]), int(run[-1]) + 1)] == cores


def test_the_form_is_that_of_linux() -> None:
    assert [describe_cores(each) for each in ((), (4,), (0, 1, 2, 5, 8, 9))] == ["", "4", "0-2,5,8-9"]


def test_what_is_started_inside_has_the_cores_and_this_thread_has_its_own_again() -> None:
    own, found = own_cores(), []
    with on_cores(own[-1:]):
        thread = threading.Thread(target=lambda: found.append(own_cores()))
        thread.start()
        thread.join()
    assert (found, own_cores()) == ([own[-1:]], own)
    with on_cores(()):
        assert own_cores() == own


def test_a_system_that_cannot_bind_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores_module, "CAN_PIN", False)
    monkeypatch.delattr(os, "sched_setaffinity")
    assert own_cores() == ()
    with on_cores((0,)):
        pass


def test_the_processor_has_a_name() -> None:
    assert cpu_model()


def bots(*given: tuple[str, int, bool]) -> list[Entrant]:
    return [replace(entrant_of(name, "token", slots), ponders=ponders) for name, slots, ponders in given]


@pytest.mark.parametrize(
    ("entrants", "cpus", "most"),
    [
        pytest.param([("a", 1, True), ("b", 1, True)], {"a": 1.0, "b": 1.0}, None, id="as many as there are"),
        pytest.param([("a", 1, True), ("b", 1, True)], {"a": 1.5, "b": 1.0}, "2.5", id="more"),
        pytest.param([("a", 1, True), ("b", 1, True)], {}, None, id="no containers"),
        pytest.param([("a", 1, True)], {"a": 9.0}, None, id="no game"),
        pytest.param([(name, 1, False) for name in "abcd"], dict.fromkeys("abcd", 1.0), None, id="in turn"),
        pytest.param([(name, 1, True) for name in "abcde"], dict.fromkeys("abcde", 1.0), "4", id="odd"),
        pytest.param([("a", 3, True), ("b", 3, True)], {"a": 0.5, "b": 0.5}, "3", id="slots"),
        pytest.param([("a", 1, False), ("b", 1, True)], {"a": 2.0, "b": 1.0}, "3", id="one of them ponders"),
        pytest.param([(name, 1, True) for name in "pqrs"], dict.fromkeys("pqrs", 1.0), None, id="processes"),
        pytest.param([("p", 3, True), ("q", 3, True)], {"p": 1.0, "q": 1.0}, "3", id="games of processes"),
        pytest.param([("p", 1, True), ("a", 1, True)], {"p": 1.0, "a": 1.5}, "2.5", id="both kinds"),
    ],
)
def test_bots_that_want_more_than_the_machine_has(
    entrants: list[tuple[str, int, bool]],
    cpus: dict[str, float],
    most: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cores_module, "own_cores", lambda: (0, 1))
    processes = {name for name in cpus if name in "pqrs"}
    text = crowding_of(cpus, bots(*entrants), 2, processes)
    if most is None:
        assert text == ""
    else:
        how = "`cpus`, one for a process" if processes else "`cpus`"
        assert f" at once may use {most} processors ({how}), and this machine has 2: " in text
