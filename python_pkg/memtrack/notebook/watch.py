"""One recording made through the magic: from `%memtrack model` to its last report.

The recorder is active while a cell runs, on the thread that asked for it. Whatever fails here is
told in one line and ends the recording; the user's run, exception and traceback go on untouched.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from memtrack.api import Recording, end_state, say_failed
from memtrack.errors import RecordingStateError
from memtrack.i18n import Text, text
from memtrack.notebook.cellevents import CellEvents
from memtrack.notebook.cells import cells_running
from memtrack.notebook.output import Output
from memtrack.notebook.plan import Plan, Progress
from memtrack.notebook.tracebacks import CleanTracebacks
from memtrack.runs.keeping import keep
from memtrack.runs.surroundings import Origin
from memtrack.units import format_bytes
from memtrack.widgets.live import LiveUpdates

if TYPE_CHECKING:
    from memtrack.capture import Recorder


class Watch:
    """Follows the shell's cells with one recorder and keeps one output up to date."""

    def __init__(
        self, shell: Any, plan: Plan, recorder: Recorder, recording: Recording, output: Output
    ) -> None:
        self._shell = shell
        self._events = CellEvents(shell, self._before_cell, self._after_cell)
        self._plan = plan
        self._recorder: Recorder | None = recorder
        self._output = output
        self._thread = threading.get_ident()
        self._depth = cells_running()
        self._live: LiveUpdates | None = None
        self._tracebacks: CleanTracebacks | None = None
        self._shown: Progress = (0, 0)
        self._progress: Progress = (0, 0)
        self.recording = recording
        self.origin: Origin | None = None
        """Where the history is that the recording becomes a run of; None for none."""
        self.on_end: Callable[[Recording], None] = lambda recording: None
        """Told when the recording has ended and its report is shown."""

    def begin(self, live: LiveUpdates | None) -> None:
        """Attach, show what is being watched, and record the rest of this cell."""
        recorder = self._recorder
        assert recorder is not None
        self._live = live
        try:
            recorder.attach()
            if self._output.in_place or not self._plan.this_cell:
                self._output.show_waiting(self._plan.waiting())
            recorder.on_step.append(self._step_ended)
            self._events.begin()
            self._tracebacks = CleanTracebacks(self._shell)
            if self._depth:
                recorder.enter()
        except BaseException:
            self._abandon()
            raise

    @property
    def running(self) -> bool:
        """Whether something may still be recorded."""
        return self._recorder is not None

    @property
    def has_report(self) -> bool:
        """Whether there is something to report on."""
        if self._recorder is not None:
            self._progress = self._recorder.progress
        return self._plan.is_worth_a_report(self._progress)

    def status(self) -> Text:
        """Return in one line how far it is."""
        recorder = self._recorder
        if not self.has_report:
            return self._plan.nothing_recorded() if recorder is None else self._plan.waiting()
        if recorder is None:
            return self._plan.ended(self.recording.data)
        return text(
            "Recording {subject}. Steps done: {steps}. Peak so far: {peak}. %memtrack off ends it.",
            subject=self._plan.subject,
            steps=recorder.steps_done,
            peak=format_bytes(recorder.tick().peak),
        )

    def end(self, state: str = "complete") -> None:
        """End the recording and show its last report; harmless when it has ended.

        From another thread only between cells: the watch of operations is of the recording thread.
        """
        if self._recorder is None:
            return
        if self._depth and threading.get_ident() != self._thread:
            raise RecordingStateError(
                text("The cell that is being recorded is still running."),
                text("Interrupt it, or wait for its end."),
            )
        has_report = self.has_report
        self._recorder = None
        self._stop_following()
        self.recording.end(state)
        if has_report:
            self._output.close(self.recording.data)
            if self.origin is not None:
                keep(self.recording.data, self.origin, self._plan.language)
        else:
            self._output.show_line(self._plan.nothing_recorded())
        self.on_end(self.recording)

    def _before_cell(self, _: Any) -> None:
        if threading.get_ident() != self._thread:
            return
        self._depth += 1
        recorder = self._recorder
        if recorder is not None and self._depth == 1:
            with self._guarded(text("record this cell"), Exception, KeyboardInterrupt):
                recorder.enter()

    def _after_cell(self, result: Any) -> None:
        # A blank cell has no `pre_run_cell`; on another thread it is a subshell's.
        blank = result is not None and not result.info.raw_cell.strip()
        if blank or threading.get_ident() != self._thread:
            return
        self._depth = max(0, self._depth - 1)
        recorder = self._recorder
        if recorder is not None and self._depth == 0:
            with self._guarded(text("finish the report"), Exception, KeyboardInterrupt):
                recorder.leave()
                self._conclude_cell(recorder, failure_of(result))

    def _conclude_cell(self, recorder: Recorder, failure: type[BaseException] | None) -> None:
        progress = recorder.progress
        failed_in_run = failure is not None and progress != self._shown
        if self._plan.this_cell or recorder.finished or failed_in_run:
            self.end(end_state(failure))
        elif progress != self._shown and self.has_report:
            self._shown = progress
            self._output.update(self.recording.data)
            if self._live is not None:
                self._live.tell()

    def _step_ended(self) -> None:
        """Show the report when the last step is over, which may be long before its cell is."""
        recorder = self._recorder
        if recorder is not None and recorder.finished and self._output.in_place:
            with self._guarded(text("finish the report"), Exception):
                self.end()

    def _stop_following(self) -> None:
        self._events.end()
        if self._live is not None:
            self._live.stop()
        if self._tracebacks is not None:
            self._tracebacks.stop()

    @contextmanager
    def _guarded(self, doing: Text, *caught: type[BaseException]) -> Iterator[None]:
        """Turn a failure of ours to one line and the end of the recording."""
        try:
            yield
        except caught as error:
            self._abandon()
            say_failed(doing, error, self._plan.language)

    def _abandon(self) -> None:
        recorder, self._recorder = self._recorder, None
        self._stop_following()
        if recorder is not None:
            recorder.detach()
            with suppress(Exception):
                self.recording.end("failed")


def failure_of(result: Any) -> type[BaseException] | None:
    """Return the type of the exception that ended a cell. The exception itself holds frames."""
    if result is None:
        return KeyboardInterrupt
    early = result.error_before_exec  # one with a length of 0 would count as false
    error = result.error_in_exec if early is None else early
    return None if error is None else type(error)
