"""The kernel half of the side panel: what this kernel holds, told to the pages that watch.

A page opens a comm of target `memtrack.usage`; when this is loaded, one that is opened and closed
at once tells the pages that they may. Figures are sent when they have changed and not otherwise: Jupyter
takes every message for activity, and a kernel that does nothing must look so to whoever culls idle
ones. A thread reads them while somebody watches, and ends when nobody does.
"""

from __future__ import annotations

import atexit
import math
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from memtrack.i18n import Text, in_every_language, text
from memtrack.notebook.giveback import free_now
from memtrack.notebook.runningcell import RunningCell

TARGET = "memtrack.usage"
SCHEMA = "memtrack.usage/1"
FASTEST_MS, USUAL_MS, SLOWEST_MS = 250, 1000, 60_000
MOST_PAGES = 8
"""Pages that are told: one that went without a word is forgotten when so many others have come."""

Read = Callable[[], Sequence[Mapping[str, Any]]]


class _Page:
    """A page that has opened a comm."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.interval_ms = USUAL_MS
        self.watching = True
        self.told: Any = None


class UsageTarget:
    """Answers the pages of a shell's kernel from `begin` to `end`. `read` gives the figures."""

    def __init__(self, shell: Any, language: Callable[[], str], read: Read | None = None) -> None:
        self._shell = shell
        self._language = language
        self._read = read or usage_now
        self._pages: list[_Page] = []
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._cell = RunningCell(shell)
        self.processor_s = 0.0
        """Seconds of a processor that the thread has used."""

    def begin(self) -> None:
        """Let pages open comms, and tell them that they may. Nothing where there is no kernel."""
        if getattr(self._shell, "kernel", None) is None:
            return
        from comm import create_comm, get_comm_manager

        get_comm_manager().register_target(TARGET, self._opened)
        self._cell.begin()
        atexit.register(self._stop)
        with suppress(Exception):  # a page that hears nothing looks for itself when it is opened
            create_comm(target_name=TARGET, data={"schema": SCHEMA, "announce": True}).close()

    def end(self) -> None:
        """Close all comms and stop reading; harmless when it never began."""
        if getattr(self._shell, "kernel", None) is None:
            return
        from comm import get_comm_manager

        with suppress(KeyError):
            get_comm_manager().unregister_target(TARGET, self._opened)
        self._cell.end()
        atexit.unregister(self._stop)
        with self._lock:
            pages, self._pages = self._pages, []
        for page in pages:
            with suppress(Exception):
                page.comm.close()
        self._stop()

    def _opened(self, comm: Any, _: Any) -> None:
        page = _Page(comm)
        comm.on_msg(lambda message: self._received(page, message))
        comm.on_close(lambda _: self._closed(page))
        with self._lock:
            self._pages.append(page)
            dropped = self._pages[:-MOST_PAGES]
            del self._pages[:-MOST_PAGES]
        for old in dropped:
            with suppress(Exception):
                old.comm.close()
        self._cell.answered()
        self._look()

    def _closed(self, page: _Page) -> None:
        with self._lock, suppress(ValueError):
            self._pages.remove(page)
        self._cell.answered()
        self._wake.set()

    def _received(self, page: _Page, message: Mapping[str, Any]) -> None:
        """Take what a page wishes; may be on the thread of a subshell."""
        wish = message["content"].get("data")
        if not isinstance(wish, dict):
            return
        interval = wish.get("interval_ms")
        if type(interval) is int or (type(interval) is float and math.isfinite(interval)):
            page.interval_ms = int(min(max(interval, FASTEST_MS), SLOWEST_MS))
        if isinstance(wish.get("watching"), bool):
            page.watching = wish["watching"]
            page.told = None
        if wish.get("free") is True:
            self._free(page)
        self._cell.answered()
        self._look()

    def _look(self) -> None:
        """Read soon, on a thread that lives while somebody watches."""
        with self._lock:
            self._wake.set()
            if self._thread is None and any(page.watching for page in self._pages):
                self._thread = threading.Thread(
                    target=self._run, name="memtrack-usage", daemon=True
                )
                self._thread.start()

    def _stop(self) -> None:
        thread = self._thread
        with self._lock:
            self._pages = []
        self._wake.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join(2.0)

    def _run(self) -> None:
        while True:
            self._wake.clear()
            with self._lock:
                pages = [page for page in self._pages if page.watching]
                if not pages:
                    self._thread = None
                    return
            began = time.thread_time()
            # Whatever happens to our figures, the user's run goes on and hears nothing of it.
            with suppress(Exception):
                self._tell(pages)
            self.processor_s += time.thread_time() - began
            self._wake.wait(min(page.interval_ms for page in pages) / 1000)

    def _tell(self, pages: Sequence[_Page]) -> None:
        devices = list(self._read())
        for page in pages:
            if page.told != devices:
                page.told = devices
                page.comm.send(
                    {"schema": SCHEMA, "pid": os.getpid(), "host": _HOST, "devices": devices}
                )

    def _free(self, page: _Page) -> None:
        if self._cell:
            self._refuse(page)
        elif threading.current_thread() is threading.main_thread():
            self._free_here(page)
        else:
            # What is let go of is the main thread's; it is idle, and takes this as its next task.
            self._shell.kernel.io_loop.add_callback(self._free_here, page)

    def _free_here(self, page: _Page) -> None:
        if self._cell:
            self._refuse(page)
            return
        page.comm.send({"freed": free_now(self._shell, self._language())})
        self._look()

    def _refuse(self, page: _Page) -> None:
        page.comm.send({"freed": None, "refused": in_every_language(_BUSY)})


_BUSY: Text = text("A cell is running here: interrupt it or wait for its end, then free memory.")
_HOST = socket.gethostname()


def usage_now() -> Sequence[Mapping[str, Any]]:
    """Return what this process holds on each device; nothing before torch is there and has begun."""
    global _reader
    torch = sys.modules.get("torch")
    if torch is None or getattr(getattr(torch, "__spec__", None), "_initializing", False):
        return []
    if _reader is None:
        from memtrack.capture.usage import UsageReader

        _reader = UsageReader()
    return [asdict(one) for one in _reader.read()]


_reader: Any = None
