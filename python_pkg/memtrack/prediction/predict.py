"""A program run without data, as if on CUDA: its recording, with totals, a verdict and assumptions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from memtrack.allocator.replay import recorded_reserved
from memtrack.allocator.settings import Settings
from memtrack.analysis.predicted import KEY, UNASKED, Assumed, Predicted, assumed
from memtrack.analysis.totals import allocated
from memtrack.capture.recorder import aside
from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.prediction.kernels.table import CudaKernels
from memtrack.prediction.overheads import context_bytes, process_bytes
from memtrack.prediction.record import StagedRecorder
from memtrack.prediction.stage.stage import Stage
from memtrack.prediction.target import Target, target_of
from memtrack.prediction.verdict import verdict_of
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
    with aside(), Stage(target, CudaKernels()) as stage:
        _run(build, count, stage, recorder, torch.device(device), tell)
        assumptions = [assumed(a.operation, a.site, a.assumed) for a in stage.assumptions]
        unmodelled = recorder.blocks.unmodelled
        low, high = context_bytes(target)
        extra = {"allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": allocator_conf or ""}}
        data = recorder.predicted(target.total, (low + high) // 2, extra)
    return _with_facts(data, target, settings, assumptions, unmodelled, count)


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


def _with_facts(
    data: RecordingData,
    target: Target,
    settings: Settings,
    assumptions: list[Assumed],
    unmodelled: dict[str, int],
    calls: int,
) -> RecordingData:
    """Return the recording with what the prediction says besides."""
    row = next(
        (n for n, kind in enumerate(data.devices["kind"]) if data.string(int(kind)) == "cuda"), 0
    )
    reserved = recorded_reserved(data, row)
    held = 0 if reserved is None else int(reserved.max())
    uncertain = max(unmodelled.values(), default=0)
    context = context_bytes(target)
    low, high = process_bytes(target, held, uncertain, _sizes_assumed(assumptions))
    verdict, shortage = UNASKED, None
    if target.capacity > 0:
        apart = (high - context[1]) - held
        verdict, shortage = verdict_of(data, row, settings, target.capacity, context, apart)
    told = Predicted(
        gpu=target.name,
        capacity=target.capacity,
        verdict=verdict,
        peak_allocated=int(allocated(data, row).max()),
        peak_reserved=held,
        process=(low, high),
        context=context,
        uncertain=uncertain,
        assumptions=assumptions,
        shortage=shortage,
        calls=calls,
        named=target.named,
        kernels=target.kernels,
        unmodelled=sorted(unmodelled, key=lambda name: -unmodelled[name]),
    )
    extra = {**data.facts.extra, KEY: told.to_json()}
    return replace(data, facts=replace(data.facts, extra=extra))


def _sizes_assumed(assumptions: list[Assumed]) -> int:
    """Return how many assumptions are of sizes: a single value that is read decides none."""
    read = (".item()", "bool()", ".tolist()", "float()", "int()")
    return sum(not any(word in one.operation for word in read) for one in assumptions)


def _checked(build: Any, steps: Any, device: str) -> int:
    if not callable(build):
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
