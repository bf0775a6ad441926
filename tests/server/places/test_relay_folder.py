"""The folder with the socket of the relays, which the engine has to see; the engine is a script."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena_server.places.base import LaunchError, LocalBot
from arena_server.places.docker import Docker
from arena_server.places.docker_launcher import ContainerLauncher
from arena_server.terms.sandbox import Sandbox

#: It finds no folder of this machine.
ENGINE = """#!/bin/sh
echo "$*" >>"$(dirname "$0")/calls"
case $1 in
image) echo null ;;
run)
  echo 'docker: Error response from daemon: invalid: bind source path does not exist: /tmp/x.' >&2
  echo "See 'docker run --help'." >&2
  exit 125 ;;
esac
"""

pytestmark = [pytest.mark.real, pytest.mark.asyncio]


async def test_a_folder_that_the_engine_does_not_see_is_named_and_not_the_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Short, as the path of a socket may have 107 bytes.
    program, runtime = tmp_path / "docker", tmp_path / "r"
    program.write_text(ENGINE)
    program.chmod(0o755)
    runtime.mkdir()
    monkeypatch.setenv("RUNTIME_DIRECTORY", f"{runtime}:/run/other")
    bot = LocalBot("ann", ["bot"], "token", sandbox=Sandbox("mybot:3"))
    async with ContainerLauncher("127.0.0.1", 1, "here", docker=Docker(str(program))) as launcher:
        (folder,) = runtime.iterdir()
        with pytest.raises(LaunchError) as caught:
            await launcher.start(bot)
    assert str(caught.value).startswith(f"the Docker engine does not see {folder}, which has the way to the ")
    assert str(caught.value).endswith("set RUNTIME_DIRECTORY to a folder that both see (docs/containers.md)")
    assert list(runtime.iterdir()) == []
    (started,) = (line for line in (tmp_path / "calls").read_text().splitlines() if line.startswith("run "))
    assert re.search(f"--mount type=bind,source={folder}/[0-9]+,target=/run/arena,readonly ", started)


@pytest.mark.soak
async def test_a_place_for_no_socket_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, runtime = tmp_path / "docker", tmp_path / ("long" * 30)
    program.write_text(ENGINE)
    program.chmod(0o755)
    runtime.mkdir()
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(runtime))
    bot = LocalBot("ann", ["bot"], "token", sandbox=Sandbox("mybot:3"))
    async with ContainerLauncher("127.0.0.1", 1, "here", docker=Docker(str(program))) as launcher:
        with pytest.raises(
            LaunchError, match=r"/0/referee: no socket can be made there: AF_UNIX path too long$"
        ):
            await launcher.start(bot)
    assert list(runtime.iterdir()) == []
