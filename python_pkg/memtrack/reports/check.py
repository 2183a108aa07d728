"""Whether a run needs more memory than it may: against a baseline, against a limit, or both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from memtrack.comparison import RunView, compare
from memtrack.errors import UnavailableError, UsageError
from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports.answertables import AnswerTable
from memtrack.reports.answertext import table_lines
from memtrack.reports.cells import plain, wrapped
from memtrack.reports.comparisonwords import sentence_of
from memtrack.reports.words import literal
from memtrack.sizes import is_bare_number, parse_size
from memtrack.units import format_bytes, format_duration

SCHEMA = "memtrack.check/1"
DEFAULT_INCREASE = "5%"
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")


@dataclass(frozen=True, slots=True)
class Increase:
    """How much more than a baseline is allowed: a share of it, and bytes on top."""

    share: float = 0.0
    bytes: int = 0

    def over(self, before: int) -> int:
        """Return the most bytes that are allowed after `before`."""
        return int(before * (1 + self.share)) + self.bytes


@dataclass(frozen=True, slots=True)
class Check:
    """The verdict on a run. `allowed` is the most bytes against the baseline, `most` whatever that was.

    Each is None where it was not asked for; so is `before`, the baseline.
    """

    after: RunView
    before: RunView | None = None
    allowed: int | None = None
    most: int | None = None
    name: str = ""

    @property
    def failed(self) -> Sequence[str]:
        """Which limits are exceeded: `increase`, `max_peak`."""
        peak = self.after.peak.bytes
        return [name for name, limit in self._limits.items() if peak > limit]

    @property
    def share_of_limit(self) -> float:
        """The peak over the strictest limit: above 1 where that is exceeded."""
        return self.after.peak.bytes / max(1, min(self._limits.values(), default=1))

    @property
    def _limits(self) -> Mapping[str, int]:
        limits = {"increase": self.allowed, "max_peak": self.most}
        return {name: limit for name, limit in limits.items() if limit is not None}

    @property
    def ok(self) -> bool:
        """Whether no limit is exceeded."""
        return not self.failed

    @property
    def sentences(self) -> Sequence[Text]:
        """The verdict, a sentence for each limit, and what moved the peak where one is exceeded."""
        told = [*self._against_baseline(), *self._against_limit()]
        if self.failed and self.before is not None:
            told.append(sentence_of(compare(self.before, self.after)))
        return told

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain JSON; bytes are whole numbers, null where not asked for."""
        before = self.before
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "failed": list(self.failed),
            "peak": self.after.peak.bytes,
            "baseline": None if before is None else self.name,
            "baseline_peak": None if before is None else before.peak.bytes,
            "allowed": self.allowed,
            "max_peak": self.most,
            "reserved": self.after.reserved,
            "step_ns": self.after.step_ns,
            "sentences": [str(one) for one in self.sentences],
        }

    def _against_baseline(self) -> Sequence[Text]:
        if self.before is None or self.allowed is None:
            return []
        values = {
            "after": format_bytes(self.after.peak.bytes),
            "before": format_bytes(self.before.peak.bytes),
            "allowed": format_bytes(self.allowed),
            "name": self.name,
        }
        if "increase" in self.failed:
            told = text("Grown: peak {after}, above the {allowed} allowed after {name} ({before}).")
        else:
            told = text("Fine: peak {after}, within the {allowed} allowed after {name} ({before}).")
        return [Text(told.template, values)]

    def _against_limit(self) -> Sequence[Text]:
        if self.most is None:
            return []
        values = {"after": format_bytes(self.after.peak.bytes), "most": format_bytes(self.most)}
        if "max_peak" in self.failed:
            return [text("Too much: peak {after}, above the limit of {most}.", **values)]
        return [text("Fine: peak {after}, within the limit of {most}.", **values)]


def checked(
    after: RunView, before: RunView | None, increase: Increase, most: int | None, name: str = ""
) -> Check:
    """Return the verdict on a run; UnavailableError where it cannot be judged."""
    for view in (after, before):
        if view is not None:
            _assert_whole(view)
    if before is not None and before.device_kind != after.device_kind:
        values = {"before": before.device, "after": after.device}
        raise UnavailableError(
            text("A run on {after} cannot be judged by one on {before}.", **values),
            text("Compare runs on devices of one kind."),
        )
    allowed = None if before is None else increase.over(before.peak.bytes)
    return Check(after, before, allowed, most, name)


def parse_increase(words: str) -> Increase:
    """Return what `5%`, `200MiB` or `0` allow; UsageError for anything else."""
    share = _SHARE.fullmatch(words.strip())
    if share:
        return Increase(share=float(share[1]) / 100)
    if words.strip() == "0":
        return Increase()
    if not is_bare_number(words):
        with suppress(UsageError):
            return Increase(bytes=parse_size(words))
    raise UsageError(
        text("'{words}' is neither a share nor a size.", words=words[:60]),
        text("An increase is such as 5% or 200MiB."),
    )


def render_check(check: Check, language: str = ENGLISH, width: int = 80) -> str:
    """Return the verdict as a sentence and a short table."""
    lines: list[str] = []
    for sentence in check.sentences:
        lines += wrapped(plain(sentence.render(language)), width)
    if check.before is not None:
        lines += ["", *table_lines(_table(check.before, check.after), language, width)]
    return "\n".join(lines)


def _table(before: RunView, after: RunView) -> AnswerTable:
    rows = [_row(text("peak"), before.peak.bytes, after.peak.bytes)]
    if before.reserved is not None and after.reserved is not None:
        rows.append(_row(text("reserved"), before.reserved, after.reserved))
    for phase, size in before.phase_peaks.items():
        if phase in after.phase_peaks and phase != "other":
            rows.append(_row(text("peak in {phase}", phase=phase), size, after.phase_peaks[phase]))
    if before.step_ns and after.step_ns:
        times = [literal(format_duration(one)) for one in (before.step_ns, after.step_ns)]
        share = change_of(before.step_ns, after.step_ns)
        rows.append([text("time of a step"), *times, share])
    head = (literal(""), text("baseline"), text("this run"), text("change"))
    return AnswerTable(text("Against the baseline"), head, rows)


def _row(name: Text, before: int, after: int) -> list[Text]:
    sizes = [literal(format_bytes(one)) for one in (before, after)]
    return [name, *sizes, change_of(before, after)]


def change_of(before: int, after: int) -> Text:
    """Return by what share of itself a figure has changed, such as `+5.0 %`; `–` from nothing.

    >>> [str(change_of(10_000, after)) for after in (10_500, 9_999, 10_001)]
    ['+5.0 %', '±0.0 %', '±0.0 %']
    """
    if not before:
        return literal("–")
    percent = round(100 * (after - before) / before, 1)
    return literal(f"{percent:+.1f} %" if percent else "±0.0 %")


def _assert_whole(view: RunView) -> None:
    if view.state != "complete":
        raise UnavailableError(
            text("The run {label} cannot be judged: it did not end by itself.", label=view.label),
            text("Its state is '{state}'.", state=view.state),
        )
    if not view.peak.bytes:
        raise UnavailableError(
            text("The run {label} cannot be judged: it saw no memory.", label=view.label)
        )
