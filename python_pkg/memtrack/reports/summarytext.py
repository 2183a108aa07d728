"""The allocator's summary as the table of 75 columns that people know from PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.i18n import ENGLISH, Text, text
from memtrack.recording import RecordingData
from memtrack.reports.cells import display_width, left, plain, shortened
from memtrack.reports.devicesummary import DeviceSummary, device_summary
from memtrack.reports.summaryrows import METRIC, SummaryRow, summary_rows, titles

WIDTH = 75
_NAME = 21
_CELL = 11
_POOL = " " * 6


def summary_table(
    data: RecordingData, device: int, first: str, second: str = "", language: str = ENGLISH
) -> str:
    """Return the table of a device at a moment, or the comparison of two; they are names.

    Raises UsageError for a moment that is not there.
    """
    return render_summary(
        device_summary(data, device, [first, second] if second else [first]), language
    )


def render_summary(summary: DeviceSummary, language: str = ENGLISH) -> str:
    """Return the table as text in `language`, without a newline at its end."""
    lines = ["=" * WIDTH]
    lines += [_centred(sentence.render(language)) for sentence in headings(summary)]
    lines += ["-" * WIDTH, _counters(summary, language), "=" * WIDTH]
    lines.append(_titles([title.render(language) for title in titles(summary)], language))
    for group in summary_rows(summary):
        lines.append("-" * WIDTH)
        lines += [_row(row, language) for row in group]
    return "\n".join(f"|{line}|" for line in [*lines, "=" * WIDTH])


def headings(summary: DeviceSummary) -> list[Text]:
    """Return what the table is of: the device, and its moments."""
    kind = plain(summary.kind).upper()
    device = text(
        "PyTorch {kind} memory summary, device ID {index}", kind=kind, index=max(summary.index, 0)
    )
    first, second = summary.first, summary.second
    if second is None:
        return [device, first.title]
    return [
        device,
        text("First: {moment}", moment=first.title),
        text("Second: {moment}", moment=second.title),
    ]


def counters(summary: DeviceSummary) -> tuple[Text, Text]:
    """Return how often memory ran out, and how often it was found after emptying the cache."""
    ooms = _counter(summary, "num_ooms")
    retries = _counter(summary, "num_alloc_retries")
    return (
        text("CUDA OOMs: {count}", count=ooms),
        text("cudaMalloc retries: {count}", count=retries),
    )


def _counter(summary: DeviceSummary, name: str) -> str:
    if summary.offered is not None and name not in summary.offered:
        return "-"
    count = str(summary.latest.get(name, 0))
    change = summary.differences.get(name, 0)
    return f"{count} ({change:+d})" if change else count


def _counters(summary: DeviceSummary, language: str) -> str:
    ooms, retries = (counter.render(language) for counter in counters(summary))
    return f"{left(' ' * 12 + ooms, 36)}|{left(' ' * 8 + retries, 38)}"


def _centred(line: str) -> str:
    cell = shortened(plain(line), WIDTH - 2)
    return left(" " * ((WIDTH - display_width(cell)) // 2) + cell, WIDTH)


def _titles(names: Sequence[str], language: str) -> str:
    metric = METRIC.render(language)
    before = (_NAME + 2 - display_width(metric)) // 2
    cells = [f" {left(name, _CELL)}" for name in names]
    return "|".join([left(" " * before + metric, _NAME + 2), *cells])


def _row(row: SummaryRow, language: str) -> str:
    name = (_POOL if row.is_pool else "") + row.name.render(language)
    cells = [f" {cell} " for cell in row.cells]
    return "|".join([f" {left(name, _NAME)} ", *cells])
