"""Two ends of TLS in memory with any chunks, peers without TLS, and certificates that are refused."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import pytest

from arena_protocol.errors import TlsError
from arena_protocol.tls import TlsStream

Pair = tuple[str, str]


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make_pair(tmp_path_factory.mktemp("tls"))


def make_pair(folder: Path) -> Pair:
    """A certificate for localhost that signs itself, and its key."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return str(certificate), str(key)


def ends(pair: Pair, server_name: str = "localhost", trusted: bool = True) -> tuple[TlsStream, TlsStream]:
    here = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    here.load_cert_chain(*pair)
    there = ssl.create_default_context(cafile=pair[0] if trusted else None)
    return TlsStream(here), TlsStream(there, server=server_name)


def pump(server: TlsStream, client: TlsStream, size: int = 1 << 20) -> tuple[bytes, bytes]:
    """Carry bytes both ways, `size` at a time, until nothing moves; what each side received."""
    received = {server: b"", client: b""}
    moved = True
    while moved:
        moved = False
        for here, there in ((client, server), (server, client)):
            data = here.data_to_send()
            moved = moved or bool(data)
            for start in range(0, len(data), size):
                received[there] += there.receive(data[start : start + size])
    return received[server], received[client]


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_lines_go_both_ways_in_any_chunks(pair: Pair, size: int) -> None:
    server, client = ends(pair)
    server.send(b"ARENA 1 x\n")  # before the handshake
    assert pump(server, client, size) == (b"", b"ARENA 1 x\n")
    client.send(b"HELLO 1 a\n")
    server.send(b"x" * 40_000)
    assert pump(server, client, size) == (b"HELLO 1 a\n", b"x" * 40_000)
    server.close()
    assert pump(server, client, size) == (b"", b"")


def test_bytes_that_are_not_tls(pair: Pair) -> None:
    server, client = ends(pair)
    with pytest.raises(TlsError, match=r"^no TLS connection: [a-z ]+$"):
        server.receive(b"HELLO 1 plain\n")
    with pytest.raises(TlsError, match=r"^no TLS connection: wrong version number$"):
        client.receive(b"ARENA 1 insertion-arena/0.1\n")


def test_a_server_with_a_wrong_certificate(pair: Pair) -> None:
    with pytest.raises(TlsError, match=r"^the certificate is not trusted: self-signed certificate$"):
        pump(*ends(pair, trusted=False))
    with pytest.raises(TlsError, match=r"^the certificate is not trusted: Hostname mismatch"):
        pump(*ends(pair, server_name="elsewhere.example"))


def test_a_changed_byte_is_noticed(pair: Pair) -> None:
    server, client = ends(pair)
    pump(server, client)
    client.send(b"MOVE 6\n")
    data = bytearray(client.data_to_send())
    data[-1] ^= 1
    with pytest.raises(TlsError, match=r"^no TLS connection: "):
        server.receive(bytes(data))


def test_close_before_the_handshake_sends_nothing(pair: Pair) -> None:
    server, _ = ends(pair)
    server.close()
    assert server.data_to_send() == b""
