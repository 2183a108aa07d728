"""What the text says and what the evidence shows, as one diagnosis. Evidence outranks text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from memtrack.diagnosis.advice import advise, checks_for
from memtrack.diagnosis.diagnosis import SURE, Advice, Cause, Check, Diagnosis, Needed, Place
from memtrack.diagnosis.textcauses.contradictions import FREE_AND_REFUSED
from memtrack.diagnosis.textcauses.device import LITTLE
from memtrack.i18n import Text

_LIMIT = "per_process_fraction_limit"
UNPROVEN = SURE - 0.1
"""What a text alone may claim where evidence has found a reason, or could have found this one."""
SEEN_BY_EVIDENCE = frozenset(
    {
        "capacity",
        "cuda_graph_memory",
        "fragmentation",
        "graph_retention",
        "integer_overflow_or_garbage_size",
        "other_process_or_framework",
        "per_process_fraction_limit",
    }
)
"""Causes that evidence finds when they are there: a text's claim of another is doubtful then."""


def combine(told: Diagnosis | None, shown: Diagnosis | None) -> Diagnosis:
    """Return one diagnosis of a failure from its text (`told`) and from a recording (`shown`).

    Figures of the text fill those the evidence lacks; contradictions, messages and later errors of
    the text are kept. A text that tells of something else than device memory is the answer by itself.
    At least one must be given.
    """
    if told is None or shown is None:
        found = shown if told is None else told
        assert found is not None, "nothing to combine"
        return found
    if not told.device_memory or shown.kind == "none":
        return told
    causes = _causes(_without_a_peak(told.causes, shown), shown.causes)
    return replace(
        shown,
        kind=told.kind,
        headline=told.headline if _asks_nothing(shown.needed) else shown.headline,
        numbers={**told.numbers, **shown.numbers},
        other_processes=shown.other_processes or told.other_processes,
        own_pid=None if shown.other_processes else told.own_pid,
        causes=causes,
        contradictions=_once([*_unexplained(told, shown), *shown.contradictions]),
        checks=_checks(causes, told, shown),
        advice=_advice(causes, told, shown),
        needed=_needed(shown.needed, told.needed),
        place=_place(shown.place, told.place),
        holders=shown.holders or told.holders,
        parts=shown.parts or told.parts,
        message=told.message or shown.message,
        later=told.later,
    )


def _asks_nothing(needed: Needed) -> bool:
    return needed.requested is None and needed.segment is None


def _without_a_peak(causes: Sequence[Cause], shown: Diagnosis) -> list[Cause]:
    """Return the text's causes; where the device is full of what is not ours, no peak among them."""
    figures = shown.numbers
    if "allocated" not in figures or not figures.get("total") or "free" not in figures:
        return list(causes)
    total, allocated = figures["total"], figures["allocated"]
    own = max(allocated, figures.get("process", 0), figures.get("reserved", 0))
    others = total - figures["free"] - own
    is_little = allocated < LITTLE * total and 2 * others >= total
    return [cause for cause in causes if not (is_little and cause.id == "capacity")]


def _causes(told: Sequence[Cause], shown: Sequence[Cause]) -> list[Cause]:
    """Return evidence's causes, then the text's own, none of these as sure."""
    known = {cause.id: cause for cause in told}
    found = [
        _with_text(cause, known.pop(cause.id, None)) for cause in shown if cause.id != "unknown"
    ]
    sure = bool(found) and found[0].confidence >= SURE
    for cause in known.values():
        if cause.id == "unknown" and found:
            continue
        doubtful = sure or (bool(found) and cause.id in SEEN_BY_EVIDENCE)
        most = min(UNPROVEN, found[0].confidence) if doubtful else 1.0
        found.append(replace(cause, confidence=min(cause.confidence, most)))
    return sorted(found or list(shown), key=lambda cause: -cause.confidence)


def _with_text(cause: Cause, told: Cause | None) -> Cause:
    """Return a cause of the evidence with the text's lines, where these are not of the same figures."""
    if told is None or cause.id in SEEN_BY_EVIDENCE:
        return cause
    return replace(cause, evidence=_once([*cause.evidence, *told.evidence]))


def _unexplained(told: Diagnosis, shown: Diagnosis) -> list[Text]:
    """Return the text's contradictions but for a refusal that a known limit explains."""
    limited = "allowed" in shown.numbers and any(cause.id == _LIMIT for cause in shown.causes)
    return [
        line
        for line in told.contradictions
        if not (limited and line.template == FREE_AND_REFUSED.template)
    ]


def _once(lines: Sequence[Text]) -> list[Text]:
    return list({line.render(): line for line in lines}.values())


def _checks(causes: Sequence[Cause], told: Diagnosis, shown: Diagnosis) -> list[Check]:
    """Return the checks of the causes as they stand now, and what either side has besides."""
    found: dict[str, Check] = {}
    known = shown.settled
    for check in (*checks_for(causes, told.kind, without=known), *shown.checks, *told.checks):
        if check.id not in known:
            found.setdefault(check.id, check)
    return list(found.values())


def _advice(causes: Sequence[Cause], told: Diagnosis, shown: Diagnosis) -> list[Advice]:
    """Return the advice for the causes as they stand now; the evidence's figures are kept."""
    known = {advice.id: advice for advice in (*told.advice, *shown.advice)}
    phase, without = shown.place.phase, shown.settled
    fresh = advise(causes, phase=phase, kind=told.kind, without=without)
    found = [known.get(one.id, one) for one in fresh]
    return found or [one for one in known.values() if one.id not in without]


def _needed(shown: Needed, told: Needed) -> Needed:
    lacking = {
        one.name: getattr(told, one.name)
        for one in fields(Needed)
        if getattr(shown, one.name) is None
    }
    return replace(shown, **lacking)


def _place(shown: Place, told: Place) -> Place:
    return Place(
        phase=shown.phase or told.phase,
        layer=shown.layer or told.layer,
        step=shown.step or told.step,
        site=shown.site or told.site,
    )
