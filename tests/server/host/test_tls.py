"""A contest over TLS: the real server, both client shells, and a server without a valid certificate."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from functools import partial
from pathlib import Path

import pytest
import trio
from tests.forked import Arena
from tests.protocol.test_tls import Pair, make_pair
from tests.server.lines import LineClient
from tests.server.programs import EAGER, PATIENCE_S, Gate, HeldBot, Server, arena, contest, inside

from arena_client import asyncio_client, scripted, trio_client
from arena_client.errors import ClientError
from arena_client.scripted import Fixed

UNTRUSTED = "cannot speak TLS with localhost: the certificate is not trusted: self-signed certificate"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make_pair(tmp_path_factory.mktemp("tls"))


def over_tls(pair: Pair, more: str = "") -> str:
    keys = f'tls_certificate = "{pair[0]}"\ntls_key = "{pair[1]}"'
    return contest("a", "b", contest=f'spectator_delay = "0s"\n{more}', server=keys)


class TestAContest:
    @pytest.mark.real
    def test_both_shells_play_encrypted(self, pair: Pair, tmp_path: Path) -> None:
        context = ssl.create_default_context(cafile=pair[0])
        with Server(over_tls(pair), tmp_path) as server:

            async def both() -> str:
                there = trio_client.play(Fixed("6"), "localhost", server.port, name="a", tls=context)
                other = asyncio.to_thread(trio.run, lambda: there)
                play = asyncio_client.play(Fixed("7"), "localhost", server.port, name="b", tls=context)
                async with asyncio.timeout(PATIENCE_S):
                    reasons = await asyncio.gather(other, play)
                return " ".join(reasons)

            assert asyncio.run(both()) == "finished finished"

    @pytest.mark.real
    @pytest.mark.soak
    def test_the_command_plays_encrypted(self, pair: Pair, tmp_path: Path) -> None:
        with Server(over_tls(pair), tmp_path) as server:
            context = ssl.create_default_context(cafile=pair[0])

            async def both() -> str:
                run = partial(
                    arena, "bot", "first-legal", "--connect", f"localhost:{server.port}", "--name", "a",
                    "--tls-ca", pair[0],
                )  # fmt: skip
                play = asyncio_client.play(Fixed("7"), "localhost", server.port, name="b", tls=context)
                async with asyncio.timeout(PATIENCE_S):
                    outcome, _ = await asyncio.gather(asyncio.to_thread(run), play)
                return outcome.out

            assert asyncio.run(both()) == "a leaves: finished\n"

    @pytest.mark.real
    @pytest.mark.parametrize("trusted", [True, False])
    @pytest.mark.soak
    def test_a_contest_is_watched_encrypted(self, pair: Pair, tmp_path: Path, trusted: bool) -> None:
        with Server(over_tls(pair), tmp_path, "--log-level", "info") as server:
            address = ("--connect", f"localhost:{server.port}")
            if not trusted:
                outcome = inside("watch", *address, "--tls")
                assert (outcome.code, outcome.line) == (1, f"arena: {UNTRUSTED}")
                return
            watching = Arena(
                ["watch", *address, "--tls-ca", pair[0]], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            assert watching.stdout is not None
            first_line = watching.stdout.readline
            context, gate = ssl.create_default_context(cafile=pair[0]), Gate(0)

            async def let_them_play() -> None:
                """Once it watches."""
                assert (await asyncio.to_thread(first_line)).startswith("g1: ")
                gate.open()

            async def both() -> None:
                bots = [
                    asyncio_client.play(bot, "localhost", server.port, name=name, tls=context)
                    for name, bot in (("a", HeldBot(gate)), ("b", Fixed("7")))
                ]
                async with asyncio.timeout(PATIENCE_S):
                    await asyncio.gather(*bots, let_them_play())

            asyncio.run(both())
            out, err = watching.communicate(timeout=PATIENCE_S)
        assert (watching.returncode, err) == (0, "")
        assert sum(" plays " in line for line in out.splitlines()) == 12
        assert "g2: over, " in out

    @pytest.mark.real
    def test_whoever_speaks_plainly_is_let_go(self, pair: Pair, tmp_path: Path) -> None:
        with Server(over_tls(pair, 'login = "500ms"'), tmp_path) as server:
            plain = LineClient(server.port)
            plain.send(b"HELLO 1 a\n")
            assert plain.rest() in ([], ["reset"])
            plain.close()
            silent = LineClient(server.port)  # no handshake: the limit for the log-in is the limit for both
            assert silent.rest() in ([], ["reset"])
            silent.close()

    @pytest.mark.real
    @pytest.mark.parametrize("shell", [asyncio_client, trio_client])
    @pytest.mark.soak
    def test_a_server_that_nobody_vouches_for(self, pair: Pair, tmp_path: Path, shell: object) -> None:
        with Server(over_tls(pair), tmp_path) as server, pytest.raises(ClientError) as refusal:
            shell.run(  # type: ignore[attr-defined]
                Fixed("6"),
                "localhost",
                server.port,
                name="a",
                policy=EAGER,
                tls=ssl.create_default_context(),
            )
        assert str(refusal.value) == UNTRUSTED

    def test_a_script_has_no_tls(self) -> None:
        with pytest.raises(ClientError, match=r"^flooder has a raw connection, without TLS$"):
            scripted.run("flooder", "localhost", 1, name="a", tls=ssl.create_default_context())


class TestRefusals:
    def serve(self, tmp_path: Path, keys: str) -> str:
        (tmp_path / "c.toml").write_text(contest("a", "b", server=keys))
        outcome = inside("serve", "c.toml", "--port", "0", cwd=tmp_path)
        assert (outcome.code, outcome.out) == (2, "")
        return outcome.line

    def test_files_that_are_no_pair(self, tmp_path: Path) -> None:
        (tmp_path / "x.pem").write_text("nothing")
        assert self.serve(tmp_path, 'tls_certificate = "x.pem"\ntls_key = "x.pem"') == (
            "arena: server.tls_certificate, server.tls_key: x.pem and x.pem are no certificate and its key "
            "(PEM, the key not encrypted)"
        )

    def test_files_that_are_not_there(self, tmp_path: Path) -> None:
        assert self.serve(tmp_path, 'tls_certificate = "x.pem"\ntls_key = "y.pem"') == (
            "arena: server.tls_certificate, server.tls_key: cannot read x.pem and y.pem: "
            "No such file or directory"
        )

    def test_one_without_the_other(self, tmp_path: Path) -> None:
        assert self.serve(tmp_path, 'tls_key = "y.pem"') == (
            "arena: c.toml: server: expected tls_certificate and tls_key or neither, got tls_key alone"
        )

    def test_a_tournament_starts_no_bot_that_could_not_connect(self, tmp_path: Path, pair: Pair) -> None:
        (tmp_path / "c.toml").write_text(over_tls(pair))
        outcome = inside("tournament", "c.toml", cwd=tmp_path)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.line == (
            "arena: c.toml: server.tls_certificate: the bots of a tournament connect without TLS; "
            "use arena serve"
        )

    def test_a_file_without_certificates_to_trust(self, tmp_path: Path) -> None:
        (tmp_path / "x.pem").write_text("nothing")
        for name, why in (("x.pem", "no certificates in PEM"), ("y.pem", "No such file or directory")):
            for command in (("bot", "first-legal"), ("watch",)):
                outcome = inside(*command, "--connect", "h:1", "--tls-ca", name, cwd=tmp_path)
                assert (outcome.code, outcome.line) == (2, f"arena: --tls-ca: {name}: {why}")
