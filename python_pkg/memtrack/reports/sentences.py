"""What a report says in words, each statement computed from the recording."""

from __future__ import annotations

from memtrack.analysis.device import DeviceAnalysis
from memtrack.i18n import Text, text
from memtrack.units import format_bytes


def headline(analysis: DeviceAnalysis) -> Text:
    """Return the answer in one line: how much, in which phase of which layer, in which step."""
    return text("Peak {peak}", peak=format_bytes(analysis.peak.bytes))


def details(analysis: DeviceAnalysis) -> list[Text]:
    """Return the lines of evidence under the headline, the most telling first."""
    return []
