"""What the campaigns share: servers and bots that are killed and started again, and what is stored."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import typer

from arena_protocol.record import GameRecord
from arena_protocol.record_codec import decode
from arena_protocol.verify import verify
from arena_server.store.reader import Results
from arena_server.store.schema import ContestRow

from ..server.records import shown

PATIENCE_S = 150.0
ARENA = (sys.executable, "-m", "arena_cli")
Say = Callable[[str], None]


class Part(Protocol):
    """What is played and killed for so long, and checked then; its report has `kills` and `told`."""

    def play(self, seconds: float, say: Say) -> None: ...

    def check(self) -> None: ...

    def close(self) -> None: ...

    @property
    def report(self) -> Any: ...


def run_alone(part: Part, minutes: float, say: Say) -> None:
    """Play and kill for so long, and check."""
    with closing(part):
        part.play(minutes * 60, say)
        part.check()


def print_run(run: Callable[[Path, Say], object]) -> None:
    """Print the figures of a run in a folder of its own; how far it is goes to stderr."""
    with TemporaryDirectory(prefix="arena-soak-") as folder:
        typer.echo(run(Path(folder), lambda line: typer.echo(line, err=True)))


def counts(numbers: Counter[str], none: str = "") -> str:
    """`bot 12, server 1,200`, in the order of the names."""
    return ", ".join(f"{what} {number:,}" for what, number in sorted(numbers.items())) or none


def verified(results: Results, contest: ContestRow) -> dict[str, GameRecord]:
    """The records of a contest by their game; each was verified."""
    records = {game: decode(shown(data)) for game, data in results.games.records(contest)}
    for record in records.values():
        verify(record)
    return records


def verify_chain(folder: Path, *words: str) -> None:
    """`arena verify`."""
    subprocess.run([*ARENA, "verify", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


class Server:
    """A process of a server in `folder`, one life after the other; its log is there.

    `listens`: it prints `listening on ...`, and `start` waits for that.
    """

    def __init__(
        self,
        folder: Path,
        *words: str,
        program: Iterable[str] = ARENA,
        env: Mapping[str, str] | None = None,
        listens: bool = True,
        pass_fds: tuple[int, ...] = (),
        log: str = "server.log",
    ) -> None:
        self.log = folder / log
        self.lives = 0
        self._folder = folder
        self._words = [*program, *words]
        self._env = env
        self._listens = listens
        self._pass_fds = pass_fds
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "it was started"
        return self._process

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text()[-2000:]

    def start(self) -> None:
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                self._words,
                cwd=self._folder,
                env=self._env,
                stdout=subprocess.PIPE if self._listens else log,
                stderr=log,
                pass_fds=self._pass_fds,
            )
        self.lives += 1
        if self._process.stdout is not None:
            assert self._process.stdout.readline().startswith(b"listening on "), self.said()

    def status(self) -> int | None:
        """The exit status, if it has ended; None while it runs, or before it was started."""
        return None if self._process is None else self._process.poll()

    def end(self, number: int) -> int:
        """End it by a signal; it may not have ended by itself. Returns the exit status."""
        assert self.process.poll() is None, f"the server has ended by itself: {self.said()}"
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Wait for its end, and forget it."""
        process, self._process = self.process, None
        process.communicate(timeout=2 * PATIENCE_S)
        return process.returncode

    def close(self) -> None:
        """Leave no process behind."""
        if self._process is not None:
            self._process.kill()
            self.ended()


class BotProcesses:
    """Processes of bots, each of a contest; what has ended by a kill starts again."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self._port = port
        self._words: dict[str, list[str]] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, contest: str, name: str, kind: str, *words: str, think_s: float = 0.03) -> None:
        file = self._folder / f"{contest}.{name}"
        given = [kind, name, str(self._port), str(file), str(think_s), f"contest={contest}", *words]
        self._words[file.name] = [sys.executable, "-S", str(Path(__file__).with_name("bot.py")), *given]
        self._run(file.name)

    def _run(self, key: str) -> None:
        self._running[key] = subprocess.Popen(self._words[key])

    def stop(self, contest: str, name: str = "") -> None:
        """End the bots of a contest, or one of them."""
        for key in [key for key in self._running if key.startswith(f"{contest}.{name}")]:
            process = self._running.pop(key)
            process.kill()
            process.wait(PATIENCE_S)

    def kill_one(self, chance: Random) -> None:
        running = sorted(key for key, process in list(self._running.items()) if process.poll() is None)
        key = chance.choice(running)
        process = self._running[key]
        process.kill()
        process.wait(PATIENCE_S)
        self._run(key)

    def told(self) -> dict[tuple[str, str], dict[str, str]]:
        """The results that each bot of each contest was sent, also before it was killed."""
        told = {}
        for key in self._words:
            contest, _, name = key.partition(".")
            file = self._folder / key
            lines = file.read_text().splitlines() if file.exists() else []
            told[contest, name] = dict(line.split() for line in lines)
        return told

    def tend(self) -> None:
        """Start again those that have ended by themselves."""
        for key, process in self._running.items():
            if process.poll() is not None:
                self._run(key)

    def close(self) -> None:
        for process in self._running.values():
            process.kill()
            process.wait(PATIENCE_S)
