"""A Dask cluster on loopback: a scheduler and its workers as processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.ports import quiet_port


class Cluster:
    """A scheduler and its workers as processes; with `tls` by the certificates of Dask's configuration."""

    def __init__(self, folder: Path, *, tls: bool = False) -> None:
        self._folder = folder
        self._tls = tls
        self.port = quiet_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def where(self) -> str:
        """What `--on` is given."""
        return f"{'tls' if self._tls else 'dask'}://{self.address}"

    def _start(self, name: str, *arguments: str, **variables: str) -> None:
        with open(self._folder / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, "--no-dashboard"],
                env=os.environ | variables,
                stdout=log,
                stderr=log,
            )

    def start_scheduler(self, *options: str) -> None:
        host = ("--host", "tls://127.0.0.1") if self._tls else ("--host", "127.0.0.1")
        self._start("scheduler", "scheduler", *host, "--port", str(self.port), *options)

    def start_worker(self, name: str, *options: str, **variables: str) -> None:
        address = f"{'tls' if self._tls else 'tcp'}://{self.address}"
        words = ("worker", address, "--nthreads", "1", "--no-nanny", "--name", name, *options)
        self._start(name, *words, **variables)

    def signal(self, name: str, number: int) -> None:
        self.processes[name].send_signal(number)

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()
