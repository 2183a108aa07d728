"""What a search found, as holdings: a name, its bytes, how it leads there, who else does."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from memtrack.capture.holders.chains import path_of
from memtrack.capture.holders.levels import REQUESTED, level_of, statistics_of
from memtrack.capture.holders.search import LIMIT_S, nameless, search
from memtrack.capture.holders.sharing import Sharing, by_storage
from memtrack.capture.holders.storages import Found
from memtrack.capture.holders.walk import Walk
from memtrack.diagnosis.holdings import (
    EXCEPTION,
    LAST_ERROR,
    NOBODY,
    OUTPUT,
    UNKNOWN,
    VARIABLE,
    Chain,
    Holding,
    Holdings,
)

CHAINS = 3
"""How many chains are spelled out for a name: those to its largest storages."""
ALSO = 4
_ONE = (EXCEPTION, OUTPUT)
"""Kinds of which one thing has several names."""


@dataclass(slots=True)
class _Group:
    """The storages that are nearest to one root: (bytes, object they were seen through)."""

    storages: list[tuple[int, int]] = field(default_factory=list)
    others: Counter[tuple[str, str]] = field(default_factory=Counter)


def holdings(shell: Any, device: torch.device, limit_s: float = LIMIT_S) -> Holdings:
    """Return who keeps the memory of one device alive: see `holdings_on`."""
    return holdings_on(shell, [device], limit_s)[0]


def holdings_on(
    shell: Any, devices: Sequence[torch.device], limit_s: float = LIMIT_S
) -> list[Holdings]:
    """Return who keeps the memory of each device alive, by one search of at most `limit_s` seconds.

    Nothing that was found is referenced after.
    """
    with search(shell, devices, limit_s) as walk:
        sharing = Sharing(walk)
        lost, kinds = nameless(walk, devices)
        return [
            _accounted(
                device,
                [*_named(walk, sharing, device), *_nameless(lost, kinds, device)],
                len(walk.objects),
                walk.cut_short,
            )
            for device in devices
        ]


def _named(walk: Walk, sharing: Sharing, device: torch.device) -> list[Holding]:
    """Return the holdings on a device that have a name."""
    sizes = {held.found.key: held.found.bytes for held in walk.held}
    groups: dict[tuple[int, bool], _Group] = defaultdict(_Group)
    for key, numbers in by_storage(walk, device).items():
        nearest = numbers[0]
        root, in_graph = _root_of(walk, nearest)
        group = groups[root, in_graph]
        group.storages.append((sizes[key], nearest))
        for other in _others(walk, sharing.roots_of(numbers), root):
            group.others[other] += sizes[key]
    return [_holding(walk, *key, group) for key, group in groups.items()]


def _others(walk: Walk, found: Sequence[int], root: int) -> Iterable[tuple[str, str]]:
    """Return kind and name of other roots. The many slots of the last error count as one."""
    own = walk.roots[root]
    return dict.fromkeys(
        (other.kind, LAST_ERROR if other.kind == EXCEPTION else other.name)
        for other in (walk.roots[place] for place in sorted(found))
        if other.name != own.name and not (own.kind == other.kind and own.kind in _ONE)
    )


def _holding(walk: Walk, root: int, in_graph: bool, group: _Group) -> Holding:
    largest = sorted(group.storages, reverse=True)
    paths: Counter[str] = Counter()
    for size, number in largest[:CHAINS]:
        paths[path_of(walk, number)] += size
    chains = [Chain(path, size) for path, size in paths.most_common()]
    also = [other for other, _ in group.others.most_common()]
    return Holding(
        kind=walk.roots[root].kind,
        name=walk.roots[root].name,
        bytes=sum(size for size, _ in largest),
        tensors=len(largest),
        chains=chains,
        also=[name for _, name in also[:ALSO]],
        variables=[name for kind, name in also if kind == VARIABLE],
        in_graph=in_graph,
    )


def _root_of(walk: Walk, number: int) -> tuple[int, bool]:
    """Return the root that an object is nearest to, and whether only a graph leads there."""
    stage = next(place for place, end in enumerate(walk.stage_ends) if number < end)
    in_graph = number >= walk.first_in_graphs[stage]
    while number >= 0:
        number = walk.parents[number]
    return -number - 1, in_graph


def _nameless(lost: Sequence[Found], kinds: str, device: torch.device) -> list[Holding]:
    sizes = [one.bytes for one in lost if one.device == device]
    return [Holding(NOBODY, kinds, sum(sizes), len(sizes))] if sizes else []


def _accounted(
    device: torch.device, found: Sequence[Holding], objects: int, cut_short: bool
) -> Holdings:
    """Return the holdings with what the allocator has given out besides, so that all sums to it."""
    found = sorted(found, key=lambda one: -one.bytes)
    level, seen = level_of(device), sum(one.bytes for one in found)
    native = rounding = UNKNOWN
    foreign = 0
    if level.allocated >= 0:
        requested = statistics_of(device).get(REQUESTED, 0) or level.allocated
        native = max(0, requested - seen)
        rounding = max(0, level.allocated - max(requested, seen))
        foreign = max(0, seen - level.allocated)
    name = "cpu" if device.type == "cpu" else str(device)
    return Holdings(name, level, found, native, rounding, foreign, objects, cut_short)
