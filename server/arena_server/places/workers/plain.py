"""What a Dask worker sends is data: a process that reads it unpickles nothing but values of Python itself.

The messages of Dask carry pickles whatever serializers a client asks for: results, exceptions, tracebacks,
events, types. An unpickler that finds no class but those of `_VALUES` can call nothing of a worker's choice.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, Final

_VALUES: Final = frozenset({"bool", "bytes", "dict", "float", "int", "list", "str", "tuple"})


class NotPlain(Exception):  # noqa: N818 - it stands where the value would, which may be an exception
    """What was sent is no plain value; the text names its first class."""


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str, /) -> Any:
        if module == "builtins" and name in _VALUES:
            return getattr(sys.modules[module], name)
        raise NotPlain(f"{module}.{name}")


def plain_loads(data: Any, *, buffers: Iterable[Any] = ()) -> Any:
    """The value of a pickle; for another than a plain one a NotPlain, and None for a traceback.

    It does not raise: Dask would end the connection to its scheduler, and with it every game.
    """
    try:
        return _PlainUnpickler(io.BytesIO(data), buffers=buffers).load()
    except NotPlain as refused:
        if str(refused).endswith(".unpickle_traceback"):
            return None
        what = "an exception" if str(refused).startswith("tblib.") else f"a {refused!s:.100}"
        return NotPlain(f"a worker has sent {what}, which is not read here")
    except Exception:
        return NotPlain("a worker has sent what cannot be read")


def read_plainly() -> None:
    """From now on all of Dask in this process reads pickles by `plain_loads`.

    A process that does so can be a client of a cluster, and neither a worker nor a scheduler.
    """
    import distributed.client
    from distributed.protocol import pickle as theirs

    original = theirs.loads
    ours = SimpleNamespace(**{**vars(pickle), "loads": plain_loads})
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "distributed" and module is not None:
            for key, value in list(vars(module).items()):
                if value is original:
                    setattr(module, key, plain_loads)
                elif value is pickle:
                    setattr(module, key, ours)
    # What a worker prints or warns of would come out of this process as its own.
    untyped: Any = distributed.client.Client
    untyped._default_event_handlers = {}
