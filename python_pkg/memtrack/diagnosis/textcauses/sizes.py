"""What the size of the request alone says: absurd, larger than the device, a large part of it."""

from __future__ import annotations

from memtrack.diagnosis.reading import Failure
from memtrack.diagnosis.textcauses.figures import Figures
from memtrack.diagnosis.textcauses.scores import Scores
from memtrack.i18n import Text, text
from memtrack.units import GIB, TIB, format_bytes

_ABSURD = 4 * TIB
"""More than any device has, by far: not pressure but a mistake."""
_LARGEST_DEVICE = 288 * GIB
"""What the largest devices of today have."""
_LARGE_ALONE = 32 * GIB
_NO_ROOM_HELPS = 0.15
_XPU_LIMIT = 4 * GIB
"""Intel's runtimes refuse a single allocation above it on devices with more (notes, c028)."""


def weigh_size(failure: Failure, said: Figures, scores: Scores) -> None:
    """Weigh the size of the request."""
    if failure.status == "more than 1 EB" or "requested" in failure.sentinels:
        line = text("More than 2^60 bytes were asked for: no tensor is meant to have that size.")
        scores.add("integer_overflow_or_garbage_size", 0.7, line)
        scores.add("huge_input_or_boxes", 0.2)
        return
    requested = said.requested
    if requested is None:
        return
    if requested >= _ABSURD:
        _absurd(requested, scores)
        return
    _platform(failure, said, requested, scores)
    limit = said.total if said.total is not None else _LARGEST_DEVICE
    if requested > limit:
        _larger(said, requested, scores)
    elif (said.total is not None and requested > said.total // 5) or (
        said.total is None and requested >= _LARGE_ALONE
    ):
        _large(said, requested, scores)


def _absurd(requested: int, scores: Scores) -> None:
    line = text(
        "{requested} were asked for at once, more than any device has: a shape or a count is wrong.",
        requested=format_bytes(requested),
    )
    # A product of sensible shapes is mostly a multiple of a large power of two; garbage is not.
    product = requested % GIB == 0
    scores.add("huge_input_or_boxes", 0.55 if product else 0.35, line)
    scores.add("integer_overflow_or_garbage_size", 0.4 if product else 0.55, line)
    scores.add("logits_or_attention_quadratic", 0.3 if product else 0.2)
    _without_a_matter_of_room(scores)


def _without_a_matter_of_room(scores: Scores) -> None:
    """Lower what would be true only if more room had helped."""
    for cause in ("capacity", "memory_outside_allocator", "other_process_or_framework"):
        scores.limit(cause, _NO_ROOM_HELPS)


def _larger(said: Figures, requested: int, scores: Scores) -> None:
    if said.total is not None:
        line: Text = text(
            "One request of {requested} on a device of {total}.",
            requested=format_bytes(requested),
            total=format_bytes(said.total),
        )
    else:
        line = text(
            "One request of {requested}, more than the largest devices have.",
            requested=format_bytes(requested),
        )
    scores.add("huge_input_or_boxes", 0.5, line)
    scores.add("logits_or_attention_quadratic", 0.45, line)
    scores.add("cudnn_workspace", 0.3)
    scores.add("unknown", 0.2)
    _without_a_matter_of_room(scores)


def _large(said: Figures, requested: int, scores: Scores) -> None:
    line = text(
        "A single request of {requested} is a large part of the device: one tensor, not the sum,"
        " decides.",
        requested=format_bytes(requested),
    )
    most = said.total is None or requested > said.total // 2
    scores.add("huge_input_or_boxes", 0.45 if most else 0.35, line)
    scores.add("logits_or_attention_quadratic", 0.42 if most else 0.33, line)


def _platform(failure: Failure, said: Figures, requested: int, scores: Scores) -> None:
    if failure.kind != "xpu_oom" or requested < _XPU_LIMIT or said.total is None:
        return
    if requested + (said.reserved or 0) < 0.9 * said.total:
        scores.add(
            "platform_allocation_limit",
            0.62,
            text(
                "{requested} in one piece, though the device has {total} and PyTorch holds little:"
                " Intel's runtimes refuse single allocations above 4 GiB.",
                requested=format_bytes(requested),
                total=format_bytes(said.total),
            ),
        )
