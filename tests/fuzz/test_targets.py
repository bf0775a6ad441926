"""Bad input at every target: by hypothesis, by a seeded mutator, in one chunk and byte by byte.

`make test` runs a short slice; the soak run feeds ten million lines, and atheris where it is
installed. A find becomes a case of its own in FINDS.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_protocol import framing
from arena_protocol.framing import CLIENT_LINE_LIMIT, LineReader

from .mutate import Mutator
from .targets import SCRIPT, SERVER_LINES, SESSION, VISIT, Target, ThreeClients, a_journal, targets

NAMES = [target.name for target in targets("unused")]
LINE_TARGETS = ("client-line", "server-line")
#: What fuzzing has found, kept for good.
FINDS = [
    ("engine", b"champion:depth=5\n"),
    ("player", VISIT.replace(b"g42", b"g" * 1030)),
    ("player", b"\n".join(SERVER_LINES[:3]) + b"\nPING " + b"x" * 1030 + b"\n"),
    ("sealed-journal", a_journal().replace(b"ready\x01", b"ready\xc3")),  # seat True
    ("sealed-journal", re.sub(rb"(?<=ann\xd9@)..", b"\xc3\xa9", a_journal())),  # a digest that is not ASCII
    ("events", b"command void g" + b"9" * 5000),  # int() of too many digits
]

#: Pieces of input each time; a piece of the contest is a whole session.
SLICE = {"contest": 60, "contest-xo": 60, "events": 30, "events-forfeit": 30, "positions": 60, "config": 60}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("fuzz") / "positions.txt")


def the(name: str, scratch: str) -> Target:
    return next(target for target in targets(scratch) if target.name == name)


@pytest.mark.parametrize("name", NAMES)
def test_the_seeds_are_accepted(name: str, scratch: str) -> None:
    """A mutation of what is refused anyway would find nothing."""
    target = the(name, scratch)
    for seed in target.seeds:
        assert not isinstance(target.run(seed), str) or name == "game"


@pytest.mark.parametrize("name", NAMES)
def test_mutations(name: str, scratch: str) -> None:
    target = the(name, scratch)
    for data in Mutator(Random(f"{name}-1"), target.seeds).many(SLICE.get(name, 100)):
        target.run(data)


@pytest.mark.parametrize("name", NAMES)
def test_any_bytes(name: str, scratch: str) -> None:
    target = the(name, scratch)

    @settings(max_examples=SLICE.get(name, 60) // 2, deadline=None, database=None)
    @given(st.binary(max_size=200) | st.text(max_size=60).map(str.encode))
    def check(data: bytes) -> None:
        target.run(data)

    check()


@pytest.mark.parametrize(("name", "data"), FINDS)
def test_finds(name: str, data: bytes, scratch: str) -> None:
    the(name, scratch).run(data)


def test_a_line_without_a_possible_answer_ends_the_client(scratch: str) -> None:
    assert the("player", scratch).run(FINDS[1][1]) == (
        "the protocol cannot carry this: READY: a line may have 1024 bytes, not 1036"
    )


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (b"\xc1", "a row of the journal is not msgpack"),
        (b"\x05", "a row of the journal does not hold entries"),
        (b"\x91\x05", "a row of the journal does not hold entries"),
        (b"\x91\x90", "a row of the journal does not hold entries"),
    ],
)
def test_a_row_of_the_journal_that_was_sealed_anew(payload: bytes, text: str, scratch: str) -> None:
    assert the("sealed-journal", scratch).run(payload) == text


class TestStreams:
    """A session of three connections, with something wrong in it, cut in two ways."""

    @pytest.mark.parametrize("game", ["insertion", "tictactoe"])
    def test_one_chunk_or_byte_by_byte(self, game: str) -> None:
        rng = Random(f"streams-{game}")
        for _ in range(25):
            script = _spoilt(rng)
            whole, bytewise = ThreeClients(game), ThreeClients(game)
            for conn, data in script:
                whole.receive(conn, data)
                for number in range(len(data)):
                    bytewise.receive(conn, data[number : number + 1])
            assert whole.output == bytewise.output

    def test_the_unspoilt_session_is_played_to_its_results(self) -> None:
        clients = ThreeClients("insertion")
        for conn, data in SCRIPT:
            clients.receive(conn, data)
        overs = [data for conn, data in clients.output if conn == 2 and b"OVER " in data]
        assert [b"OVER g1" in overs[0], b"OVER g2" in overs[1]] == [True, True]


def _spoilt(rng: Random) -> list[tuple[int, bytes]]:
    script = list(SCRIPT)
    mutator = Mutator(rng, [data for _, data in SCRIPT])
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(script))
        script[place] = (rng.choice((1, 2, 3)), mutator.one() + b"\n")
    return script


def test_memory_is_bounded_whatever_comes() -> None:
    """A megabyte without a line end costs no more than a line."""
    buffer = LineReader(CLIENT_LINE_LIMIT)
    chunk = b"x" * 4096
    buffer.feed(chunk)
    tracemalloc.start()
    for _ in range(256):
        buffer.feed(chunk)
    # Other threads of the process allocate, too.
    own = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, framing.__file__)])
    tracemalloc.stop()
    assert sum(trace.size for trace in own.statistics("filename")) < 4 * CLIENT_LINE_LIMIT
    assert buffer.pending <= CLIENT_LINE_LIMIT + 1


# -- the long runs --------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.parametrize("name", LINE_TARGETS)
def test_five_million_lines(name: str, scratch: str, soak_seed: int) -> None:
    """Two targets of five million lines each make ten."""
    target = the(name, scratch)
    for data in Mutator(Random(f"{name}-soak-{soak_seed}"), target.seeds).many(5_000_000):
        target.run(data)


@pytest.mark.soak
@pytest.mark.parametrize("name", sorted(set(NAMES) - set(LINE_TARGETS)))
def test_long(name: str, scratch: str, soak_seed: int) -> None:
    target = the(name, scratch)
    for data in Mutator(Random(f"{name}-soak-{soak_seed}"), target.seeds).many(SLICE.get(name, 2000) * 100):
        target.run(data)


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_guided(name: str, tmp_path: Path) -> None:
    """Coverage leads the way, where atheris is installed."""
    pytest.importorskip(
        "atheris", reason="atheris is not installed: pip install atheris runs the guided fuzz"
    )
    env = {**os.environ, "ARENA_FUZZ_SECONDS": os.environ.get("ARENA_FUZZ_SECONDS", "20")}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.guided", name, str(tmp_path)],
        cwd=root, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_line_of_the_seeds_is_short_enough_to_be_a_line() -> None:
    assert max(map(len, SESSION.splitlines())) < CLIENT_LINE_LIMIT
    assert max(map(len, SERVER_LINES)) < 65536
