"""Which signals stop a run, and what they do meanwhile."""

from __future__ import annotations

import signal

import pytest

from arena_server.host.interrupts import handled, interrupt, stop_signals

ALL = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}


def test_all_but_a_hangup_that_is_ignored() -> None:
    assert set(stop_signals()) == ALL
    assert set(stop_signals(ctrl_c=False)) == ALL - {signal.SIGINT}
    with handled(signal.SIG_IGN, [signal.SIGHUP]):
        assert set(stop_signals()) == ALL - {signal.SIGHUP}


@pytest.mark.parametrize("number", sorted(ALL))
def test_each_is_an_interrupt_inside_and_as_before_behind(number: int) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), handled(interrupt):
        signal.raise_signal(number)
    assert signal.getsignal(number) == before
