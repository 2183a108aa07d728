"""One run of a history, as its row tells."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from memtrack.comparison.shapes import structure_hash
from memtrack.comparison.view import RunView
from memtrack.recording.tables import Array
from memtrack.words import in_utf8

SPARK_POINTS = 60


@dataclass(frozen=True, slots=True)
class Run:
    """A run. Bytes and nanoseconds; None where unknown. `created` is in seconds since 1970.

    `spark` is the memory over the run in `SPARK_POINTS` shares of the peak. `file` is the name of the
    full recording, "" where it is not kept.
    """

    id: int
    identifier: str
    created: float
    label: str
    name: str
    state: str
    evidence: str
    notebook: str
    cell: int | None
    device: str
    peak: int
    reserved: int | None
    step_ns: int | None
    steps: int
    structure: str
    parameters: int
    commit: str
    dirty: bool
    note: str
    pinned: bool
    baseline: bool
    deleted: bool
    file: str
    file_bytes: int
    spark: Array = field(compare=False)
    tags: Sequence[str] = ()

    @property
    def steps_per_second(self) -> float | None:
        """Return the speed at the median step, None where unknown."""
        return 1e9 / self.step_ns if self.step_ns else None


def run_of(row: sqlite3.Row, tags: Sequence[str]) -> Run:
    """Return the run of a row of the table `runs`."""
    same = (
        "id", "identifier", "created", "label", "state", "evidence", "notebook", "cell", "device",
        "peak", "reserved", "step_ns", "steps", "structure", "parameters", "note", "file", "file_bytes",
    )  # fmt: skip
    return Run(
        **{name: row[name] for name in same},
        name=row["name"] or "",
        commit=row["commit_id"],
        dirty=bool(row["dirty"]),
        pinned=bool(row["pinned"]),
        baseline=bool(row["baseline"]),
        deleted=row["deleted"] is not None,
        spark=np.frombuffer(row["spark"], dtype="<f4"),
        tags=tags,
    )


def values_of(view: RunView, created: float) -> dict[str, object]:
    """Return the columns of a new row, but for what is only known once it is there."""
    run, has_layers = view.run, len(view.tree) > 0 and not view.by_lines
    cell = run.get("cell")
    values: dict[str, object] = {
        "identifier": view.identifier,
        "created": created,
        "label": view.label,
        "state": view.state,
        "evidence": view.evidence,
        "notebook": str(run.get("path") or ""),
        "cell": cell if isinstance(cell, int) else None,
        "device": view.device,
        "peak": view.peak.bytes,
        "reserved": view.reserved,
        "step_ns": view.step_ns,
        "steps": view.steps,
        "structure": structure_hash(view.tree) if has_layers else "",
        "parameters": sum(view.tree.elements) if has_layers else 0,
        "commit_id": str(run.get("commit") or ""),
        "dirty": int(bool(run.get("dirty"))),
        "spark": spark_of(view).astype("<f4").tobytes(),
    }
    return {
        name: in_utf8(value) if isinstance(value, str) else value for name, value in values.items()
    }


def spark_of(view: RunView) -> Array:
    """Return the most memory of each part of a run as shares of its peak: float64[SPARK_POINTS]."""
    step, level = view.line.step, view.line.allocated
    if not len(step) or not view.peak.bytes:
        return np.zeros(SPARK_POINTS)
    span = max(float(step[-1]) - float(step[0]), 1e-9)
    place = ((step - step[0]) / span * SPARK_POINTS).astype(np.int64).clip(0, SPARK_POINTS - 1)
    most = np.full(SPARK_POINTS, -1.0)
    np.maximum.at(most, place, level / view.peak.bytes)
    known = np.flatnonzero(most >= 0)
    # Between two points memory stays as it was at the first of them.
    return np.asarray(most[known[np.searchsorted(known, np.arange(SPARK_POINTS), "right") - 1]])
