"""Every run kept: an SQLite file beside the notebook, and full recordings beside it."""

from memtrack.history.files import Limits
from memtrack.history.run import Run, RunFacts
from memtrack.history.store import History, history_folder

__all__ = ["History", "Limits", "Run", "RunFacts", "history_folder"]
