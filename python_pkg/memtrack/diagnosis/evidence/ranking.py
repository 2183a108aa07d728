"""The rules' findings in order, at most one of them told as the reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memtrack.diagnosis.diagnosis import SURE, Cause

RUNNER_UP = SURE - 0.05
"""What reasons get that the first one contradicts or makes needless."""
OF_FIRST = 0.7
"""Of the confidence that the first one leaves: what is not explained by it."""
LEAST = 0.05


def settle(found: Iterable[Cause]) -> list[Cause]:
    """Return causes best first, of each the surest finding; all but the first stay below `SURE`."""
    best: dict[str, Cause] = {}
    for cause in found:
        if cause.id not in best or cause.confidence > best[cause.id].confidence:
            best[cause.id] = cause
    order = sorted(best.values(), key=lambda cause: -cause.confidence)
    if not order:
        return []
    rest = [replace(cause, confidence=_after(order[0], cause)) for cause in order[1:]]
    return [order[0], *(cause for cause in rest if cause.confidence >= LEAST)]


def _after(first: Cause, cause: Cause) -> float:
    if first.confidence < SURE:
        return min(cause.confidence, first.confidence)
    capped = min(cause.confidence, RUNNER_UP)
    return max(min(capped, 1 - OF_FIRST * first.confidence), 0.0)
