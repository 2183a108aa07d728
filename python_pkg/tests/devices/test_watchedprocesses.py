"""Processes from look to look: what changes is seen, what does not is asked seldom."""

import psutil
import pytest
from devices.fake_system import ME, FakeSystem

from memtrack.devices.watchedprocesses import KEEP_S, STATE_S, WatchedProcesses


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Counting:
    """A function that counts its calls."""

    def __init__(self, answer):
        self.answer, self.calls = answer, 0

    def __call__(self):
        self.calls += 1
        return self.answer


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def system():
    found = FakeSystem()
    found.add(200, ME, is_running=True, create_time=1000.0)
    found.add(300, 200, is_running=True, create_time=2000.0, username="grace")
    return found


@pytest.fixture
def watched(system, clock):
    return WatchedProcesses(system, lambda _: True, frozenset, clock)


def test_what_the_system_tells_is_told_with_the_lineage(watched):
    known = watched.look([200, 300])
    assert known[200].known.command == "python train200.py"
    assert known[200].started == 1000.0
    assert known[200].lineage == (200, ME, 50, 1)
    assert known[300].lineage == (300, 200, ME, 50, 1)
    assert known[300].known.user == "grace"
    assert known[300].known.command == "python"  # the command line of another user stays his


def test_a_number_that_is_not_here_is_hidden(watched):
    one = watched.look([999])[999]
    assert (one.state, one.pid, one.lineage) == ("hidden", 999, ())


def test_a_number_of_another_process_here_is_hidden(system, clock):
    watched = WatchedProcesses(system, lambda _: False, frozenset, clock)
    assert watched.look([200])[200].state == "hidden"


def test_a_process_is_asked_once_in_a_while(watched, system, clock):
    name = Counting(["python", "a.py"])
    system.processes[200].answers["cmdline"] = name
    watched.look([200])
    once = name.calls
    for _ in range(10):
        clock.now += 0.1
        watched.look([200])
    assert name.calls == once
    clock.now += KEEP_S
    watched.look([200])
    assert name.calls > once


def test_its_state_is_seconds_old_at_most(watched, system, clock):
    assert watched.look([200])[200].state == "running"
    system.processes[200].answers["status"] = psutil.STATUS_ZOMBIE
    clock.now += STATE_S
    assert watched.look([200])[200].state == "zombie"


def test_one_that_ended_but_is_listed_is_gone(watched, system, clock):
    watched.look([200])
    system.processes[200].answers["is_running"] = False
    del system.processes[200]
    clock.now += STATE_S
    assert watched.look([200])[200].state == "gone"


def test_a_new_process_of_the_same_number_is_another(watched, system, clock):
    watched.look([200])
    system.processes[200].answers["is_running"] = False
    system.add(200, 50, cmdline=["python", "other.py"], is_running=True, create_time=5000.0)
    clock.now += STATE_S
    one = watched.look([200])[200]
    assert (one.known.command, one.started, one.state) == ("python other.py", 5000.0, "running")


def test_what_is_no_longer_listed_is_forgotten(watched):
    watched.look([200, 300])
    assert set(watched.look([300])) == {300}


def test_looks_at_many_are_spread_over_time(watched, system, clock):
    for pid in range(1000, 1064):
        system.add(pid, 50, is_running=True)
    listed = range(1000, 1064)
    watched.look(listed)
    asked = []
    for pid in listed:
        system.processes[pid].answers["cwd"] = lambda pid=pid: asked.append(pid) or "/"
    most = 0
    while len(asked) < 64:
        before = len(asked)
        clock.now += 1.0
        watched.look(listed)
        most = max(most, len(asked) - before)
    assert most <= 8
