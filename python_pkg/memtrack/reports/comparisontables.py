"""A comparison as small tables, for text and HTML alike: categories, layers, steps, surroundings."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.comparison import Comparison, RunView
from memtrack.i18n import Text, text
from memtrack.reports.answertables import AnswerTable
from memtrack.reports.comparisonrows import (
    ADDED,
    AT_PEAK,
    REMOVED,
    STATUS,
    changed_rows,
    changes,
    folded,
    statuses,
)
from memtrack.reports.words import PHASES, literal, part_name
from memtrack.units import format_bytes, format_change, format_duration

ROWS = 20
MOST_SETTINGS = 15
_LONGEST_VALUE = 40
_COMMIT = 12
BEFORE, AFTER, CHANGE = text("before"), text("after"), text("change")
_STATUS_WORDS = {
    ADDED: text("added"),
    REMOVED: text("removed"),
    STATUS["retyped"]: text("another class"),
    STATUS["renamed"]: text("renamed"),
    STATUS["moved"]: text("moved"),
    STATUS["alike"]: text("alike"),
}
_SETTINGS = {
    "device": text("device"),
    "evidence": text("evidence"),
    "run.commit": text("git commit"),
    "run.branch": text("git branch"),
    "run.dirty": text("changed since the commit"),
    "run.batches": text("batches"),
    "run.driver": text("driver"),
    "run.allocator_conf": text("allocator settings"),
}


def comparison_tables(found: Comparison, rows: int = ROWS) -> list[AnswerTable]:
    """Return the tables with anything in them, at most about `rows` layers."""
    tables = (
        _categories(found),
        _layers(found, rows),
        _phases(found.a, found.b),
        _settings(found),
    )
    return [table for table in tables if table is not None]


def setting_name(name: str) -> Text:
    """Return how a setting is called; those of others have the name that they have there."""
    known = _SETTINGS.get(name)
    if known is not None:
        return known
    if name.startswith("run.parameters."):
        return text("parameters in {dtype}", dtype=name.rpartition(".")[2])
    return literal(name.removeprefix("allocator_settings.").removeprefix("run."))


def _categories(found: Comparison) -> AnswerTable:
    rows = [
        [part_name(one), *_sizes(before, after)]
        for one, (before, after) in found.categories.items()
        if before or after
    ]
    whole = _sizes(found.a.peak.bytes, found.b.peak.bytes)
    head = (text("category"), BEFORE, AFTER, CHANGE)
    return AnswerTable(text("At both peaks"), head, [*rows, [text("all"), *whole]])


def _layers(found: Comparison, most: int) -> AnswerTable | None:
    if not len(found.rows):
        return None
    alike, hidden = folded(found)
    shown = changed_rows(found, most, hidden)
    if not shown:
        return None
    codes, at_peak = statuses(found), found.columns[AT_PEAK]
    saved = changes(found, "total_saved")
    rows = [
        [
            literal(_indented(found, row, int(alike[row]))),
            _STATUS_WORDS.get(int(codes[row]), literal("")),
            *_sizes(max(0, int(at_peak[0][row])), max(0, int(at_peak[1][row]))),
            literal(format_change(int(saved[row]))),
        ]
        for row in shown
    ]
    lines = found.a.by_lines and found.b.by_lines
    title = text("Source lines, bytes at the peak") if lines else text("Layers, bytes at the peak")
    name = text("source line") if lines else text("layer")
    head = (name, literal(""), BEFORE, AFTER, CHANGE, text("saved"))
    notes = [text("(N×): N alike layers in one line, figures for each")]
    return AnswerTable(title, head, rows, notes if (alike[list(shown)] > 1).any() else ())


def _indented(found: Comparison, row: int, alike: int) -> str:
    """Return the name of a layer below the name of what it is in; of several alike the first and last."""
    one = found.rows[row]
    tree, own = (found.b.tree, one.b) if one.b >= 0 else (found.a.tree, one.a)
    name = tree.name[own]
    if alike > 1:
        last = own + (alike - 1) * tree.subtree[own]
        name = f"{name} … {tree.name[last]} ({alike}×)"
    return "  " * one.depth + name


def _phases(a: RunView, b: RunView) -> AnswerTable | None:
    names = [name for name in a.phase_peaks if name in b.phase_peaks and name != "other"]
    if not names:
        return None
    timed = "predicted" not in (a.evidence, b.evidence)
    rows = [
        [
            PHASES.get(name) or literal(name),
            *_sizes(a.phase_peaks[name], b.phase_peaks[name]),
            *_times(a.phase_ns.get(name), b.phase_ns.get(name), timed),
        ]
        for name in names
    ]
    head = (text("phase"), BEFORE, AFTER, CHANGE, text("time before"), text("time after"))
    return AnswerTable(text("Peaks and times of a step by phase"), head, rows)


def _settings(found: Comparison) -> AnswerTable | None:
    rows = [
        [setting_name(one.name), *(literal(_value(one.name, v)) for v in (one.before, one.after))]
        for one in found.settings[:MOST_SETTINGS]
    ]
    more = len(found.settings) - len(rows)
    notes = [text("… and {count} more settings", count=more)] if more > 0 else []
    head = (text("setting"), BEFORE, AFTER)
    return AnswerTable(text("What else differs"), head, rows, notes) if rows else None


def _value(name: str, value: str) -> str:
    if not value:
        return "–"
    return value[:_COMMIT] if name == "run.commit" else _shortened(value)


def _shortened(value: str) -> str:
    return value if len(value) <= _LONGEST_VALUE else value[: _LONGEST_VALUE - 1] + "…"


def _sizes(before: int, after: int) -> Sequence[Text]:
    change = format_change(after - before)
    return [literal(one) for one in (format_bytes(before), format_bytes(after), change)]


def _times(before: int | None, after: int | None, known: bool) -> Sequence[Text]:
    return [literal(format_duration(one) if one and known else "–") for one in (before, after)]
