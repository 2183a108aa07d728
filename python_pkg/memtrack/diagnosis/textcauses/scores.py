"""Causes as they are weighed: the best confidence of each, and every line that speaks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtrack.diagnosis.diagnosis import Cause
from memtrack.diagnosis.titles import title
from memtrack.i18n import Text

MOST_CAUSES = 5
LEAST = 0.05


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cause that a sentence makes possible, how much (0 to 1), and why."""

    cause: str
    confidence: float
    evidence: Text | None = None


class Scores:
    """Collects candidates; the same cause twice keeps the higher confidence and both lines."""

    def __init__(self) -> None:
        self._confidence: dict[str, float] = {}
        self._evidence: dict[str, list[Text]] = {}

    def add(self, cause: str, confidence: float, *evidence: Text | None) -> None:
        """Note that a cause is possible."""
        self._confidence[cause] = max(self._confidence.get(cause, 0.0), confidence)
        lines = self._evidence.setdefault(cause, [])
        lines.extend(line for line in evidence if line is not None and line not in lines)

    def add_all(self, candidates: Sequence[Candidate]) -> None:
        """Note several."""
        for one in candidates:
            self.add(one.cause, one.confidence, one.evidence)

    def limit(self, cause: str, most: float) -> None:
        """Lower a cause to at most `most`, where something speaks against it."""
        if cause in self._confidence:
            self._confidence[cause] = min(self._confidence[cause], most)

    def confidence(self, cause: str) -> float:
        """Return what a cause has so far; 0 for one that nobody named."""
        return self._confidence.get(cause, 0.0)

    def best(self) -> float:
        """Return the highest confidence so far."""
        return max(self._confidence.values(), default=0.0)

    def causes(self) -> list[Cause]:
        """Return the causes, best first."""
        ranked = sorted(self._confidence.items(), key=lambda one: -one[1])
        return [
            Cause(name, round(confidence, 3), title(name), tuple(self._evidence[name]))
            for name, confidence in ranked[:MOST_CAUSES]
            if confidence >= LEAST
        ]
