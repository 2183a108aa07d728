"""What would help in a run: `memtrack.advise`."""

from __future__ import annotations

from collections.abc import Callable

from memtrack.api import Recording
from memtrack.recording import RecordingData
from memtrack.reports.advice import Remedies, advice_of
from memtrack.reports.bounded import LIMIT_BYTES


def advise(
    recording: Recording | RecordingData,
    budget: int | str | None = None,
    *,
    gpus: int = 8,
    language: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Remedies:
    """Return what would help in a run, ranked by the bytes saved at the new peak: a list of remedies.

    `recording` is one that was measured, opened or predicted; of a prediction that can be made again
    the remedies are predicted too, and of others simulated on its events. `budget` is the memory to fit
    into, in bytes or as `"24GiB"`: the mildest set that fits is then among `combinations`. Sharding is
    weighed for `gpus` GPUs.

        found = memtrack.advise(recording, "24GiB")
        found[0].title, found[0].saving_bytes, found[0].peak
        found.combinations[0].ids
    """
    shown = getattr(recording, "_presentation", None)
    found = advice_of(recording, budget, gpus=gpus, progress=progress)
    limit = LIMIT_BYTES if shown is None else shown.payload_limit
    spoken = language or ("" if shown is None else shown.language)
    data = recording if isinstance(recording, RecordingData) else recording.data
    return Remedies(found, data, spoken, limit)
