"""Every run kept: an SQLite file beside the notebook, and full recordings beside it."""

from memtrack.runs.files import Limits
from memtrack.runs.run import Run
from memtrack.runs.store import History, history_folder

__all__ = ["History", "Limits", "Run", "history_folder"]
