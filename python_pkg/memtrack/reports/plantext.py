"""A plan for a terminal: the answer first, then the parts with a bar, or the ways to load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtrack.i18n import ENGLISH, Text, text
from memtrack.planners.inputs import KvInputs
from memtrack.reports import planwords as words
from memtrack.reports.cells import display_width, left, right, wrapped
from memtrack.units import format_bytes

if TYPE_CHECKING:
    from memtrack.reports.plan import Plan

WIDTH = 80
NARROWEST = 60
_BAR = 16


def render_plan(plan: Plan, language: str = ENGLISH, width: int = WIDTH) -> str:
    """Return the plan as text of at most `width` columns (60 at least)."""
    width = max(width, NARROWEST)
    lines: list[str] = []
    for sentence in headlines(plan):
        lines += wrapped(sentence.render(language), width)
    lines += ["", *(_ways(plan, language, width) if plan.ways else _parts(plan, language, width))]
    for note in words.notes(plan.inputs):
        lines += ["", *wrapped(note.render(language), width)]
    return "\n".join(lines)


def headlines(plan: Plan) -> Sequence[Text]:
    """Return the answer: what is planned and its size, whether it fits, and how much would."""
    subject, total = words.subject(plan.inputs), format_bytes(plan.total)
    if plan.ways:
        first = text("{subject}: {total} on the GPU at least", subject=subject, total=total)
    elif isinstance(plan.inputs, KvInputs):
        first = text("{subject}: {total}", subject=subject, total=total)
    else:
        first = text("{subject}: {total} a GPU", subject=subject, total=total)
    if plan.gpu is None or plan.verdict is None:
        return (first,)
    told = [first, words.verdict_line(plan.total, plan.gpu, plan.verdict)]
    if isinstance(plan.inputs, KvInputs):
        told.append(
            text(
                "At most {tokens} tokens a sequence at this batch, or a batch of {batch} at this length.",
                tokens=plan.longest_sequence,
                batch=plan.largest_batch,
            )
        )
    return told


def _parts(plan: Plan, language: str, width: int) -> list[str]:
    names = [words.part_title(part.id, plan.inputs).render(language) for part in plan.parts]
    sizes = [format_bytes(part.bytes) for part in plan.parts]
    name_width, size_width = (max(map(display_width, cells)) for cells in (names, sizes))
    lines = []
    for part, name, size in zip(plan.parts, names, sizes, strict=True):
        bar = "█" * max(1, round(_BAR * part.bytes / plan.total))
        head = f"  {left(name, name_width)}  {right(size, size_width)}  {left(bar, _BAR)}  "
        line = head + words.how(part, plan.inputs).render(language)
        lines += wrapped(line, width, " " * min(display_width(head), width // 2))
    return lines


def _ways(plan: Plan, language: str, width: int) -> list[str]:
    heads = (words.HOST, words.MAPPED, words.DEVICE)
    rows = [tuple(map(format_bytes, (way.host, way.mapped, way.device))) for way in plan.ways]
    table = [tuple(head.render(language) for head in heads), *rows]
    widths = [max(display_width(row[column]) for row in table) for column in range(3)]
    titles = ["", *(words.WAYS[way.id].render(language) for way in plan.ways)]
    lines = []
    for title, row in zip(titles, table, strict=True):
        cells = "  ".join(right(cell, size) for cell, size in zip(row, widths, strict=True))
        lines.append(f"  {cells}")
        lines += wrapped(f"    {title}", width, "    ") if title else []
    return lines
