"""A session is one: all of its process groups get a signal."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from arena_server.places.session import PASSES, signal_session


@pytest.mark.parametrize(
    ("more", "signalled"),
    [
        pytest.param({}, [[70, 71]], id="two groups"),
        pytest.param({72: 72}, [[70, 71], [72]], id="one that is made meanwhile"),
        pytest.param(
            {number: number for number in range(100, 120)},
            [[70, 71], *([n] for n in range(100, 107))],
            id="one after the other, without an end",
        ),
    ],
)
def test_all_groups_get_a_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[int, int], signalled: list[list[int]]
) -> None:
    for pid in (70, 71, 80):
        (tmp_path / str(pid)).mkdir()
    groups, coming = {70: 70, 71: 71}, list(more)
    got: list[list[int]] = [[]]

    def killpg(group: int, number: int) -> None:
        assert number == signal.SIGKILL
        got[-1].append(group)
        if group == max(got[-1]) != 70:
            if coming:
                groups[coming[0]] = more[coming[0]]
                (tmp_path / str(coming.pop(0))).mkdir()
            got.append([])
        raise ProcessLookupError

    monkeypatch.setattr(os, "getsid", lambda pid: 70 if pid in groups else pid)
    monkeypatch.setattr(os, "getpgid", groups.__getitem__)
    monkeypatch.setattr(os, "killpg", killpg)
    signal_session(70, signal.SIGKILL, tmp_path)
    assert [each for each in got if each] == signalled[:PASSES]


def test_its_own_group_gets_a_signal_where_the_system_lists_no_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "killpg", lambda *given: got.append(given))
    signal_session(70, signal.SIGSTOP, tmp_path / "none")
    assert got == [(70, signal.SIGSTOP)]
