"""A diagnosis that shows itself: as text where it is printed, as a MIME bundle in a notebook."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from memtrack.diagnosis.diagnosis import Diagnosis
from memtrack.i18n import preferred_language
from memtrack.reports.diagnosispayload import diagnosis_bundle
from memtrack.reports.diagnosistext import render_diagnosis


@dataclass(frozen=True, slots=True)
class Explanation(Diagnosis):
    """What `memtrack.explain` returns. `language` is that it is shown in, "" for the process's own."""

    language: str = ""

    def __str__(self) -> str:
        return render_diagnosis(self, self.language or preferred_language())

    def __repr__(self) -> str:
        return (
            f"<memtrack.Explanation: {self.headline.render(self.language or preferred_language())}>"
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return diagnosis_bundle(self, self.language or preferred_language())


def explanation_of(diagnosis: Diagnosis, language: str = "") -> Explanation:
    """Return a diagnosis as one that shows itself in `language`."""
    known = {field.name: getattr(diagnosis, field.name) for field in fields(Diagnosis)}
    return Explanation(**known, language=language)
