"""Causes with evidence from a recording or an opened snapshot, and from the live process."""

from memtrack.diagnosis.evidence.explain import explain_facts, explain_recording
from memtrack.diagnosis.evidence.facts import HeldFact, LiveFacts, ProcessFact

__all__ = ["HeldFact", "LiveFacts", "ProcessFact", "explain_facts", "explain_recording"]
