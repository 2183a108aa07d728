"""Growing columns that become a `RecordingData` at any moment, also while they go on growing."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from memtrack.recording.data import Facts, RecordingData
from memtrack.recording.tables import TABLES, Table
from memtrack.words import all_in_utf8, in_utf8


class TableBuilder:
    """Growing rows of one table, laid one after the other in one array of 64-bit integers.

    A row is appended by one operation of the interpreter: an interrupt, another thread or the garbage
    collector can come before it or after it, never in the middle.
    """

    __slots__ = ("_defaults", "_places", "_width", "append", "name", "values")

    def __init__(self, name: str) -> None:
        specs = TABLES[name]
        self.name = name
        self.values = array("q")
        self._places = {column: place for place, column in enumerate(specs)}
        self._width = len(specs)
        self._defaults = [
            spec.default if np.dtype(spec.dtype).kind == "i" else 0 for spec in specs.values()
        ]
        self.append: Callable[[tuple[int, ...]], None] = self.values.extend
        """Append a row given whole, a value for every column of the schema in its order."""

    def __len__(self) -> int:
        return len(self.values) // self._width

    def add(self, **values: int) -> int:
        """Append one row, defaults for what is not given; return its number."""
        row = self._defaults.copy()
        places = self._places
        for name, value in values.items():
            row[places[name]] = value
        number = len(self.values) // self._width
        self.values.extend(row)
        return number

    def set(self, row: int, **values: int) -> None:
        """Change values of a row already there."""
        start = row * self._width
        for name, value in values.items():
            self.values[start + self._places[name]] = value

    def get(self, row: int, column: str) -> int:
        """Return one value."""
        return self.values[row * self._width + self._places[column]]

    def build(self) -> Table:
        """Return the rows so far as a table of its own memory."""
        rows = np.frombuffer(self.values[:], dtype=np.int64).reshape(-1, self._width)
        specs = TABLES[self.name].items()
        columns = {n: rows[:, i].astype(s.dtype) for i, (n, s) in enumerate(specs)}
        return Table(self.name, columns)


class StringBuilder:
    """Strings, each once."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._strings: list[str] = []

    def add(self, value: str) -> int:
        """Return the reference of `value`, whose characters that UTF-8 cannot hold become `?`."""
        row = self._rows.get(value)
        if row is None:
            known = in_utf8(value)  # browsers, databases and messages of kernels take no other
            row = self._rows.setdefault(known, len(self._strings))
            if row == len(self._strings):
                self._strings.append(known)
            self._rows[value] = row
        return row

    def get(self, reference: int) -> str:
        """Return the string of a reference, "" for -1."""
        return self._strings[reference] if reference >= 0 else ""

    def build(self) -> tuple[str, ...]:
        """Return the strings in order of their references."""
        return tuple(self._strings)


class StackBuilder:
    """Stacks as a trie; `add` takes frames outermost first."""

    def __init__(self, strings: StringBuilder) -> None:
        self._strings = strings
        self.frames = TableBuilder("frames")
        self.stacks = TableBuilder("stacks")
        self._frame_rows: dict[tuple[str, str, int], int] = {}
        self._stack_rows: dict[tuple[int, int], int] = {}

    def frame(self, file: str, function: str, line: int) -> int:
        """Return the row of one line of source."""
        key = (file, function, line)
        row = self._frame_rows.get(key)
        if row is None:
            add = self._strings.add
            row = self.frames.add(file=add(file), function=add(function), line=line)
            self._frame_rows[key] = row
        return row

    def push(self, parent: int, frame: int) -> int:
        """Return the stack that is `frame` called from the stack `parent` (-1: none)."""
        key = (parent, frame)
        row = self._stack_rows.get(key)
        if row is None:
            row = self._stack_rows[key] = self.stacks.add(frame=frame, parent=parent)
        return row


class RecordingBuilder:
    """All tables of one recording, growing."""

    def __init__(self) -> None:
        self.strings = StringBuilder()
        self.stacks = StackBuilder(self.strings)
        self.tables = {
            name: TableBuilder(name) for name in TABLES if name not in ("frames", "stacks")
        }
        self.tables["frames"] = self.stacks.frames
        self.tables["stacks"] = self.stacks.stacks

    def __getitem__(self, table: str) -> TableBuilder:
        return self.tables[table]

    def build(self, facts: Facts, replaced: Mapping[str, Any] | None = None) -> RecordingData:
        """Return the recording as it stands.

        `replaced` gives whole tables (name → Table) that were computed by hindsight.
        """
        tables = {
            name: builder.build()
            for name, builder in self.tables.items()
            if not replaced or name not in replaced
        }
        tables.update(replaced or {})
        facts = replace(facts, label=in_utf8(facts.label), extra=all_in_utf8(facts.extra))
        return RecordingData(facts, self.strings.build(), {name: tables[name] for name in TABLES})
