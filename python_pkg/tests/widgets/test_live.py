"""Ticks to the browser: at a bounded cost, and only while someone looks."""

import threading
from dataclasses import dataclass, field

import pytest

from memtrack.widgets import live
from memtrack.widgets.live import UNSEEN_TICKS, LiveUpdates, answers_while_busy, tick_message


@dataclass
class FakeTick:
    step: int = 3
    phase: str = "backward"
    allocated: int = 5 << 30
    peak: int = 6 << 30
    reserved: int | None = None
    elapsed_ns: int = 10**9
    time_ns: list = field(default_factory=lambda: [0, 5])
    allocated_series: list = field(default_factory=lambda: [0, 5 << 30])


class FakeRecorder:
    """Makes ticks as a recorder does: only when someone listens."""

    state = "recording"

    def __init__(self):
        self.on_tick = []
        self.made = 0

    def tick(self, times=1):
        for _ in range(times):
            if self.on_tick:
                self.made += 1
                for listener in list(self.on_tick):
                    listener(FakeTick())


@pytest.fixture
def recorder():
    return FakeRecorder()


@pytest.fixture
def clock(monkeypatch):
    """Time that passes a second at each tick, of which sending takes nothing."""

    class Clock:
        now_ns = 0

        def perf_counter_ns(self):
            return self.now_ns

    clock = Clock()
    monkeypatch.setattr(live, "time", clock)
    return clock


def ticks(model):
    return [data["content"] for data, _ in model.comm.sent if data["method"] == "custom"]


def run(recorder, clock, times):
    for _ in range(times):
        clock.now_ns += 10**9
        recorder.tick()


def test_tick_is_small_plain_json():
    assert tick_message(4, "recording", FakeTick()) == {
        "type": "tick",
        "tick": 4,
        "state": "recording",
        "step": 3,
        "phase": "backward",
        "allocated": 5 << 30,
        "peak": 6 << 30,
        "reserved": None,
        "elapsed_ns": 10**9,
        "points": {"time_ns": [0, 5], "allocated": [0, 5 << 30]},
    }


def test_nobody_looking_stops_the_making_of_ticks(model, recorder, clock):
    updates = LiveUpdates(model, recorder, answers_while_busy=True)
    run(recorder, clock, 100)
    assert len(ticks(model)) == UNSEEN_TICKS
    assert updates.paused
    assert recorder.on_tick == []
    assert recorder.made == UNSEEN_TICKS + 1, "one more tick to find out"


@pytest.mark.parametrize(
    "content",
    [
        {"type": "seen", "tick": 20},
        {"type": "window", "request": 1, "view": 0, "start": 0, "end": 1, "buckets": 1},
    ],
)
def test_sign_of_life_resumes(model, recorder, clock, receive, content):
    updates = LiveUpdates(model, recorder, answers_while_busy=True)
    run(recorder, clock, 50)
    receive(content)
    assert not updates.paused
    run(recorder, clock, 5)
    assert [tick["tick"] for tick in ticks(model)[-5:]] == [21, 22, 23, 24, 25]


def test_answered_ticks_never_pause(model, recorder, clock, receive):
    LiveUpdates(model, recorder, answers_while_busy=True)
    for _ in range(60):
        run(recorder, clock, 1)
        receive({"type": "seen", "tick": 1})
    assert len(ticks(model)) == 60


def test_each_answer_is_followed_by_the_word_that_the_kernel_is_busy(
    model, recorder, clock, receive
):
    said = []
    updates = LiveUpdates(model, recorder, True, say_busy=lambda: said.append(1))
    run(recorder, clock, 3)
    assert said == []
    receive({"type": "seen", "tick": 3})
    assert said == [], "the kernel says that it is idle only after this"
    run(recorder, clock, 3)
    assert said == [1]
    receive({"type": "seen", "tick": 6})
    updates.stop()
    assert said == [1, 1], "the cell may go on for long"


def test_another_thread_does_not_say_that_the_kernel_is_busy(model, recorder, clock, receive):
    said = []
    updates = LiveUpdates(model, recorder, True, say_busy=lambda: said.append(1))
    receive({"type": "seen", "tick": 1})
    thread = threading.Thread(target=updates.stop)
    thread.start()
    thread.join()
    assert said == []


def test_kernels_that_cannot_hear_go_on(model, recorder, clock):
    LiveUpdates(model, recorder, answers_while_busy=False)
    run(recorder, clock, 100)
    assert len(ticks(model)) == 100


def test_sending_takes_at_most_its_share_of_the_time(model, recorder, clock):
    cost_ns = 50_000_000

    def slow():
        clock.now_ns += cost_ns

    model.comm.before_send = slow
    LiveUpdates(model, recorder, answers_while_busy=False)
    for _ in range(400):
        clock.now_ns += 250_000_000
        recorder.tick()
    spent = cost_ns * len(ticks(model))
    assert spent <= live.MOST_OF_TIME * clock.now_ns + cost_ns
    assert len(ticks(model)) > 10


def test_stop_takes_the_listener_off_and_is_harmless_twice(model, recorder, clock, receive):
    updates = LiveUpdates(model, recorder, answers_while_busy=True)
    updates.stop()
    updates.stop()
    assert recorder.on_tick == []
    receive({"type": "seen", "tick": 1})
    run(recorder, clock, 3)
    assert ticks(model) == []


def test_last_word_is_sent_although_ticks_are_paused(model, recorder, clock):
    updates = LiveUpdates(model, recorder, answers_while_busy=True)
    run(recorder, clock, 50)
    recorder.tick = lambda: FakeTick(step=9, phase="other")
    updates.tell()
    assert (ticks(model)[-1]["step"], ticks(model)[-1]["phase"]) == (9, "other")
    updates.stop()
    updates.tell()
    assert len(ticks(model)) == UNSEEN_TICKS + 1


def test_failing_view_is_told_in_one_line_and_the_run_goes_on(model, recorder, clock, capsys):
    def broken():
        raise RuntimeError("no comm")

    model.comm.before_send = broken
    LiveUpdates(model, recorder, answers_while_busy=True)
    run(recorder, clock, 5)
    assert capsys.readouterr().err == (
        "memtrack stopped its live view (RuntimeError: no comm); recording goes on.\n"
    )
    assert recorder.on_tick == []


def test_interrupt_in_a_tick_reaches_the_user(model, recorder, clock):
    def interrupted():
        raise KeyboardInterrupt

    model.comm.before_send = interrupted
    LiveUpdates(model, recorder, answers_while_busy=True)
    with pytest.raises(KeyboardInterrupt):
        run(recorder, clock, 1)
    model.comm.before_send = lambda: None
    run(recorder, clock, 1)
    assert len(ticks(model)) == 1, "the lock was given back"


def test_subshell_support_is_asked_of_the_kernel():
    class Kernel:
        _supports_kernel_subshells = True

    class Shell:
        kernel = Kernel()

    assert answers_while_busy(Shell())
    assert not answers_while_busy(object())
