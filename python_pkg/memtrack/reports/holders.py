"""Who holds a device's memory, as rows of sentences; and each row's way to give it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtrack.diagnosis.holdings import (
    DEBUGGER,
    EXCEPTION,
    FRAME,
    LAST_ERROR,
    NOBODY,
    OURS,
    OUTPUT,
    VARIABLE,
    Holding,
    Holdings,
    Level,
)
from memtrack.i18n import Text, text
from memtrack.reports.cells import plain, shortened
from memtrack.reports.words import joined, literal
from memtrack.units import format_bytes, format_count

MOST_ROWS = 15
LONGEST_NAME = 120
FREE = "%memtrack free"
_WITHOUT_NAME = (OUTPUT, EXCEPTION, DEBUGGER, NOBODY)
"""Kinds that `%memtrack free` lets go of without being told a name."""
_ENDS_RECORDING = "%memtrack off"
_WORTH_IT = 1 << 20
"""Bytes from which a variable is worth dropping."""


@dataclass(frozen=True, slots=True)
class HolderRow:
    """One holder: `facts` are what is known of it, `line` gives it back ("" if nothing does)."""

    bytes: int
    name: Text
    facts: Sequence[Text] = ()
    line: str = ""


def holder_rows(found: Holdings) -> list[HolderRow]:
    """Return the holders, largest first, with all else that is allocated; they sum to it."""
    shown, rest = found.holdings[:MOST_ROWS], found.holdings[MOST_ROWS:]
    rows = [_row(one, found.cut_short) for one in shown]
    if rest:
        sentence = text("{count} smaller holders", count=len(rest))
        rows.append(HolderRow(sum(one.bytes for one in rest), sentence))
    if found.native > 0:
        native = text("held by C++ alone")
        what = text("autograd, CUDA graphs, communication, workspaces of libraries")
        rows.append(HolderRow(found.native, native, [what]))
    if found.rounding > 0:
        rows.append(HolderRow(found.rounding, text("rounding up to whole blocks")))
    return sorted(rows, key=lambda row: -row.bytes)


def title(found: Holdings) -> Text:
    """Return what the rows are of, with the figures that the allocator and the driver tell."""
    level, device = found.level, found.device
    if device == "cpu":
        return text(
            "No GPU is in use by this process. Tensors in main memory: {bytes}",
            bytes=format_bytes(found.named),
        )
    if level.allocated < 0:
        return text("Tensors on {device}: {bytes}", device=device, bytes=format_bytes(found.named))
    return text("{device}: {figures}", device=device, figures=joined(level_figures(level)))


def level_figures(level: Level) -> list[Text]:
    """Return what is known of allocator and device, each with what it is."""
    figures = []
    if level.allocated >= 0:
        figures.append(text("{bytes} allocated", bytes=format_bytes(level.allocated)))
    if level.cached >= 0:
        figures.append(text("{bytes} cached", bytes=format_bytes(level.cached)))
    if level.free >= 0:
        figures.append(
            text(
                "{bytes} of {total} free on the device",
                bytes=format_bytes(level.free),
                total=format_bytes(level.total),
            )
        )
    return figures


def remarks(found: Holdings) -> list[Text]:
    """Return what limits the answer."""
    sentences = []
    if found.cut_short:
        sentences.append(
            text(
                "The search was cut short after {count} objects: names may be missing, bytes are not.",
                count=format_count(found.objects),
            )
        )
    if found.foreign > 0:
        sentences.append(
            text(
                "{bytes} of these tensors are not from PyTorch's allocator.",
                bytes=format_bytes(found.foreign),
            )
        )
    return sentences


def holder_name(one: Holding) -> Text:
    """Return who holds, in a few words."""
    name = _KINDS.get(one.kind) or literal(_short(one.name))
    return text("the autograd graph behind {name}", name=name) if one.in_graph else name


def worth_dropping(found: Holdings) -> list[HolderRow]:
    """Return the user's variables whose loss gives much back, largest first."""
    return [
        _row(one)
        for one in found.holdings[:MOST_ROWS]
        if one.kind == VARIABLE and one.bytes >= _WORTH_IT
    ]


def freeing_line(one: Holding) -> str:
    """Return the line that lets go of what a holder has, with all the variables that share it."""
    names = list(one.variables)
    if one.kind in _WITHOUT_NAME:
        return " ".join([FREE, *names])
    if one.kind == OURS:
        return _ENDS_RECORDING
    if one.kind != VARIABLE:
        return ""
    return " ".join([FREE, one.name, *names])


def _row(one: Holding, cut_short: bool = False) -> HolderRow:
    facts = [_count(one)]
    paths = [chain for chain in one.chains if chain.path != one.name]
    facts += [
        text("{path} ({bytes})", path=_short(chain.path), bytes=format_bytes(chain.bytes))
        for chain in paths
    ]
    if one.kind == NOBODY and one.name:
        facts.append(text("referred to by {kinds}", kinds=_short(one.name)))
    if one.kind == FRAME:
        facts.append(text("ends when the function ends"))
    if one.also:
        names = joined(
            [
                _KINDS[EXCEPTION] if name == LAST_ERROR else literal(_short(name))
                for name in one.also
            ]
        )
        facts.append(text("also held by {names}", names=names))
    # After half a search it may well have a name.
    unnamed = one.kind == NOBODY and cut_short
    name = text("no name found in the time there was") if unnamed else holder_name(one)
    return HolderRow(one.bytes, name, facts, freeing_line(one))


def _count(one: Holding) -> Text:
    if one.tensors == 1:
        return text("1 tensor")
    return text("{count} tensors", count=one.tensors)


def _short(name: str) -> str:
    return shortened(plain(name), LONGEST_NAME)


_KINDS = {
    EXCEPTION: text("the last error"),
    DEBUGGER: text("the debugger"),
    OURS: text("memtrack's recording"),
    NOBODY: text("no name: a reference cycle, or kept by C++"),
}
