"""Socket options, error texts, TLS contexts and the debug trace."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import time
from pathlib import Path

import pytest
import trio
from tests.slices import all_of

from arena_client import ClientError
from arena_client.transport import (
    LinkError,
    cause,
    debug_trace,
    describe,
    print_line,
    server_name,
    tls_context,
    tune,
)

from ..protocol.test_tls import make_pair


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_port_out_of_range(port: int) -> None:
    with pytest.raises(ClientError, match=f"^a port is a number from 1 to 65535, not {port}$"):
        server_name("here", port)


@pytest.mark.parametrize("host", ["a" * 70, "a..b", "\u202e"])
def test_a_host_that_no_system_looks_up_is_refused(host: str) -> None:
    with pytest.raises(ClientError, match=f"^no host has the name {re.escape(repr(host))}: "):
        server_name(host, 2006)


def test_server_name() -> None:
    assert server_name("here", 65535) == "here:65535"


def test_small_lines_leave_at_once_and_a_dead_peer_is_noticed() -> None:
    with socket.socket() as sock:
        tune(sock)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


def test_an_option_that_the_system_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "TCP_USER_TIMEOUT", raising=False)
    with socket.socket() as sock:
        tune(sock)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@all_of(
    ("error", "text"),
    [
        (ConnectionRefusedError(111, "Connect call failed"), os.strerror(111)),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (OSError("h has no address"), "h has no address"),
        (TimeoutError(), "no answer in time"),
        (trio.TooSlowError(), "no answer in time"),
    ],
)
def test_failures_in_a_few_words(error: BaseException, text: str) -> None:
    assert describe(error) == text


def test_a_failure_is_described_by_its_cause() -> None:
    broken = trio.BrokenResourceError("socket connection broken")
    broken.__cause__ = ConnectionResetError(104, "x")
    assert describe(broken) == os.strerror(104)
    several = OSError("all attempts to connect to h:1 failed")
    several.__cause__ = ExceptionGroup("", [broken, ConnectionRefusedError(111, "x")])
    assert describe(several) == os.strerror(104)


def test_an_error_comes_before_a_lost_connection() -> None:
    lost, stopped, fault = LinkError("gone"), asyncio.CancelledError(), ClientError("no move")
    inner = BaseExceptionGroup("", [stopped, fault])
    assert cause(BaseExceptionGroup("", [lost, inner])) is fault
    assert cause(BaseExceptionGroup("", [lost, stopped])) is stopped
    assert cause(BaseExceptionGroup("", [lost])) is lost


def test_no_tls_context_for_a_plain_connection() -> None:
    assert tls_context(None) is tls_context(False) is None


@pytest.mark.real
def test_tls_contexts_check_the_certificate(tmp_path: Path) -> None:
    given = ssl.create_default_context()
    assert tls_context(given) is given
    certificate, _ = make_pair(tmp_path)
    for context in (tls_context(True), tls_context(certificate), tls_context(Path(certificate))):
        assert context is not None
        assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


@pytest.mark.parametrize(
    ("content", "why"), [(None, "No such file or directory"), ("no certificate", "no PEM certificates")]
)
def test_certificates_that_cannot_be_read(tmp_path: Path, content: str | None, why: str) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(
        ClientError, match=f"^cannot trust the certificates in {re.escape(str(file))}: {why}$"
    ):
        tls_context(file)


@pytest.mark.parametrize(
    ("environment", "traces"),
    [({}, False), ({"ARENA_DEBUG": ""}, False), ({"ARENA_DEBUG": "0"}, False), ({"ARENA_DEBUG": "1"}, True)],
)
def test_lines_are_traced_if_the_environment_asks_for_it(environment: dict[str, str], traces: bool) -> None:
    assert debug_trace(environment) is (print_line if traces else None)


@pytest.mark.parametrize(
    ("direction", "line", "printed"),
    [
        ("<", b"TURN 1 clock=5,5 lag=0 credit=0", "< TURN 1 clock=5,5 lag=0 credit=0"),
        (">", b"HELLO 1 me token=s3cret agent=x", "> HELLO 1 me token=*** agent=x"),
        ("<", b"WELCOME me session=s1 resume=9c1e", "< WELCOME me session=s1 resume=***"),
        ("<", b"\xff", r"< \xff"),
        ("<", b"", "< "),
    ],
)
def test_a_traced_line_has_its_time_and_no_secret(
    capsys: pytest.CaptureFixture[str], direction: str, line: bytes, printed: str
) -> None:
    now = 1_700_000_000.0625
    print_line(direction, line, now)
    clock = time.strftime("%H:%M:%S", time.localtime(now))
    assert capsys.readouterr().err == f"{clock}.062 {printed}\n"
