"""What helps: a catalogue in the order of least harm, chosen by cause."""

from memtrack.diagnosis.advice.choose import advise, checks_for

__all__ = ["advise", "checks_for"]
