"""Which kernels this server runs: the number of each one's process, and what its sessions say."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from memtrack.server.state import KernelFact

SESSIONS_S = 5.0
"""How long what the sessions say holds, while no kernel comes or goes. A query reads a database."""


class ServerKernels:
    """Asks a server's managers; on its event loop only."""

    def __init__(
        self,
        kernel_manager: Any,
        session_manager: Any,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kernels = kernel_manager
        self._sessions = session_manager
        self._clock = clock
        self._by_kernel: Mapping[str, Mapping[str, Any]] = {}
        self._asked_for: frozenset[str] = frozenset()
        self._until = float("-inf")

    @property
    def are_remote(self) -> bool:
        """Whether kernels run elsewhere: a gateway has them, and no process here is one."""
        return "gateway" in type(self._kernels).__module__.lower()

    async def look(self) -> Mapping[int, KernelFact]:
        """Return the kernels with a process on this computer, by its number."""
        if self.are_remote:
            return {}
        ids = frozenset(self._kernels.list_kernel_ids())
        if ids != self._asked_for or self._clock() >= self._until:
            self._by_kernel = await self._ask_sessions()
            self._asked_for, self._until = ids, self._clock() + SESSIONS_S
        found: dict[int, KernelFact] = {}
        for kernel_id in ids:
            with suppress(KeyError):  # it has just been shut down
                kernel = self._kernels.get_kernel(kernel_id)
                pid = process_of(kernel)
                if pid is not None:
                    found[pid] = self._fact(kernel_id, kernel)
        return found

    def _fact(self, kernel_id: str, kernel: Any) -> KernelFact:
        session = self._by_kernel.get(kernel_id, {})
        active = getattr(kernel, "last_activity", None)
        return KernelFact(
            id=kernel_id,
            path=str(session.get("path") or ""),
            name=str(session.get("name") or getattr(kernel, "kernel_name", "") or ""),
            type=str(session.get("type") or ""),
            state=str(getattr(kernel, "execution_state", "") or "unknown"),
            last_activity=active.isoformat() if active is not None else "",
        )

    async def _ask_sessions(self) -> Mapping[str, Mapping[str, Any]]:
        try:
            sessions = await self._sessions.list_sessions()
        except Exception:  # noqa: BLE001 - a kernel that ends meanwhile makes it fail in ways of its own
            return self._by_kernel
        return {one["kernel"]["id"]: one for one in sessions if one.get("kernel")}


def process_of(kernel: Any) -> int | None:
    """Return the number of a kernel's process, None where its provisioner has none on this computer."""
    pid = getattr(getattr(kernel, "provisioner", None), "pid", None)
    return pid if isinstance(pid, int) and pid > 0 else None
