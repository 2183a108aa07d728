"""The answers of a view as small tables, for text and HTML alike; only those with something to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtrack.i18n import Text, text
from memtrack.recording import PhaseKind
from memtrack.reports.answers import LineReport, PeaksReport, PoolReport
from memtrack.reports.report import Report, View
from memtrack.reports.words import literal
from memtrack.units import format_bytes, format_percent

MOST_LINES = 10
MOST_STEPS = 6
MOST_POOLS = 8
SHARE_OF_CACHE = 0.1
"""Of what is reserved: with less unused, nobody needs to know how it is cut up."""
LEAST_CACHE = 64 << 20

PHASE_NAMES = {
    PhaseKind.FORWARD: text("forward"),
    PhaseKind.BACKWARD: text("backward"),
    PhaseKind.OPTIMIZER: text("optimizer"),
    PhaseKind.OTHER: text("between"),
}


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """A table with a name in its first column and figures in the others; `notes` stand below."""

    title: Text
    head: Sequence[Text]
    rows: Sequence[Sequence[Text]]
    notes: Sequence[Text] = ()


def answer_tables(report: Report, view: View) -> list[AnswerTable]:
    """Return the tables worth a reader's time, in the order of their importance."""
    found = (
        _lines(view.lines, view.peak.bytes) if not len(report.layers.parent) else None,
        _peaks(view.peaks, view.peak.step_index),
        _pools(view.pools),
    )
    return [table for table in found if table is not None]


def _lines(lines: LineReport | None, peak: int) -> AnswerTable | None:
    if lines is None:
        return None
    sizes, counts = (lines.columns[name].tolist() for name in ("bytes", "allocations"))
    rows = [
        [
            literal(site) if site else text("no line known"),
            literal(format_bytes(size)),
            literal(format_percent(size, peak)),
            literal(str(count)),
        ]
        for site, size, count in list(zip(lines.site, sizes, counts, strict=True))[:MOST_LINES]
    ]
    more = len(sizes) - len(rows) + lines.omitted
    rest = sum(sizes[MOST_LINES:]) + lines.omitted_bytes
    note = text("… and {count} more lines, {bytes}", count=more, bytes=format_bytes(rest))
    head = (text("source line"), text("at peak"), text("share"), text("blocks"))
    return AnswerTable(
        text("Alive at the peak, by source line"), head, rows, [note] if more else []
    )


def _peaks(peaks: PeaksReport | None, highest: int) -> AnswerTable | None:
    """Return a row for the first steps, those around the highest and the last ones."""
    if peaks is None:
        return None
    step, kind, size = (peaks.phases[name].tolist() for name in ("step", "kind", "bytes"))
    found = {(s, k): b for s, k, b in zip(step, kind, size, strict=True)}
    steps = sorted(set(step))
    kinds = [one for one in PhaseKind if one in kind and _tells(one, found)]
    if len(kinds) < 2:
        return None
    rows = [
        [
            text("step {step}", step=s + 1),
            *(literal(format_bytes(found[s, k]) if (s, k) in found else "") for k in kinds),
        ]
        for s in _telling(steps, highest)
    ]
    head = (text("peak in"), *(PHASE_NAMES[one] for one in kinds))
    left_out = len(steps) - len(rows)
    note = text("… and {count} more steps", count=left_out)
    return AnswerTable(text("Peaks by step and phase"), head, rows, [note] if left_out > 0 else [])


def _tells(kind: PhaseKind, found: Mapping[tuple[int, int], int]) -> bool:
    """Tell whether a kind has a column: what lies between phases has one if it is highest anywhere.

    It begins where a phase ends, so that it is as high as that for nothing of its own.
    """
    if kind != PhaseKind.OTHER:
        return True
    others = {step: 0 for step, _ in found}
    for (step, one), size in found.items():
        if one != kind:
            others[step] = max(others[step], size)
    return any(size > others[step] for (step, one), size in found.items() if one == kind)


def _telling(steps: list[int], highest: int) -> list[int]:
    if len(steps) <= MOST_STEPS:
        return steps
    around = [step for step in steps if abs(step - highest) <= 1]
    kept = list(dict.fromkeys([*around, steps[0], steps[1], steps[-1], *steps]))
    return sorted(kept[:MOST_STEPS])


def _pools(pools: Sequence[PoolReport]) -> AnswerTable | None:
    reserved, free = (sum(getattr(pool, name) for pool in pools) for name in ("reserved", "free"))
    if free < max(LEAST_CACHE, SHARE_OF_CACHE * reserved):
        return None
    largest = sorted(pools, key=lambda pool: -pool.reserved)[:MOST_POOLS]
    rows = [
        [
            pool_name(pool, pools),
            *(
                literal(format_bytes(size))
                for size in (pool.reserved, pool.allocated, pool.free, pool.largest_free)
            ),
            literal(format_bytes(pool.splinters)),
        ]
        for pool in largest
    ]
    head = (
        text("pool"),
        text("reserved"),
        text("in use"),
        text("free"),
        text("largest free"),
        text("splinters"),
    )
    splinters = sum(pool.splinters for pool in pools)
    note = text("Splinters share a segment with blocks in use: empty_cache() cannot free them")
    return AnswerTable(
        text("The allocator at the peak, by pool"), head, rows, [note] if splinters else []
    )


def pool_name(pool: PoolReport, pools: Sequence[PoolReport]) -> Text:
    """Return how a pool is called; its stream is told where there are several."""
    name = text("small blocks") if pool.small else text("large blocks")
    if pool.pool:
        name = text("pool {pool}: {size}", pool=pool.pool, size=name)
    if len({other.stream for other in pools}) < 2 or pool.stream == 0:
        return name
    return text("{pool}, stream {stream}", pool=name, stream=hex(pool.stream))
