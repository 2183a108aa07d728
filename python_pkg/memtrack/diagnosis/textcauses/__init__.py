"""From what a text says to the causes it may have, each with lines that a reader can check."""

from memtrack.diagnosis.textcauses.contradictions import contradictions
from memtrack.diagnosis.textcauses.places import places
from memtrack.diagnosis.textcauses.weigh import text_causes

__all__ = ["contradictions", "places", "text_causes"]
