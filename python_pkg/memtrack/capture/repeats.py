"""Passes that ran without hooks, completed from the watched pass that they repeat.

A pass goes from one forward of a model to the next. It is cut into stretches at the edges that are
seen with and without hooks: what comes until backward (the forward and the loss), backward, the
optimizer's step, what lies between. A stretch that made blocks of the same sizes in the same order
as that stretch of a watched pass of its kind did the same, and what is known there holds here: the
calls of modules, which of them made each block, what autograd saved for them, where the forward
ended, what was the target of the loss. Of the times nothing is taken over. A stretch that differs is
left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.recording.categories import PhaseKind
from memtrack.recording.tables import Array

Columns = dict[str, Array]
_NAMED = ("category", "name", "layer")
_CUTS = ("start", "end", "backward_start", "backward_end")
_TIMES = ("start_ns", "end_ns", "backward_start_ns", "backward_end_ns")


@dataclass(frozen=True, slots=True)
class Stretch:
    """The blocks made in one stretch of a pass, in order, and the events that made them."""

    label: tuple[int, int]
    """The kind of phase, and how many of that kind came before in the pass."""
    blocks: Array
    made_at: Array
    sizes: bytes
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass: its stretches by label, its calls from `first_call` to before `last_call`."""

    kind: int
    watched: bool
    stretches: dict[tuple[int, int], Stretch]
    first_call: int
    last_call: int
    phase: int
    """The phase of its forward, which it begins with."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Match:
    """A pass and the watched one that it repeats, and the stretches in which it does."""

    known: Pass
    repeat: Pass
    stretches: tuple[tuple[Stretch, Stretch], ...]

    def blocks(self) -> tuple[Array, Array]:
        """Return the rows of blocks in the known pass, sorted, and those that repeat them."""
        known = np.concatenate([one.blocks for one, _ in self.stretches])
        repeats = np.concatenate([other.blocks for _, other in self.stretches])
        order = np.argsort(known)
        return known[order], repeats[order]

    def moved(self, cuts: Array) -> Array:
        """Return cuts of the known pass as cuts of its repeat, -1 outside the stretches alike.

        A cut is placed after as many blocks of its stretch as came before it, and after as many
        releases since the last of them as there is room for.
        """
        moved = np.full(len(cuts), -1, dtype=np.int64)
        for known, repeat in self.stretches:
            inside = (moved < 0) & (cuts >= known.start) & (cuts <= known.end)
            made = np.searchsorted(known.made_at, cuts[inside])
            since = cuts[inside] - np.append(known.start, known.made_at + 1)[made]
            place = np.append(repeat.start, repeat.made_at + 1)[made] + since
            moved[inside] = np.minimum(place, np.append(repeat.made_at, repeat.end)[made])
        return moved


def complete(tables: dict[str, Columns], passes: Columns) -> None:
    """Fill in, in place, what `passes` (`start_ns`, `kind`, `watched`) have left unwatched."""
    if not len(passes["kind"]) or passes["watched"].all():
        return
    matches = _matches(_passes(tables, passes))
    if matches:
        _name_blocks(tables["allocations"], matches)
        _split_forwards(tables, matches)
        _copy_calls(tables, matches)


def _passes(tables: dict[str, Columns], passes: Columns) -> list[Pass]:
    """Return the passes in order of time; what came before the first belongs to none."""
    blocks, calls, phases = tables["allocations"], tables["calls"], tables["phases"]
    made = np.flatnonzero(blocks["start"] >= 0)
    made = made[np.argsort(blocks["start"][made], kind="stable")]
    # A pass is logged when its forward has begun, and before its first call.
    phase = np.searchsorted(phases["start_ns"], passes["start_ns"], side="right") - 1
    call = np.searchsorted(calls["start_ns"], passes["start_ns"])
    last_phase = np.append(phase[1:], len(phases["kind"]))
    last_call = np.append(call[1:], len(calls["layer"]))
    return [
        Pass(
            int(passes["kind"][row]),
            bool(passes["watched"][row]),
            _stretches(blocks, made, phases, slice(phase[row], last_phase[row])),
            int(call[row]),
            int(last_call[row]),
            int(phase[row]),
            int(phases["start"][phase[row]]),
            int(phases["end"][last_phase[row] - 1]),
        )
        for row in range(len(phase))
    ]


def _stretches(
    blocks: Columns, made: Array, phases: Columns, own: slice
) -> dict[tuple[int, int], Stretch]:
    """Return the stretches of one pass that made any block."""
    kinds = phases["kind"][own].tolist()
    starts, ends = phases["start"][own].tolist(), phases["end"][own].tolist()
    spans: list[list[int]] = []
    for kind, start, end in zip(kinds, starts, ends, strict=True):
        label = PhaseKind.OTHER if kind == PhaseKind.FORWARD else kind
        if spans and spans[-1][0] == label:
            spans[-1][2] = end
        else:
            spans.append([label, start, end])
    found: dict[tuple[int, int], Stretch] = {}
    seen: dict[int, int] = {}
    times = blocks["start"][made]
    for label, start, end in spans:
        first, last = np.searchsorted(times, (start, end)).tolist()
        if first == last:
            continue
        rows = made[first:last]
        sizes = blocks["requested"][rows].tobytes()
        key = (label, seen.get(label, 0))
        seen[label] = key[1] + 1
        found[key] = Stretch(key, rows, times[first:last], sizes, start, end)
    return found


def _matches(passes: list[Pass]) -> list[Match]:
    """Return each unwatched pass with the latest watched one that it repeats in most stretches."""
    known: dict[int, list[Pass]] = {}
    matches = []
    for one in passes:
        if one.watched:
            known.setdefault(one.kind, []).insert(0, one)
            continue
        if one.last_call - one.first_call != 1:  # more than the root was seen: there were hooks
            continue
        found = [_match(candidate, one) for candidate in known.get(one.kind, ())[:4]]
        best = max(found, key=lambda match: len(match.stretches), default=None)
        if best is not None and best.stretches and _has_forward(best):
            matches.append(best)
    return matches


def _match(known: Pass, repeat: Pass) -> Match:
    pairs = ((known.stretches.get(label), one) for label, one in repeat.stretches.items())
    alike = tuple(
        (one, other) for one, other in pairs if one is not None and one.sizes == other.sizes
    )
    return Match(known, repeat, alike)


def _has_forward(match: Match) -> bool:
    """Tell whether the stretches that have the forward are alike."""
    return any(one.label == (PhaseKind.OTHER, 0) for one, _ in match.stretches)


def _name_blocks(blocks: Columns, matches: list[Match]) -> None:
    """Take over the names that were given where blocks were sighted, such as target of the loss."""
    for match in matches:
        known, repeats = match.blocks()
        named = (blocks["category"][known] != 0) & (blocks["category"][repeats] == 0)
        for column in _NAMED:
            blocks[column][repeats[named]] = blocks[column][known[named]]


def _split_forwards(tables: dict[str, Columns], matches: list[Match]) -> None:
    """End the forward of each repeat where it ends in the known pass: what follows is the loss."""
    phases = tables["phases"]
    rows, cuts = [], []
    for match in matches:
        row = match.repeat.phase
        end = match.moved(phases["end"][[match.known.phase]])
        if phases["start"][row] < end[0] < phases["end"][row]:
            rows.append(row)
            cuts.append(int(end[0]))
    at, cut = np.array(rows, dtype="i8"), np.array(cuts, dtype="i8")
    time = tables["events"]["time_ns"][cut]
    loss = {name: values[at].copy() for name, values in phases.items()}
    loss.update(kind=np.full(len(at), int(PhaseKind.OTHER)), start=cut, start_ns=time)
    phases["end"][at], phases["end_ns"][at] = cut, time
    for name in phases:
        phases[name] = np.insert(phases[name], at + 1, loss[name])
    phase = tables["calls"]["phase"]
    tables["calls"]["phase"] = phase + np.searchsorted(at, phase)


def _copy_calls(tables: dict[str, Columns], matches: list[Match]) -> None:
    """Put copies of the known pass's calls in the place of the one call seen in each repeat."""
    calls, saved, blocks = tables["calls"], tables["saved"], tables["allocations"]
    made_by = blocks["call"].copy()
    row_of, bases = _new_rows(len(calls["layer"]), matches)
    pieces, saves = [], [{**saved, "call": row_of[saved["call"]]}]
    blocks["call"] = row_of[made_by]
    done = 0
    for match, base in zip(matches, bases, strict=True):
        kept = slice(done, match.repeat.first_call)
        pieces.append(_kept(calls, kept, row_of))
        pieces.append(_calls_again(calls, tables["phases"], match, base))
        saves.append(_saved_again(saved, blocks, match, base))
        known, repeats = match.blocks()
        blocks["call"][repeats] = _row_in(match, base, made_by[known])
        unnamed = blocks["category"][repeats] == 0
        blocks["layer"][repeats[unnamed]] = blocks["layer"][known[unnamed]]
        done = match.repeat.last_call
    pieces.append(_kept(calls, slice(done, None), row_of))
    tables["calls"] = _joined(pieces)
    tables["saved"] = _joined(saves)


