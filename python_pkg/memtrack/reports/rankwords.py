"""Sentences about several ranks."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.analysis.ranks import Imbalance, Share
from memtrack.i18n import Text, text
from memtrack.reports.words import literal, part_name
from memtrack.units import format_bytes

ALIKE = 1.01
"""Up to this ratio of the highest peak to the mean ranks count as alike."""
SHOWN_RANKS = 12


def headline(found: Imbalance | None, fullest: int | None, count: int) -> Text:
    """Return the first line: how high and how unequal the peaks of `count` ranks are."""
    if found is None or fullest is None:
        return text("No rank saw memory on any device")
    if count == 1:
        return text("Rank {rank} peaks at {size}", rank=fullest, size=format_bytes(found.most))
    if found.ratio < ALIKE:
        return text(
            "{count} ranks peak alike, at {size}", count=count, size=format_bytes(found.most)
        )
    return text(
        "Rank {rank} peaks at {size}, {ratio} × the mean of {count} ranks ({mean})",
        rank=fullest,
        size=format_bytes(found.most),
        ratio=f"{found.ratio:.2f}",
        count=count,
        mean=format_bytes(round(found.mean)),
    )


def reasons(found: Imbalance, fullest: int) -> list[Text]:
    """Return what makes the fullest rank fuller than the mean: a category and a layer."""
    if found.ratio < ALIKE:
        return []
    surplus = format_bytes(round(found.most - found.mean))
    told = []
    category = _largest(found.categories)
    if category is not None:
        told.append(
            text(
                "Of the {surplus} above the mean, {size} are {part}: {most} there, {mean} on average",
                part=part_name(category.name),
                size=format_bytes(category.difference),
                surplus=surplus,
                most=format_bytes(category.bytes[found.fullest]),
                mean=_mean(category),
            )
        )
    layer = _largest(found.layers)
    if layer is not None:
        where = literal(layer.name) if layer.name else text("what lies outside the layers")
        told.append(
            text(
                "By layer most of it is {layer}: {most} on rank {rank}, {mean} on average",
                layer=where,
                most=format_bytes(layer.bytes[found.fullest]),
                rank=fullest,
                mean=_mean(layer),
            )
        )
    return told


def said_of_ranks(ranks: Sequence[tuple[int, str, int]], missing: Sequence[int]) -> list[Text]:
    """Return which ranks have no recording and which did not end well; of each (rank, state, steps)."""
    told = []
    if missing:
        told.append(text("No recording of: {ranks}", ranks=_named(missing)))
    failed = [rank for rank, state, _ in ranks if state == "failed"]
    if failed:
        told.append(text("Ended with an error: {ranks}", ranks=_named(failed)))
    stopped = [rank for rank, state, _ in ranks if state == "interrupted"]
    if stopped:
        told.append(text("Ended by a signal: {ranks}", ranks=_named(stopped)))
    for rank, state, steps in ranks:
        if state == "recording":
            told.append(
                text(
                    "Rank {rank} left no end: it was killed or still runs. Recorded until step {steps}",
                    rank=rank,
                    steps=steps,
                )
            )
    return told


def _named(ranks: Sequence[int]) -> Text:
    listed = ", ".join(map(str, ranks[:SHOWN_RANKS]))
    if len(ranks) > SHOWN_RANKS:
        return text(
            "ranks {listed} and {count} more", listed=listed, count=len(ranks) - SHOWN_RANKS
        )
    if len(ranks) == 1:
        return text("rank {rank}", rank=ranks[0])
    return text("ranks {listed}", listed=listed)


def _largest(shares: Sequence[Share]) -> Share | None:
    return max((s for s in shares if s.difference > 0), key=lambda s: s.difference, default=None)


def _mean(share: Share) -> str:
    return format_bytes(round(sum(share.bytes) / len(share.bytes)))
