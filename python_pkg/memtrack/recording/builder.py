"""Growing columns that become a `RecordingData` at any moment, also while they go on growing."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np

from memtrack.recording.data import Facts, RecordingData
from memtrack.recording.tables import TABLES, ColumnSpec, Table

_TYPECODES = {"i": "q", "u": "Q"}


class Column:
    """One growing column. Values are kept as 64-bit integers and cast when the table is built."""

    __slots__ = ("append", "values")

    def __init__(self, spec: ColumnSpec) -> None:
        self.values = array(_TYPECODES[np.dtype(spec.dtype).kind])
        self.append = self.values.append


class TableBuilder:
    """Growing rows of one table."""

    __slots__ = ("_defaults", "columns", "name")

    def __init__(self, name: str) -> None:
        specs = TABLES[name]
        self.name = name
        self.columns = {column: Column(spec) for column, spec in specs.items()}
        self._defaults = {
            column: spec.default if np.dtype(spec.dtype).kind == "i" else 0
            for column, spec in specs.items()
        }

    def __len__(self) -> int:
        return min(len(column.values) for column in self.columns.values())

    def add(self, **values: int) -> int:
        """Append one row, defaults for what is not given; return its number."""
        row = len(self.columns[next(iter(self.columns))].values)
        for name, column in self.columns.items():
            column.append(values.get(name, self._defaults[name]))
        return row

    def set(self, row: int, **values: int) -> None:
        """Change values of a row already there."""
        for name, value in values.items():
            self.columns[name].values[row] = value

    def get(self, row: int, column: str) -> int:
        """Return one value."""
        return int(self.columns[column].values[row])

    def build(self, rows: int | None = None) -> Table:
        """Return the first `rows` rows (all by default) as a table of their own memory."""
        count = len(self) if rows is None else rows
        arrays = {}
        for name, column in self.columns.items():
            kind = np.dtype(TABLES[self.name][name].dtype)
            arrays[name] = np.array(column.values[:count]).astype(kind)
        return Table(self.name, arrays)


class StringBuilder:
    """Strings, each once."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._strings: list[str] = []

    def add(self, value: str) -> int:
        """Return the reference of `value`."""
        row = self._rows.get(value)
        if row is None:
            row = self._rows[value] = len(self._strings)
            self._strings.append(value)
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
        return RecordingData(facts, self.strings.build(), {name: tables[name] for name in TABLES})
