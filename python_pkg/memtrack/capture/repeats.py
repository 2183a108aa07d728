"""Passes that were not watched in detail, completed from the detailed pass that they repeat.

A pass goes from one forward of a model to the next: its phases are its stretches (forward, the loss,
backward, the optimizer's step, and what lies between). A stretch that allocated the same sizes in
the same order as that stretch of a detailed pass of the same kind did the same, and what is known
there holds here: which call a block of backward belongs to, what autograd saved and for which call,
what was the target of the loss, what a call returned. A stretch that differs is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.recording.tables import Array

Columns = dict[str, Array]
_NAMED = ("category", "name", "layer")
_RETURNED = ("output_shape", "output_dtype", "output_bytes", "needs_grad")


@dataclass(frozen=True, slots=True)
class Stretch:
    """The blocks made in one phase of a pass, in order, and a fingerprint of their sizes."""

    blocks: Array
    made_at: Array
    """The events that made them."""
    sizes: bytes
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass: its stretches in order, its calls from `first_call` to before `last_call`."""

    kind: int
    detailed: bool
    stretches: tuple[Stretch, ...]
    first_call: int
    last_call: int


@dataclass(frozen=True, slots=True)
class Match:
    """A pass and the detailed one it repeats, stretch by stretch where they agree."""

    known: Pass
    repeat: Pass
    stretches: tuple[tuple[Stretch, Stretch], ...]

    def blocks(self) -> tuple[Array, Array]:
        """Return the rows of blocks in the known pass, sorted, and those that repeat them."""
        known = np.concatenate([one.blocks for one, _ in self.stretches])
        repeats = np.concatenate([other.blocks for _, other in self.stretches])
        order = np.argsort(known)
        return known[order], repeats[order]


def complete(tables: dict[str, Columns], passes: Columns, event_times: Array) -> None:
    """Fill in, in place, what `passes` (`start_ns`, `kind`, `detailed`) left unwatched."""
    if not len(passes["kind"]) or passes["detailed"].all():
        return
    known: dict[int, list[Pass]] = {}
    saved: list[Columns] = [tables["saved"]]
    for one in _passes(tables, passes):
        if one.detailed:
            known.setdefault(one.kind, []).insert(0, one)
            continue
        match = _best_match(tables["calls"], known.get(one.kind, ()), one)
        if match is not None:
            _name_blocks(tables["allocations"], match)
            _describe_calls(tables["calls"], match, event_times)
            saved.append(_saved_again(tables["saved"], tables["allocations"], match))
    tables["saved"] = {
        name: np.concatenate([part[name] for part in saved]) for name in tables["saved"]
    }


def _passes(tables: dict[str, Columns], passes: Columns) -> list[Pass]:
    """Return the passes in order of time; what came before the first belongs to none."""
    blocks, calls, phases = tables["allocations"], tables["calls"], tables["phases"]
    made = np.flatnonzero(blocks["start"] >= 0)
    made = made[np.argsort(blocks["start"][made], kind="stable")]
    first = np.searchsorted(blocks["start"][made], phases["start"])
    last = np.searchsorted(blocks["start"][made], phases["end"])
    requested, made_at = blocks["requested"][made], blocks["start"][made]
    stretches = [
        Stretch(made[a:b], made_at[a:b], requested[a:b].tobytes(), start, end)
        for a, b, start, end in zip(
            first.tolist(),
            last.tolist(),
            phases["start"].tolist(),
            phases["end"].tolist(),
            strict=True,
        )
    ]
    phase = np.append(np.searchsorted(phases["start_ns"], passes["start_ns"]), len(stretches))
    call = np.append(np.searchsorted(calls["start_ns"], passes["start_ns"]), len(calls["start_ns"]))
    return [
        Pass(
            int(passes["kind"][row]),
            bool(passes["detailed"][row]),
            tuple(stretches[phase[row] : phase[row + 1]]),
            int(call[row]),
            int(call[row + 1]),
        )
        for row in range(len(passes["kind"]))
    ]


def _best_match(calls: Columns, candidates: list[Pass] | tuple[()], one: Pass) -> Match | None:
    """Return the latest candidate that called the same layers, with most stretches alike."""
    best: Match | None = None
    layers = calls["layer"][one.first_call : one.last_call]
    for known in candidates:
        if not np.array_equal(calls["layer"][known.first_call : known.last_call], layers):
            continue
        pairs = zip(known.stretches, one.stretches, strict=False)
        alike = tuple(pair for pair in pairs if pair[0].sizes == pair[1].sizes)
        if sum(len(pair[0].blocks) for pair in alike) and (
            best is None or len(alike) > len(best.stretches)
        ):
            best = Match(known, one, alike)
        if len(alike) == len(one.stretches):
            break
    return best


def _name_blocks(blocks: Columns, match: Match) -> None:
    known, repeats = match.blocks()
    call = blocks["call"][known]
    inside = (call >= match.known.first_call) & (call < match.known.last_call)
    missing = inside & (blocks["call"][repeats] < 0)
    shift = match.repeat.first_call - match.known.first_call
    blocks["call"][repeats[missing]] = call[missing] + shift
    blocks["layer"][repeats[missing]] = blocks["layer"][known[missing]]
    named = (blocks["category"][known] != 0) & (blocks["category"][repeats] == 0)
    for column in _NAMED:
        blocks[column][repeats[named]] = blocks[column][known[named]]


def _describe_calls(calls: Columns, match: Match, event_times: Array) -> None:
    known = np.arange(match.known.first_call, match.known.last_call)
    repeats = known + match.repeat.first_call - match.known.first_call
    undescribed = calls["output_shape"][repeats] < 0
    for column in _RETURNED:
        calls[column][repeats[undescribed]] = calls[column][known[undescribed]]
    for edge in ("start", "end"):
        cut = _moved(calls[f"backward_{edge}"][known], match)
        calls[f"backward_{edge}"][repeats] = cut
        times = np.append(event_times, event_times[-1:])[np.maximum(cut, 0)]
        calls[f"backward_{edge}_ns"][repeats] = np.where(cut >= 0, times, -1)


def _saved_again(saved: Columns, blocks: Columns, match: Match) -> Columns:
    """Return the rows of `saved` for a repeat."""
    first, last = match.known.stretches[0].start, match.known.stretches[-1].end
    rows = np.flatnonzero((saved["cut"] >= first) & (saved["cut"] < last))
    cut = _moved(saved["cut"][rows], match)
    allocation, call = saved["allocation"][rows], saved["call"][rows]
    known, repeats = match.blocks()
    at = np.minimum(np.searchsorted(known, allocation), len(known) - 1)
    # What was not made in the pass, such as a parameter, is the same block in both.
    allocation = np.where(known[at] == allocation, repeats[at], allocation)
    lives = (blocks["start"][allocation] < cut) & (cut <= blocks["end"][allocation])
    shift = match.repeat.first_call - match.known.first_call
    call = np.where(call >= 0, call + shift, -1)
    found = {"call": call, "allocation": allocation, "cut": cut}
    return {name: values[lives] for name, values in found.items()}


def _moved(cuts: Array, match: Match) -> Array:
    """Return cuts of the known pass as cuts of its repeat, -1 outside the stretches alike.

    A cut is placed by how many blocks its stretch has made before it.
    """
    moved = np.full(len(cuts), -1, dtype=np.int64)
    for known, repeat in match.stretches:
        inside = (moved < 0) & (cuts >= known.start) & (cuts <= known.end)
        made = np.searchsorted(known.made_at, cuts[inside])
        moved[inside] = np.append(repeat.start, repeat.made_at + 1)[made]
    return moved
