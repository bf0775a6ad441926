"""Real processes for tests of the command line: a server that is up, and what a command says."""

from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Self
from unittest.mock import patch

import pytest
from tests import forked

from arena_cli import app, main
from arena_client import asyncio_client, scripted
from arena_client.bot import Bot, GameView
from arena_client.retry import RetryPolicy
from arena_server.host.interrupts import stop_signals

ARENA = (sys.executable, "-m", "arena_cli")
#: Builds a command, once.
_kept = forked.keeping(app._built)
#: Nothing here takes long; a process that hangs ends the test with an error.
PATIENCE_S = 150.0
#: Come back at once, three times.
EAGER = RetryPolicy(delays=lambda: iter([0.0, 0.0, 0.0]))


def engines(*specs: str) -> str:
    """The tables of bots that are engines, with the names of these."""
    return "".join(f'[[bot]]\nname = "{spec}"\nengine = "{spec}"\n' for spec in specs)


def contest(
    *names: str,
    contest: str = "",
    game: str = 'plies = 6\nclock = "10s"',
    bots: str = "",
    server: str = "",
    seed: int | None = 7,
) -> str:
    """A configuration with these lines added; a bot a name, or the tables of `bots`."""
    tables = bots or "".join(f'[[bot]]\nname = "{name}"\n' for name in names)
    games = "" if "games_per_pair" in contest else "games_per_pair = 2\n"
    drawn = "" if seed is None else f"seed = {seed}\n"
    return f'[contest]\nname = "trial"\n{drawn}{games}{contest}\n[game]\n{game}\n[server]\n{server}\n{tables}'


@dataclass
class Outcome:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line it said on stderr."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


def arena(
    *arguments: str | Path,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    typed: str = "",
    patience_s: float = PATIENCE_S,
) -> Outcome:
    """Run the `arena` command as a process to its end."""
    with forked.Arena(
        [*map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **(env or {})},
    ) as process:
        try:
            out, err = process.communicate(typed, timeout=patience_s)
        finally:
            process.kill()
    return Outcome(process.returncode, out, err)


def _run_here() -> int:
    """Run `sys.argv` in this process to its end; returns its status."""
    with patch.object(app, "_built", _kept), pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def inside(*arguments: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> Outcome:
    """The same in this process, many times sooner; `arena` is for what the process itself does."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as changed, redirect_stdout(out), redirect_stderr(err):
        changed.setattr(sys, "argv", ["arena", *map(str, arguments)])
        for name, value in (env or {}).items():
            changed.setenv(name, value)
        if cwd is not None:
            changed.chdir(cwd)
        handlers = {number: signal.getsignal(number) for number in stop_signals()}
        try:
            code = _run_here()
        finally:
            gc.enable()  # `arena serve` does so when it listens
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return Outcome(code, out.getvalue(), err.getvalue())


class Shell:
    """Runs commands in this process, through the program's own `main`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Outcome:
        self._monkeypatch.setattr(sys, "argv", ["arena", *arguments])
        code = _run_here()
        out, err = self._capsys.readouterr()
        return Outcome(code, out, err)


class Server:
    """`arena serve` on a free port; use it in a `with` statement. `url` is that of another database.

    `before` is called in the process before it starts; `program` runs instead of the `arena` command.
    """

    def __init__(
        self,
        config: str,
        folder: Path,
        *options: str,
        before: Callable[[], None] | None = None,
        program: Sequence[str] | None = None,
        stderr: int = subprocess.PIPE,
        url: str | None = None,
    ) -> None:
        self.config = folder / "contest.toml"
        self.config.write_text(config)
        self.database = folder / "arena.db"
        command = [
            "serve",
            str(self.config),
            "--port",
            "0",
            "--database",
            url or f"sqlite:///{self.database}",
            *(() if {"--web", "--web-port"} & set(options) else ("--no-web",)),
            *options,
        ]
        self.process = (
            forked.Arena(command, stdout=subprocess.PIPE, stderr=stderr)
            if before is None and program is None
            else subprocess.Popen(
                [*(program or ARENA), *command],
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                preexec_fn=before,
            )
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:"), self.end()
        self.port = int(line.rpartition(":")[2])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def end(self, number: int | None = None) -> Outcome:
        """Send a signal, if one is given, and wait for the end."""
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return Outcome(self.process.returncode, out, err or "")


class Gate:
    """Bots pass it in the first `games` games that they play; in a later one they wait until it is opened.

    So a contest goes as far as a test wants and no further: bots that play freely may be at its end
    before the test does what comes next.
    """

    def __init__(self, games: int) -> None:
        self.games = games
        self._opened = threading.Event()
        #: Not by their numbers: bots that are there play all of their games while another one logs in.
        self._begun: set[str] = set()
        self._lock = threading.Lock()

    def open(self) -> None:
        self._opened.set()

    def wait(self, game_id: str) -> None:
        with self._lock:
            passes = game_id in self._begun or len(self._begun) < self.games
            if passes:
                self._begun.add(game_id)
        if not passes:
            assert self._opened.wait(PATIENCE_S)


class HeldBot(Bot):
    """Plays the first legal move, as far as the gate lets it."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def choose(self, view: GameView) -> str:
        self._gate.wait(view.game_id)
        return view.legal_moves[0]


def held(gate: Gate) -> Callable[..., str]:
    """What plays a contest with such a bot, as `scripted.run` does with its own."""
    return partial(asyncio_client.run, HeldBot(gate))


class Players:
    """Bots that play in threads, scripted ones or such that wait at a gate; `ends` are how each ended."""

    def __init__(
        self,
        port: int,
        specs: Sequence[tuple[str, str | Gate]],
        tokens: Mapping[str, str] = MappingProxyType({}),
        policy: RetryPolicy = EAGER,
    ) -> None:
        self.ends: dict[str, str] = {}
        self._tokens = tokens
        self._policy = policy
        self._threads = [
            threading.Thread(target=self._play, args=(name, spec, port), daemon=True) for name, spec in specs
        ]
        for thread in self._threads:
            thread.start()

    def _play(self, name: str, spec: str | Gate, port: int) -> None:
        run = partial(scripted.run, spec) if isinstance(spec, str) else held(spec)
        try:
            self.ends[name] = run(
                "127.0.0.1", port, name=name, token=self._tokens.get(name), policy=self._policy
            )
        except Exception as error:
            self.ends[name] = f"{type(error).__name__}: {error}"

    def join(self) -> dict[str, str]:
        """Wait for all of them to end."""
        for thread in self._threads:
            thread.join(PATIENCE_S)
        return self.ends


def play_three(folder: Path) -> Path:
    """Play a contest of three bots in `folder`, one of which sends illegal moves; returns the folder."""
    shown = 'probation = 0\nspectator_delay = "0s"'
    text = contest("first", "six", "zero", contest=shown, game='plies = 8\nclock = "10s"')
    with Server(text, folder, "--until-finished") as server:
        Players(
            server.port, [("first", "first-legal"), ("six", "fixed:move=6"), ("zero", "zero-based")]
        ).join()
        assert server.end().code == 0
    return folder
