"""One training run inside of a trainer: recorded for some steps, shown when that is over.

What fails here is one line on stderr, and the training goes on.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtrack.errors import UsageError
from memtrack.i18n import Text, preferred_language, text
from memtrack.integrations.failing import FailureWatch
from memtrack.scripts.explaining import explain_on_stderr
from memtrack.scripts.target import claim_of, free_name, planned_target

if TYPE_CHECKING:
    from memtrack.api import Recording
    from memtrack.tracking import Tracking


class TrainRun:
    """Records the coming `steps` optimizer steps (None: all) of a model.

    `out` is a file for the recording, or a folder; of several ranks each writes its own into a folder
    of ranks. With `show` the report appears when the recording ends, on rank 0 alone.
    """

    def __init__(self, steps: int | None, out: str | os.PathLike[str] | None, show: bool) -> None:
        given: Any = steps
        if given is not None and (type(given) is not int or given < 1):
            raise UsageError(
                text("steps must be a whole number from 1, not {given}.", given=repr(given))
            )
        self._steps = steps
        self._out = out
        self._show = show
        self._tracking: Tracking | None = None
        self._target: Path | None = None
        self._failures: FailureWatch | None = None
        self._first = True
        self.recording: Recording | None = None

    @property
    def running(self) -> bool:
        """Whether it still records."""
        return self._tracking is not None

    def begin(
        self,
        model: Any,
        label: str,
        *,
        first: bool,
        watch: bool,
        called: Callable[[Any], str] | None = None,
    ) -> None:
        """Start to record; one that still runs has failed without a word. `first`: of all ranks.

        With `watch` an error that leaves the trainer ends the recording and is explained. `called`
        names what runs where `model` is None.
        """
        self.end("failed")
        self._first = first
        with self._guarded(text("record")):
            if self._out is not None:
                self._target = planned_target(os.fspath(self._out), label, os.environ)
            from memtrack.tracking import track

            tracking = track(model, label=label)
            if called is not None:
                tracking.call_models(called)
            self.recording = tracking.__enter__()
            self._tracking = tracking
            if watch:
                self._failures = FailureWatch(self.failed)
                atexit.register(self._at_exit)

    def mark(self, label: Text) -> None:
        """Name this moment, while it records."""
        if self.running and self.recording is not None:
            with self._guarded(text("record")):
                self.recording.mark(label.render(preferred_language()))

    def steps_done(self, count: int) -> None:
        """There have been so many optimizer steps: end when they are enough."""
        if self.running and self._steps is not None and count >= self._steps:
            self.end()

    def end(self, state: str = "complete", error: BaseException | None = None) -> None:
        """End, show and save the recording; harmless where none runs. `error` is what ended it."""
        tracking, self._tracking = self._tracking, None
        if tracking is None:
            return
        failures, self._failures = self._failures, None
        if failures is not None:
            failures.stop()
            atexit.unregister(self._at_exit)
        with self._guarded(text("finish the recording")):
            kind = _ENDS.get(state) if error is None else type(error)
            tracking.__exit__(kind, error, None)
            self._save()
            if self._show and self._first:
                self._tell()

    def failed(self, error: BaseException) -> None:
        """An error has left the trainer: end the recording, and explain one of memory."""
        if not self.running:
            return
        self.end("failed", error)
        if not _is_explained_by_notebook():
            explain_on_stderr(error, self.recording)

    def _at_exit(self) -> None:
        """The program has caught the error that ended training, or was left by `sys.exit`."""
        from memtrack.runs import keeping

        self.end("failed")
        keeping.wait()

    def _save(self) -> None:
        target, self._target = self._target, None
        if target is None or self.recording is None:
            return
        from memtrack.rankfacts import rank_of_environment
        from memtrack.recording import save_recording
        from memtrack.recording.ranks import with_rank

        rank, data = rank_of_environment(os.environ), self.recording.data
        if rank is None:
            save_recording(data, free_name(target))
            return
        save_recording(with_rank(data, rank), target)
        with suppress(OSError):
            claim_of(target).unlink()

    def _tell(self) -> None:
        if self.recording is None:
            return
        shell = _notebook_shell()
        if shell is not None:
            shell.display_pub.publish(self.recording._repr_mimebundle_(), {})
            return
        from memtrack.reports import render_text

        report = render_text(self.recording.report(), language=preferred_language())
        sys.stderr.write(f"\n{report}\n")

    @contextmanager
    def _guarded(self, doing: Text) -> Iterator[None]:
        try:
            yield
        except UsageError:
            raise
        except Exception as problem:  # noqa: BLE001 - the training must go on
            from memtrack.api import say_failed

            say_failed(doing, problem)


_ENDS: dict[str, type[BaseException]] = {"failed": RuntimeError}
"""What a recording of this state is told to have ended by, where the error itself is not known."""


def _notebook_shell() -> Any:
    """Return IPython's shell where it serves a notebook, else None."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = None if get is None else get()
    return shell if getattr(shell, "kernel", None) is not None else None


def _is_explained_by_notebook() -> bool:
    """Tell whether `%load_ext memtrack` explains failures in this process already."""
    return _notebook_shell() is not None and "memtrack.notebook" in sys.modules
