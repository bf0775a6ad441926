"""What a Dask scheduler or worker sends is data: nothing but values of Python itself is made of it.

The messages of Dask carry pickles whatever serializers a client asks for: results, exceptions, tracebacks,
events, types. So its reader of messages, its unpickler and its reader of exceptions are replaced here: none
imports a module, finds a class, decompresses, or takes more than `MOST_BYTES` for a message.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import msgpack

from arena_server.places.workers.base import LONGEST, JobOutcome, word

#: Of a message; eight times the largest record.
MOST_BYTES: Final = 64 * 1024 * 1024
_VALUES: Final = frozenset({"bool", "bytes", "dict", "float", "int", "list", "str", "tuple"})
_COLLECTIONS: Final[dict[str, Callable[[Iterable[Any]], Any]]] = {"list": list, "tuple": tuple, "set": set}
_DEEPEST: Final = 4


class NotPlain(Exception):  # noqa: N818 - it stands where the value would, which may be an exception
    """What was sent is no plain value; the text names its first class."""


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str, /) -> Any:
        if module == "builtins" and name in _VALUES:
            return getattr(sys.modules[module], name)
        raise NotPlain(f"{module}.{name}")


def plain_outcome(answer: object) -> tuple[JobOutcome, str]:
    """What `play_on_worker` returned, with the host. Raises NotPlain for anything else."""
    match answer:
        case (bytes() | None as record, str(problem), bool(fatal), str(host), dict(stored)):
            if all(isinstance(name, str) and isinstance(data, bytes) for name, data in stored.items()):
                return JobOutcome(record, problem[:LONGEST], fatal, stored=stored), word(host)
        case NotPlain():
            raise answer
    raise NotPlain("a worker has sent what is no outcome of a game")


def plain_loads(data: Any, *, buffers: Iterable[Any] = ()) -> Any:
    """The value of a pickle; a NotPlain for another than a plain one.

    It does not raise: Dask would end the connection to its scheduler, and with it every game.
    """
    try:
        return _PlainUnpickler(io.BytesIO(data), buffers=buffers).load()
    except NotPlain as refused:
        what = "an exception" if str(refused).startswith("tblib.") else f"a {refused!s:.100}"
        return NotPlain(f"a worker has sent {what}, which is not read here")
    except Exception:
        return NotPlain("a worker has sent what cannot be read")


def plain_message(frames: Sequence[Any], deserialize: bool = True, deserializers: object = None) -> Any:
    """The message of these frames, with a NotPlain for each part that is no plain value.

    Raises ValueError for what is no message at all.
    """

    def decoded(values: dict[Any, Any]) -> Any:
        if (at := values.get("__Serialized__", 0)) or (at := values.get("__Pickled__", 0)):
            return _part(frames, at)
        if "__Set__" in values:
            return set(values["as-list"])
        if "__Enum__" in values:
            return _status(values)
        return values

    return msgpack.loads(frames[0], object_hook=decoded, use_list=False, strict_map_key=False)


def _part(frames: Sequence[Any], at: int) -> Any:
    """What was serialized by itself: its header is frame `at`, and its data are those that follow."""
    try:
        header = msgpack.loads(frames[at], use_list=False, strict_map_key=False)
        parts = [*frames[at + 1 : at + 1 + header["num-sub-frames"]]]
        if any(header.get("compression", ())):
            return NotPlain("a worker has sent compressed data, which are not read here")
        if (pickled := header.get("pickled-obj")) is not None:
            return plain_loads(pickled, buffers=parts)
        if "split-num-sub-frames" in header:
            sizes = zip(header["split-num-sub-frames"], header["split-offsets"], strict=True)
            parts = [b"".join(parts[offset : offset + count]) for count, offset in sizes]
        return _value(header, parts, _DEEPEST)
    except Exception:
        return NotPlain("a worker has sent what cannot be read")


def _value(header: dict[str, Any], parts: Sequence[Any], deepest: int) -> Any:
    """The value of an object's header and frames. Raises whatever it may for a damaged one."""
    if "is-collection" in header:
        values, first = [], 0
        if not deepest:
            raise NotPlain("a collection")
        for each, length in zip(header["sub-headers"], header["frame-lengths"], strict=True):
            values.append(_value(each, parts[first : first + length], deepest - 1))
            first += length
        if header["type-serialized"] == "dict":
            return {each["key"]: value for each, value in zip(header["sub-headers"], values, strict=True)}
        return _COLLECTIONS[header["type-serialized"]](values)
    match header["serializer"]:
        case "pickle":
            return plain_loads(parts[0], buffers=parts[1:])
        case "dask" if header["type"] == "bytes":
            return b"".join(parts)
    return NotPlain(f"a worker has sent data of the serializer {header['serializer']!s:.40}")


def _status(values: dict[Any, Any]) -> Any:
    """The only enumeration of the messages of a scheduler."""
    from distributed.core import Status

    return Status.__members__.get(values.get("name", ""), NotPlain("a worker has sent an enumeration"))


def plain_error(
    exception: object,
    traceback: object = None,
    *,
    exception_text: object = "",
    **_: object,
) -> tuple[Any, Any, None]:
    """What Dask raises for an exception that was sent: a NotPlain with its text, if that was sent too."""
    found = plain_loads(exception) if isinstance(exception, (bytes, bytearray)) else exception
    if exception_text or (found is not None and not isinstance(found, NotPlain)):
        found = NotPlain(f"{exception_text or found!s:.200}")
    return type(found), found, None


def read_plainly() -> None:
    """From now on all of Dask in this process reads plain values only.

    A process that does so can be a client of a cluster, and neither a worker nor a scheduler.
    """
    import distributed.client
    from distributed import core, protocol
    from distributed.comm import tcp
    from distributed.protocol import pickle as theirs
    from distributed.protocol.utils import unpack_frames

    replaced = [
        (theirs.loads, plain_loads),
        (protocol.core.loads, plain_message),
        (core.clean_exception, plain_error),
        (pickle, SimpleNamespace(**{**vars(pickle), "loads": plain_loads})),
    ]
    if tcp.read_bytes_rw.__module__ == tcp.__name__:
        replaced += [
            (tcp.read_bytes_rw, _bounded_read(tcp.read_bytes_rw)),
            (unpack_frames, _bounded_frames(unpack_frames)),
        ]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "distributed" and module is not None:
            _replace(module, replaced)
    # What a worker prints or warns of would come out of this process as its own.
    untyped: Any = distributed.client.Client
    untyped._default_event_handlers = {}


def _replace(module: ModuleType, replaced: Sequence[tuple[Any, Any]]) -> None:
    for key, value in list(vars(module).items()):
        for original, ours in replaced:
            if value is original:
                setattr(module, key, ours)


def _bounded_read(original: Callable[[Any, int], Any]) -> Callable[[Any, int], Any]:
    async def read(stream: Any, size: int) -> Any:
        _check(size)
        return await original(stream, size)

    return read


def _bounded_frames(original: Callable[..., Any]) -> Callable[..., Any]:
    def unpack(frames: Any, **options: bool) -> Any:
        found = original(frames, **options)
        if options.get("partial"):
            _check(sum(found[1]))
        return found

    return unpack


def _check(size: int) -> None:
    """Raises OSError, which ends the connection."""
    if size > MOST_BYTES:
        raise OSError(f"a message of {size} bytes, expected at most {MOST_BYTES}")
