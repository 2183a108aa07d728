"""`memtrack explain [FILE|-]`: the memory error in a log, explained; read line by line."""

from __future__ import annotations

import argparse
import bz2
import codecs
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

from memtrack.cli.terminal import columns, print_json
from memtrack.diagnosis.explain import explain_text
from memtrack.errors import UnreadableFile, UsageError
from memtrack.i18n import Text, languages, text
from memtrack.reports.diagnosistext import render_diagnosis

_STDIN = "-"
_PEEK = 4096
_PIECE = 1 << 16
"""Characters read at once, for files whose lines never end."""
_RECORDINGS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"PK\x03\x04")
_PACKED: Sequence[tuple[bytes, Callable[[BinaryIO], Any]]] = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    (b"\xfd7zXZ", lzma.LZMAFile),
    (b"BZh", bz2.BZ2File),
)
"""Logs are often kept so; they are read as they are unpacked, in bounded memory."""
_ZSTD = b"(\xb5/\xfd"
# Everything but control characters; of these only those that terminals and editors write.
_PRINTED = bytes({*range(256)} - {*range(32), 127} | {*b"\t\n\r\f\b\x1b\x07"})
"""A text has hardly any other byte: at most one in fifty."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("explain the memory error in a log or a message").render(language)
    parser = commands.add_parser("explain", help=purpose, description=purpose)
    file_help = text("a text file, or - for what is piped in (the default)").render(language)
    parser.add_argument("file", metavar="FILE", nargs="?", default="", help=file_help)
    as_json = text("print the diagnosis as one JSON object")
    parser.add_argument("--json", action="store_true", help=as_json.render(language))
    choices = text("the language of the explanation")
    parser.add_argument("--language", choices=languages(), help=choices.render(language))


def run(options: argparse.Namespace, language: str) -> int:
    """Print the explanation; a text without a memory error is no failure of ours."""
    spoken = options.language or language
    if options.file in ("", _STDIN):
        diagnosis = _from_stdin(asked=options.file == _STDIN)
    else:
        with open(options.file, "rb") as file:
            diagnosis = explain_text(_Lines(file, options.file))
    if options.json:
        print_json(diagnosis.to_json(spoken))
    else:
        print(render_diagnosis(diagnosis, spoken, columns()))
    return 0


def _from_stdin(*, asked: bool) -> Any:
    if sys.stdin is None or (not asked and sys.stdin.isatty()):
        raise UsageError(
            text("No text was given."),
            text("Name a file, or pipe one in: python train.py 2>&1 | memtrack explain"),
        )
    binary = getattr(sys.stdin, "buffer", None)
    if binary is None:  # a stream that someone put in its place
        return explain_text(sys.stdin.read())
    return explain_text(_Lines(binary, text("The text piped in")))


class _Lines:
    """The lines of a file as text, in pieces where they are very long.

    Raises `UnreadableFile` for what is no text, and, once all is read, for what is empty.
    """

    def __init__(self, file: BinaryIO, name: str | Text) -> None:
        self._name = name
        self._is_packed = False
        self._file: Any = (
            file if isinstance(file, io.BufferedReader) else io.BufferedReader(_Raw(file))
        )

    def __iter__(self) -> Iterator[str]:
        head = self._unpacked(self._file.peek(_PEEK)[:_PEEK])
        stream = io.TextIOWrapper(self._file, encoding=self._encoding(head), errors="replace")
        empty = True
        try:
            while piece := stream.readline(_PIECE):
                empty = empty and not piece.strip()
                yield piece
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as problem:
            if not self._is_packed:
                raise
            raise UnreadableFile(
                text("{name} is damaged or cut short.", name=self._name)
            ) from problem
        finally:
            stream.detach()
        if empty:
            raise UnreadableFile(text("{name} is empty.", name=self._name))

    def _unpacked(self, head: bytes) -> bytes:
        """Return the beginning of the text itself, read through what packed it."""
        for mark, opened in _PACKED:
            if head.startswith(mark):
                self._is_packed = True
                self._file = io.BufferedReader(opened(self._file))
                try:
                    return bytes(self._file.peek(_PEEK)[:_PEEK])
                except (EOFError, OSError, lzma.LZMAError, zlib.error) as problem:
                    raise UnreadableFile(
                        text("{name} is damaged or cut short.", name=self._name)
                    ) from problem
        return head

    def _encoding(self, head: bytes) -> str:
        if head.startswith(_RECORDINGS):
            raise UnreadableFile(
                text("{name} is a recording or a pickle, not a text.", name=self._name),
                text("memtrack open FILE shows recordings and snapshots."),
            )
        if head.startswith(_ZSTD):
            raise UnreadableFile(
                text("{name} is compressed.", name=self._name),
                text(
                    "Unpack it on the way: {command}", command="zstdcat FILE | memtrack explain -"
                ),
            )
        for mark, encoding in _MARKS:
            if head.startswith(mark):
                return encoding
        zeros = head.count(0)
        if zeros and head[1::2].count(0) == zeros and zeros > len(head) // 4:
            return "utf-16-le"  # what PowerShell's `>` writes, without its mark
        head = head.lstrip(
            b"\0"
        )  # what a crash, or a rotation under an open file, leaves at the start
        if 50 * len(head.translate(None, _PRINTED)) > len(head):
            raise UnreadableFile(text("{name} is not a text.", name=self._name))
        return "utf-8"


class _Raw(io.RawIOBase):
    """Any binary stream as a raw one, so that its beginning can be looked at."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
