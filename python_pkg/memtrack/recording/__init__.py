"""The columnar core: what one run did to memory. See `tables` for every column and its unit."""

from memtrack.recording.builder import RecordingBuilder, TableBuilder
from memtrack.recording.categories import CallKind, Category, EventKind, PhaseKind, ReadingKind
from memtrack.recording.data import Facts, Notice, RecordingData
from memtrack.recording.store import load_recording, save_recording
from memtrack.recording.tables import Table

__all__ = [
    "CallKind",
    "Category",
    "EventKind",
    "Facts",
    "Notice",
    "PhaseKind",
    "ReadingKind",
    "RecordingBuilder",
    "RecordingData",
    "Table",
    "TableBuilder",
    "load_recording",
    "save_recording",
]
