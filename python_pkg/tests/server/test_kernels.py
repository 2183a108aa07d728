"""Which kernels a server has on this computer, asked of managers that are made up."""

from datetime import datetime, timezone
from types import SimpleNamespace

from memtrack.server.kernels import ServerKernels, process_of

WHEN = datetime(2026, 11, 30, 5, 0, tzinfo=timezone.utc)


class Manager:
    def __init__(self, **kernels):
        self.kernels = kernels

    def list_kernel_ids(self):
        return list(self.kernels)

    def get_kernel(self, kernel_id):
        return self.kernels[kernel_id]


class Sessions:
    def __init__(self, *sessions):
        self.sessions, self.asked, self.fails = sessions, 0, False

    async def list_sessions(self):
        self.asked += 1
        if self.fails:
            raise RuntimeError
        return list(self.sessions)


def kernel(pid, state="idle"):
    return SimpleNamespace(
        provisioner=SimpleNamespace(pid=pid),
        execution_state=state,
        last_activity=WHEN,
        kernel_name="python3",
    )


def session(kernel_id, path):
    return {"path": path, "name": path, "type": "notebook", "kernel": {"id": kernel_id}}


async def test_a_kernel_is_known_by_its_process_with_its_session():
    kernels = ServerKernels(Manager(k1=kernel(42, "busy")), Sessions(session("k1", "a.ipynb")))
    found = (await kernels.look())[42]
    assert (found.id, found.path, found.state) == ("k1", "a.ipynb", "busy")
    assert found.last_activity == "2026-11-30T05:00:00+00:00"
    assert not kernels.are_remote


async def test_a_kernel_without_a_session_has_its_kind_for_a_name():
    found = (await ServerKernels(Manager(k1=kernel(42)), Sessions()).look())[42]
    assert (found.path, found.name, found.type) == ("", "python3", "")


async def test_a_kernel_without_a_process_here_is_not_matched():
    manager = Manager(k1=SimpleNamespace(provisioner=None), k2=kernel(None))
    assert await ServerKernels(manager, Sessions()).look() == {}
    assert process_of(object()) is None


async def test_sessions_are_asked_seldom_and_when_kernels_come_or_go():
    now = [0.0]
    manager, sessions = Manager(k1=kernel(42)), Sessions(session("k1", "a.ipynb"))
    kernels = ServerKernels(manager, sessions, lambda: now[0])
    await kernels.look()
    await kernels.look()
    assert sessions.asked == 1
    manager.kernels["k2"] = kernel(43)
    await kernels.look()
    assert sessions.asked == 2
    now[0] += 6
    await kernels.look()
    assert sessions.asked == 3


async def test_sessions_that_fail_leave_what_was_known():
    now = [0.0]
    sessions = Sessions(session("k1", "a.ipynb"))
    kernels = ServerKernels(Manager(k1=kernel(42)), sessions, lambda: now[0])
    await kernels.look()
    sessions.fails, now[0] = True, 10.0
    assert (await kernels.look())[42].path == "a.ipynb"


async def test_kernels_of_a_gateway_are_elsewhere():
    from jupyter_server.gateway.managers import GatewayMappingKernelManager

    manager = GatewayMappingKernelManager.__new__(GatewayMappingKernelManager)
    kernels = ServerKernels(manager, Sessions())
    assert kernels.are_remote
    assert await kernels.look() == {}
