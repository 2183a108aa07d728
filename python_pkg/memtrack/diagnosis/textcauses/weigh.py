"""One failure to its causes, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memtrack.diagnosis.diagnosis import SURE, Cause
from memtrack.diagnosis.reading import Failure, Reading, Severity
from memtrack.diagnosis.textcauses.around import weigh_frames, weigh_words
from memtrack.diagnosis.textcauses.device import limit_by_share, weigh_device, weigh_told
from memtrack.diagnosis.textcauses.host import HOST_CAUSES
from memtrack.diagnosis.textcauses.libraries import LIBRARY_CAUSES
from memtrack.diagnosis.textcauses.mps import weigh_mps
from memtrack.diagnosis.textcauses.notmemory import weigh_not_memory
from memtrack.diagnosis.textcauses.scores import Candidate, Scores
from memtrack.i18n import text
from memtrack.units import GIB, TIB, format_bytes

_NO_FIGURES = text("The message has no figures from which a cause could be told.")
_ENOUGH_SAID = 0.3
_WITH_FIGURES = frozenset({"cuda_malloc_async", "third_party", "host"})
_LARGE_ON_A_HOST = 32 * GIB
"""Bytes in one piece that few computers have."""
_WHOLE_PROGRAM = text(
    "XLA plans a whole program before it runs: the figure is the peak of the step, not one tensor."
)
_ONE_PIECE = text("One array of this size is more than most computers have: look at its shape.")
_MORE_THAN_ANY_COMPUTER = 64 * TIB
"""Bytes that no computer has as memory, so that none can be said to be full."""


def text_causes(failure: Failure, reading: Reading | None = None) -> list[Cause]:
    """Return the causes that a failure's words and figures make possible, best first.

    A text alone seldom proves a cause: only what the figures or the wording decide reaches the
    confidence from which a cause is told as the reason.
    """
    scores = Scores()
    _by_wording(failure, scores)
    if failure.kind in _WITH_FIGURES or (
        failure.kind.endswith("_oom") and failure.kind != "not_oom"
    ):
        _by_figures(failure, scores)
    told = failure.severity is Severity.SYMPTOM
    if told:
        weigh_told(failure, scores)
    if failure.device_memory:
        weigh_frames(failure, scores)
    if failure.kind not in ("not_oom", "vllm", "triton"):
        bare = told or (not failure.numbers and len(failure.message) < len("x" * 200))
        weigh_words(failure, scores, only=told or (bare and failure.kind.endswith("_oom")))
    limit_by_share(failure, scores)
    if reading is not None and failure.device_memory:
        _repeated(failure, reading, scores)
    if scores.best() < _ENOUGH_SAID:
        scores.add("unknown", 0.4, _NO_FIGURES)
    causes = scores.causes()
    return once(causes) if _by_table(LIBRARY_CAUSES, failure) else causes


def once(causes: Sequence[Cause]) -> list[Cause]:
    """Return causes with each line of evidence under the likeliest of those that it speaks for."""
    told: set[str] = set()
    found = []
    for cause in causes:
        lines = tuple(line for line in cause.evidence if line.render() not in told)
        told.update(line.render() for line in lines)
        found.append(replace(cause, evidence=lines))
    return found


def _by_table(
    table: Mapping[str, Sequence[Candidate]], failure: Failure
) -> Sequence[Candidate] | None:
    return table.get(failure.wording, table.get(failure.kind))


def _by_wording(failure: Failure, scores: Scores) -> None:
    if failure.kind == "not_oom":
        weigh_not_memory(failure, scores)
        return
    for table in (LIBRARY_CAUSES, HOST_CAUSES):
        found = _by_table(table, failure)
        if found is not None and not (failure.numbers and failure.kind in ("hip_oom",)):
            scores.add_all(found)


def _by_figures(failure: Failure, scores: Scores) -> None:
    if failure.kind == "mps_oom":
        weigh_mps(failure, scores)
    elif failure.kind == "tpu_oom":
        scores.add("capacity", 0.5, _WHOLE_PROGRAM)
        scores.add("logits_or_attention_quadratic", 0.3)
    elif failure.kind in ("cpu_oom", "host"):
        _host_size(failure, scores)
    else:
        weigh_device(failure, scores)
        if not failure.numbers.keys() - {"requested"} and scores.best() < _ENOUGH_SAID:
            scores.add("capacity", 0.4, _NO_FIGURES)
            scores.add("unknown", 0.35, _NO_FIGURES)
            scores.add("other_process_or_framework", 0.25)


def _host_size(failure: Failure, scores: Scores) -> None:
    requested = failure.numbers.get("requested", 0)
    if requested >= _LARGE_ON_A_HOST:
        scores.add("huge_input_or_boxes", 0.35, _ONE_PIECE)
    if requested < TIB:
        return
    line = text(
        "{requested} were asked for at once: a shape is wrong, whatever memory there is.",
        requested=format_bytes(requested),
    )
    absurd = requested >= _MORE_THAN_ANY_COMPUTER
    scores.limit("host_ram_exhausted", 0.3 if absurd else SURE - 0.05)
    scores.add("huge_input_or_boxes", 0.45 if absurd else 0.5, line)
    scores.add("integer_overflow_or_garbage_size", 0.55 if absurd else 0.35, line)


def _repeated(failure: Failure, reading: Reading, scores: Scores) -> None:
    """Weigh that the text has the same kind of failure again: what the first one left is still held."""
    again = [
        one for one in reading.failures if one.kind == failure.kind and not failure.retells(one)
    ]
    if failure.count > 1 and failure.numbers:
        same = text(
            "The same message, to the last figure, comes {count} times.", count=failure.count
        )
        scores.add("exception_traceback_or_stale_reference", 0.3, same)
    chained = "traceback_kept" in failure.signs
    if chained and again:
        line = text(
            "The failure was caught and tried again while the first one still held tensors."
        )
        scores.add("exception_traceback_or_stale_reference", 0.5, line)
