"""Programs that end with this process, also when it is killed while they stand still.

    Sweeper.watch(group), .forget(group) -> lines on the stdin of a shell; its end -> what is left ends

A stopped program does not see the end of this process, and its children are stopped with it: the parent death
signal of Linux would reach the first process alone.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from arena_server.places.base import inherited
from arena_server.places.spawned import Spawned, spawn

#: Seconds from SIGTERM to SIGKILL.
GRACE_S: Final = 3
#: Seconds for the shell to end when nothing is left to be ended.
END_S: Final = 5.0

_SWEEP: Final = """
groups=" "
# All groups of the sessions that these lead. In `stat` after the name: state, parent, group, session.
all() {
  for file in /proc/[0-9]*/stat; do
    read -r line <"$file" && set -- ${line##*) } && case $groups in *" $4 "*) echo "$3" ;; esac
  done 2>/dev/null
  echo $groups
}
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="${groups%%" $group "*} ${groups#*" $group "}" ;;
  esac
done
[ -n "${groups# }" ] || exit 0
# As `Child.end`: SIGTERM to the first process; a stopped one takes it when it goes on.
for group in $groups; do kill -TERM "$group"; done
for group in $(all); do kill -CONT -"$group"; done
sleep "$1"
for group in $(all); do kill -KILL -"$group"; done
"""


class Sweeper:
    """Ends sessions, by their leaders, when this process has ended, however that was; an async context."""

    def __init__(self) -> None:
        self._shell: Spawned | None = None
        self._opening = asyncio.Lock()
        self._groups: set[int] = set()

    async def __aenter__(self) -> Self:
        return self

    async def open(self) -> None:
        """Be able to watch."""
        quiet = asyncio.subprocess.DEVNULL
        async with self._opening:
            if self._shell is None:
                self._shell = await spawn(
                    ["/bin/sh", "-c", _SWEEP, "sweeper", str(GRACE_S)],
                    inherited(os.environ),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=quiet,
                    stderr=quiet,
                )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shell is not None:
            self._shell.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(END_S):
                    await self._shell.wait()

    @property
    def watches(self) -> bool:
        """Whether it would end what it watches."""
        return self._shell is not None and self._shell.returncode is None

    def watch(self, group: int) -> None:
        """End this group with this process, from now on."""
        self._groups.add(group)
        self._write("+", group)

    def forget(self, group: int) -> None:
        """The group has ended."""
        if group in self._groups:
            self._groups.remove(group)
            self._write("-", group)

    def _write(self, sign: str, group: int) -> None:
        if self.watches and self._shell is not None and self._shell.stdin is not None:
            self._shell.stdin.write(f"{sign} {group}\n".encode())
