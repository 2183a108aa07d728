"""Which layers came, went and are called otherwise: like layers of a list in one name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from memtrack.comparison import Comparison
from memtrack.comparison.peaks import pattern_of
from memtrack.i18n import Text, text
from memtrack.reports.words import joined, literal

MOST_NAMED = 3
_LEAST_SURE = 0.3
"""Other names that are less sure are a guess by place alone, and not told."""


def other_names(found: Comparison) -> Iterator[Text]:
    """Tell what is called otherwise or lies elsewhere, and how sure that is."""
    a, b, matches = found.a.tree, found.b.tree, found.matches
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in matches.changed_names():
        if matches.sure[row] >= _LEAST_SURE:
            other = b.path[matches.partner[row]]
            groups[pattern_of(a.path[row]), pattern_of(other)].append(row)
    names = []
    for (before, after), rows in groups.items():
        sure = f"{100 * min(matches.sure[row] for row in rows):.0f} %"
        if len(rows) == 1:
            row = rows[0]
            names.append(literal(f"{a.path[row]} → {b.path[matches.partner[row]]} ({sure})"))
        else:
            name = f"{before} → {after}"
            names.append(
                text("{name} (layers: {count}, {sure})", name=name, count=len(rows), sure=sure)
            )
    if names:
        yield text("Other names or places, and how sure: {names}", names=some(names))


def added_and_removed(found: Comparison) -> Iterator[Text]:
    """Tell the topmost layers that are only in one of the runs."""
    matches = found.matches
    added = [found.b.tree.path[row] for row in matches.added]
    removed = [found.a.tree.path[row] for row in matches.removed]
    if added:
        yield text("Added: {names}", names=some(list(_grouped(added))))
    if removed:
        yield text("Removed: {names}", names=some(list(_grouped(removed))))


def some(names: Sequence[Text]) -> Text:
    """Return the first few names, and how many more there are."""
    shown = joined(names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return text("{names}, and {count} more", names=shown, count=more) if more > 0 else shown


def _grouped(paths: Iterable[str]) -> Iterator[Text]:
    groups: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        groups[pattern_of(path)].append(path)
    for pattern, group in groups.items():
        if len(group) == 1:
            yield literal(group[0])
        elif _are_in_a_row(pattern, group):
            yield text("{first} to {last}", first=group[0], last=group[-1].rpartition(".")[2])
        else:
            yield text("{name} (layers: {count})", name=pattern, count=len(group))


def _are_in_a_row(pattern: str, group: Sequence[str]) -> bool:
    """Tell whether the last part of each path alone is a number, one more than that before it."""
    if pattern.count("*") != 1 or not pattern.endswith(".*"):
        return False
    numbers = [int(path.rpartition(".")[2]) for path in group]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))
