"""A table to be written out: columns of one length, whose numbers may be unknown in some rows.

Names end with the unit (`_bytes`, `_ns`); what counts has none. Unknown is an empty field in CSV, null
in JSON and Parquet, `<NA>` in pandas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from memtrack.errors import UnavailableError
from memtrack.i18n import text
from memtrack.recording.tables import Array
from memtrack.words import in_utf8

if TYPE_CHECKING:
    import pandas as pd

Cell: TypeAlias = str | int | None


@dataclass(frozen=True, slots=True)
class Column:
    """Whole numbers or texts; `known` says in which rows there is a number, None: in all."""

    values: Array | Sequence[str]
    known: Array | None = None

    @property
    def is_text(self) -> bool:
        """Whether it holds texts."""
        return not isinstance(self.values, np.ndarray) or self.values.dtype == object

    def cells(self) -> list[Cell]:
        """Return its values as Python's, None where unknown."""
        values = self.values
        listed: list[Cell] = values.tolist() if isinstance(values, np.ndarray) else list(values)
        if self.known is None:
            return listed
        known = self.known.tolist()
        return [one if here else None for one, here in zip(listed, known, strict=True)]


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table with its name: `layers`, `ledger`, `timeline` or `events`."""

    name: str
    columns: Mapping[str, Column]

    def __len__(self) -> int:
        first = next(iter(self.columns.values()), None)
        return 0 if first is None else len(first.values)

    def rows(self) -> Iterator[dict[str, Cell]]:
        """Go through its rows as dictionaries."""
        names = list(self.columns)
        lists = [column.cells() for column in self.columns.values()]
        for row in zip(*lists, strict=True):
            yield dict(zip(names, row, strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """Return it as a DataFrame: numbers that may be unknown are of pandas' `Int64`.

        Raises UnavailableError where pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as missing:
            raise UnavailableError(
                text("A table as a DataFrame needs pandas, which is not installed."),
                text("Install it: {command}", command="pip install pandas"),
            ) from missing
        found: dict[str, Any] = {}
        for name, column in self.columns.items():
            if column.known is None:
                found[name] = (
                    column.values if not column.is_text else list(map(in_utf8, column.values))
                )
            else:
                numbers = np.asarray(column.values).astype(np.int64)
                found[name] = pd.arrays.IntegerArray(numbers, ~column.known)
        table: pd.DataFrame = pd.DataFrame(found)
        return table


def numbers(values: Array, unknown: int | None = None) -> Column:
    """Return a column of numbers in which `unknown`, where given, stands for none."""
    return Column(values, None if unknown is None else values != unknown)


def stacked(name: str, parts: Sequence[Mapping[str, Column]]) -> DataTable:
    """Return tables of the same columns one below the other."""
    names = list(dict.fromkeys(column for part in parts for column in part))
    return DataTable(name, {column: _joined([part[column] for part in parts]) for column in names})


def _joined(parts: Sequence[Column]) -> Column:
    if parts[0].is_text:
        return Column([one for part in parts for one in part.values])
    values = np.concatenate([np.asarray(part.values) for part in parts])
    if all(part.known is None for part in parts):
        return Column(values)
    masks = [np.ones(len(p.values), bool) if p.known is None else p.known for p in parts]
    return Column(values, np.concatenate(masks))
