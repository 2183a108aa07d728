"""Where a run is: phase, layer and source line, read from the frames of Python.

In: the frames of this thread, or those of a traceback. Out: words. No frame, module or tensor is
kept. Modules are seen where torch calls them, so that no hook and no recording is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any

import torch

from memtrack.capture import torch_api
from memtrack.capture.stacks import is_machinery
from memtrack.diagnosis.diagnosis import Place
from memtrack.recording.categories import PhaseKind

MOST_MODULES = 100_000
"""Modules of one model that are looked through for a name."""
_BACKWARD = PhaseKind.BACKWARD.id


def place_here() -> Place:
    """Return where this thread is; on a thread of autograd that is the backward pass."""
    place = place_of_frames(_outermost_first(sys._getframe(1)))
    if torch_api.graph_task_id() != torch_api.NO_GRAPH_TASK:
        return Place(_BACKWARD, place.layer, site=place.site)
    return place


def place_of_traceback(
    traceback: TracebackType | None, names: Callable[[str], str] | None = None
) -> Place:
    """Return where an exception was raised; `names` maps a source file to how people know it."""
    return place_of_frames(_frames_of(traceback), names)


def place_of_frames(
    frames: Iterable[tuple[FrameType, int]], names: Callable[[str], str] | None = None
) -> Place:
    """Return the place that frames and their lines tell, the outermost first.

    The innermost of forward, backward and optimizer step counts ("": none of them); what backward
    computes once more stays backward. A layer is named from the outermost module that has it.
    """
    phase, site = "", ""
    modules: list[torch.nn.Module] = []
    for frame, line in frames:
        code = frame.f_code
        if torch_api.calls_module(code):
            modules.append(frame.f_locals["self"])
            phase = phase if phase == _BACKWARD else PhaseKind.FORWARD.id
        elif torch_api.runs_backward(code):
            phase = _BACKWARD
            modules.clear()
        elif torch_api.steps_optimizer(code):
            phase = PhaseKind.OPTIMIZER.id
            modules.clear()
        elif not is_machinery(code.co_filename):
            file = names(code.co_filename) if names else code.co_filename
            site = f"{file}:{line}"
    return Place(phase, _path_of(modules), site=site)


def _path_of(modules: list[torch.nn.Module]) -> str:
    """Return the path of the innermost of modules that call each other, "" for none."""
    if not modules:
        return ""
    for root in modules[:-1]:
        path = path_within(root, modules[-1])
        if path:
            return path
    return type(modules[-1]).__name__


def path_within(root: torch.nn.Module, wanted: torch.nn.Module) -> str:
    """Return the path of a module below `root`, "" where it is not there.

    Only the dictionaries of modules are read: none of the user's code runs.
    """
    waiting: list[tuple[str, Any]] = [("", root)]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_MODULES:
        path, module = waiting.pop()
        if module is wanted:
            return path
        if id(module) in seen:
            continue
        seen.add(id(module))
        for name, child in (getattr(module, "__dict__", {}).get("_modules") or {}).items():
            if child is not None:
                waiting.append((f"{path}.{name}" if path else name, child))
    return ""


def owner_of(parameter: torch.Tensor) -> str:
    """Return the path of the layer that owns a parameter, below the outermost module there is.

    "" for none. Goes through all objects of the process: tens of milliseconds.
    """
    from memtrack.capture.discovery import living_modules

    modules = living_modules()
    owner = next((one for one in modules if _owns(one, parameter)), None)
    if owner is None:
        return ""
    paths = [path for root in modules if root is not owner and (path := path_within(root, owner))]
    return max(paths, key=len, default=type(owner).__name__)


def _owns(module: torch.nn.Module, parameter: torch.Tensor) -> bool:
    held = module.__dict__.get("_parameters") or {}
    return any(one is parameter for one in held.values())


def _outermost_first(frame: FrameType | None) -> list[tuple[FrameType, int]]:
    found = []
    while frame is not None:
        found.append((frame, frame.f_lineno or 0))
        frame = frame.f_back
    return found[::-1]


def _frames_of(entry: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while entry is not None:
        yield entry.tb_frame, entry.tb_lineno
        entry = entry.tb_next
