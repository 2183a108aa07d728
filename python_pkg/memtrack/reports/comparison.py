"""Two runs side by side, as `memtrack.compare` returns them: figures for programs, forms for readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memtrack.comparison import Comparison
from memtrack.comparison.peaks import Mover
from memtrack.comparison.settings import SettingChange
from memtrack.i18n import Text, preferred_language
from memtrack.reports.bounded import LIMIT_BYTES
from memtrack.reports.comparisonforms import comparison_html, render_comparison
from memtrack.reports.comparisonpayload import MIME_TYPE, encode_comparison, notebook_comparison
from memtrack.reports.comparisonwords import details_of, sentence_of

_COLUMNS = ("parts", "layers", "timeline")


@dataclass(frozen=True)
class Diff:
    """What changed from one run to another.

    `runs` are their numbers in a history, None outside of one, `names` what their user calls them;
    `language` is that it is shown in, "" for the process's own.
    """

    found: Comparison
    runs: tuple[int | None, int | None] = (None, None)
    names: tuple[str, str] = ("", "")
    language: str = ""
    payload_limit: int = LIMIT_BYTES

    @property
    def peak_change(self) -> int:
        """The bytes by which the peak changed."""
        return self.found.peak_change

    @property
    def movers(self) -> Sequence[Mover]:
        """What moved the peak by category, the most first; the changes sum to `peak_change`."""
        return self.found.movers

    @property
    def settings(self) -> Sequence[SettingChange]:
        """What was different around the runs: versions, device, allocator, batches, commit."""
        return self.found.settings

    @property
    def sentence(self) -> Text:
        """The answer in one sentence."""
        return sentence_of(self.found)

    @property
    def details(self) -> Sequence[Text]:
        """What else changed, a sentence each."""
        return details_of(self.found)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain JSON, without the columns; steps count from 1."""
        payload, _ = encode_comparison(self)
        for side in (payload["a"], payload["b"]):
            side["step"] += 1
        return {name: value for name, value in payload.items() if name not in _COLUMNS}

    def __str__(self) -> str:
        return render_comparison(self, self._spoken())

    def __repr__(self) -> str:
        return f"<memtrack.Diff: {self.sentence}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        spoken = self._spoken()
        return {
            "text/plain": render_comparison(self, spoken),
            "text/html": comparison_html(self, spoken),
            MIME_TYPE: notebook_comparison(self, self.payload_limit),
        }

    def _spoken(self) -> str:
        return self.language or preferred_language()
