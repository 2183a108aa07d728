"""From causes to advice and checks: those of the likeliest cause first, each in order of least harm."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from memtrack.diagnosis.advice.catalogue import CATALOGUE
from memtrack.diagnosis.advice.checks import CHECKS
from memtrack.diagnosis.advice.checkswording import CHECKS_BY_WORDING
from memtrack.diagnosis.advice.entry import Entry
from memtrack.diagnosis.advice.otherdevices import on_device, runs_on
from memtrack.diagnosis.diagnosis import SURE, Advice, Cause, Check

MOST_ADVICE = 8
MOST_FOR_FIRST, MOST_FOR_OTHERS = 6, 2
MOST_CHECKS = 4
LEAST_CONFIDENCE = 0.15
"""Causes below it bring no advice: there is nothing to act upon yet."""
LEAST_BESIDE_SURE = 0.3
"""The same beside a cause that is told as the reason."""
NOT_MEMORY = "not_oom"
_OTHER_ERRORS = "not_oom."
_OTHER_LIBRARY = "third_party"
"""The kind of failures in a library that shares the device with PyTorch."""
_OWN_MEANS = frozenset({_OTHER_LIBRARY, "placement.does_not_fit"})
"""Kinds and wordings of failures against which a training loop's means do not help."""
_ITS_OWN = frozenset({"capacity"})
"""The causes for which that is so."""
_ONLY_PYTORCH = ("torch.cuda.memory_allocated", "torch.cuda.memory_summary", "%memtrack model")
"""Code that tells of PyTorch's allocator alone."""
NO_SAVINGS: Mapping[str, int] = MappingProxyType({})


def advise(
    causes: Sequence[Cause],
    savings: Mapping[str, int] = NO_SAVINGS,
    phase: str = "",
    *,
    kind: str = "",
    wording: str = "",
    without: Container[str] = (),
) -> list[Advice]:
    """Return what helps against causes, best first.

    `savings` are bytes by the name of a figure (`Entry.saves`), such as `eight_bit_states`; `phase`
    is the id of the phase it failed in, `kind` and `wording` are those of the failure (`mps_oom`,
    `not_oom.gpu_lost`); "" where they are not known. `without` are ids of what is known not to help.
    """
    found: dict[str, Advice] = {}
    for place, cause in enumerate(_likely(causes)):
        entries = [one for one in CATALOGUE if cause in one.causes and one.id not in found]
        entries = [one for one in entries if one.id not in without]
        if _OWN_MEANS & {kind, wording} and cause in _ITS_OWN:
            entries = [one for one in entries if one.kinds]
        apt = [one for one in entries if _apt(one, phase, kind, wording)]
        for entry in apt[: MOST_FOR_OTHERS if place else MOST_FOR_FIRST]:
            advice = entry.advice(savings.get(entry.saves))
            found[entry.id] = replace(advice, code=on_device(kind, advice.code))
    return list(found.values())[:MOST_ADVICE]


def checks_for(
    causes: Sequence[Cause], kind: str = "", wording: str = "", *, without: Container[str] = ()
) -> list[Check]:
    """Return what to look at next to tell the causes apart or to confirm them, best first.

    `without` are ids of checks that have an answer already.
    """
    if wording in CHECKS_BY_WORDING:
        return list(CHECKS_BY_WORDING[wording])
    found: dict[str, Check] = {}
    for cause in _likely(causes):
        for check in CHECKS.get(cause, ()):
            if kind == _OTHER_LIBRARY and any(word in check.code for word in _ONLY_PYTORCH):
                continue
            if check.id not in without and runs_on(kind, check.code):
                found.setdefault(check.id, replace(check, code=on_device(kind, check.code)))
    return list(found.values())[:MOST_CHECKS]


def _apt(entry: Entry, phase: str, kind: str, wording: str) -> bool:
    """Whether it helps in that phase, can be done on that device, and is for that error."""
    if phase and entry.phases and phase not in entry.phases:
        return False
    if entry.kinds and kind not in entry.kinds:
        return False
    return _is_for(entry, wording) and runs_on(kind, entry.code)


def _is_for(entry: Entry, wording: str) -> bool:
    """Whether it is for that error; what is for some errors of a kind is for none else of it."""
    error = wording.removeprefix(_OTHER_ERRORS)
    if error != wording:
        return not entry.wordings or error in entry.wordings
    named = [one for one in entry.wordings if one.startswith(wording.partition(".")[0] + ".")]
    return not named or wording in named


def _likely(causes: Iterable[Cause]) -> list[str]:
    known = sorted(causes, key=lambda cause: -cause.confidence)
    sure = bool(known) and known[0].confidence >= SURE
    least = LEAST_BESIDE_SURE if sure else LEAST_CONFIDENCE
    if sure and known[0].id.startswith(NOT_MEMORY):
        return [known[0].id]  # what saves memory only leads astray
    return [cause.id for cause in known if cause.confidence >= least]
