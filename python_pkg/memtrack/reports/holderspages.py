"""The answers of `%memtrack who` and `%memtrack free`, as pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtrack.devices.leftovers import SELF, DeviceProcess
from memtrack.diagnosis.holdings import Holdings, Level, Release, Step
from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports.holders import (
    FREE,
    HolderRow,
    holder_rows,
    level_figures,
    remarks,
    title,
    worth_dropping,
)
from memtrack.reports.holderslines import Page, Section
from memtrack.reports.processes import process_lines, processes_html
from memtrack.reports.words import joined
from memtrack.units import format_bytes

NOTHING = text("No tensor holds memory.")


def who_page(
    found: Sequence[Holdings],
    processes: Mapping[str, Sequence[DeviceProcess]],
    language: str = ENGLISH,
) -> Page:
    """Return who holds the memory of each device, then the other processes on it."""
    sections = [_held(one) for one in found]
    others = {
        device: [process for process in some if process.relation != SELF]
        for device, some in processes.items()
    }
    lines: list[Text] = []
    html = ""
    for device, some in others.items():
        if some:
            heading = text("Other processes on {device}:", device=device)
            lines += [heading, *process_lines(some)]
            html += f"<p>{heading.render(language)}</p>{processes_html(some, language)}"
    return Page(sections, language, html, lines)


def _held(found: Holdings) -> Section:
    rows = holder_rows(found)
    return Section(title(found), rows, [*([] if rows else [NOTHING]), *remarks(found)])


def free_page(released: Sequence[Release], language: str = ENGLISH) -> Page:
    """Return what was given back on each device, before and after, and who holds the rest."""
    sections = [section for one in released for section in _given_back(one)]
    return Page(sections, language)


def _given_back(one: Release) -> list[Section]:
    found = one.after
    sentences = [*_levels(one.before, found.level), *_notes(one)]
    size = format_bytes(one.bytes)
    heading = text("Given back on {device}: {bytes}", device=found.device, bytes=size)
    if found.device == "cpu":
        heading = text(
            "No GPU is in use by this process. Given back in main memory: {bytes}", bytes=size
        )
    kept = text("The traceback that was let go of")
    rows = [_step(step, one.dropped) for step in one.steps if step.bytes or step.count]
    sections = [Section(heading, rows, sentences, one.traceback, kept)]
    sections += _what_stays(found)
    return sections


def _what_stays(found: Holdings) -> list[Section]:
    rows = holder_rows(found)
    if not rows:
        return []
    heading = text("What stays, and who holds it:")
    sentences = list(remarks(found))
    if worth_dropping(found):
        sentences.append(
            text("{line} drops variables of yours; nothing else here does.", line=f"{FREE} NAME")
        )
    return [Section(heading, rows, sentences)]


def _levels(before: Level, after: Level) -> list[Text]:
    if before.allocated < 0:
        return []
    return [
        text("Before: {figures}", figures=joined(level_figures(before))),
        text("After: {figures}", figures=joined(level_figures(after))),
    ]


def _step(step: Step, dropped: Sequence[str]) -> HolderRow:
    if step.id == "variables":
        return HolderRow(step.bytes, text("dropped: {names}", names=", ".join(dropped)))
    return HolderRow(step.bytes, _STEPS[step.id])


def _notes(one: Release) -> list[Text]:
    sentences = [_NOTES[note] for note in one.notes if note in _NOTES]
    if "cache_kept" in one.notes:
        sentences.append(
            text(
                "{bytes} stay in PyTorch's cache for this process; {line} gives them to others.",
                bytes=format_bytes(one.after.level.cached),
                line=f"{FREE} --cache",
            )
        )
    return sentences


_STEPS = {
    "errors": text("the last error, with the variables of its frames"),
    "outputs": text("displayed values that IPython remembered (Out, _)"),
    "cycles": text("reference cycles"),
}
_NOTES = {
    "no_debug": text(
        "%tb and %debug have nothing to show now; the traceback stays in the output of its cell."
    ),
    "cache_returned": text("PyTorch's cache was given back to the driver."),
    "capturing": text("A CUDA graph is being captured: the cache was left alone."),
    "cut_short": text(
        "The search was cut short, so frames that may be yours were left as they are."
    ),
}
