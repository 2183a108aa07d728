"""The sentences of a comparison: what moved the peak, what became of the layers, how the speed changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtrack.comparison import Comparison, RunView
from memtrack.comparison.peaks import Mover
from memtrack.i18n import Text, text
from memtrack.reports.comparisonnames import MOST_NAMED, added_and_removed, other_names
from memtrack.reports.words import PHASES, joined, literal, part_name
from memtrack.units import format_bytes, format_change, format_count, format_duration

_ENOUGH = 0.9
"""The part of all that moved which is named in the sentence."""
_SLOWER, _FEW_SLOWER, _FEW = 0.1, 0.5, 5
"""Speeds that differ by less are told as the same: steps vary so much by themselves, the median of
fewer than `_FEW` even more."""


def sentence_of(found: Comparison) -> Text:
    """Return the answer: the peaks, and what moved them."""
    before, after = found.a.peak.bytes, found.b.peak.bytes
    named = _named(found.movers)
    if not named:
        return text("The peak is the same: {bytes}", bytes=format_bytes(after))
    moved = joined([_moved(one) for one in named])
    if before == after:
        return text("The peak is the same, {bytes}, but: {moved}", bytes=_size(after), moved=moved)
    if _size(before) == _size(after):
        return text(
            "The peak is almost the same, {bytes}: {moved}", bytes=_size(after), moved=moved
        )
    change = format_change(after - before)
    if before:
        share = 100 * (after - before) / before
        change = f"{change}, {share:+.1f} %" if abs(share) < 10 else f"{change}, {share:+.0f} %"
    values = {"before": _size(before), "after": _size(after), "change": change, "moved": moved}
    return text("Peak {before} → {after} ({change}): {moved}", **values)


def details_of(found: Comparison) -> list[Text]:
    """Return what else changed, a sentence each."""
    return [
        *_prediction(found),
        *_place(found),
        *_model(found),
        *other_names(found),
        *added_and_removed(found),
        *_counts(found),
        *_reserved(found),
        *_speed(found),
    ]


def _named(movers: Sequence[Mover]) -> Sequence[Mover]:
    """Return the largest movers, as many as tell most of what moved."""
    whole = sum(abs(one.change) for one in movers)
    told, named = 0, []
    for one in movers[:MOST_NAMED]:
        if told >= _ENOUGH * whole:
            break
        named.append(one)
        told += abs(one.change)
    return named


def _moved(mover: Mover) -> Text:
    category, change = part_name(mover.category), format_change(mover.change)
    if mover.rest:
        return text("{category} elsewhere {change}", category=category, change=change)
    if not mover.where:
        return text("{category} {change}", category=category, change=change)
    if mover.layers == 1:
        values = {"category": category, "where": mover.where, "change": change}
        return text("{category} of {where} {change}", **values)
    return text(
        "{category} of {where} (layers: {count}) {change}",
        category=category,
        where=mover.where,
        count=mover.layers,
        change=change,
    )


def _prediction(found: Comparison) -> Iterator[Text]:
    sides = {found.a.evidence: found.a, found.b.evidence: found.b}
    if set(sides) == {"predicted", "measured"}:
        predicted, measured = sides["predicted"].peak.bytes, sides["measured"].peak.bytes
        if measured:
            error = f"{100 * (predicted - measured) / measured:+.1f} %"
            yield text("The prediction of the peak is off by {error}.", error=error)


def _place(found: Comparison) -> Iterator[Text]:
    """Tell where the peak is now, where that is elsewhere."""
    a, b = found.a, found.b
    partner = found.matches.partner[a.peak.layer] if a.peak.layer >= 0 else -1
    if (a.peak.phase, partner) != (b.peak.phase, b.peak.layer):
        yield text("The peak is in {after} now; it was in {before}.", **_places(a, b))


def _places(a: RunView, b: RunView) -> dict[str, Text]:
    return {"before": _where(a), "after": _where(b)}


def _where(view: RunView) -> Text:
    phase = PHASES.get(view.peak.phase) or literal(view.peak.phase)
    if not view.peak_layer:
        return phase
    return text("{phase} of {layer}", phase=phase, layer=view.peak_layer)


def _model(found: Comparison) -> Iterator[Text]:
    """Tell where the one model is of another class, which is more than being wrapped."""
    a, b = found.a, found.b
    if a.by_lines or b.by_lines or len(a.tree.roots) != 1 or len(b.tree.roots) != 1:
        return
    partner = found.matches.partner
    row = next((row for row in range(len(a.tree)) if partner[row] >= 0), a.tree.roots[0])
    before = a.tree.type[row]
    after = b.tree.type[partner[row] if partner[row] >= 0 else b.tree.roots[0]]
    if before != after:
        yield text("The model's class is {after} now; it was {before}.", before=before, after=after)


def _counts(found: Comparison) -> Iterator[Text]:
    before, after = (_elements(view) for view in (found.a, found.b))
    if before != after:
        values = {"before": format_count(before), "after": format_count(after)}
        yield text("Parameters: {before} → {after}", **values)


def _elements(view: RunView) -> int:
    return 0 if view.by_lines else sum(view.tree.elements)


def _reserved(found: Comparison) -> Iterator[Text]:
    before, after = found.a.reserved, found.b.reserved
    if before is not None and after is not None and before != after:
        change = format_change(after - before)
        values = {"before": _size(before), "after": _size(after), "change": change}
        yield text("Reserved: {before} → {after} ({change})", **values)


def _speed(found: Comparison) -> Iterator[Text]:
    before, after = found.a.step_ns, found.b.step_ns
    if not before or not after or "predicted" in (found.a.evidence, found.b.evidence):
        return
    share = (after - before) / before
    few = min(found.a.steps, found.b.steps) < _FEW
    if abs(share) < (_FEW_SLOWER if few else _SLOWER):
        return
    told = text("A step takes {after}, {share} longer than before ({before}).")
    if share < 0:
        told = text("A step takes {after}, {share} less than before ({before}).")
    values = {"before": format_duration(before), "after": format_duration(after)}
    yield Text(told.template, {**values, "share": f"{100 * abs(share):.0f} %"})


def _size(size: int) -> str:
    return format_bytes(size)
