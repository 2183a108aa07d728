"""A program run without data, as if on CUDA: its recording, with totals, a verdict and assumptions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import torch

from memtrack.allocator.settings import Settings
from memtrack.analysis.predicted import assumed
from memtrack.capture.recorder import aside
from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.prediction.kernels.table import CudaKernels
from memtrack.prediction.outlook import Outlook, with_outlook
from memtrack.prediction.overheads import context_bytes
from memtrack.prediction.record import StagedRecorder
from memtrack.prediction.stage.assumptions import calling_files
from memtrack.prediction.stage.stage import Stage
from memtrack.prediction.target import target_of
from memtrack.recording import RecordingData

Build = Callable[[], Callable[[], Any]]
Progress = Callable[[int, int], None]
MOST_STEPS = 1000


def predict(
    build: Build,
    *,
    steps: int = 3,
    device: str = "cuda:0",
    capacity: int | str | None = None,
    allocator_conf: str | None = None,
    gpu: str | int | None = None,
    progress: Progress | None = None,
    names: Callable[[str], str] | None = None,
) -> RecordingData:
    """Return the recording of `build()` and `steps` calls of what it returns, without a GPU.

    `gpu` and `capacity` are as `target_of` takes them.
    `progress(done, count)` is told as building and each step end. What the program raises, it raises.
    """
    count = _checked(build, steps, device)
    target = target_of(gpu, capacity)
    settings = Settings.parse(allocator_conf or "")
    if allocator_conf and settings.backend != "native":
        raise UsageError(
            text("Only PyTorch's own allocator is modelled, not {name}.", name=settings.backend)
        )
    recorder = StagedRecorder(settings, target.shown, label=_label_of(build), names=names)
    tell = progress or _silent
    with aside(), calling_files(names), Stage(target, CudaKernels()) as stage:
        _run(build, count, stage, recorder, torch.device(device), tell)
        assumptions = [assumed(a.operation, a.site, a.assumed) for a in stage.assumptions]
        context = context_bytes(target, recorder.blocks.multiplies)
        extra = {"allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": allocator_conf or ""}}
        data = recorder.predicted(target.total, sum(context) // 2, extra)
    outlook = Outlook(target, settings, context, assumptions, count)
    return with_outlook(data, recorder.blocks, outlook)


def _run(
    build: Build,
    steps: int,
    stage: Stage,
    recorder: StagedRecorder,
    device: torch.device,
    tell: Progress,
) -> None:
    """Run the program on the stage, recorded; whatever it raises passes, with every hook taken off."""
    stage.on_effects(recorder.declare)
    stage.count_memory(recorder.blocks.book(device))
    recorder.attach()
    recorder.enter()
    try:
        step: Any = build()
        if not callable(step) or isinstance(step, torch.nn.Module):
            kind = type(step).__name__
            raise UsageError(
                text("build must return a function that does one step, not {kind}.", kind=kind)
            )
        tell(1, steps + 1)
        for done in range(steps):
            step()
            tell(done + 2, steps + 1)
    except BaseException:
        recorder.detach()
        raise
    recorder.leave()


def _checked(build: Any, steps: Any, device: str) -> int:
    # A model can be called too, and what that gives would be taken for a mistake of the user's code.
    if not callable(build) or isinstance(build, torch.nn.Module):
        kind = type(build).__name__
        raise UsageError(
            text("predict takes a function that builds the program, not {kind}.", kind=kind),
            text("It makes model, optimizer and batch, and returns a function for one step."),
        )
    wanted = _wanted_by(build)
    if wanted:
        raise UsageError(
            text(
                "predict calls {name}() without arguments, but it wants {wanted}.",
                name=_label_of(build),
                wanted=", ".join(wanted),
            ),
            text(
                "Give it: lambda: {name}(32) in Python, {name}(32) on the command line.",
                name=_label_of(build),
            ),
        )
    if not isinstance(steps, int) or isinstance(steps, bool) or not 1 <= steps <= MOST_STEPS:
        raise UsageError(
            text(
                "steps is a whole number from 1 to {most}, not {value}.",
                most=MOST_STEPS,
                value=repr(steps),
            )
        )
    if not re.fullmatch(r"cuda(:\d+)?", str(device)):
        raise UsageError(text("Only CUDA devices are predicted, not '{device}'.", device=device))
    return steps


def _wanted_by(build: Callable[..., Any]) -> list[str]:
    """Return the parameters that a function cannot be called without; of one that hides them none."""
    try:
        parameters = inspect.signature(build).parameters.values()
    except (TypeError, ValueError):
        return []
    given = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in given]


def _label_of(build: Any) -> str:
    name = getattr(getattr(build, "func", build), "__name__", "")
    return name if name and name.isidentifier() else "model"


def _silent(done: int, count: int) -> None:
    """Nobody watches."""
