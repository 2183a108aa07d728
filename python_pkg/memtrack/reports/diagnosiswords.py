"""The sentences around a diagnosis that text and HTML share: place, confidence, figures, headings."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.diagnosis import SURE, Cause, Diagnosis, Needed, Place, Process
from memtrack.i18n import Text, text
from memtrack.reports.words import PHASES, joined, literal, part_name
from memtrack.units import format_bytes

UNKNOWN_CAUSE = "unknown"
MOST_CAUSES = 4
WORTH_TELLING = 0.3
"""Where one reason is sure, others that are less likely than this are left out."""
MOST_EVIDENCE = 8
MOST_ADVICE = 5
MOST_CHECKS = 6
MOST_CAVEATS = 3
MOST_HOLDERS = 8
MOST_PROCESSES = 8
MOST_LATER = 4

NEEDED = text("What was needed, and what there was")
DEVICE = text("The device at that moment")
HOLDERS = text("Who held the memory")
OTHERS = text("Other processes on this device")
ADVICE = text("What helps, the least harmful first")
CHECKS = text("Next check")
THEN = text("Then")
LATER = text("Later errors, which follow from this one")
MESSAGE = text("The message as it was raised")
_FIGURES = (
    ("requested", text("asked for")),
    ("segment", text("as the allocator asked the driver for it")),
    ("largest_free", text("largest free block that could serve it")),
    ("cached", text("free inside the allocator, all blocks together")),
    ("device_free", text("free on the device")),
    ("others", text("held by other processes")),
)


def part_title(part: str) -> Text:
    """Return the words for a part of the device; what is unknown of tensors is only their kind."""
    return text("tensors of unknown kind") if part == "unknown" else part_name(part)


def place_line(diagnosis: Diagnosis) -> Text | None:
    """Return where it happened: phase, layer, step and source line, as far as they are known.

    What the headline has said already is left out; None where nothing else is known.
    """
    place = diagnosis.place
    where = _phase_and_layer(place)
    told = where is not None and str(where) in str(diagnosis.headline)
    parts = [] if where is None or told else [where]
    if place.step > 0 and (place.phase or place.layer):
        parts.append(text("step {step}", step=place.step))
    if place.site and place.site not in str(diagnosis.headline):
        parts.append(text("at {site}", site=place.site))
    return text("Where: {place}", place=joined(parts)) if parts else None


def _phase_and_layer(place: Place) -> Text | None:
    phase = PHASES.get(place.phase)
    if phase is not None and place.layer:
        return text("{phase} of {layer}", phase=phase, layer=place.layer)
    if phase is not None:
        return phase
    return literal(place.layer) if place.layer else None


def told_causes(causes: Sequence[Cause]) -> Sequence[Cause]:
    """Return the causes that are worth a reader's time, best first.

    That the cause cannot be told is said only where there is nothing else to say.
    """
    is_sure = bool(causes) and causes[0].confidence >= SURE
    worth = [one for one in causes if not is_sure or one.confidence >= WORTH_TELLING]
    named = [one for one in worth if one.id != UNKNOWN_CAUSE]
    return (named or worth)[:MOST_CAUSES]


def cause_line(cause: Cause) -> Text:
    """Return a cause with how sure it is: a reason from `SURE` on, below it a possibility."""
    if cause.id == UNKNOWN_CAUSE:
        return text("Why: {cause}", cause=cause.title)
    share = f"{100 * cause.confidence:.0f} %"
    if cause.confidence >= SURE:
        return text("Why: {cause} ({share} sure)", cause=cause.title, share=share)
    return text("Possibly: {cause} ({share} sure)", cause=cause.title, share=share)


def needed_rows(needed: Needed) -> list[tuple[Text, int]]:
    """Return what is known of the failed request and of what there was for it, in bytes."""
    rows = [(name, getattr(needed, field)) for field, name in _FIGURES]
    known = [(name, size) for name, size in rows if size is not None]
    # The segment is worth a line only where it is not the request itself.
    same = needed.segment == needed.requested
    return [row for row in known if not (same and row[0] == _FIGURES[1][1])]


def process_rows(processes: Sequence[Process]) -> list[tuple[Text, Text]]:
    """Return each process with its bytes, or that the driver does not tell them."""
    unknown = text("not told by the driver")
    return [
        (
            text("process {pid}", pid=one.pid),
            literal(format_bytes(one.bytes)) if one.bytes >= 0 else unknown,
        )
        for one in processes[:MOST_PROCESSES]
    ]


def saving(bytes_saved: int | None) -> Text | None:
    """Return what an advice saves, None where no figure is known."""
    if bytes_saved is None:
        return None
    return text("saves {bytes}", bytes=format_bytes(bytes_saved))
