"""Whether a predicted run fits a GPU: the recorded events, replayed on a device of its size.

The allocator gives its cache back when the device is full, so that a run may fit a device that is
smaller than what it would reserve; only a replay tells.
"""

from __future__ import annotations

from memtrack.allocator.replay import replay
from memtrack.allocator.settings import Settings
from memtrack.analysis.predicted import CLOSE, FITS, TOO_LARGE, Shortage
from memtrack.recording import PhaseKind, RecordingData


def verdict_of(
    data: RecordingData,
    device: int,
    settings: Settings,
    capacity: int,
    context: tuple[int, int],
    apart: int,
) -> tuple[str, Shortage | None]:
    """Return `fits`, `too_large` or `close`, and where the allocator ran out if it did.

    `capacity` is the GPU's, `context` what the process needs beside the allocator, `apart` how far
    the prediction may be off: all in bytes.
    """
    pessimistic = _shortage(data, device, settings, capacity - context[1] - apart)
    if pessimistic is None:
        return FITS, None
    optimistic = _shortage(data, device, settings, capacity - context[0] + apart)
    if optimistic is None:
        return CLOSE, pessimistic
    return TOO_LARGE, optimistic


def _shortage(data: RecordingData, device: int, settings: Settings, room: int) -> Shortage | None:
    """Return where a device with `room` bytes for the allocator runs out, None where it does not."""
    found = replay(data, device, settings, max(room, 0))
    if found.failed < 0:
        return None
    event = found.failed
    row = int(data.events["allocation"][event])
    phase, layer = (int(data.allocations[name][row]) for name in ("phase", "layer"))
    kind = PhaseKind.OTHER if phase < 0 else PhaseKind(int(data.phases["kind"][phase]))
    step = 1 if phase < 0 else int(data.phases["step"][phase]) + 1
    path = "" if layer < 0 else data.string(int(data.layers["path"][layer]))
    return Shortage(kind.id, path, step, int(data.allocations["requested"][row]), event)
