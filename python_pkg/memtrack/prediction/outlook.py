"""What a predicted recording says of the GPU: totals with an interval, whether it fits, on what doubts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memtrack.allocator.replay import recorded_reserved
from memtrack.allocator.settings import Settings
from memtrack.analysis.predicted import KEY, UNASKED, Assumed, Predicted
from memtrack.analysis.totals import allocated
from memtrack.prediction.accounts import PredictedBlocks
from memtrack.prediction.overheads import Doubts, process_bytes
from memtrack.prediction.target import Target
from memtrack.prediction.verdict import verdict_of
from memtrack.recording import RecordingData

_SIZED = ("nonzero", "masked_select", "index_put", "unique", "bincount")
"""Operations whose results are as large as values say (`stage/shapes.py`): others assume only values."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is known beside the recording; `context` is in bytes, `calls` counts steps."""

    target: Target
    settings: Settings
    context: tuple[int, int]
    assumptions: Sequence[Assumed]
    calls: int


def with_outlook(data: RecordingData, blocks: PredictedBlocks, known: Outlook) -> RecordingData:
    """Return a recording with what the prediction says besides, as `analysis/predicted.py` reads it."""
    target, context = known.target, known.context
    kinds = [data.string(int(kind)) for kind in data.devices["kind"]]
    row = kinds.index("cuda")
    reserved = recorded_reserved(data, row)
    held = 0 if reserved is None else int(reserved.max())
    apart = doubts_of(blocks, known).apart(held)
    verdict, shortage = UNASKED, None
    if target.capacity > 0:
        verdict, shortage = verdict_of(data, row, known.settings, target.capacity, context, apart)
    told = Predicted(
        gpu=target.name,
        capacity=target.capacity,
        verdict=verdict,
        peak_allocated=int(allocated(data, row).max()),
        peak_reserved=held,
        process=process_bytes(context, held, apart),
        context=context,
        uncertain=blocks.uncertain,
        assumptions=known.assumptions,
        shortage=shortage,
        calls=known.calls,
        named=target.named,
        kernels=target.kernels,
        unmodelled=blocks.uncertain_names,
    )
    extra = {**data.facts.extra, KEY: told.to_json()}
    return replace(data, facts=replace(data.facts, extra=extra))


def doubts_of(blocks: PredictedBlocks, known: Outlook) -> Doubts:
    """Return why a prediction may be off."""
    return Doubts(
        largest=blocks.uncertain,
        together=sum(blocks.unmodelled.values()),
        sizes=any(one.operation.rpartition(".")[2] in _SIZED for one in known.assumptions),
        foreign=known.target.named and not known.target.is_known,
    )
