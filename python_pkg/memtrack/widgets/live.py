"""Ticks of a running recording to its widget, at a bounded cost and only while someone looks.

Flow control: a browser answers some of the ticks that it draws. On kernels that read messages while a cell
runs, silence means that nobody looks: ticks stop being made until a message comes. Other kernels
read the answers only after the cell, so there ticks go on, which their bounded cost allows.

Having read an answer, the kernel tells front ends that it is idle, though the cell goes on. They would
show so, and a server would end a kernel in training for being idle. So each tick after one sets it right.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memtrack.errors import in_one_line
from memtrack.i18n import preferred_language, text

if TYPE_CHECKING:
    from memtrack.capture import Recorder, Tick
    from memtrack.widgets.model import ReportModel

UNSEEN_TICKS = 20
MOST_OF_TIME = 0.008
"""Share of the time that may go into sending: after a tick of 4 ms none is sent for half a second.
Making ticks, which the recorder does, has the rest of the hundredth that the live view may take."""


class LiveUpdates:
    """Sends the ticks of one recorder to one widget until `stop`."""

    def __init__(
        self,
        model: ReportModel,
        recorder: Recorder,
        answers_while_busy: bool,
        say_busy: Callable[[], None] = lambda: None,
    ) -> None:
        self._model = model
        self._recorder: Recorder | None = recorder
        self._answers_while_busy = answers_while_busy
        self._say_busy = say_busy
        self._said_idle = False
        self._due_ns = 0
        self._sent = 0
        self._unseen = 0
        self.paused = False
        model.on_seen = self._seen
        recorder.on_tick.append(self._tick)

    def stop(self) -> None:
        """Send no more; harmless when stopped."""
        recorder, self._recorder = self._recorder, None
        self._model.on_seen = None
        if recorder is not None and self._tick in recorder.on_tick:
            recorder.on_tick.remove(self._tick)
        self._correct_status()

    def tell(self) -> None:
        """Send how things stand, whatever was sent before: the last word until the next cell runs."""
        recorder = self._recorder
        if recorder is None:
            return
        try:
            self._send(recorder.state, recorder.tick())
        except Exception as error:  # noqa: BLE001 - the live view may fail, the run may not
            self._fail(error)

    def _tick(self, tick: Tick) -> None:
        recorder = self._recorder
        if recorder is None:
            return
        self._correct_status()
        if self._answers_while_busy and self._unseen >= UNSEEN_TICKS:
            self._pause(recorder)
            return
        began_ns = time.perf_counter_ns()
        if began_ns < self._due_ns:
            return
        try:
            self._send(recorder.state, tick)
        except Exception as error:  # noqa: BLE001 - the live view may fail, the run may not
            self._fail(error)
        ended_ns = time.perf_counter_ns()
        self._due_ns = ended_ns + int((ended_ns - began_ns) / MOST_OF_TIME)

    def _send(self, state: str, tick: Tick) -> None:
        if self._model.send_if_free(tick_message(self._sent + 1, state, tick)):
            self._sent += 1
            self._unseen += 1

    def _pause(self, recorder: Recorder) -> None:
        # The order lets a message from another thread come between the two without harm.
        self.paused = True
        if self._tick in recorder.on_tick:
            recorder.on_tick.remove(self._tick)

    def _seen(self) -> None:
        """Go on, since a browser looks. May run on another thread."""
        self._unseen = 0
        self._said_idle = True
        recorder = self._recorder
        if self.paused and recorder is not None:
            self.paused = False
            recorder.on_tick.append(self._tick)

    def _correct_status(self) -> None:
        # What runs on the main thread is a cell, which says that it is idle when it ends.
        if self._said_idle and threading.current_thread() is threading.main_thread():
            self._said_idle = False
            with suppress(Exception):
                self._say_busy()

    def _fail(self, error: Exception) -> None:
        self.stop()
        problem = in_one_line(error)
        sentence = text(
            "memtrack stopped its live view ({problem}); recording goes on.", problem=problem
        )
        sys.stderr.write(sentence.render(preferred_language()) + "\n")


def tick_message(number: int, state: str, tick: Tick) -> dict[str, Any]:
    """Return a tick as the browser gets it: plain JSON of a few kilobytes."""
    return {
        "type": "tick",
        "tick": number,
        "state": state,
        "step": tick.step,
        "phase": tick.phase,
        "allocated": tick.allocated,
        "peak": tick.peak,
        "reserved": tick.reserved,
        "elapsed_ns": tick.elapsed_ns,
        "points": {"time_ns": tick.time_ns, "allocated": tick.allocated_series},
    }


def answers_while_busy(shell: Any) -> bool:
    """Tell whether the kernel of `shell` reads a browser's messages while a cell runs."""
    kernel = getattr(shell, "kernel", None)
    return bool(getattr(kernel, "_supports_kernel_subshells", False))


def busy_teller(shell: Any) -> Callable[[], None]:
    """Return what tells front ends that the kernel of `shell` is busy with the cell that runs."""
    kernel: Any = getattr(shell, "kernel", None)
    return lambda: kernel._publish_status("busy", "shell")
