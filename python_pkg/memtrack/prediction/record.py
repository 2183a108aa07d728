"""The recorder of a real run, on the stage: what a predicted program does becomes a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from memtrack.allocator.settings import Settings
from memtrack.capture.guard import Guard
from memtrack.capture.observer import Observer
from memtrack.capture.recorder import Recorder
from memtrack.prediction.accounts import PredictedBlocks
from memtrack.prediction.kernels.context import Effects
from memtrack.recording.builder import RecordingBuilder
from memtrack.recording.categories import ReadingKind
from memtrack.recording.data import Facts, RecordingData
from memtrack.recording.tables import Table

MAX_EVENTS = 4_000_000
"""A prediction is ended by its steps, not by its events; so many are 600 MB of columns."""


class StagedGuard(Guard):
    """The border to the predicted program: torch functions are off inside, and errors are ours to raise."""

    def around(self, callback: Callable[..., Any], otherwise: Any = None) -> Callable[..., Any]:
        """Return `callback` as the predicted program may call it."""

        def guarded(*args: Any) -> Any:
            if self.is_shut:
                return otherwise
            with torch._C.DisableTorchFunction():
                return callback(*args)

        return guarded

    def give_up(self, error: Exception) -> None:
        """Raise the error: half a prediction is none."""
        raise error


class StagedObserver(Observer):
    """Writes down a predicted program; what an operation needs besides its outputs is declared to it."""

    blocks: PredictedBlocks

    def __init__(
        self,
        names: Callable[[str], str] | None,
        blocks: Callable[[RecordingBuilder, Any], PredictedBlocks],
    ) -> None:
        super().__init__(names, True, None, blocks)
        self._declared: list[tuple[str, Effects, torch.device]] = []

    def declare(self, op: Any, effects: Effects, device: torch.device) -> None:
        """Take what an operation needs besides its outputs, to be written down behind them."""
        if device.type == "cuda":
            self._declared.append((_name_of(op), effects, device))

    def after_operation(self, args: Any, kwargs: dict[str, Any], outputs: Any) -> None:
        """An operation has run: count what it made, then what came and went inside it."""
        super().after_operation(args, kwargs, outputs)
        if self._declared:
            declared, self._declared = self._declared, []
            call = self._op_call
            layer, stack = self.calls.layer_of(call), self.stacks.read()
            for name, effects, device in declared:
                self.blocks.declare(name, effects, device, layer, call, stack)


def _name_of(op: Any) -> str:
    """Return an operation as people know it: `cudnn_convolution` of `aten.cudnn_convolution.default`."""
    return str(op).removeprefix("aten.").partition(".")[0]


class StagedRecorder(Recorder):
    """Records a program that runs on a stage, from nothing: what exists outside is not in it."""

    _observer: StagedObserver

    def __init__(
        self,
        settings: Settings,
        gpu_name: str,
        *,
        label: str = "model",
        names: Callable[[str], str] | None = None,
    ) -> None:
        self._predicts = (settings, gpu_name)
        super().__init__(None, None, label=label, names=names, max_events=MAX_EVENTS)

    @property
    def blocks(self) -> PredictedBlocks:
        """What the predicted devices hold."""
        return self._observer.blocks

    @property
    def declare(self) -> Callable[[Any, Effects, torch.device], None]:
        """What the stage tells of operations that need memory besides their outputs."""
        return self._observer.declare

    def predicted(self, total: int, context: int, extra: dict[str, Any]) -> RecordingData:
        """Return the recording; `total` and `context` (bytes) are the GPU's and of its driver."""
        devices = self._observer.builder["devices"]
        for device, row in self.blocks.device_rows().items():
            if device.type == "cuda":
                devices.set(row, total=total, context=context)
        data = self.finish()
        segments = dict(data.segments.columns)
        segments["end"] = np.where(segments["end"] < 0, data.cuts, segments["end"])
        tables = {**data.tables, "segments": Table("segments", segments)}
        facts = replace(data.facts, extra={**data.facts.extra, **extra})
        return replace(data, facts=facts, tables=tables)

    def _history_of(self, models: list[torch.nn.Module]) -> None:
        return None

    def _make_observer(
        self, names: Callable[[str], str] | None, counts: Callable[[], tuple[int, int]] | None
    ) -> Observer:
        settings, gpu_name = self._predicts
        return StagedObserver(
            names,
            lambda builder, moments: PredictedBlocks(builder, moments, settings, gpu_name),
        )

    def _make_guard(self) -> Guard:
        return StagedGuard(self._give_up)

    def _take_in_living(self) -> None:
        """What is alive outside is not part of the prediction."""

    def _boundary(self, kind: ReadingKind) -> None:
        """No driver and no statistics are there to be read."""

    def _read(self, kind: ReadingKind) -> None:
        """No driver and no statistics are there to be read."""

    def _facts(self) -> Facts:
        facts = super()._facts()
        return replace(facts, evidence="predicted", source="allocator")
