"""Who held memory at the failure, and the parts of the device then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memtrack.analysis.ledger import Part, ledger
from memtrack.analysis.live import Holder as Live
from memtrack.analysis.live import live_set
from memtrack.analysis.parts import ESTIMATED, MEASURED
from memtrack.diagnosis.diagnosis import Holder
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.i18n import Text
from memtrack.words import CATEGORIES, literal

MOST = 4
"""Of each kind: layers, categories, lines."""
_ALLOCATOR = frozenset({*CATEGORIES, "unknown", "cache"})


def holders(now: Situation) -> list[Holder]:
    """Return the largest layers, categories and lines, each kind by size; those without a name left out."""
    if not now.allocated:
        return []
    found = live_set(now.data, now.device, now.cut)
    return [
        *_named(found.by_layer, literal),
        *_named(found.by_category, CATEGORIES.get),
        *_named(found.by_site, literal),
    ]


def _named(ranked: Sequence[Live], name: Callable[[str], Text | None]) -> list[Holder]:
    told = [(name(one.name), one) for one in ranked if one.name]
    return [Holder(words, one.bytes, one.allocations) for words, one in told if words][:MOST]


def parts(now: Situation) -> list[Part]:
    """Return the parts of the device at the failure; they sum to it where its size is known.

    What the live process told of the device outranks the recording's last sample.
    """
    known = list(ledger(now.data, now.device, now.cut).parts)
    tensors = [part for part in known if part.id in _ALLOCATOR]
    held = sum(part.bytes for part in tensors)
    total, free = now.facts.total, now.facts.free
    if total is None or free is None or held + free > total:
        return known
    around = _around(now, total - free - held)
    rest = [*around, Part("free", free, MEASURED)]
    return [*tensors, *(part for part in rest if part.bytes > 0)]


def _around(now: Situation, size: int) -> list[Part]:
    """Split what is neither the allocator's nor free into this process's and others'.

    The driver's figures may come from the text of the error, which rounds them.
    """
    beside = now.beside
    if beside is None or beside > size:
        return [Part("outside", size, ESTIMATED)]
    if not now.others:
        return [Part("context", size, ESTIMATED)]
    return [Part("context", beside, ESTIMATED), Part("others", size - beside, ESTIMATED)]
