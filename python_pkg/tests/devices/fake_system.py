"""A stand-in for the module `psutil`: processes with given answers; its errors are the real ones."""

from collections import namedtuple

import psutil

Times = namedtuple("Times", "user system")
ME = 100


class FakeProcess:
    """`answers` are the results of psutil's methods, an exception, or a function without arguments."""

    def __init__(self, system, pid, parent=None, **answers):
        self.system, self.pid, self.parent_pid = system, pid, parent
        self.answers = {
            "name": "python",
            "cmdline": ["python", f"train{pid}.py"],
            "username": "ada",
            "status": psutil.STATUS_SLEEPING,
            "create_time": 0.0,
            "cpu_times": Times(5.0, 1.0),
            "environ": {},
            "cwd": "/home/ada/runs",
            **answers,
        }

    def parent(self):
        return self.system.processes.get(self.parent_pid)

    def __getattr__(self, name):
        if name.startswith("__") or name not in self.answers:
            raise AttributeError(name)
        answer = self.answers[name]

        def method():
            found = answer() if callable(answer) else answer
            if isinstance(found, Exception):
                raise found
            return found

        return method


class FakeSystem:
    """Processes by number; this one is `ME` of the user ada, started by a shell under systemd."""

    def __init__(self):
        self.processes = {}
        self.add(1, name="systemd", username="root", cmdline=["/sbin/init"])
        self.add(50, 1, name="bash", cmdline=["bash"])
        self.add(ME, 50)

    def add(self, pid, parent=None, **answers):
        self.processes[pid] = FakeProcess(self, pid, parent, **answers)

    def Process(self, pid=ME):  # noqa: N802
        if pid not in self.processes:
            raise psutil.NoSuchProcess(pid)
        return self.processes[pid]


def growing(step):
    """Processor times that go up by `step` seconds each time they are asked for."""
    spent = [0.0]

    def times():
        spent[0] += step
        return Times(spent[0], 0.0)

    return times
