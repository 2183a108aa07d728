"""`memtrack.track`: record what runs in a `with` block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from memtrack.api import (
    Recording,
    cell_namer,
    end_state,
    load_recorder,
    running_shell,
    say_failed,
)
from memtrack.errors import RecordingStateError
from memtrack.i18n import text
from memtrack.runs.keeping import keep
from memtrack.runs.surroundings import Origin, origin_of

if TYPE_CHECKING:
    from memtrack.capture import Recorder


class Tracking:
    """The context manager `track` returns; entering it gives the `Recording`.

    With an `origin` the recording becomes a run of the history there when it has ended.
    """

    def __init__(self, recorder: Recorder, origin: Origin | None = None) -> None:
        self._recorder: Recorder | None = recorder
        self._recording = Recording.of(recorder)
        self._origin = origin
        self._was_entered = self._notes_failures = False

    def call_models(self, called: Callable[[Any], str]) -> None:
        """Call models that run and that nobody named as `called` says, "" for their class."""
        if self._recorder is not None:
            self._recorder.called = called

    def __enter__(self) -> Recording:
        recorder = self._recorder
        if self._was_entered or recorder is None:
            raise RecordingStateError(
                text("This `track` was entered before: each `with` block needs its own.")
            )
        self._was_entered = True
        from memtrack.capture.failure import watch_failures

        self._notes_failures = watch_failures()
        try:
            recorder.attach()
            recorder.enter()
        except BaseException:
            self._stop(recorder)
            raise
        return self._recording

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        if error is not None:
            _clean_traceback(error)
        try:
            recorder.leave()
            self._recording.end(end_state(kind))
        except Exception as ours:
            if kind is None:
                raise
            say_failed(text("finish the recording"), ours)
        finally:
            self._stop(recorder)
        if self._origin is not None:
            with suppress(RecordingStateError):  # it failed and has no data
                keep(self._recording.data, self._origin)

    def _stop(self, recorder: Recorder) -> None:
        """Take everything off; what was noted of a failure stays, for `explain`."""
        from memtrack.capture.failure import stop_watching

        if self._notes_failures:
            stop_watching()
        recorder.detach()


def track(
    model: Any = None,
    optimizer: Any = None,
    *,
    steps: int | None = None,
    label: str | Sequence[str] | None = None,
    history: bool = True,
) -> Tracking:
    """Record the memory of what runs in a `with` block.

    `model` is a torch.nn.Module or a list of them, `optimizer` one or a list; without a model every
    model that runs is recorded. `steps` ends the recording after so many. `label` names the model in
    the report; of several models it is a list of names or one string with commas. The recording becomes
    a run of `memtrack.history()`, unless `history` is False or the variable MEMTRACK_HISTORY is `off`.

        with memtrack.track(model, optimizer) as recording:
            train(model)
        recording.peak.bytes

    The recording can be used inside the block and after it. An exception passes through as it is.
    """
    shell = running_shell()
    names = None if shell is None else cell_namer(shell)
    if isinstance(label, str) and isinstance(model, list | tuple) and len(model) > 1:
        label = [part.strip() for part in label.split(",")]
    recorder = load_recorder()(model, optimizer, steps=steps, label=label or "model", names=names)
    return Tracking(recorder, origin_of(shell) if history else None)


def _clean_traceback(error: BaseException) -> None:
    """Take out the frames that recording has added to the user's exception."""
    from memtrack.capture.tracebacks import clean_traceback

    with suppress(Exception):
        clean_traceback(error)
