"""SIGTERM, by which schedulers and containers end a program: what was recorded is saved first.

The program then ends by the signal, as it would have. A program that sets a handler of its own
replaces ours; SIGKILL and `os._exit` leave no time for anything.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

MOST_S = 8.0
"""Seconds that saving may take: Docker kills ten seconds after SIGTERM, Slurm and Kubernetes thirty."""


def end_by_signal(save: Callable[[], None]) -> None:
    """Call `save` at the first SIGTERM; nothing where the program's parent had it ignored or handled.

    To be called on the main thread; on another, and where the system has no such signal, nothing is done.
    """
    with suppress(ValueError, OSError, AttributeError):
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            return

        process = os.getpid()

        def ended(number: int, _: Any) -> None:
            if os.getpid() == process:
                # A second signal waits: Slurm sends one to all, and torchrun passes its own on.
                signal.signal(number, _end_if_late)
                alarm = threading.Timer(MOST_S, _saving_hangs, (process, number))
                alarm.daemon = True
                alarm.start()
                with suppress(BaseException):
                    save()
            _end(number)

        signal.signal(signal.SIGTERM, ended)

        def as_before() -> None:
            if signal.getsignal(signal.SIGTERM) is ended:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            unblock()

        if hasattr(os, "register_at_fork"):  # a worker ends by the signal alone, at once
            # One that comes before the worker has our handler off would be lost: it waits meanwhile.
            os.register_at_fork(before=block, after_in_parent=unblock, after_in_child=as_before)


_late = threading.Event()
"""Set once saving has taken `MOST_S`: no signal waits any more."""


def _saving_hangs(process: int, number: int) -> None:
    _late.set()
    os.kill(process, number)


def _end(number: int) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _end_if_late(number: int, _: Any) -> None:
    if _late.is_set():
        _end(number)


def block() -> None:
    """Let SIGTERM wait on this thread."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def unblock() -> None:
    """Let SIGTERM come, also one that has waited."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


@contextmanager
def held_back() -> Iterator[None]:
    """Let SIGTERM wait until the block is done; on another thread than the main one it does not.

    A blocked signal would come by any other thread of the process, of which torch has many: it is
    taken by a handler instead, and sent again.
    """
    came: list[int] = []

    def note(number: int, _: Any) -> None:
        _end_if_late(number, _)
        came.append(number)

    try:
        before = signal.getsignal(signal.SIGTERM)
        if before is None:  # a handler that is not Python's could not be put back
            raise ValueError
        signal.signal(signal.SIGTERM, note)
    except (ValueError, AttributeError):
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if came:
            os.kill(os.getpid(), signal.SIGTERM)
