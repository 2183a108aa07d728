"""Who holds the memory at a peak, in a few lines for a test report: layers, else lines of code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.sites import sites
from memtrack.analysis.totals import alive
from memtrack.i18n import Text, text
from memtrack.recording import Category, RecordingData
from memtrack.recording.tables import Array
from memtrack.reports.cells import display_width, left, plain, right, shortened
from memtrack.reports.words import joined, literal, part_name
from memtrack.units import format_bytes, format_percent

SHOWN = 8
LONGEST_NAME = 60
SHOWN_CATEGORIES = 2


@dataclass(frozen=True, slots=True)
class Holding:
    """A layer, a line or what was there before; `categories` from the largest on."""

    name: Text
    bytes: int
    categories: Sequence[str]


def holdings(data: RecordingData, device: int, cut: int) -> list[Holding]:
    """Return who holds what on a device (a row of devices) at a cut, largest first; they sum to it."""
    rows = alive(data, device, cut)
    keys = _keys(data, rows)
    table = data.allocations
    sizes: dict[tuple[str, str], dict[int, int]] = {}
    for key, size, category in zip(
        keys, table["bytes"][rows].tolist(), table["category"][rows].tolist(), strict=True
    ):
        group = sizes.setdefault(key, {})
        group[category] = group.get(category, 0) + size
    found = [_holding(key, group) for key, group in sizes.items()]
    return sorted(found, key=lambda one: -one.bytes)


def table_of_holdings(found: Sequence[Holding], language: str) -> str:
    """Return the largest as lines of text, the others in one."""
    whole = sum(one.bytes for one in found)
    shown = list(found[:SHOWN])
    rest = found[SHOWN:]
    if rest:
        others = text("{count} others", count=len(rest))
        shown.append(Holding(others, sum(one.bytes for one in rest), ()))
    rows = [
        (
            shortened(plain(one.name.render(language)), LONGEST_NAME),
            format_bytes(one.bytes),
            format_percent(one.bytes, whole),
            _kinds(one).render(language) if one.categories else "",
        )
        for one in shown
    ]
    name, size, share = (max((display_width(row[n]) for row in rows), default=0) for n in range(3))
    lines = (
        f"  {left(row[0], name)}  {right(row[1], size)}  {right(row[2], share)}  {row[3]}".rstrip()
        for row in rows
    )
    return "\n".join(lines)


def _kinds(one: Holding) -> Text:
    return joined([part_name(category) for category in one.categories[:SHOWN_CATEGORIES]])


def _keys(data: RecordingData, rows: Array) -> list[tuple[str, str]]:
    """Return for each allocation what kind of holder it has, and its name."""
    table = data.allocations
    paths = [data.string(int(path)) for path in data.layers["path"]]
    place, lines = sites(data, table["stack"][rows])
    keys = []
    columns = (table["layer"][rows].tolist(), place.tolist(), table["start"][rows].tolist())
    for layer, line, start in zip(*columns, strict=True):
        if layer >= 0:
            keys.append(("layer", paths[layer]))
        elif start < 0:
            keys.append(("before", ""))
        else:
            keys.append(("line", lines[line] if line >= 0 else ""))
    return keys


def _holding(key: tuple[str, str], group: dict[int, int]) -> Holding:
    kind, name = key
    if kind == "before":
        told = text("alive before the test")
    else:
        told = literal(name) if name else text("unknown lines")
    largest = sorted(group, key=lambda category: -group[category])
    categories = [Category(one).id for one in largest]
    return Holding(told, int(np.sum(list(group.values()))), categories)
