"""What a bot may use of its machine while it runs in a container."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MB = 1_000_000
#: The least memory that the engine takes.
LEAST_MEMORY = 6 * MB
_FOLDER = re.compile(r"(/[A-Za-z0-9_.+-]+)+/?")
_SIZE = re.compile(r"([0-9]{1,6}) ?(MB|GB)")


@dataclass(frozen=True, slots=True)
class ContainerLimits:
    """What a container may use: processors, bytes of memory and of /tmp, processes with their threads.

    Without `ponder` its programs are frozen while another seat of their game is to move.
    """

    cpus: float = 1.0
    memory: int = 512 * MB
    tmp: int = 64 * MB
    pids: int = 128
    ponder: bool = True

    def options(self, volumes: Sequence[str] = ()) -> list[str]:
        """The options of `docker run`; what the image wants as `volumes` is in memory, like /tmp.

        Raises ValueError for a volume that cannot be.
        """
        if (odd := next((each for each in volumes if not _FOLDER.fullmatch(each)), None)) is not None:
            raise ValueError(f"VOLUME: expected a plain path, got {odd!r:.60}")
        return [
            # A mount in its place: the engine would make a volume on the disk, without a limit.
            *(
                word
                for each in volumes
                if each != "/tmp"  # noqa: S108 - in the container
                for word in ("--mount", f"type=tmpfs,destination={each},tmpfs-size={self.tmp}")
            ),
            *("--cpus", f"{self.cpus:g}"),
            # Equal to --memory: no swap.
            *("--memory", str(self.memory), "--memory-swap", str(self.memory)),
            *("--pids-limit", str(self.pids)),
            *("--tmpfs", f"/tmp:rw,nosuid,nodev,size={self.tmp},mode=1777"),  # noqa: S108 - in the container
        ]


DEFAULT_LIMITS = ContainerLimits()


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The container of a bot: its image (name or digest) and what it may use.

    `saved` is the file of the image on the machine of the server, if it came as one.
    """

    image: str
    limits: ContainerLimits = DEFAULT_LIMITS
    saved: str = ""


def parse_size(text: str) -> int:
    """Return the bytes of "512MB" or "2GB". Raises ValueError."""
    if (found := _SIZE.fullmatch(text)) is None:
        raise ValueError(f'expected a size such as "512MB" or "2GB", got {text!r}')
    return int(found[1]) * MB * (1000 if found[2] == "GB" else 1)
