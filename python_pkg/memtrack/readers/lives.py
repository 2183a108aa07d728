"""Who freed what: the allocations of a trace, paired by address, and those older than the trace.

At one address the events take turns: allocated, freed, perhaps completed later. Where a trace does
not keep to that (its writer may leave actions out), what has no counterpart is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.readers.blocks import Blocks
from memtrack.readers.held import Segments
from memtrack.readers.trace import Trace
from memtrack.recording.categories import EventKind
from memtrack.recording.tables import Array

_ALLOC, _FREE = int(EventKind.ALLOC), int(EventKind.FREE)
_COMPLETED = int(EventKind.FREE_COMPLETED)
_NOTHING = 255


@dataclass(slots=True)
class Pairs:
    """Rows of the allocations in the order they began, older ones first.

    `start` and `end` are events (-1: older than the trace; their number: alive at the end),
    `reusable` the event that completes the free. `allocation` is by event, -1 for none. `exact` has
    the bytes of those whose block is known, else -1.
    """

    allocation: Array
    start: Array
    end: Array
    reusable: Array
    address: Array
    requested: Array
    exact: Array
    stream: Array
    stack: Array


@dataclass(frozen=True, slots=True)
class Turns:
    """The events of blocks by address, then by time, each with what happens before and after it there.

    `event`, `kind`, and the kinds `before` and `after` at the same address, `_NOTHING` for none.
    """

    event: Array
    kind: Array
    before: Array
    after: Array

    @classmethod
    def of(cls, trace: Trace) -> Turns:
        """Sort the events of a trace."""
        kind = trace.kind
        event = np.flatnonzero((kind == _ALLOC) | (kind == _FREE) | (kind == _COMPLETED))
        event = event[np.argsort(trace.address[event], kind="stable")]
        address, own = trace.address[event], kind[event]
        here = address[1:] == address[:-1]
        before = np.full(len(event), _NOTHING, dtype=np.uint8)
        after = before.copy()
        before[1:][here] = own[:-1][here]
        after[:-1][here] = own[1:][here]
        return cls(event, own, before, after)

    @property
    def orphans(self) -> Array:
        """The frees of what is older than the trace, in order of time."""
        return np.sort(self.events(_FREE, before=_NOTHING))

    def events(self, kind: int, before: int | None = None, after: int | None = None) -> Array:
        """Return the events of a kind with that kind before or after them."""
        chosen = self.kind == kind
        if before is not None:
            chosen &= self.before == before
        if after is not None:
            chosen &= self.after == after
        return np.asarray(self.event[chosen])


def in_turns(trace: Trace) -> tuple[Trace, Turns]:
    """Return the trace without what has no counterpart, and its turns.

    Completions of frees that the trace leaves out are the frees. The first event is no such one: it
    completes what was freed before the trace was cut.
    """
    kind = trace.kind
    if not (kind == _FREE).any():
        trace.kind = np.where(kind == _COMPLETED, _FREE, kind).astype(np.uint8)
        trace.kind[:1] = kind[:1]
    turns = Turns.of(trace)
    frees = turns.events(_COMPLETED, before=_ALLOC)
    if len(frees):
        trace.kind = trace.kind.copy()
        trace.kind[frees] = _FREE
        return in_turns(trace)
    torn = (turns.kind == _ALLOC) & (turns.after == _ALLOC)
    torn |= (turns.kind == _FREE) & ((turns.before == _FREE) | (turns.before == _COMPLETED))
    torn |= (turns.kind == _COMPLETED) & (turns.before == _COMPLETED)
    if not torn.any():
        return trace, turns
    kept = np.ones(len(trace), dtype=bool)
    kept[turns.event[torn]] = False
    return in_turns(trace.chosen(kept))


def pair(trace: Trace, turns: Turns, final: Blocks, older: Blocks, segments: Segments) -> Pairs:
    """Return the allocations of a trace that `in_turns` has cleaned.

    `final` are the blocks at its end, `older` those at its beginning as far as they are known.
    """
    count = len(trace)
    began = np.flatnonzero(trace.kind == _ALLOC)
    orphans = turns.orphans
    alive = turns.events(_ALLOC, after=_NOTHING)
    living = np.flatnonzero(final.live & ~np.isin(final.address, trace.address[alive]))
    first = len(orphans) + len(living)
    row_of = np.full(count, -1, dtype=np.int64)
    row_of[began] = first + np.arange(len(began))
    row_of[orphans] = np.arange(len(orphans))
    _hand_on(row_of, turns, (turns.kind == _FREE) & (turns.before == _ALLOC))
    _hand_on(row_of, turns, (turns.kind == _COMPLETED) & (turns.before == _FREE))
    end = np.full(first + len(began), count, dtype=np.int64)
    frees = np.flatnonzero(trace.kind == _FREE)
    end[row_of[frees]] = frees
    pairs = Pairs(
        allocation=row_of,
        start=np.concatenate((np.full(first, -1), began)),
        end=end,
        reusable=end.copy(),
        address=np.concatenate(
            (trace.address[orphans], final.address[living], trace.address[began])
        ),
        requested=np.concatenate((trace.size[orphans], final.requested[living], trace.size[began])),
        exact=np.concatenate(
            (np.full(len(orphans), -1), final.size[living], np.full(len(began), -1))
        ),
        stream=np.concatenate((trace.stream[orphans], final.stream[living], trace.stream[began])),
        stack=np.concatenate((trace.stack[orphans], final.stack[living], trace.stack[began])),
    )
    pairs.exact[row_of[alive]] = _size_at(final, trace.address[alive])
    _recall(pairs, len(orphans), older, segments)
    completed = np.flatnonzero(trace.kind == _COMPLETED)
    completed = completed[row_of[completed] >= 0]
    pairs.reusable[row_of[completed]] = completed
    _let_wait(pairs, final, turns.events(_FREE, after=_NOTHING))
    return pairs


def _hand_on(row_of: Array, turns: Turns, chosen: Array) -> None:
    """Give events the allocation of the event before them at their address."""
    places = np.flatnonzero(chosen)
    row_of[turns.event[places]] = row_of[turns.event[places - 1]]


def _size_at(blocks: Blocks, addresses: Array) -> Array:
    rows = blocks.live_at(addresses)
    return np.where(rows >= 0, np.append(blocks.size, -1)[rows], -1)


def _recall(pairs: Pairs, orphans: int, older: Blocks, segments: Segments) -> None:
    """Fill in what is known of blocks that were there before the trace and were freed in it."""
    address = pairs.address[:orphans]
    rows = older.live_at(address)
    # Of what is told of another moment than the beginning, the size asked for will differ.
    rows = np.where(np.append(older.requested, -1)[rows] == pairs.requested[:orphans], rows, -1)
    known = np.flatnonzero(rows >= 0)
    pairs.exact[known] = older.size[rows[known]]
    pairs.stack[known] = older.stack[rows[known]]
    columns = segments.columns
    first = np.flatnonzero(columns["start"] < 0)
    if len(first):
        place = np.searchsorted(columns["address"][first], address, side="right") - 1
        pairs.stream[:orphans] = np.where(place >= 0, columns["stream"][first[place]], 0)


def _let_wait(pairs: Pairs, final: Blocks, last_frees: Array) -> None:
    """Note which of the blocks freed last at their addresses still wait for a stream at the end."""
    rows = pairs.allocation[last_frees]
    waiting = final.waiting_at(pairs.address[rows]) >= 0
    pairs.reusable[rows[waiting]] = len(pairs.allocation)
