"""Apple's Metal backend: one memory for computer and GPU, and a limit that a variable sets."""

from __future__ import annotations

from memtrack.diagnosis.reading import Failure
from memtrack.diagnosis.textcauses.scores import Scores
from memtrack.i18n import text
from memtrack.units import GIB, format_bytes

_SHARE = 2 / 3 * 1.7
"""The limit is memory × 2/3 (what Metal recommends) × 1.7 unless a variable says otherwise (4.3)."""
_MEMORIES = (8, 16, 18, 24, 32, 36, 48, 64, 96, 128, 192, 256, 512)


def weigh_mps(failure: Failure, scores: Scores) -> None:
    """Weigh the figures of an MPS message."""
    allocated = failure.numbers.get("allocated", 0)
    other = failure.numbers.get("other", 0)
    allowed = failure.numbers.get("allowed")
    if failure.wording == "mps_oom.buffer":
        line = text("One buffer is larger than Metal allows.")
        scores.add("platform_allocation_limit", 0.5, line)
        scores.add("huge_input_or_boxes", 0.4, line)
        return
    if other > allocated:
        line = text(
            "{other} is held by others than PyTorch's tensors ({allocated}).",
            other=format_bytes(other),
            allocated=format_bytes(allocated),
        )
        scores.add("other_process_or_framework", 0.5, line)
        scores.add("capacity", 0.3)
    elif allocated:
        line = text("{allocated} is in PyTorch's tensors.", allocated=format_bytes(allocated))
        scores.add("capacity", 0.55, line)
        scores.add("graph_retention", 0.15)
    else:
        scores.add("capacity", 0.4)
        scores.add("unknown", 0.4)
    if allowed and not any(abs(allowed / GIB - one * _SHARE) < 0.02 * one for one in _MEMORIES):
        scores.add(
            "allocator_bug_or_option",
            0.3,
            text(
                "The limit of {allowed} is not what is set by default: a variable changes it, which"
                " must be set before torch is imported.",
                allowed=format_bytes(allowed),
            ),
        )
