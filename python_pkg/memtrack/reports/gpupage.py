"""The devices of this computer and who is on them, as text and HTML: the answer of `%memtrack gpu`.

In: a look at the devices, the processes of each, what this process itself knows of its part. The parts
of a device sum to its total.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from memtrack.devices.driverstatus import DriverStatus, driver_status
from memtrack.devices.environment import Environment
from memtrack.devices.leftovers import SELF, DeviceProcess
from memtrack.devices.readings import DeviceReading, Readings
from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports.cells import plain, right, wrapped
from memtrack.reports.colours import colour_of
from memtrack.reports.gpuwords import conditions, flag_words
from memtrack.reports.html import CELL, FIRST_CELL, TABLE
from memtrack.reports.processes import process_lines, processes_html
from memtrack.reports.words import joined, part_name
from memtrack.units import format_bytes, format_percent

WIDTH = 80
_FIGURE = 10
UNLISTED_BYTES = 256 << 20
"""What a device uses beyond its processes is told apart from here on: drivers keep some themselves."""


@dataclass(frozen=True, slots=True)
class OwnPart:
    """What this process holds on a device, in bytes; `context` is None where it is not told."""

    allocated: int
    reserved: int
    context: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a device: `id` for its colour, its words, its bytes."""

    id: str
    name: Text
    bytes: int


@dataclass(frozen=True, slots=True)
class GpusPage:
    """What to show. `processes` and `own` are by the UUID of the device."""

    look: Readings
    environment: Environment = field(default_factory=Environment)
    processes: Mapping[str, Sequence[DeviceProcess]] = field(default_factory=dict)
    own: Mapping[str, OwnPart] = field(default_factory=dict)
    language: str = ENGLISH

    @property
    def text(self) -> str:
        """The answer in lines of at most 80 columns; commands may be longer."""
        if not self.look.devices:
            return "\n".join(self._wrapped(_status_sentences(self._status())))
        return "\n\n".join("\n".join(self._lines(one)) for one in self.look.devices)

    @property
    def html(self) -> str:
        """The answer as one element: no script, nothing unescaped."""
        language = escape(self.language.replace("_", "-"))
        inside = "".join(self._element(one) for one in self.look.devices)
        if not self.look.devices:
            first, *others = _status_sentences(self._status())
            inside = self._paragraph(first, "bold") + "".join(map(self._paragraph, others))
        return f'<div lang="{language}">{inside}</div>'

    def _status(self) -> DriverStatus:
        return driver_status(self.look.refusal, self.environment, self.look.detail)

    def parts(self, one: DeviceReading) -> Sequence[Part]:
        """Return the parts of a device, which sum to its total."""
        return device_parts(one, self.processes.get(one.uuid, ()), self.own.get(one.uuid))

    def _lines(self, one: DeviceReading) -> list[str]:
        lines = self._wrapped([headline(one), *_sentences(one, self.environment)])
        for part in self.parts(one):
            figure = right(format_bytes(part.bytes), _FIGURE)
            lines.append(f"{figure}  {plain(part.name.render(self.language))}")
        others = [each for each in self.processes.get(one.uuid, ()) if each.relation != SELF]
        if others:
            lines.append(plain(_OTHERS.render(self.language)))
            lines += [plain(line.render(self.language)) for line in process_lines(others)]
        return lines

    def _element(self, one: DeviceReading) -> str:
        rows = "".join(
            f'<tr><td style="{CELL}" title="{part.bytes:,}">{format_bytes(part.bytes)}</td>'
            f'<th scope="row" style="{FIRST_CELL};font-weight:normal">{_swatch(part.id)}'
            f"{self._words(part.name)}</th></tr>"
            for part in self.parts(one)
        )
        others = [each for each in self.processes.get(one.uuid, ()) if each.relation != SELF]
        return (
            self._paragraph(headline(one), "bold")
            + "".join(map(self._paragraph, _sentences(one, self.environment)))
            + self._bar(one)
            + f'<table style="{TABLE}"><tbody>{rows}</tbody></table>'
            + (self._paragraph(_OTHERS) + processes_html(others, self.language) if others else "")
        )

    def _bar(self, one: DeviceReading) -> str:
        if one.total <= 0:
            return ""
        pieces = "".join(
            f'<span style="display:inline-block;height:100%;width:{100 * part.bytes / one.total:.3f}%;'
            f'background:{colour_of(part.id)}"></span>'
            for part in self.parts(one)
            if part.bytes > 0
        )
        return (
            '<div role="presentation" style="height:.8em;max-width:40em;white-space:nowrap;'
            f'overflow:hidden;line-height:0;border:1px solid {colour_of("cache")}">{pieces}</div>'
        )

    def _wrapped(self, sentences: Sequence[Text]) -> list[str]:
        lines: list[str] = []
        for sentence in sentences:
            lines += wrapped(plain(sentence.render(self.language)), WIDTH)
        return lines

    def _paragraph(self, sentence: Text, weight: str = "normal") -> str:
        words = self._words(sentence)
        return f'<p style="margin:.3em 0;font-weight:{weight}">{words}</p>'

    def _words(self, sentence: Text) -> str:
        return escape(plain(sentence.render(self.language)))


