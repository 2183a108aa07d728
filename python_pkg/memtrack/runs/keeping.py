"""Each finished recording becomes a run by itself: beside the user's work, never in its way.

One thread of ours adds what waits. What goes wrong there is told once, in one line on stderr; the
recording itself is whole either way. `MEMTRACK_HISTORY=off`, or `turn(False)`, keeps nothing.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque

import numpy as np

from memtrack.errors import MemtrackError, UsageError, in_one_line
from memtrack.i18n import Text, preferred_language, text
from memtrack.recording import EventKind, RecordingData
from memtrack.runs.files import NO_LIMITS, Limits, limits_now
from memtrack.runs.run import Run
from memtrack.runs.store import OFF, VARIABLE, History, history_folder
from memtrack.runs.surroundings import Origin, with_origin
from memtrack.words import not_kept

MOST_WAITING = 16
"""Recordings that may wait; one more has to wait for its place, so that memory stays bounded."""

_turned: bool | None = None
_told: set[str] = set()


def is_on() -> bool:
    """Tell whether finished recordings are kept: as `turn` said last, else as the environment says."""
    if _turned is not None:
        return _turned
    return os.environ.get(VARIABLE, "").casefold() not in OFF


def turn(on: bool) -> None:
    """Keep finished recordings of this process from now on, or do not."""
    global _turned
    _turned = on


def keep(data: RecordingData, origin: Origin, language: str = "") -> None:
    """Add a finished recording to the history at its origin, soon; returns at once.

    Nothing is added while keeping is off, of a recording in which nothing was allocated, or in a
    forked child. Whatever fails is told in one line; nothing is raised.
    """
    if is_on() and is_worth_keeping(data):
        _worker().take(data, origin, language or preferred_language())


def keep_here(data: RecordingData, origin: Origin, language: str = "") -> None:
    """Do what `keep` does, on this thread and before it returns.

    For a handler of a signal: what it has interrupted may hold what another thread would wait for,
    such as the lock of a module that is being imported, or that of a fork.
    """
    if is_on() and is_worth_keeping(data):
        _keep_or_tell(data, origin, language or preferred_language())


def keep_now(data: RecordingData, origin: Origin, limits: Limits | None = None) -> Run:
    """Add a finished recording and return its run; raises what `History` raises."""
    folder = history_folder(origin.folder)
    with History(folder, limits=limits) as history:
        return history.add(with_origin(data, origin))


def wait(seconds: float | None = None) -> None:
    """Return once all that was to be kept is kept, or after so many seconds."""
    _worker().wait(seconds)


def is_worth_keeping(data: RecordingData) -> bool:
    """Tell whether anything ran in a recording that left a trace in memory."""
    return bool(np.any(data.events["kind"] == EventKind.ALLOC))


class _Worker:
    """Adds recordings one after the other on a thread that ends when none waits."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._waiting: deque[tuple[RecordingData, Origin, str]] = deque()
        self._changed = threading.Condition(threading.RLock())
        self._running = False

    def take(self, data: RecordingData, origin: Origin, language: str) -> None:
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < MOST_WAITING)
            self._waiting.append((data, origin, language))
            if self._running:
                return
            self._running = True
        try:
            # Not a daemon: when a script ends, Python waits for what is being written.
            threading.Thread(target=self._run, name="memtrack history", daemon=False).start()
        except RuntimeError:  # the interpreter is ending, or has no thread to give
            self._run()
        except (
            BaseException
        ):  # interrupted: the next one starts a thread, and nobody waits for this
            self._stop()
            raise

    def wait(self, seconds: float | None) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._running, seconds)

    def _run(self) -> None:
        try:
            while True:
                with self._changed:
                    if not self._waiting:
                        self._stop()
                        return
                    data, origin, language = self._waiting.popleft()
                    self._changed.notify_all()
                _keep_or_tell(data, origin, language)
        except BaseException:
            self._stop()
            raise

    def _stop(self) -> None:
        with self._changed:
            self._running = False
            self._changed.notify_all()


def _keep_or_tell(data: RecordingData, origin: Origin, language: str) -> None:
    try:
        keep_now(data, origin, _limits(language))
    except MemtrackError as error:
        _tell(not_kept(error.in_language(language)), language)
    except Exception as error:  # noqa: BLE001 - the user's work goes on whatever fails here
        _tell(not_kept(in_one_line(error)), language)


def _limits(language: str) -> Limits:
    """Return how much is to be kept; all, where that is told wrongly: a slip must remove nothing."""
    try:
        return limits_now()
    except UsageError as error:
        problem = error.in_language(language)
        _tell(text("memtrack: no recording is removed. {problem}", problem=problem), language)
        return NO_LIMITS


def _tell(sentence: Text, language: str) -> None:
    if str(sentence) in _told:
        return
    _told.add(str(sentence))
    try:
        sys.stderr.write(sentence.render(language) + "\n")
    except (OSError, ValueError, AttributeError):  # there is no stderr to write to
        return


_the_worker: _Worker | None = None


def _worker() -> _Worker:
    """Return the worker of this process: a forked child has none of its parent's threads."""
    global _the_worker
    if _the_worker is None or _the_worker.process != os.getpid():
        _the_worker = _Worker()
    return _the_worker
