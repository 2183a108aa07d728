"""Which checks the evidence has answered, and which advice it shows to be of no use."""

from __future__ import annotations

from memtrack.diagnosis.evidence.situation import Situation

ENOUGH_PASSES = 3
"""So many steps or passes show whether memory grows with each."""


def settled(now: Situation) -> frozenset[str]:
    """Return ids of checks and advice (`diagnosis/advice/`) that nobody has to try any more."""
    found = set()
    if now.served is not None:
        found.add("largest_block")
    if now.passes.count >= ENOUGH_PASSES:
        found.add("grows_each_step")
    if len(now.data.layers) > 1:
        found.add("where_at_the_peak")
    if any(one.command for one in now.facts.processes):
        found.add("who_is_there")
    if now.expandable is not None and now.expandable.fits is False:
        found.add("expandable_segments")
    return frozenset(found)
