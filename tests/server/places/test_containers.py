"""Bots in containers of a real engine: what they cannot do, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.server.places.containers import (
    PATIENCE_S,
    bot,
    containers,
    launching,
    own,
    real_engine,
    referee,
)

from arena_server.places import docker as docker_module
from arena_server.places.base import BotEnded, LaunchError, LocalBot
from arena_server.places.cores import own_cores
from arena_server.places.docker import Docker, NoAnswerError
from arena_server.places.docker_launcher import RELAY_IMAGE, ContainerLauncher
from arena_server.terms.sandbox import (
    MB,
    ContainerLimits,
    Sandbox,
    parse_size,
)

pytestmark = [pytest.mark.real, pytest.mark.asyncio]


async def ended(found: ContainerLauncher, probe: LocalBot) -> BotEnded:
    running = await found.start(probe)
    try:
        return await asyncio.wait_for(running.wait(), PATIENCE_S)
    finally:
        await running.end()


async def told(probe: LocalBot) -> Any:
    """What the probe tells the referee; nothing of it is left."""
    async with launching() as (found, launcher):
        running = await launcher.start(probe)
        try:
            return await found.answer()
        finally:
            await running.end()


@real_engine
async def test_a_bot_knows_what_it_needs_and_nothing_of_its_host(tmp_path: Path) -> None:
    secret = tmp_path / "arena.db"
    secret.write_text("the deals")
    probe = bot(
        f"""
        tell(dict(
            names=sorted(key for key in os.environ if key.startswith("ARENA")),
            token=os.environ["ARENA_TOKEN"], depth=os.environ["DEPTH"], user=os.getuid(),
            interfaces=os.listdir("/sys/class/net"),
            seen=[path for path in ({str(secret)!r}, {os.getcwd()!r}, "/run/arena", "/relay.py",
                  "/var/run/docker.sock") if os.path.exists(path)],
            processes=len([name for name in os.listdir("/proc") if name.isdigit()]),
        ))
        """
    )
    found = await told(replace(probe, variables={"DEPTH": "3"}))
    assert found == {
        "names": ["ARENA_HOST", "ARENA_NAME", "ARENA_PORT", "ARENA_TOKEN"],
        "depth": "3",
        "token": "its-secret-token",
        "user": 10001,
        "interfaces": ["lo"],
        "seen": [],
        "processes": 2,  # docker-init and the bot: not the relay's, not the host's
    }


@real_engine
async def test_a_bot_reaches_the_referee_and_nothing_else() -> None:
    with socket.create_server(("0.0.0.0", 0)) as other:
        port = other.getsockname()[1]
        found = await told(
            bot(
                f"""
                reached = []
                for host in ("172.17.0.1", "192.0.2.1", "8.8.8.8", "127.0.0.1", "host.docker.internal"):
                    for port in ({port}, 53, 80, 2008):
                        try:
                            socket.create_connection((host, port), timeout=1).close()
                            reached.append((host, port))
                        except OSError:
                            pass
                open_ports = []
                for port in range(1, 10000):
                    probe = socket.socket()
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        open_ports.append(port)
                    probe.close()
                tell(dict(reached=reached, open=open_ports, own=int(os.environ["ARENA_PORT"])))
                """
            )
        )
    assert found["reached"] == []
    assert found["open"] == [found["own"]]


@real_engine
@pytest.mark.soak
async def test_a_bot_writes_only_its_small_folder() -> None:
    found = await told(
        bot(
            """
            found = {}
            for path in ("/x", "/usr/x", "/etc/passwd"):
                try:
                    open(path, "w"); found[path] = "written"
                except OSError as error:
                    found[path] = error.strerror
            size = 0
            try:
                with open("/tmp/x", "wb", 0) as file:
                    while True:
                        size += file.write(bytes(1 << 20))
            except OSError as error:
                found["/tmp"] = error.strerror
            tell(found | {"size": size})
            """,
            Sandbox(RELAY_IMAGE, ContainerLimits(memory=128 * MB, tmp=8 * MB)),
        )
    )
    assert {found.pop(path) for path in ("/x", "/usr/x", "/etc/passwd")} <= {
        "Read-only file system",
        "Permission denied",
    }
    assert found == {"/tmp": "No space left on device", "size": found["size"]}
    assert 4 * MB <= found["size"] <= 8 * MB + 4096


@real_engine
@pytest.mark.soak
async def test_a_bot_has_its_cores() -> None:
    core = own_cores()[-1]
    probe = replace(bot("tell(sorted(os.sched_getaffinity(0)))"), cores=(core,))
    assert await told(probe) == [core]


async def test_the_cores_of_this_machine_are_not_those_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = ContainerLauncher("127.0.0.1", 1, "x")
    pinned = replace(bot(""), cores=(0, 1, 3))
    assert launcher._cores(bot("")) == []
    assert launcher._cores(pinned) == ["--cpuset-cpus", "0-1,3"]
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/user/1000/docker.sock")
    assert launcher._cores(pinned) == ["--cpuset-cpus", "0-1,3"]
    monkeypatch.setenv("DOCKER_HOST", "ssh://elsewhere")
    assert launcher._cores(pinned) == []


@real_engine
@pytest.mark.soak
async def test_a_volume_of_its_image_is_none_of_the_disk(tmp_path: Path) -> None:
    docker = Docker()
    (tmp_path / "Dockerfile").write_text(
        f"FROM {RELAY_IMAGE}\nRUN mkdir -m 777 /x\nVOLUME /x /tmp\nHEALTHCHECK --interval=1s CMD true\n"
    )
    limits = ContainerLimits(memory=128 * MB, tmp=8 * MB)
    found = await told(
        bot(
            """
            size = 0
            try:
                with open("/x/x", "wb", 0) as file:
                    while True:
                        size += file.write(bytes(1 << 20))
            except OSError as error:
                tell([error.strerror, size <= 8004096, open("/proc/mounts").read().count(" /x tmpfs ")])
            """,
            Sandbox(await docker.build(str(tmp_path)), limits),
        )
    )
    assert found == ["No space left on device", True, 1]
    (tmp_path / "Dockerfile").write_text(f"FROM {RELAY_IMAGE}\nVOLUME /x,exec\n")
    odd = Sandbox(await docker.build(str(tmp_path)), limits)
    async with launching() as (_, launcher):
        with pytest.raises(LaunchError, match=r"^VOLUME: expected a plain path, got '/x,exec'$"):
            await launcher.start(bot("", odd))


@real_engine
@pytest.mark.soak
async def test_a_bot_that_forks_without_end_stops_at_its_limit() -> None:
    found = await told(
        bot(
            """
            number = 0
            try:
                while True:
                    if os.fork() == 0:
                        time.sleep(1000)
                    number += 1
            except OSError:
                tell(number)
            """,
            Sandbox(RELAY_IMAGE, ContainerLimits(memory=256 * MB, pids=24)),
        )
    )
    assert 10 <= found <= 24
    assert await containers() == []


@real_engine
async def test_a_bot_that_allocates_without_end_is_named() -> None:
    async with launching() as (_, launcher):
        end = await ended(
            launcher,
            bot(
                "x = [bytearray(1 << 20) for _ in range(1000)]",
                Sandbox(RELAY_IMAGE, ContainerLimits(memory=32 * MB)),
            ),
        )
    assert (end.status, end.exceeded) == (137, "more than 32 MB of memory")
    assert end.error == f"it used {end.exceeded}"


@real_engine
async def test_a_bot_that_ignores_sigterm_is_removed() -> None:
    async with launching() as (found, launcher):
        running = await launcher.start(
            bot(
                """
                import signal
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                    signal.signal(number, signal.SIG_IGN)
                tell("ready")
                time.sleep(1000)
                """
            )
        )
        assert await found.answer() == "ready"
        assert len(await containers()) == 2
        await running.end()
        assert await containers() == []


@real_engine
@pytest.mark.soak
async def test_the_traceback_and_the_status_are_those_of_the_bot(tmp_path: Path) -> None:
    async with (
        referee() as found,
        ContainerLauncher("127.0.0.1", found.port, own("logs"), tmp_path) as launcher,
    ):
        end = await ended(launcher, bot("{}['no']"))
    assert (end.status, end.error) == (1, "KeyError: 'no'")
    assert end.trace[0] == "Traceback (most recent call last):"
    assert (tmp_path / "probe.log").read_text().endswith("KeyError: 'no'\n")


@real_engine
async def test_what_the_engine_cannot_start() -> None:
    async with launching() as (_, launcher):
        missing = await ended(
            launcher, LocalBot("a", ["/no/such/program"], "t", sandbox=Sandbox(RELAY_IMAGE))
        )
        assert missing.status == 127
        assert "exec /no/such/program failed" in missing.error
        with pytest.raises(LaunchError, match=r"no-such-image:1"):
            await launcher.start(LocalBot("a", [], "t", sandbox=Sandbox("no-such-image:1")))
    assert await containers() == []


@real_engine
async def test_what_is_left_at_the_end_is_removed_and_what_an_earlier_run_left() -> None:
    async with launching("left") as (found, launcher):
        await launcher.start(bot("tell(1); time.sleep(1000)"))
        assert await found.answer() == 1
        assert len(await containers()) == 2
        async with launching("other"):
            assert len(await containers()) == 2
        async with launching("left"):
            assert await containers() == []
    async with launching() as (found, launcher):
        await launcher.start(bot("tell(2); time.sleep(1000)"))
        assert await found.answer() == 2
    assert await containers() == []


@real_engine
@pytest.mark.soak
async def test_an_image_is_known_by_its_digest_and_a_folder_is_built(tmp_path: Path) -> None:
    docker = Docker()
    assert (await docker.image(RELAY_IMAGE)).startswith("sha256:")
    (tmp_path / "Dockerfile").write_text(f'FROM {RELAY_IMAGE}\nENV WHO=me\nCMD ["python", "-c", "exit(7)"]\n')
    image = await docker.build(str(tmp_path))
    async with launching() as (_, launcher):
        assert (await ended(launcher, LocalBot("built", [], "t", sandbox=Sandbox(image)))).status == 7
    await docker.call("rmi", image)
    (tmp_path / "Dockerfile").write_text(f"FROM {RELAY_IMAGE}\nCOPY nothing /\n")
    with pytest.raises(LaunchError, match="nothing"):
        await docker.build(str(tmp_path))


async def test_without_an_engine() -> None:
    with pytest.raises(
        LaunchError, match=r"^no-such-docker: No such file or directory; bots in containers need"
    ):
        await Docker("no-such-docker").call("ps")
    with pytest.raises(LaunchError, match=r"^no-such-docker: No such file"):
        await Docker("no-such-docker").child(["run"])
    with pytest.raises(LaunchError, match=r"^false ps ended with 1$"):
        await Docker("false").call("ps")


@pytest.mark.parametrize("grace", [PATIENCE_S, 0.0])
@pytest.mark.soak
async def test_a_command_that_is_given_up_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grace: float
) -> None:
    """It is let to end, since it may remove a container; one that takes too long is killed."""
    monkeypatch.setattr(docker_module, "CALL_GRACE_S", grace)
    program = tmp_path / "docker"
    slow = "sleep 0.2" if grace else "exec sleep 100"
    program.write_text(f"#!/bin/sh\ncd {tmp_path}\n: > begun\n{slow}\n: > ended\n")
    program.chmod(0o755)
    call = asyncio.create_task(Docker(str(program)).call("rm"))
    async with asyncio.timeout(PATIENCE_S):
        while not (tmp_path / "begun").exists():
            await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (tmp_path / "ended").exists() == bool(grace)


@pytest.mark.soak
async def test_an_engine_that_hangs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for it for ever, an image is not fetched from it, and its command is not left behind."""
    monkeypatch.setattr(docker_module, "ANSWER_S", 0.2)
    program = tmp_path / "docker"
    # A command in the background keeps the output open, as a plug-in of the engine may.
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/said\nsleep 100 &\necho $! $$ > {tmp_path}/pids\nwait\n'
    )
    program.chmod(0o755)
    docker = Docker(str(program))
    with pytest.raises(LaunchError, match=r"^the Docker engine did not answer .* ps within 0.2 s; see "):
        await docker.remove("label=x")
    with pytest.raises(NoAnswerError):
        await docker.image("python")
    with pytest.raises(NoAnswerError):
        await docker.build(str(tmp_path))
    assert (tmp_path / "said").read_text().splitlines() == [
        "ps --all --quiet --filter label=label=x",
        "image inspect --format {{.Id}} python",
        "version",
    ]
    await killed(tmp_path / "pids")


