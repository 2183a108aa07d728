"""One program being run: recorded from the first call of a model on, told of at the end on stderr."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from memtrack.errors import in_one_line
from memtrack.folders import working_folder
from memtrack.i18n import Text, text
from memtrack.rankfacts import RankFacts, rank_of_environment
from memtrack.scripts.checkpoint import Checkpoint
from memtrack.scripts.explaining import explain_on_stderr, was_explained
from memtrack.scripts.hooks import Hooks
from memtrack.scripts.imports import ImportWatch
from memtrack.scripts.program import without_our_frames
from memtrack.scripts.target import claim_of, free_name
from memtrack.scripts.termination import end_by_signal, held_back
from memtrack.words import not_kept

if TYPE_CHECKING:
    from memtrack.api import Recording
    from memtrack.capture import Recorder
    from memtrack.capture.firstcall import FirstCall
    from memtrack.recording import RecordingData


_OTHERS_S = 2.0
"""Seconds that the end waits for other recordings to be kept; a signal leaves no more time."""


class Session:
    """What we do beside the program; none of it raises, and a forked child does nothing of it.

    `name` is the program's, `target` is where the recording goes, None for none; `steps` ends it after that many.
    """

    def __init__(self, name: str, target: Path | None, steps: int | None, language: str) -> None:
        self._name = name
        self._target = target
        self._steps = steps
        self._language = language
        self._process = os.getpid()
        self._folder = working_folder()
        self._rank: RankFacts | None = rank_of_environment(os.environ)
        self._hooks: Hooks | None = None
        self._torch: ImportWatch | None = None
        self._first: FirstCall | None = None
        self._recorder: Recorder | None = None
        self._recording: Recording | None = None
        self._is_over = False

    def start(self) -> None:
        """Watch for errors of threads, and for torch and the first call of a model."""
        self._hooks = Hooks(main=False)
        if self._target is not None:
            self._torch = ImportWatch("torch", self._await_first_call)
            end_by_signal(self._ended_by_signal)

    def end(self, state: str, error: BaseException | None = None) -> None:
        """The program is over: end the recording, explain a memory error, save, say where."""
        if os.getpid() != self._process:
            return
        with held_back():  # torchrun ends the other ranks when one has failed, while those save too
            if self._is_over:
                return
            self._is_over = True
            self._conclude(state)
            if error is not None and not was_explained(error):
                explain_on_stderr(error, self._recording, self._language)
            if self._target is not None:
                self._save(self._target)
                self._keep()

    def end_behind_traceback(self, state: str) -> None:
        """Do so once Python has shown the exception that is on its way out, without our frames."""
        before = sys.excepthook

        def excepthook(kind: Any, error: Any, traceback: TracebackType | None) -> None:
            sys.excepthook = before
            self._clean(error, traceback)
            try:
                show(before, kind, error)
            finally:
                self.end(state, error)
                if kind is KeyboardInterrupt:
                    _end_by_the_interrupt()

        sys.excepthook = excepthook
        if self._recorder is not None:
            with suppress(Exception):
                self._recorder.leave()

    def _ended_by_signal(self) -> None:
        if self._recording is not None:
            self.end("interrupted")

    def _clean(self, error: BaseException, traceback: TracebackType | None) -> None:
        """Take out the frames that are there because we ran the program and watched operations."""
        with suppress(Exception):
            hooked = self._recorder is not None
            error.__traceback__ = without_our_frames(traceback, hooked)
            if self._recorder is not None:
                from memtrack.capture.tracebacks import clean_traceback

                clean_traceback(error)
        if hasattr(sys, "last_traceback"):
            sys.last_traceback = error.__traceback__

    def _await_first_call(self) -> None:
        try:
            from memtrack.capture.firstcall import FirstCall

            self._first = FirstCall(self._steps, self._name, self._begin, self._failed)
        except Exception as problem:  # noqa: BLE001 - the program must go on
            self._failed(problem)

    def _begin(self, recorder: Recorder) -> None:
        from memtrack.api import Recording

        self._recorder = recorder
        self._recording = Recording.of(recorder)
        if self._rank is not None:
            recorder.on_step.append(Checkpoint(self._save_so_far).step_ended)

    def _save_so_far(self) -> None:
        """Write what a rank has recorded until now, in case it is killed."""
        recorder = self._recorder
        if recorder is None or recorder.finished or os.getpid() != self._process:
            return
        from memtrack.capture.recorder import aside

        assert self._target is not None
        with aside():
            self._write(recorder.data(), self._target)

    def _failed(self, problem: Exception) -> None:
        from memtrack.api import say_failed

        recorder, self._recorder, self._recording = self._recorder, None, None
        with suppress(Exception):
            if recorder is not None:
                recorder.detach()
        say_failed(text("record"), problem, self._language)

    def _conclude(self, state: str) -> None:
        if self._torch is not None:
            self._torch.stop()
        if self._first is not None:
            self._first.stop()
        if self._recorder is None or self._recording is None:
            return
        try:
            self._recorder.leave()
            self._recording.end(state)
        except Exception as problem:  # noqa: BLE001 - the program's own end comes first
            self._failed(problem)
        self._recorder = None

    def _save(self, target: Path) -> None:
        if self._recording is None:
            self._say(_why_nothing())
            return
        try:
            data = self._recording.data
            try:
                path = self._write(data, target if self._rank else free_name(target))
            except OSError:
                path = self._write(data, free_name(Path(tempfile.gettempdir()) / target.name))
        except Exception as problem:  # noqa: BLE001 - the program's own end comes first
            told = in_one_line(problem)
            self._say(text("memtrack: the recording could not be saved ({problem}).", problem=told))
            return
        if self._rank is not None and path == target:
            self._tell_of_ranks(target)
            return
        shown = path.name if path.parent == self._folder else str(path)
        command = f"memtrack open {shlex.quote(shown)}"
        self._say(
            text(
                "memtrack: recorded in {path}. To look at it: {command}", path=path, command=command
            )
        )

    def _keep(self) -> None:
        """Make the recording a run of the history, of several ranks that of the first."""
        if self._recording is None or (self._rank is not None and self._rank.rank):
            return
        try:
            from memtrack.runs import keeping
            from memtrack.runs.surroundings import Origin, origin_of

            origin = Origin(origin_of().path, None, self._folder)
            keeping.keep_here(self._recording.data, origin, self._language)
            keeping.wait(_OTHERS_S)  # what the program itself has recorded
        except Exception as problem:  # noqa: BLE001 - the program's own end comes first
            self._say(not_kept(in_one_line(problem)))

    def _write(self, data: RecordingData, path: Path) -> Path:
        from memtrack.recording import save_recording
        from memtrack.recording.ranks import with_rank

        return save_recording(data if self._rank is None else with_rank(data, self._rank), path)

    def _tell_of_ranks(self, target: Path) -> None:
        """Say once for all ranks where their folder is; a rank that has its file needs no claim."""
        with suppress(OSError):
            claim_of(target).unlink()
        if self._rank is None or self._rank.rank:
            return
        folder = target.parent
        shown = folder.name if folder.parent == self._folder else str(folder)
        command = f"memtrack open {shlex.quote(shown)}"
        self._say(
            text(
                "memtrack: each rank is recorded in {path}. To look at them: {command}",
                path=folder,
                command=command,
            )
        )

    def _say(self, sentence: Text) -> None:
        with suppress(Exception):
            sys.stderr.write(sentence.render(self._language) + "\n")
            sys.stderr.flush()


def show(hook: Callable[..., Any], kind: Any, error: BaseException) -> None:
    """Call a hook for errors as Python does, also in what becomes of an error of the hook."""
    try:
        hook(kind, error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as problem:  # noqa: BLE001 - it is shown
        theirs = problem.__traceback__
        problem.__traceback__ = None if theirs is None else theirs.tb_next
        sys.stderr.write("Error in sys.excepthook:\n")
        sys.__excepthook__(type(problem), problem, problem.__traceback__)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(kind, error, error.__traceback__)


def _end_by_the_interrupt() -> None:
    """Let Python end by the signal of an interrupt, so that a shell stops its loop too.

    Python remembers that the last source it ran was interrupted; what we have imported since was not.
    """
    with suppress(KeyboardInterrupt):
        exec("raise KeyboardInterrupt", {})  # noqa: S102 - our own words


def _why_nothing() -> Text:
    if "torch" not in sys.modules:
        return text("memtrack: nothing was recorded, since the program did not import PyTorch.")
    return text(
        "memtrack: nothing was recorded, since no model ran in the main thread of this process."
    )


def state_of_exit(code: object) -> str:
    """Return the state of a recording whose program has left by `sys.exit(code)`."""
    return "complete" if code in (None, 0) else "failed"
