"""Pickles of plain containers, and nothing else: what a file of unknown origin may be read as.

Only dict, list, tuple, set, str, bytes, int, float, bool and None are ever built. A pickle that asks
for anything else is refused with the name it asked for, before anything of it runs.
"""

from __future__ import annotations

import gc
import gzip
import io
import lzma
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from memtrack.errors import UnreadableFile
from memtrack.i18n import text
from memtrack.readers.bulk import load_in_bulk
from memtrack.readers.opcodes import claims_too_much
from memtrack.units import format_bytes

LARGEST_UNPACKED = 4 << 30
"""Bytes that a compressed file may hold: some forty million events, which fill 24 GB once loaded. A
file of a few megabytes that holds more was made to fill the memory of its reader."""
SMALLEST_BULK = 1 << 20
"""Bytes from which the entries of traces are read in bulk."""
MOST_SCANNED = 1 << 20
"""Bytes up to which a pickle is looked through before it is loaded; larger ones would take seconds."""

Opener = Callable[[Path], io.BufferedIOBase]
PACKED: dict[bytes, Opener] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
"""How to open what begins so."""


def opener_of(head: bytes) -> Opener | None:
    """Return what opens a packed file that begins with `head`; None for one that is not packed."""
    return next((opener for magic, opener in PACKED.items() if head.startswith(magic)), None)


class _Refused(Exception):
    """The pickle asks for `name`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _TooLarge(Exception):
    """A compressed file holds more than `LARGEST_UNPACKED`."""


class _PlainUnpickler(pickle.Unpickler):
    """The C unpickler at its full speed; every way to anything but plain containers is closed."""

    def find_class(self, module: str, name: str) -> NoReturn:
        """Refuse a global, whichever opcode asks for it."""
        raise _Refused(f"{module}.{name}")

    def persistent_load(self, identifier: Any) -> NoReturn:
        """Refuse what is stored outside the pickle, as tensors in old checkpoints are."""
        raise _Refused("persistent_load")


def load_plain(path: Path) -> Any:
    """Return the containers in a pickle, which may be packed by gzip or xz.

    Raises UnreadableFile in one sentence for whatever is not a whole pickle of plain containers.
    """
    try:
        with _opened(path) as file, collector_off():
            content = file.read()
            return _loaded(content)
    except _Refused as refused:
        raise UnreadableFile(
            text(
                "{path} asks for {name}, which no torch snapshot needs.",
                path=path,
                name=_printable(refused.name),
            ),
            text("Nothing of it was run."),
        ) from None
    except _TooLarge as error:
        limit = format_bytes(LARGEST_UNPACKED)
        raise UnreadableFile(
            text("{path} unpacks to more than {limit}.", path=path, limit=limit)
        ) from error
    except MemoryError as error:
        raise UnreadableFile(text("{path} does not fit into memory.", path=path)) from error
    except OSError as error:
        if error.errno is not None:
            problem = error.strerror or type(error).__name__
            sentence = text("{path} cannot be read ({problem}).", path=path, problem=problem)
            raise UnreadableFile(sentence) from error
        raise _damaged(path) from error
    except Exception as error:  # damage can surface as any error, says the pickle module
        raise _damaged(path) from error


def _loaded(content: bytes) -> Any:
    if len(content) <= MOST_SCANNED and claims_too_much(content):
        raise pickle.UnpicklingError("it claims more than it holds")
    if len(content) >= SMALLEST_BULK:
        with suppress(Exception):  # whatever it is, loading as usual will tell
            return load_in_bulk(content, _load)
    return _load(io.BytesIO(content))


def _load(file: io.BytesIO) -> Any:
    return _PlainUnpickler(file).load()


def _damaged(path: Path) -> UnreadableFile:
    return UnreadableFile(text("{path} is cut short or damaged.", path=path))


def _printable(name: str) -> str:
    """Return a name from the file as one short line that no terminal acts on."""
    shown = "".join(c if c.isprintable() else "?" for c in name[:100])
    return shown + "…" if len(name) > 100 else shown


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep the garbage collector from going through millions of new containers again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedIOBase]:
    with path.open("rb") as plain:
        head = plain.read(8)
        plain.seek(0)
        opener = opener_of(head)
        if opener is None:
            yield plain
            return
    with opener(path) as packed:
        yield io.BufferedReader(_Bounded(packed), 1 << 18)


class _Bounded(io.RawIOBase):
    """A packed file that ends in an error when it holds more than is sane."""

    def __init__(self, packed: io.BufferedIOBase) -> None:
        self._packed = packed
        self._room = LARGEST_UNPACKED

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` from what is unpacked next; return how many bytes there were."""
        data = self._packed.read(len(buffer))
        self._room -= len(data)
        if self._room < 0:
            raise _TooLarge
        buffer[: len(data)] = data
        return len(data)