_OTHERS = text("Other processes here:")


def headline(one: DeviceReading) -> Text:
    """Return a device in one line: its name, how full it is, how busy, how hot."""
    usable = one.total - (one.reserved or 0)
    name = text(
        "GPU {index}, {name}: {used} of {total} in use ({share})",
        index=one.index,
        name=plain(one.name),
        used=format_bytes(one.used),
        total=format_bytes(usable),
        share=format_percent(one.used, usable),
    )
    return joined([name, *conditions(one)])


def device_parts(
    one: DeviceReading, processes: Sequence[DeviceProcess], own: OwnPart | None
) -> Sequence[Part]:
    """Return the parts of a device in the order they are drawn; their bytes sum to its total.

    What processes are told to hold is bounded by what is in use: a driver's lists and its sum are not
    of the same instant.
    """
    left = one.used
    parts: list[Part] = []

    def take(part: str, name: Text, size: int) -> None:
        nonlocal left
        taken = max(0, min(size, left))
        if taken:
            parts.append(Part(part, name, taken))
            left -= taken

    listed = next((each.bytes for each in processes if each.relation == SELF), None)
    if own is not None:
        take("activation", text("this notebook: tensors"), own.allocated)
        take("cache", text("this notebook: allocator cache"), own.reserved - own.allocated)
        take("context", text("this notebook: CUDA context and libraries"), own.context or 0)
    elif listed:
        take("context", text("this notebook"), listed)
    others = sum(each.bytes or 0 for each in processes if each.relation != SELF)
    take("others", part_name("others"), others)
    if left >= UNLISTED_BYTES or not processes:
        take("unknown", text("in use, by no process that is listed"), left)
    else:
        take("unknown", text("rounding, and what the driver keeps"), left)
    parts.append(Part("free", part_name("free"), one.free))
    if one.reserved:
        parts.append(Part("outside", text("reserved by the driver"), one.reserved))
    return parts


def _sentences(one: DeviceReading, environment: Environment) -> list[Text]:
    found = [flag_words(flag) for flag in one.flags]
    if one.refusal:
        found += [*_status_sentences(driver_status(one.refusal, environment)), _LAST]
    return found


_LAST = text("The figures are the last that it has told.")


def _status_sentences(status: DriverStatus) -> list[Text]:
    detail = (
        [text("The driver says: {detail}", detail=plain(status.detail))] if status.detail else []
    )
    return [status.message, *([status.advice] if status.advice.template else []), *detail]


def _swatch(part: str) -> str:
    return (
        '<span style="display:inline-block;width:.8em;height:.8em;margin-right:.5em;'
        f'background:{colour_of(part)}"></span>'
    )
