"""From causes to advice and checks: those of the likeliest cause first, each in order of least harm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from memtrack.diagnosis.advice.catalogue import CATALOGUE
from memtrack.diagnosis.advice.checks import CHECKS
from memtrack.diagnosis.diagnosis import Advice, Cause, Check

MOST_ADVICE = 6
MOST_CHECKS = 4
LEAST_CONFIDENCE = 0.15
"""Causes below it bring no advice: there is nothing to act upon yet."""
NO_SAVINGS: Mapping[str, int] = MappingProxyType({})


def advise(causes: Sequence[Cause], savings: Mapping[str, int] = NO_SAVINGS) -> list[Advice]:
    """Return what helps against causes, best first.

    `savings` are bytes by the name of a figure (`Entry.saves`), such as `optimizer_state`.
    """
    found: dict[str, Advice] = {}
    for cause in _likely(causes):
        for entry in CATALOGUE:
            if cause in entry.causes:
                found.setdefault(entry.id, entry.advice(savings.get(entry.saves)))
    return list(found.values())[:MOST_ADVICE]


def checks_for(causes: Sequence[Cause]) -> list[Check]:
    """Return what to look at next to tell the causes apart or to confirm them, best first."""
    found: dict[str, Check] = {}
    for cause in _likely(causes):
        for check in CHECKS.get(cause, ()):
            found.setdefault(check.id, check)
    return list(found.values())[:MOST_CHECKS]


def _likely(causes: Iterable[Cause]) -> list[str]:
    return [cause.id for cause in causes if cause.confidence >= LEAST_CONFIDENCE]