def _new_rows(count: int, matches: list[Match]) -> tuple[Array, list[int]]:
    """Return the new row of each call (-1 for -1), and where each repeat's copies begin."""
    longer = np.zeros(count + 1, dtype=np.int64)
    for match in matches:
        longer[match.repeat.last_call] += match.known.last_call - match.known.first_call - 1
    rows = np.arange(count + 1) + np.cumsum(longer)
    bases = [int(rows[match.repeat.first_call]) for match in matches]
    rows[-1] = -1  # also the one that -1 finds
    return rows, bases


def _row_in(match: Match, base: int, call: Array) -> Array:
    """Return calls of the known pass as rows of a repeat's copies; -1 for any other call."""
    inside = (call >= match.known.first_call) & (call < match.known.last_call)
    return np.where(inside, call - match.known.first_call + base, -1)


def _kept(calls: Columns, rows: slice, row_of: Array) -> Columns:
    kept = {name: values[rows] for name, values in calls.items()}
    kept["parent"] = row_of[kept["parent"]]
    return kept


def _calls_again(calls: Columns, phases: Columns, match: Match, base: int) -> Columns:
    """Return copies of the known pass's calls, placed in the repeat; their times are not known."""
    rows = slice(match.known.first_call, match.known.last_call)
    again = {name: values[rows].copy() for name, values in calls.items()}
    for name in _CUTS:
        again[name] = match.moved(again[name])
    ran = (again["backward_start"] >= 0) & (again["backward_end"] >= 0)
    for name in ("backward_start", "backward_end"):
        again[name] = np.where(ran, again[name], -1)
    for name in _TIMES:
        again[name][:] = -1
    again["parent"] = _row_in(match, base, again["parent"])
    again["phase"] = np.searchsorted(phases["start"], again["start"], side="right") - 1
    return again


def _saved_again(saved: Columns, blocks: Columns, match: Match, base: int) -> Columns:
    """Return the rows of `saved` for a repeat."""
    rows = np.flatnonzero((saved["cut"] >= match.known.start) & (saved["cut"] < match.known.end))
    cut = match.moved(saved["cut"][rows])
    allocation = saved["allocation"][rows]
    known, repeats = match.blocks()
    at = np.minimum(np.searchsorted(known, allocation), len(known) - 1)
    # What was not made in the pass, such as a parameter, is the same block in both.
    allocation = np.where(known[at] == allocation, repeats[at], allocation)
    lives = (blocks["start"][allocation] < cut) & (cut <= blocks["end"][allocation])
    call = _row_in(match, base, saved["call"][rows])
    again = {"call": call, "allocation": allocation, "cut": cut}
    return {name: values[lives] for name, values in again.items()}


def _joined(pieces: list[Columns]) -> Columns:
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
