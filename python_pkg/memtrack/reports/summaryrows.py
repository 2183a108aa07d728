"""The rows and columns of the allocator's summary table, as `torch.cuda.memory_summary` has them.

Figures are rounded down to whole units, as there, and every column of a group of rows has one unit;
differences, which are not there, have each their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtrack.i18n import Text, text
from memtrack.reports.devicesummary import DeviceSummary

COLUMNS = (text("Cur Usage"), text("Peak Usage"), text("Tot Alloc"), text("Tot Freed"))
COMPARED = (text("Cur First"), text("Cur Second"), text("Difference"), text("Peak Diff."))
METRIC = text("Metric")

_FIGURES = ("current", "peak", "allocated", "freed")
_POOLS = (
    ("all.", None),
    ("large_pool.", text("from large pool")),
    ("small_pool.", text("from small pool")),
)
_NO_POOLS = (("", None),)
_METRICS: Sequence[tuple[str, Text, bool]] = (
    ("allocated_bytes", text("Allocated memory"), True),
    ("active_bytes", text("Active memory"), True),
    ("requested_bytes", text("Requested memory"), True),
    ("reserved_bytes", text("GPU reserved memory"), True),
    ("inactive_split_bytes", text("Non-releasable memory"), True),
    ("allocation", text("Allocations"), False),
    ("active", text("Active allocs"), False),
    ("segment", text("GPU reserved segments"), False),
    ("inactive_split", text("Non-releasable allocs"), False),
    ("oversize_allocations", text("Oversize allocations"), False),
    ("oversize_segments", text("Oversize GPU segments"), False),
)
"""(family of statistics, its row, whether in bytes)."""

_NOT_KEPT = None
_CELL = 10


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A line of the table: `cells` as shown, `exact` as they are, None where nothing is kept."""

    name: Text
    is_pool: bool
    cells: Sequence[str]
    exact: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class _Unit:
    """How figures of one column are shown: divided by `size`, with `suffix`."""

    size: int
    suffix: str


_BYTES = tuple(
    _Unit(1 << 10 * power, name)
    for power, name in enumerate(("B  ", "KiB", "MiB", "GiB", "TiB", "PiB"))
)
_COUNTS = tuple(_Unit(1000**power, name) for power, name in enumerate(("  ", "K ", "M ")))
_BYTES_LIMIT, _COUNTS_LIMIT = 768 * 1024, 750 * 1000
_SIGNED_LIMIT = 100_000
"""A signed figure has a digit less, so that it fits its column."""


def titles(summary: DeviceSummary) -> Sequence[Text]:
    """Return the titles of the four columns of figures."""
    return COLUMNS if summary.second is None else COMPARED


def summary_rows(summary: DeviceSummary) -> list[list[SummaryRow]]:
    """Return the groups of rows: a metric with its share of each pool."""
    return [_group(summary, *metric) for metric in _METRICS]


def _group(summary: DeviceSummary, family: str, name: Text, is_bytes: bool) -> list[SummaryRow]:
    pools = _NO_POOLS if family.startswith("oversize") else _POOLS
    exact = [_exact(summary, f"{family}.{pool}") for pool, _ in pools]
    signed = [False] * 4 if summary.second is None else [False, False, True, True]
    columns = [
        _column([row[column] for row in exact], is_bytes, signed[column]) for column in range(4)
    ]
    return [
        SummaryRow(
            title or name, title is not None, [column[row] for column in columns], exact[row]
        )
        for row, (_, title) in enumerate(pools)
    ]


def _exact(summary: DeviceSummary, prefix: str) -> list[int | None]:
    """Return the four figures of a row; None for what the allocator does not keep."""
    first, second = summary.first.values, summary.second

    def figure(values: Mapping[str, int], name: str) -> int | None:
        kept = summary.offered is None or prefix + name in summary.offered
        return values.get(prefix + name, 0) if kept else _NOT_KEPT

    if second is None:
        return [figure(first, name) for name in _FIGURES]
    before, after = figure(first, "current"), figure(second.values, "current")
    peaks = figure(first, "peak"), figure(second.values, "peak")
    return [before, after, _change(before, after), _change(*peaks)]


def _change(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _column(figures: Sequence[int | None], is_bytes: bool, signed: bool) -> list[str]:
    """Return the figures of a column of one group in the unit of the first, differences each in its own.

    The pools may have grown and shrunk by much more, or less, than both together.
    """
    units, width = (_BYTES, 6) if is_bytes else (_COUNTS, 7)
    limit = _SIGNED_LIMIT if signed else _BYTES_LIMIT if is_bytes else _COUNTS_LIMIT
    first = next((figure for figure in figures if figure is not None), 0)

    def unit(figure: int) -> _Unit:
        most = abs(figure if signed else first)
        return next((one for one in units if most < limit * one.size), units[-1])

    return [
        "-".rjust(width).ljust(_CELL)
        if figure is None
        else _cell(figure, unit(figure), width, signed)
        for figure in figures
    ]


def _cell(figure: int, unit: _Unit, width: int, signed: bool) -> str:
    whole = abs(figure) // unit.size
    sign = "-" if figure < 0 else "+" if signed and figure else ""
    return f"{sign}{whole}".rjust(width) + f" {unit.suffix}"
