"""From a log, a message or an exception to the failures that its words tell."""

from memtrack.diagnosis.reading.failure import Failure, Frame, Reading, Severity
from memtrack.diagnosis.reading.read import read_lines, read_text

__all__ = ["Failure", "Frame", "Reading", "Severity", "read_lines", "read_text"]
