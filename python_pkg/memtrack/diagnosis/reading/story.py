"""A situation told in a sentence or two, with no error line: "memory grows in the validation phase"."""

from __future__ import annotations

import re

from memtrack.diagnosis.reading.failure import Failure, Severity
from memtrack.diagnosis.reading.flat import Flat
from memtrack.diagnosis.reading.signs import signs
from memtrack.diagnosis.reading.sizes import SIZE, to_bytes

MOST_LINES, MOST_CHARACTERS = 30, 4000
"""Longer texts are logs, and a log without an error line tells no story."""

_USED_OF_TOTAL = re.compile(SIZE + r"/" + SIZE + r"(?!s)")
_USED = re.compile(SIZE + r"(?:ofan?[a-z0-9]{2,8})?(?:is|are)?used")
_FIGURES = {
    "allocated": re.compile(r"(?<!un)allocated(?:peak)?[:=]?" + SIZE),
    "reserved": re.compile(r"reserved(?:peak)?[:=]?" + SIZE),
    "device_used": re.compile(r"(?:deviceused|takes|occupies)[:=]?" + SIZE),
}
_ABOUT_MEMORY = frozenset({"memory", "viewer", "leftover", "recompiles", "cuda_graphs", "half"})
_ON_DEVICE = frozenset({"memory", "recompiles", "cuda_graphs", "half"})


def story(flat: Flat) -> Failure | None:
    """Return what a short text without an error line tells; None where it is not about memory.

    Lines that a logger calls information are no story: an engine tells of its memory as it starts.
    """
    if len(flat.lines) > MOST_LINES or len(flat.words) > MOST_CHARACTERS:
        return None
    if flat.is_calm:
        return None
    found = signs(flat.words)
    numbers = figures(flat.squeezed)
    if not found.keys() & _ABOUT_MEMORY and not numbers:
        return None
    viewer = "viewer" in found
    host = "host" in found or "no_error_line" in found
    return Failure(
        kind="viewer" if viewer else "story",
        wording="story.viewer" if viewer else "story",
        device_memory=bool(numbers or found.keys() & _ON_DEVICE) and not viewer and not host,
        severity=Severity.SYMPTOM,
        numbers=numbers,
        message=flat.words[:400],
        signs=found,
    )


def figures(squeezed: str) -> dict[str, int]:
    """Return what a text says was used, in bytes: as nvidia-smi prints it, or in words."""
    found: dict[str, int] = {}
    match = _USED_OF_TOTAL.search(squeezed)
    if match is not None:
        found["device_used"] = to_bytes(match[1], match[2])
        found["device_total"] = to_bytes(match[3], match[4])
    match = _USED.search(squeezed)
    if match is not None:
        found.setdefault("device_used", to_bytes(match[1], match[2]))
    for name, search in _FIGURES.items():
        match = search.search(squeezed)
        if match is not None:
            found.setdefault(name, to_bytes(match[1], match[2]))
    return found
