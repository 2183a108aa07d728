"""What remedies save, by predicting the program again with each: exact where it can be changed from outside.

Only what belongs to the program itself can be changed: modules and optimizers that its `build` makes.
Where that cannot be done, or the changed program fails, the remedy is left to be simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import torch

from memtrack.allocator.replay import recorded_reserved
from memtrack.analysis.device import devices_in_order
from memtrack.analysis.totals import allocated
from memtrack.prediction import changes
from memtrack.prediction.changes import Build, Change
from memtrack.prediction.unheard import unheard
from memtrack.recording import RecordingData
from memtrack.remedies.base import Ground
from memtrack.remedies.weigh import Exact

Predict = Callable[[Build], RecordingData]
"""Predicts a program as the base was predicted, the same GPU and settings, for `enough_steps`."""
FEWEST_STEPS = 2
"""In the first an optimizer makes its state: the second is like those that follow."""


def _fixed(*some: Change) -> Callable[[RecordingData], Sequence[Change]]:
    return lambda _: some


def _checkpointed(base: RecordingData) -> Sequence[Change]:
    return (changes.checkpointed(block_paths(base)),)


VARIANTS: Mapping[str, Callable[[RecordingData], Sequence[Change]]] = MappingProxyType(
    {
        "set_to_none": _fixed(changes.zero_grad(set_to_none=True)),
        "fused_optimizer": _fixed(changes.optimizer_kernel(foreach=False, fused=True)),
        "loop_optimizer": _fixed(changes.optimizer_kernel(foreach=False, fused=False)),
        "fused_attention": _fixed(changes.attention("sdpa")),
        "bf16_autocast": _fixed(changes.autocast(torch.bfloat16)),
        "fp16_autocast": _fixed(changes.autocast(torch.float16)),
        "accumulate_gradients": _fixed(changes.accumulated(2)),
        "accumulate_gradients_4": _fixed(changes.accumulated(4)),
        "checkpoint_layers": _checkpointed,
        "adafactor": _fixed(changes.optimizer_class(torch.optim.Adafactor)),
        "sgd_momentum": _fixed(changes.optimizer_class(torch.optim.SGD, lr=0.1, momentum=0.9)),
        "bf16_weights": _fixed(changes.weights(torch.bfloat16)),
        "load_in_bf16": _fixed(changes.weights(torch.bfloat16)),
    }
)
"""Remedies that can be applied from outside, by id, in the order of harm; changes are made in it."""


def again(build: Build, predict: Predict, base: RecordingData, ids: Sequence[str]) -> Exact | None:
    """Return the peaks of a program with some remedies; None where they cannot be applied to it."""
    if not all(one in VARIANTS for one in ids):
        return None
    some = [change for one in ids for change in VARIANTS[one](base)]
    try:
        with unheard():
            data = predict(changes.varied(build, some))
    except Exception:  # noqa: BLE001 - the user's program runs in there, and may raise anything
        # The program was not written for it: the simulation says what it would save.
        return None
    return peaks_of(data)


def enough_steps(base: RecordingData) -> int:
    """Return after how many steps a run had its most bytes in use, and reserved: those that follow tell no more."""
    device = devices_in_order(base)[0]
    levels = [allocated(base, device), recorded_reserved(base, device)]
    reached = max(int(np.argmax(one)) for one in levels if one is not None)
    phases = base.phases
    row = max(int(np.searchsorted(phases["start"], reached)) - 1, 0)  # cut c follows event c - 1
    step = int(phases["step"][row]) if len(phases) else -1
    return max(step + 1, FEWEST_STEPS)


def peaks_of(data: RecordingData) -> Exact:
    """Return the most bytes in use, and reserved, on the device with the most at stake."""
    device = devices_in_order(data)[0]
    reserved = recorded_reserved(data, device)
    most = None if reserved is None else int(reserved.max())
    return Exact(int(allocated(data, device).max()), most)


def block_paths(base: RecordingData) -> list[str]:
    """Return the repeated layers as paths below their outermost module, without its label."""
    ground = Ground.of(base, devices_in_order(base)[0])
    paths = [base.string(int(base.layers["path"][row])) for row in ground.blocks]
    return [path.partition(".")[2] for path in paths]
