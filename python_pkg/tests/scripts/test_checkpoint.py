"""What keeps a rank's recording safe while its program runs, and SIGTERM away while it is written."""

import os
import signal
import threading

import pytest

from memtrack.scripts import checkpoint
from memtrack.scripts.checkpoint import LEAST_S, SHARE, Checkpoint
from memtrack.scripts.termination import held_back


@pytest.fixture
def clock(monkeypatch):
    """A clock that only tests move; saving takes `clock.saving` seconds."""

    class Clock:
        now, saving, saves = 100.0, 0.0, 0

        def monotonic(self):
            return self.now

        def save(self):
            self.saves += 1
            self.now += self.saving

    clock = Clock()
    monkeypatch.setattr(checkpoint, "time", clock)
    return clock


def test_the_first_step_is_saved_and_then_one_in_so_many_seconds(clock):
    found = Checkpoint(clock.save)
    found.step_ended()
    assert clock.saves == 1
    for _ in range(int(LEAST_S) - 1):
        clock.now += 1
        found.step_ended()
    assert clock.saves == 1
    clock.now += 1
    found.step_ended()
    assert clock.saves == 2


def test_saving_takes_a_small_share_of_the_time_however_long_it_takes(clock):
    clock.saving = 3.0
    found, began = Checkpoint(clock.save), clock.now
    for _ in range(5000):
        clock.now += 0.5
        found.step_ended()
    spent = clock.saves * clock.saving
    assert clock.saves > 10
    assert spent / (clock.now - began) <= 1 / SHARE + clock.saving / (clock.now - began)


def test_after_a_failure_nothing_more_is_tried(clock):
    def fail():
        clock.save()
        raise OSError("No space left on device")

    found = Checkpoint(fail)
    for _ in range(3):
        clock.now += 1000
        found.step_ended()
    assert clock.saves == 1


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs POSIX signals")
def test_a_signal_waits_until_what_is_written_is_written():
    seen, ended = [], threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append("signal"))
    # Any thread of the process may be the one that a signal comes by.
    other = threading.Thread(target=ended.wait)
    other.start()
    try:
        with held_back():
            os.kill(os.getpid(), signal.SIGTERM)
            seen.append("written")
        assert seen == ["written", "signal"]
        assert signal.getsignal(signal.SIGTERM) is not before
    finally:
        ended.set()
        other.join()
        signal.signal(signal.SIGTERM, before)
