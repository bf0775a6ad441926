"""The spectators' delay: what no byte of the site tells before it is over."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from ..programs import PATIENCE_S
from .persons import Person, Web, play, two_persons

pytestmark = pytest.mark.real


def test_nothing_is_shown_before_the_spectator_delay(tmp_path: Path) -> None:
    """Every byte of every document and stream, while a game runs and after it; and a person's own stream."""
    with two_persons(tmp_path, "insertion", "plies = 6\nlookahead = 1", delay="1h") as server:
        persons = [Person(server, "ann"), Person(server, "bob")]
        for person in persons:
            person.ready()
        play(persons, range(1, 4))
        seen = _public_bytes(server)
        assert b'"ann"' in seen
        for text in (b"g1", b'"move"', b'"board', b'"state":"running"', b'"state":"over"', b"arena_games"):
            assert text not in seen, text
        guard = {"Authorization": f"Bearer {server.token()}"}
        with urlopen(Request(f"{server.url}/metrics", headers=guard), timeout=PATIENCE_S) as response:
            assert b'arena_games{state="running"} 1.0' in response.read()
        play(persons, range(4, 7))
        persons[0].until(game="g2")  # the first game is over
        seen = _public_bytes(server)
        assert b"g1" not in seen
        assert b'"games_played":0' in seen
        for person in persons:
            person.close()
        own = persons[0].seen
        sequence = re.search(r'"sequence":"([1-6]{6})"', own)
        assert sequence is not None
        over = own.index("event: over")
        assert "nonce" not in own[:over]
        revealed = "".join(re.findall(r'"reveal":"([1-6])"', own[:over]))
        assert sequence[1][1:] == revealed, "one picture in sight, each with its ply"


def _public_bytes(server: Web) -> bytes:
    """What the API sends; of a stream, its first event and what comes until 1.5 s pass without a byte."""
    paths = (
        *("site.json", "contests.json", "contests/1.json", "contests/1/games-0.json"),
        *("contests/1/state/g1.json", "contests/1/records/g1.json", "contests/1/records/g1.record"),
        *("live/games/g1.json", "live/games/g1", "live/boards", "live/contest", "played.json"),
        *("/metrics", "/healthz", "/readyz", "/status"),
    )

    def read(path: str) -> bytes:
        connection = HTTPConnection(urlsplit(server.url).netloc, timeout=PATIENCE_S)
        with closing(connection):
            connection.request("GET", path if path.startswith("/") else f"/api/v1/{path}")
            here = connection.sock
            response = connection.getresponse()
            seen = b""
            try:
                while data := response.read1():
                    seen += data
                    if b"\n\n" in seen:  # the first event of a stream; only what follows may take too long
                        here.settimeout(1.5)
            except TimeoutError:
                pass
        return seen if response.status == 200 else b""  # an error names the game that was asked for

    with ThreadPoolExecutor(len(paths)) as readers:  # a stream takes as long as it is silent
        return b"".join(readers.map(read, paths))
