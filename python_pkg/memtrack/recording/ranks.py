"""Which of several processes of one run a recording is of: a fact of it, under `rank` of its extras."""

from __future__ import annotations

import dataclasses

from memtrack.rankfacts import RankFacts, rank_from_json
from memtrack.recording.data import RecordingData

KEY = "rank"


def rank_of(data: RecordingData) -> RankFacts | None:
    """Return which process a recording is of, None for the only one."""
    return rank_from_json(data.facts.extra.get(KEY))


def with_rank(data: RecordingData, rank: RankFacts) -> RecordingData:
    """Return the recording with the fact of which process it is of."""
    extra = {**data.facts.extra, KEY: rank.to_json()}
    return dataclasses.replace(data, facts=dataclasses.replace(data.facts, extra=extra))
