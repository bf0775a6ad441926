"""Cores are divided equally, and named as Linux names them."""

from __future__ import annotations

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.places import cores as cores_module
from arena_server.places.cores import (
    cpu_model,
    describe_cores,
    on_cores,
    own_cores,
    shares,
)

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
