"""How late the machine is, by a program that only answers."""

from __future__ import annotations

import os
import signal

import pytest

from arena_check.bot.machine import Machine


@pytest.mark.real
def test_an_answer_that_is_awaited_counts() -> None:
    machine = Machine()
    os.kill(machine._echo.pid, signal.SIGSTOP)
    while machine.late_s < 0.3:  # the time of a machine that does not answer grows
        assert machine._echo.poll() is None
    os.kill(machine._echo.pid, signal.SIGCONT)
    while machine._worst < 0.3:
        assert machine._echo.poll() is None
    machine.close()
    assert machine.late_s >= 0.3
    assert machine._echo.returncode == -signal.SIGKILL


@pytest.mark.real
def test_a_program_that_has_ended_is_not_asked_again() -> None:
    machine = Machine()
    machine._echo.kill()
    machine._thread.join()
    before = machine.late_s
    machine.close()
    assert machine.late_s == before
