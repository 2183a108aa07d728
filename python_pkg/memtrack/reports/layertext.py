"""The layer table as lines of text: the heaviest layers as an indented tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtrack.i18n import Text, text
from memtrack.reports.cells import display_width, left, plain, right, shortened
from memtrack.reports.report import Report, View
from memtrack.reports.rows import ShownLayer, shown_layers
from memtrack.units import format_bytes

_NARROWEST_NAME = 12
_MOST_SHAPE = 16
_BYTES = ("total_at_peak", "total_saved", "total_parameters", "peak")
_GAP = "  "


def layer_lines(report: Report, view: View, language: str, width: int, rows: int) -> list[str]:
    """Return a header and a line for each of the heaviest layers, then how many are left out."""
    chosen, left_out = shown_layers(report, view, rows)
    if not chosen:
        return []
    header = [title.render(language) for title in (first_title(report), *_TITLES)]
    table = [header, *(_cells(report, view, layer) for layer in chosen)]
    if any(view.layers.outside.values()):
        sizes = outside_sizes(view, _BYTES)
        table.append([OUTSIDE.render(language), "", *map(_figure, sizes)])
    return ["", *_aligned(table, width), *footnotes(chosen, left_out, language)]


def footnotes(chosen: Sequence[ShownLayer], left_out: int, language: str) -> list[str]:
    """Return the lines below the table: what a run of layers means, how many are not shown."""
    notes = []
    if any(layer.alike > 1 for layer in chosen):
        notes.append(text("(N×): N alike layers in one line, figures for each").render(language))
    if left_out == 1:
        notes.append(text("… and 1 more layer").render(language))
    elif left_out:
        notes.append(text("… and {count} more layers", count=left_out).render(language))
    return notes


def first_title(report: Report) -> Text:
    """Return the title of the table's names: what the rows are and, if so, that they are predicted."""
    return text("layer, predicted") if report.evidence == "predicted" else text("layer")


OUTSIDE = text("in no layer")
_TITLES = (
    text("output"),
    text("at peak"),
    text("saved"),
    text("parameters"),
    text("peak"),
)


def _cells(report: Report, view: View, layer: ShownLayer) -> list[str]:
    columns, row = view.layers.columns, layer.row
    name = _GAP * int(report.layers.depth[row]) + plain(layer.name)
    shape = shortened(plain(columns["output_shape"][row]), _MOST_SHAPE)
    sizes = [_figure(int(np.asarray(columns[column])[row])) for column in _BYTES]
    return [name, shape, *sizes]


def outside_sizes(view: View, columns: Sequence[str]) -> list[int]:
    """Return the bytes of each column that belong to no layer, 0 for columns that do not add up."""
    outside = view.layers.outside
    return [outside.get(column.removeprefix("total_"), 0) for column in columns]


def _figure(size: int) -> str:
    return format_bytes(size) if size > 0 else "-"


def _aligned(table: list[list[str]], width: int) -> list[str]:
    """Return the rows with their cells aligned; the first column takes what the others leave."""
    widths = [max(display_width(row[column]) for row in table) for column in range(len(table[0]))]
    rest = width - sum(widths[1:]) - len(_GAP) * (len(widths) - 1)
    if rest < _NARROWEST_NAME:  # shapes give way before names do
        widths[1] -= _NARROWEST_NAME - rest
    widths[0] = min(widths[0], max(rest, _NARROWEST_NAME))
    return [_line(row, widths) for row in table]


def _line(row: list[str], widths: list[int]) -> str:
    cells = [shortened(cell, width) for cell, width in zip(row, widths, strict=True)]
    aligned = [
        left(cell, width) if column in (0, 1) else right(cell, width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return _GAP.join(aligned).rstrip()
