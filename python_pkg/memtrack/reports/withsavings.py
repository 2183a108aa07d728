"""A diagnosis whose advice has figures: what each would have saved in the recorded run."""

from __future__ import annotations

from dataclasses import replace

from memtrack.diagnosis.diagnosis import Diagnosis
from memtrack.recording import RecordingData

MOST_EVENTS = 60_000
"""Of a recording: half a second (`bench/advise.py`), and an explanation is wanted at once."""


def with_savings(diagnosis: Diagnosis, data: RecordingData) -> Diagnosis:
    """Return a diagnosis with what its advice would save in a recording of the run that failed.

    Figures that the evidence of the failure gave are kept. A long recording is not simulated.
    """
    lacking = {one.id for one in diagnosis.advice if one.saving_bytes is None}
    if not lacking or not diagnosis.device_memory or data.cuts > MOST_EVENTS:
        return diagnosis
    from memtrack.remedies import savings

    known = savings(data, lacking)
    filled = [
        replace(one, saving_bytes=known[one.id]) if one.id in known else one
        for one in diagnosis.advice
    ]
    return replace(diagnosis, advice=filled)
