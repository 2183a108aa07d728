"""The sentences around advice that text and HTML share: headings, figures, cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from memtrack.i18n import Text, text
from memtrack.remedies import Advised, Base, Combination, Remedy
from memtrack.reports.words import literal
from memtrack.units import format_bytes, format_percent

HELPS = text("What helps, the most first")
NOTHING = text("Nothing that was weighed helps here")
NOT_HERE = text("What does not help here")
UNKNOWN = text("What cannot be told from this recording")
SETS = text("Together, from mild to harsh")
PEAK_AFTER = text("peak after")
SAVES = text("saves")
TIME = text("more time")
COSTS: Mapping[str, Text] = MappingProxyType(
    {
        "none": literal("±0"),
        "low": literal("<10 %"),
        "medium": literal("10–50 %"),
        "high": literal(">50 %"),
    }
)
"""Classes of what a remedy costs in time."""
APPROXIMATE = text("~: sizes had to be assumed; the interval is in the details")


def headline(advised: Advised) -> Text:
    """Return how high the run reaches and, with a budget, whether it fits."""
    base = advised.base
    peak = text("Peak {peak}", peak=format_bytes(base.peak))
    if base.reserved is not None:
        peak = text("{peak}, {reserved} reserved", peak=peak, reserved=format_bytes(base.reserved))
    if base.context:
        peak = text("{peak}, {context} context", peak=peak, context=format_bytes(base.context))
    if advised.budget is None:
        return peak
    budget = format_bytes(advised.budget)
    if advised.fits:
        return text("{peak}: it fits into {budget}", peak=peak, budget=budget)
    return text("{peak}: it does not fit into {budget}", peak=peak, budget=budget)


def set_line(advised: Advised) -> Text | None:
    """Return the mildest set that fits the budget, or the best there is; None without a budget."""
    if advised.budget is None or advised.fits or not advised.combinations:
        return None
    best = advised.combinations[0]
    values = {"peak": _needed(best, advised), "budget": format_bytes(advised.budget)}
    if not best.ids:
        return NOTHING
    if best.fits:
        return text("The mildest that fits: {set}, peak {peak}", set=joined_titles(best), **values)
    return text(
        "Nothing that was weighed fits into {budget}; least with {set}: peak {peak}",
        set=joined_titles(best),
        **values,
    )


def _needed(one: Combination, advised: Advised) -> Text:
    """Return the peak of a set, and what the device must have for it where that is more."""
    needed = Base(one.peak, one.reserved, advised.base.context).needed
    if needed == one.peak:
        return literal(format_bytes(one.peak))
    return text(
        "{peak} ({needed} with cache and context)",
        peak=format_bytes(one.peak),
        needed=format_bytes(needed),
    )


def mild_to_harsh(advised: Advised) -> Sequence[Combination]:
    """Return the sets in the order of their harshest remedy, those of nothing left out."""
    harm = {one.id: one.harm for one in advised.remedies}
    shown = [one for one in advised.combinations if one.ids]
    return sorted(shown, key=lambda one: (max(harm[name] for name in one.ids), len(one.ids)))


def joined_titles(combination: Combination) -> Text:
    """Return the titles of a set, one after the other."""
    first, *rest = combination.titles or (text("nothing"),)
    for title in rest:
        first = text("{first} + {second}", first=first, second=title)
    return first


def helping(advised: Advised) -> Sequence[Remedy]:
    """Return the remedies that save something, the most first."""
    return [one for one in advised.remedies if one.applies and one.peak is not None]


def unknown(advised: Advised) -> Sequence[Remedy]:
    """Return those that apply but cannot be weighed here."""
    return [one for one in advised.remedies if one.applies and one.peak is None]


def refused(advised: Advised) -> Sequence[Remedy]:
    """Return those that do not help in this run."""
    return [one for one in advised.remedies if not one.applies]


def by_reason(remedies: Sequence[Remedy]) -> Sequence[tuple[Text, Sequence[Text]]]:
    """Return the titles of remedies by what is said of them, in the order of the first of each."""
    found: dict[str, tuple[Text, list[Text]]] = {}
    for remedy in remedies:
        found.setdefault(str(remedy.why), (remedy.why, []))[1].append(remedy.title)
    return list(found.values())


def peak_figure(remedy: Remedy) -> Text:
    """Return the new peak; `~` before an estimate."""
    mark = "~" if remedy.evidence == "estimated" else ""
    return literal(mark + format_bytes(remedy.peak or 0))


def saving_figure(remedy: Remedy, base: int) -> Text:
    """Return what is saved in bytes and in percent of the peak as it is; what is reserved by itself."""
    saving = remedy.saving_bytes or 0
    if saving <= 0 and (remedy.reserved_saving_bytes or 0) > 0:
        size = format_bytes(remedy.reserved_saving_bytes or 0)
        return text("{bytes} reserved", bytes=size)
    return literal(f"{format_bytes(saving)} {format_percent(saving, base)}")


def interval(remedy: Remedy) -> Text | None:
    """Return the bounds of the new peak, where they do not read the same."""
    if remedy.low is None or remedy.high is None:
        return None
    low, high = format_bytes(remedy.low), format_bytes(remedy.high)
    return None if low == high else text("peak between {low} and {high}", low=low, high=high)