async def killed(pids: Path) -> None:
    """Wait for the end of the processes that a file names; a zombie has ended."""
    async with asyncio.timeout(PATIENCE_S):
        for pid in pids.read_text().split():
            with suppress(FileNotFoundError):
                while ") Z " not in Path(f"/proc/{pid}/stat").read_text():
                    await asyncio.sleep(0.01)


@pytest.mark.soak
async def test_a_launcher_ends_although_its_engine_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena_server.places.docker_launcher.ANSWER_S", 0.2)
    program = tmp_path / "docker"
    hangs = f"{{ echo $$ > {tmp_path}/pid; exec sleep 100; }}"
    program.write_text(f"#!/bin/sh\n[ ! -e {tmp_path}/hangs ] || {hangs}\n")
    program.chmod(0o755)
    async with asyncio.timeout(PATIENCE_S):
        async with ContainerLauncher("127.0.0.1", 1, "x", docker=Docker(str(program))):
            (tmp_path / "hangs").touch()
        await killed(tmp_path / "pid")
        await asyncio.sleep(0.05)  # its pipes are seen to be closed


@pytest.mark.soak
async def test_a_relay_that_does_not_begin(tmp_path: Path) -> None:
    program = tmp_path / "docker"
    program.write_text(
        '#!/bin/sh\n[ "$1" = run ] || { echo null; exit; }\necho "docker: no room" >&2; exit 125\n'
    )
    program.chmod(0o755)
    async with ContainerLauncher("127.0.0.1", 1, "x", docker=Docker(str(program))) as launcher:
        with pytest.raises(LaunchError, match=r"^docker: no room$"):
            await launcher.start(bot(""))


@pytest.mark.parametrize(("text", "size"), [("6MB", 6 * MB), ("512 MB", 512 * MB), ("2GB", 2000 * MB)])
async def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "512", "512mb", "1.5GB", "-1MB", "5TB"])
async def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="expected a size"):
        parse_size(text)
