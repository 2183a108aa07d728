"""Files in, recordings out: the one door for everything that can be opened."""

from memtrack.readers.formats import open_recording

__all__ = ["open_recording"]
