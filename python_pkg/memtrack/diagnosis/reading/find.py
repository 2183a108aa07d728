"""One piece of text, to the failures in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memtrack.diagnosis.reading.clauses import Clauses, messages
from memtrack.diagnosis.reading.failure import Failure, Severity
from memtrack.diagnosis.reading.flat import Flat
from memtrack.diagnosis.reading.frames import frames_before, is_source
from memtrack.diagnosis.reading.signs import signs
from memtrack.diagnosis.reading.sizes import is_unknown, to_bytes
from memtrack.diagnosis.reading.wording import Wording
from memtrack.diagnosis.reading.wordings_device import DEVICE
from memtrack.diagnosis.reading.wordings_engines import ENGINES
from memtrack.diagnosis.reading.wordings_host import OUTSIDE, SHELL_KILLED
from memtrack.diagnosis.reading.wordings_libraries import LIBRARY
from memtrack.diagnosis.reading.wordings_notmemory import NOT_MEMORY

WORDINGS: Sequence[Wording] = (*DEVICE, *LIBRARY, *OUTSIDE, *ENGINES, *NOT_MEMORY)
_CLASS = re.compile(
    r"([A-Za-z_][\w.:]*(?:Error|Exception|Warning|OutOfResources|OutOfMemory|Interrupt))['\"]?\s?[:(]"
)
_BEFORE, _AROUND = 240, 3000
"""Characters of the text, before a message for its class and around it for signs."""
_RATIO = re.compile(r"utilization\((0?\.\d+|1(?:\.0*)?)[,)]")


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    wording: Wording | None
    status: str = ""
    clauses: Clauses | None = None


@dataclass(frozen=True)
class Found:
    """A failure by its own words, and where it stands; what is around it is read when asked for."""

    failure: Failure
    flat: Flat
    start: int
    end: int
    since: int
    """The row of the text from which on its traceback may begin."""

    def with_surroundings(self) -> Failure:
        """Return the failure with its message, exception class, traceback and signs."""
        flat, place = self.flat, self.flat.place(self.start)
        classes = _CLASS.findall(flat.words[max(place - _BEFORE, 0) : place])
        exception = classes[-1] if classes else ""
        said = flat.said(self.start, self.end)
        return replace(
            self.failure,
            exception=exception,
            message=f"{exception}: {said}" if exception else said,
            frames=tuple(frames_before(flat.lines, flat.row(self.start), self.since)),
            signs=signs(flat.words[max(place - _AROUND, 0) : place + _AROUND]),
        )


def failures(flat: Flat) -> list[Found]:
    """Return the failures in a piece of text, in its order."""
    spans = [*_spans(flat.squeezed), *_killed(flat)]
    spans += [
        _Span(one.start, one.end, None, "", one)
        for one in messages(flat.squeezed, [(span.start, span.end) for span in spans])
        if not _is_only_code(flat, one)
    ]
    spans = [span for span in spans if not _is_source(flat, span)]
    spans.sort(key=lambda span: (span.start, -span.end))
    found: list[Found] = []
    since = 0
    for index, span in enumerate(spans):
        limit = spans[index + 1].start if index + 1 < len(spans) else len(flat.squeezed)
        line = flat.number(span.start)
        failure = (
            _of_clauses(span.clauses, line)
            if span.clauses is not None
            else _of_wording(flat, span, limit, line)
        )
        end = max(span.end, _end_of(flat, span, failure, limit))
        found.append(Found(failure, flat, span.start, end, since))
        since = flat.row(span.end)
    return found


def _spans(squeezed: str) -> list[_Span]:
    found: list[_Span] = []
    taken = bytearray(len(squeezed))
    for wording in WORDINGS:
        if wording.needle not in squeezed:
            continue
        for match in wording.search.finditer(squeezed):
            start, end = match.span()
            if start == end or taken.find(1, start, end) >= 0:
                continue
            taken[start:end] = b"\x01" * (end - start)
            found.append(_Span(start, end, wording, match.groupdict().get("status") or ""))
    return found


def _killed(flat: Flat) -> list[_Span]:
    """Find the lines on which a shell says `Killed` and nothing else."""
    if "killed" not in flat.squeezed:
        return []
    found: list[_Span] = []
    position = 0
    for line in flat.lines:
        if line.rstrip(".") == "Killed":
            found.append(_Span(position, position + len(line), SHELL_KILLED))
        position += len(line) - line.count(" ")
    return found


def _is_source(flat: Flat, span: _Span) -> bool:
    row = flat.row(span.start)
    return is_source(flat.lines, row, flat.column(span.start))


def _is_only_code(flat: Flat, clauses: Clauses) -> bool:
    """Tell a line of source that a traceback prints, such as a test of the message."""
    if clauses.seen != {"head"}:
        return False
    said = flat.words[max(flat.place(clauses.start) - 30, 0) : flat.place(clauses.end - 1) + 30]
    return re.search(r"""['"]\)? in |in str\(|\bexcept\b|\.contains\(""", said) is not None


def _end_of(flat: Flat, span: _Span, failure: Failure, limit: int) -> int:
    """Return where the message ends: after its last figure."""
    if span.wording is None or not failure.numbers:
        return span.end
    ends = [span.end]
    for one in span.wording.fields:
        match = one.search.search(
            flat.squeezed, span.start, min(span.start + span.wording.reach, limit)
        )
        if match is not None:
            ends.append(match.end())
    return max(ends)


def _of_clauses(clauses: Clauses, line: int) -> Failure:
    return Failure(
        line=line,
        kind=clauses.kind,
        wording=clauses.wording,
        device_memory=True,
        numbers=clauses.numbers,
        processes=tuple(clauses.processes),
        sentinels=tuple(clauses.sentinels),
        device=clauses.device,
        status="more than 1 EB" if "exabyte" in clauses.seen else "",
        severity=Severity.FATAL,
    )


def _of_wording(flat: Flat, span: _Span, limit: int, line: int) -> Failure:
    wording = span.wording
    assert wording is not None, "a span has clauses or a wording"
    numbers: dict[str, int] = {}
    sentinels: list[str] = []
    end = min(span.start + wording.reach, max(limit, span.end))
    for one in wording.fields:
        match = one.search.search(flat.squeezed, span.start, end)
        if match is None:
            continue
        size_bytes = to_bytes(match[1], match[2])
        if is_unknown(size_bytes):
            sentinels.append(one.name)
        else:
            numbers[one.name] = size_bytes
    ratio = _RATIO.search(flat.squeezed, span.start, end) if wording.kind == "vllm" else None
    return Failure(
        line=line,
        kind=wording.kind,
        wording=wording.id,
        device_memory=wording.device_memory,
        severity=wording.severity,
        numbers=numbers,
        sentinels=tuple(sentinels),
        ratio=float(ratio[1]) if ratio else None,
        status=span.status,
    )
