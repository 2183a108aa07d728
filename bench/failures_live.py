"""Failures provoked on a GPU in a real IPython shell: what is said, how soon, at what cost.

    python bench/failures_live.py [--out bench/results/failures-live.json] [--only SUBSTRING]
                                  [--at-once N]

Each runs in a process of its own with `%load_ext memtrack` and an allocator history of 100,000
entries, one after the other, as a user has it (`--at-once 4`: four, for a machine under load). Told
are: the cause named first against the truth, the phase, the seconds from the traceback's being shown
to the explanation's, those from the exception's reaching the shell (IPython writes the traceback in
between), what explaining has allocated on the GPU (bytes; it must be none), and for those of training
what `%memtrack free` gives back (`giving_back.py`). Exit code 1: a wrong first cause, an explanation
after more than a second, memory allocated, or too little given back.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from failing_cells import CASES, HEAD, PHASES, Failing
from giving_back import Levels, given_back, is_enough

HISTORY = 100_000
"""Entries of the allocator's history when the cell fails."""
_FILL = f"""
torch.cuda.memory._record_memory_history(max_entries={HISTORY}, stacks="python")
for _ in range({HISTORY // 2}): torch.empty(256, device="cuda")
torch.cuda.empty_cache()
"""
_MARK = "RESULT "
MOST_SECONDS = 1.0
"""From the traceback to the explanation."""
FILLS_THE_DEVICE = "other_process"


