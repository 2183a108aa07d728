"""After a failed cell: what its error means, under the user's own traceback.

Only errors that may be about memory are looked at; others cost some microseconds. IPython's handling
of errors is left alone: the traceback stands already when the explanation is shown. Nothing of an
error is kept but its explanation.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.error import UsageError

from memtrack.api import Recording, recording_called
from memtrack.diagnosis.raised import may_be_about_memory
from memtrack.errors import in_one_line
from memtrack.explaining import case_of, diagnosis_of
from memtrack.i18n import Text, text
from memtrack.notebook.cellevents import CellEvents
from memtrack.notebook.output import takes_updates
from memtrack.reports.explanation import Explanation, explanation_of

if TYPE_CHECKING:
    from memtrack.diagnosis.case import Case

NOTHING_FOUND = "none"


class Failures:
    """Follows the cells of a shell from `begin` to `end`; `language` tells in which to explain."""

    def __init__(self, shell: Any, language: Callable[[], str]) -> None:
        self._shell = shell
        self._language = language
        self._cells = CellEvents(shell, self._before_cell, self._after_cell)
        self._notes_failures = False
        self._seen = 0
        self._case: Case | None = None
        self._display_id = ""
        self._cell: int | None = None
        self._later = ""
        self._captured: tuple[Any, Explanation] | None = None
        self.latest: Explanation | None = None
        """The last explanation that was shown by itself."""

    def begin(self) -> None:
        """Be told of cells from now on."""
        self._seen = _last_error()
        self._note_failures()
        self._cells.begin()

    def end(self) -> None:
        """Be told no more, and note no more failures."""
        self._cells.end()
        self._case = None
        if self._notes_failures:
            from memtrack.capture.failure import ignore_failures

            self._notes_failures = False
            ignore_failures()

    def explain(self, error: BaseException) -> Explanation:
        """Return the explanation of an exception of this notebook, which is not shown."""
        case = case_of(error, self._shell)
        return self._explanation(case, recording_called(case.recording))

    def which(self) -> Text | None:
        """Tell of which cell the latest explanation is, where another error came after it."""
        if not self._later:
            return None
        if self._cell is None:
            return text(
                "This is about an earlier failure; the last error was {error}.", error=self._later
            )
        cell = f"In [{self._cell}]"
        return text(
            "This is about {cell}; the last error was {error}.", cell=cell, error=self._later
        )

    def with_recording(self, recording: Recording) -> None:
        """Tell more of the failure just shown: the recording of its run has ended."""
        case, self._case = self._case, None
        if case is None:
            return
        with self._one_line():
            if recording.data.facts.identifier == case.recording:
                self._show(self._explanation(case, recording), update=True)

    def _before_cell(self, _: Any) -> None:
        self._case = None
        self._seen = _last_error()

    def _after_cell(self, result: Any) -> None:
        self._show_captured()
        # An error that has a length or a truth of its own may count as false.
        error = getattr(result, "error_in_exec", None)
        error = self._shown_besides() if error is None else error
        self._seen = _last_error()
        failed = getattr(result, "error_before_exec", None) if error is None else error
        if failed is not None and not isinstance(failed, UsageError):
            self._later = type(failed).__name__
        if isinstance(error, Exception) and may_be_about_memory(error):
            with self._one_line():
                self._explain_cell(error, _number(result))
        if self._notes_failures:
            from memtrack.capture.failure import forget_failures

            # Whatever else was noted in this cell, the cell has not failed of it.
            forget_failures()
        # A cell may have imported torch; its first use of CUDA is seen from the next cell on.
        self._note_failures()

    def _explain_cell(self, error: BaseException, cell: int | None) -> None:
        case = case_of(error, self._shell)
        if case.told.kind == NOTHING_FOUND:
            return
        recording = None
        if case.recording and takes_updates(self._shell):
            # At once what is known now; what the recording tells comes when it has ended.
            self._case = case
        else:
            recording = recording_called(case.recording)
        self._display_id = uuid.uuid4().hex
        self._cell, self._later = cell, ""
        self._show(self._explanation(case, recording), update=False)

    def _show_captured(self) -> None:
        """Show again what `%%capture` has kept to itself: the traceback stands outside of it."""
        captured, self._captured = self._captured, None
        if captured is None:
            return
        publisher, explanation = captured
        if publisher is self._shell.display_pub:  # still inside
            self._captured = captured
            return
        with self._one_line():
            self._show(explanation, update=False)

    def _shown_besides(self) -> BaseException | None:
        """Return an error that IPython showed in this cell without failing it, as `%run` does."""
        error = getattr(sys, "last_value", None)
        is_new = _last_error() != self._seen
        return error if is_new and isinstance(error, BaseException) else None

    def _explanation(self, case: Case, recording: Recording | None) -> Explanation:
        return explanation_of(diagnosis_of(case, recording), self._language())

    def _show(self, explanation: Explanation, *, update: bool) -> None:
        self.latest = explanation
        if isinstance(self._shell.display_pub, CapturingDisplayPublisher):
            self._captured = (self._shell.display_pub, explanation)
        shown = explanation._repr_mimebundle_()
        transient = {"display_id": self._display_id}
        self._shell.display_pub.publish(shown, {}, transient=transient, update=update)

    def _note_failures(self) -> None:
        """Have failures noted from now on, once torch is there and is one for GPUs."""
        version = getattr(sys.modules.get("torch"), "version", None)
        is_for_gpus = getattr(version, "cuda", None) or getattr(version, "hip", None)
        if is_for_gpus and not self._notes_failures:
            self._notes_failures = True
            with self._one_line():
                from memtrack.capture.failure import watch_failures

                watch_failures()

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        """Turn a failure of ours to one line on stderr; the user's own error stands above it."""
        try:
            yield
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - theirs must stay the last word
            problem = in_one_line(error)
            line = text("memtrack could not explain this error ({problem}).", problem=problem)
            sys.stderr.write(line.render(self._language()) + "\n")


def _number(result: Any) -> int | None:
    """Return the number by which people know a cell, None for one without."""
    is_numbered = getattr(getattr(result, "info", None), "store_history", False)
    number: int | None = getattr(result, "execution_count", None)
    return number if is_numbered else None


def _last_error() -> int:
    """Return which error IPython showed last; the error itself holds frames."""
    return id(getattr(sys, "last_value", None))
