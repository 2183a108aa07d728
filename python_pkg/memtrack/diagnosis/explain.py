"""A text, lines or an exception, to the explanation of the memory error in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memtrack.diagnosis.advice import advise, checks_for
from memtrack.diagnosis.diagnosis import Diagnosis, Needed, Place
from memtrack.diagnosis.headlines import headline
from memtrack.diagnosis.raised import text_of
from memtrack.diagnosis.reading import Failure, Frame, Reading, read_lines, read_text
from memtrack.diagnosis.textcauses import contradictions, places, text_causes
from memtrack.diagnosis.textcauses.figures import Figures
from memtrack.i18n import Text, text
from memtrack.units import MIB

NO_ERROR = "none"
_MOST_LATER = 6
_SEGMENTS = frozenset({2 * MIB, 20 * MIB})
"""What the allocator asks the driver for when tensors are smaller (notes, 4.12)."""
_LIBRARIES = ("site-packages", "dist-packages", "/torch/", "<frozen", "lib/python", "lib\\python")
_PHASES = ("optimizer", "backward")


def explain_text(source: str | bytes | BaseException | Iterable[str]) -> Diagnosis:
    """Return the diagnosis of a text, of lines of a log, or of an exception, by its words alone.

    Lines are read once, with bounded memory. Where no memory error is found, `kind` is `none` and the
    headline tells the last error there is.
    """
    if isinstance(source, BaseException):
        reading = read_text(text_of(source))
    elif isinstance(source, bytes | bytearray):
        reading = read_text(source.decode("utf-8", errors="replace"))
    elif isinstance(source, str):
        reading = read_text(source)
    else:
        reading = read_lines(source)
    return explain_reading(reading)


def explain_reading(reading: Reading) -> Diagnosis:
    """Return the diagnosis of what was read."""
    first = reading.first
    if first is None:
        return Diagnosis(NO_ERROR, False, _nothing(reading), message=reading.last_error)
    failure = _seen_in_its_place(first)
    causes = text_causes(failure, reading)
    place = _place(failure)
    figures = Figures(failure)
    return Diagnosis(
        kind=failure.kind,
        device_memory=failure.device_memory,
        headline=headline(failure),
        numbers=failure.numbers,
        other_processes=failure.processes,
        own_pid=figures.own_pid,
        causes=causes,
        contradictions=contradictions(failure),
        checks=checks_for(causes, failure.kind, failure.wording),
        advice=advise(causes, phase=place.phase, kind=failure.kind, wording=failure.wording),
        needed=_needed(failure, figures),
        place=place,
        message=failure.message,
        later=_later(first, reading.failures),
    )


def _nothing(reading: Reading) -> Text:
    if reading.last_error:
        return text(
            "No memory error found; the last error is: {error}",
            error=reading.last_error,
        )
    return text("No memory error found, and no other error either.")


def _seen_in_its_place(failure: Failure) -> Failure:
    """Return the failure as what its traceback shows it to be: pinning is no device memory."""
    if failure.kind == "cuda_error" and "pinning" in places(failure):
        return replace(failure, kind="host_pinned", device_memory=False)
    return failure


def _needed(failure: Failure, figures: Figures) -> Needed:
    if not failure.device_memory:
        return Needed()
    requested = figures.requested
    others = figures.others_bytes
    is_segment = requested in _SEGMENTS or failure.wording.startswith(f"{failure.kind}.s")
    return Needed(
        requested=None if requested in _SEGMENTS else requested,
        segment=requested if is_segment else None,
        cached=figures.idle,
        device_free=figures.free,
        others=others or None,
    )


def _place(failure: Failure) -> Place:
    found = places(failure)
    phase = next((one for one in _PHASES if one in found), "")
    frame = _own_frame(failure.frames)
    site = "" if frame is None else f"{frame.path}:{frame.line}" if frame.line else frame.path
    return Place(phase=phase, site=site)


def _own_frame(frames: Sequence[Frame]) -> Frame | None:
    """Return the innermost frame that is not of a library."""
    for frame in reversed(frames):
        if not any(part in frame.path for part in _LIBRARIES):
            return frame
    return None


def _later(first: Failure, failures: Sequence[Failure]) -> list[Text]:
    told = {headline(first).render()}
    found: list[Text] = []
    for failure in failures:
        line = headline(failure)
        if failure.line < first.line or first.retells(failure) or line.render() in told:
            continue
        told.add(line.render())
        found.append(line)
    return found[:_MOST_LATER]