def main() -> int:
    """Run every failure, print a line each and write the figures; 1 if a first cause is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("bench/results/failures-live.json"))
    parser.add_argument("--only", default="")
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(_MARK + json.dumps(explained(options.one, (CASES | PHASES)[options.one])))
        return 0
    import torch

    if not torch.cuda.is_available():
        sys.exit("bench/failures_live.py needs a CUDA GPU: there is none here.")
    names = [name for name in CASES | PHASES if options.only in name]
    alone = [name for name in names if name == FILLS_THE_DEVICE]
    with ThreadPoolExecutor(options.at_once) as pool:
        found = list(pool.map(in_own_process, (name for name in names if name not in alone)))
    found += map(in_own_process, alone)
    versions = {"torch": torch.__version__, "python": platform.python_version()}
    machine = {**versions, "gpu": torch.cuda.get_device_name(), "history_entries": HISTORY}
    machine["at_once"] = options.at_once
    options.out.write_text(json.dumps({**machine, "failures": found}, indent=1) + "\n")
    return verdict(found)


def verdict(found: list[dict[str, Any]]) -> int:
    """Print how many were named first, in time, for free and given back; 1 where one was not."""
    laws = {
        "named first": lambda one: one.get("right"),
        f"within {MOST_SECONDS:g} s": lambda one: one.get("seconds", 9.0) <= MOST_SECONDS,
        "without GPU memory": lambda one: one.get("bytes") == 0,
        "given back or named": lambda one: "back" not in one or is_enough(one["back"]),
    }
    kept = True
    for law, holds in laws.items():
        broken = [one["name"] for one in found if not holds(one)]
        kept = kept and not broken
        print(f"{law}: {len(found) - len(broken)} of {len(found)}{': not ' * bool(broken)}", end="")
        print(", ".join(broken))
    return int(not kept)


def in_own_process(name: str) -> dict[str, Any]:
    """Return what a fresh process says of one failure."""
    command = [sys.executable, __file__, "--one", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    for line in done.stdout.splitlines():
        if line.startswith(_MARK):
            one: dict[str, Any] = json.loads(line[len(_MARK) :])
            print(summary(one), flush=True)
            return one
    last = (done.stderr.strip().splitlines() or ["?"])[-1]
    print(f"{name:22} no result: {last}", flush=True)
    return {"name": name, "error": last[:300]}


def summary(one: dict[str, Any]) -> str:
    """Return one failure as a line."""
    right = "right" if one["right"] else "WRONG"
    back = one.get("back")
    said_back = "" if back is None else f"  back {back['share']:.1%}"
    if back is not None and back["left"] > 0:
        said_back += f", {back['left']} B stay{' named' if back['named'] else ' NOT named'}"
    said = f"{one['first'] or '-'} {one['confidence']:.2f} in {one['phase'] or '-'} {one['layer']}"
    return f"{one['name']:22}{right:6}{said:52}{one['seconds']:.3f} s  {one['bytes']} B{said_back}"


class Shell:
    """A real IPython shell that notes when each explanation was shown."""

    def __init__(self) -> None:
        from IPython.core.displaypub import CapturingDisplayPublisher
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        self.shell = InteractiveShell(config=config)
        self.shell.display_pub = CapturingDisplayPublisher(parent=self.shell)
        self.shell.display_pub.outputs = []
        self.shell.run_cell("%load_ext memtrack")

    def run(self, cell: str) -> Any:
        """Run a cell and return its result."""
        return self.shell.run_cell(cell, store_history=True)

    def texts(self, cell: str) -> list[str]:
        """Run a cell and return what it has shown as text."""
        before = len(self.shell.display_pub.outputs)
        assert self.run(cell).success, cell
        shown = self.shell.display_pub.outputs[before:]
        return [one["data"]["text/plain"] for one in shown if "text/plain" in one["data"]]

    def payload(self) -> dict[str, Any]:
        """Return the explanation that the cells so far have shown last, empty without one."""
        from memtrack.reports.diagnosispayload import MIME_TYPE

        shown = [one["data"] for one in self.shell.display_pub.outputs if MIME_TYPE in one["data"]]
        return dict(shown[-1][MIME_TYPE]) if shown else {}


def explained(name: str, case: Failing) -> dict[str, Any]:
    """Return what memtrack says of one failure in this process."""
    import torch

    shell = Shell()
    on_device = case.kind == "cuda_oom"
    for cell in (HEAD, case.setup, _FILL if on_device else ""):
        assert shell.run(cell).success, cell
    before = Levels(torch)
    watch = Moment(torch, shell.shell)
    assert not shell.run(case.fails).success
    payload = shell.payload()
    allocated = watch.allocated_since() if on_device else 0
    back = {}
    if name in PHASES:
        back = {"back": given_back(torch, shell, before, Levels(torch))}
    causes, place = payload.get("causes", []), payload.get("place") or {}
    return {
        "name": name,
        "truth": case.cause,
        "right": bool(causes) and causes[0]["id"] in (case.cause, case.or_else),
        "kind": payload.get("kind", ""),
        "first": causes[0]["id"] if causes else "",
        "confidence": causes[0]["confidence"] if causes else 0.0,
        "causes": [[one["id"], one["confidence"]] for one in causes],
        "headline": (payload.get("headline") or {}).get("en", ""),
        "phase": place.get("phase", ""),
        "expected_phase": case.phase,
        "layer": place.get("layer", ""),
        "seconds": round(watch.explained_at - watch.shown_at, 4),
        "seconds_with_traceback": round(watch.explained_at - watch.failed_at, 4),
        "bytes": allocated,
        **back,
    }


class Moment:
    """When the traceback and the explanation were shown, and what had been allocated before."""

    def __init__(self, torch: Any, shell: Any) -> None:
        self._torch = torch
        self.failed_at = self.shown_at = self.explained_at = 0.0
        self._before: tuple[int, int] = (0, 0)
        show = shell.showtraceback

        def noting(*arguments: Any, **options: Any) -> Any:
            self.failed_at = time.perf_counter()
            self._before = self._counted()
            try:
                return show(*arguments, **options)
            finally:
                self.shown_at = time.perf_counter()

        publish = shell.display_pub.publish

        def publishing(*arguments: Any, **options: Any) -> Any:
            found = publish(*arguments, **options)
            if self.shown_at and not self.explained_at:
                self.explained_at = time.perf_counter()
            return found

        shell.showtraceback = noting
        shell.display_pub.publish = publishing

    def _counted(self) -> tuple[int, int]:
        try:
            statistics = self._torch.cuda.memory_stats()
        except RuntimeError:
            return (0, 0)
        return (
            int(statistics.get("allocated_bytes.all.allocated", 0)),
            int(statistics.get("allocation.all.allocated", 0)),
        )

    def allocated_since(self) -> int:
        """Return the bytes allocated on the GPU since the cell failed."""
        return self._counted()[0] - self._before[0]


if __name__ == "__main__":
    sys.exit(main())
