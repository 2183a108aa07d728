"""Which recording `%memtrack` means: the one that runs, else what was recorded, opened or predicted last.

Recordings of `memtrack.track` and of callbacks count as those of the magic.
"""

from __future__ import annotations

from collections.abc import Callable

from memtrack.api import Presentation, Recording, last_finished
from memtrack.errors import MemtrackError
from memtrack.i18n import Text, text
from memtrack.notebook.watch import Watch


class Latest:
    """The latest recording of one notebook; `presentation` says how things are shown at the moment."""

    def __init__(self, presentation: Callable[[], Presentation]) -> None:
        self._presentation = presentation
        self._watch: Watch | None = None
        self._opened: Recording | None = None
        self._finished_then: Recording | None = None
        """The last recording of the process when that was opened."""
        self._shown: tuple[Recording, Recording] | None = None
        """One of another door, and as it is shown here."""

    @property
    def running(self) -> Watch | None:
        """What is being recorded by the magic, None for nothing."""
        return self._watch if self._watch is not None and self._watch.running else None

    def end(self) -> None:
        """End what is being recorded."""
        if self._watch is not None:
            self._watch.end()

    def begun(self, watch: Watch) -> None:
        """The magic has begun to record."""
        self._watch, self._opened = watch, None

    def opened(self, recording: Recording) -> None:
        """Something was opened or predicted: it is meant until something is recorded."""
        if self.running is None:
            self._opened, self._finished_then = recording, last_finished()

    def recording(self) -> Recording:
        """Return the recording; MemtrackError where there is none, or nothing to show of it yet."""
        opened, other = self._still_opened(), self._of_another_door()
        if opened is not None:
            return opened
        if other is not None:
            return self._as_shown_here(other)
        if self._watch is None:
            raise MemtrackError(
                text("Nothing has been recorded yet."), text("%memtrack MODEL records a model.")
            )
        if not self._watch.has_report:
            raise MemtrackError(self._watch.status())
        return self._watch.recording

    def status(self) -> Text:
        """Say what is being recorded, or what is shown instead."""
        if self._still_opened() is not None:
            return text("Nothing is being recorded. %memtrack shows what was opened last again.")
        if self._of_another_door() is not None:
            return text("Nothing is being recorded. %memtrack shows the last recording again.")
        if self._watch is None:
            return text("Nothing is being recorded. %memtrack MODEL records a model.")
        return self._watch.status()

    def _still_opened(self) -> Recording | None:
        """Return what was opened or predicted here, unless something was recorded since."""
        return self._opened if last_finished() is self._finished_then else None

    def _of_another_door(self) -> Recording | None:
        """Return the last recording of the process where it is not of this magic."""
        last = last_finished()
        own = None if self._watch is None else self._watch.recording
        return None if last is own or self.running is not None else last

    def _as_shown_here(self, recording: Recording) -> Recording:
        if self._shown is None or self._shown[0] is not recording:
            self._shown = (recording, recording.shown_as(self._presentation()))
        return self._shown[1]
