"""The layer table as an HTML table: the heaviest layers as an indented tree."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from memtrack.i18n import text
from memtrack.reports.cells import plain, shortened
from memtrack.reports.layertext import OUTSIDE, first_title, footnotes, outside_sizes
from memtrack.reports.report import Report, View
from memtrack.reports.rows import ShownLayer, shown_layers
from memtrack.units import format_bytes

_LONGEST_NAME = 80
_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.6em 0"
_NUMBER = "padding:.1em .7em;text-align:right;white-space:nowrap"
_WORD = "padding:.1em .7em;text-align:left"
_BYTES = (
    "total_at_peak",
    "total_saved",
    "total_parameters",
    "total_gradients",
    "total_optimizer",
    "peak",
)
_TITLES = (
    text("calls"),
    text("output"),
    text("at peak"),
    text("saved"),
    text("parameters"),
    text("gradients"),
    text("optimizer"),
    text("peak"),
)


def layer_rows(report: Report, view: View, language: str, rows: int) -> str:
    """Return the table of at most `rows` layers, "" where no layer holds anything."""
    chosen, left_out = shown_layers(report, view, rows)
    if not chosen:
        return ""
    titles = [
        f'<th scope="col" style="{_NUMBER if number != 0 else _WORD}">{escape(title.render(language))}</th>'
        for number, title in enumerate((first_title(report), *_TITLES))
    ]
    body = [_row(report, view, layer) for layer in chosen]
    if any(view.layers.outside.values()):
        name = escape(OUTSIDE.render(language))
        body.append(_line(name, name, 0, ["", "", *_figures(outside_sizes(view, _BYTES))]))
    rest = [f"<p>{escape(line)}</p>" for line in footnotes(chosen, left_out, language)]
    head = f"<thead><tr>{''.join(titles)}</tr></thead>"
    return f'<table style="{_TABLE}">{head}<tbody>{"".join(body)}</tbody></table>{"".join(rest)}'


def _row(report: Report, view: View, layer: ShownLayer) -> str:
    tree, columns, row = report.layers, view.layers.columns, layer.row
    name, path, kind = (_name(word) for word in (layer.name, tree.path[row], tree.type[row]))
    sizes = [int(np.asarray(columns[column])[row]) for column in _BYTES]
    calls, shape = str(int(columns["calls"][row])), _name(columns["output_shape"][row])
    cells = [calls, shape, *_figures(sizes)]
    return _line(name, f"{path}: {kind}", int(tree.depth[row]), cells)


def _figures(sizes: Sequence[int]) -> list[str]:
    return [format_bytes(size) if size > 0 else "" for size in sizes]


def _line(name: str, title: str, depth: int, cells: Sequence[str]) -> str:
    """Return a row of cells that are escaped already."""
    indent = 0.7 + 1.2 * depth
    numbers = "".join(f'<td style="{_NUMBER}">{cell}</td>' for cell in cells)
    style = f"{_WORD};padding-left:{indent:.1f}em;font-weight:normal"
    return f'<tr><th scope="row" style="{style}" title="{title}">{name}</th>{numbers}</tr>'


def _name(name: str) -> str:
    return escape(shortened(plain(name), _LONGEST_NAME))
