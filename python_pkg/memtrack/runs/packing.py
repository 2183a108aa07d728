"""The view of a run as bytes: JSON for the small, columns for the large, packed together.

A view of 10,000 layers takes some hundred kilobytes. Members that this version does not know are left
unread, those that are missing are taken as unknown.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict
from typing import Any

import numpy as np

from memtrack.analysis.peak import Peak
from memtrack.comparison.axis import Line
from memtrack.comparison.shapes import tree_from
from memtrack.comparison.view import COLUMNS, Mark, RunView
from memtrack.errors import UnreadableFile
from memtrack.i18n import text
from memtrack.recording.tables import Array

_PLAIN = (
    "identifier", "label", "evidence", "state", "started", "device", "device_kind", "device_total",
    "reserved", "step_ns", "steps", "phase_peaks", "phase_ns", "ledger", "settings", "run", "by_lines",
)  # fmt: skip


def packed(view: RunView) -> bytes:
    """Return a view as bytes, for `unpacked`."""
    tree = view.tree
    facts = {name: getattr(view, name) for name in _PLAIN}
    facts |= {"peak": asdict(view.peak), "peak_at": view.line.peak_at}
    facts |= {"marks": [asdict(mark) for mark in view.marks]}
    layers = {"path": tree.path, "name": tree.name, "type": tree.type}
    shares = [[category, layer, size] for (category, layer), size in view.shares.items()]
    columns: dict[str, Array] = {
        "parent": np.array(tree.parent, dtype=np.int64),
        "elements": np.array(tree.elements, dtype=np.int64),
        "line_step": view.line.step,
        "line_allocated": view.line.allocated,
        **{f"column_{name}": values for name, values in view.columns.items()},
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, value in (("facts", facts), ("layers", layers), ("shares", shares)):
            _write(archive, f"{name}.json", json.dumps(value))
        for name, values in columns.items():
            member = io.BytesIO()
            np.save(member, np.ascontiguousarray(values), allow_pickle=False)
            _write(archive, f"{name}.npy", member.getvalue())
    return file.getvalue()


def _write(archive: zipfile.ZipFile, name: str, content: str | bytes) -> None:
    # Without a time: that of a clock that was never set, before 1980, zip cannot write.
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 6)


def unpacked(data: bytes) -> RunView:
    """Return the view that `packed` has packed; raises UnreadableFile for anything else."""
    try:
        return _unpacked(data)
    except (ValueError, KeyError, TypeError, IndexError, OSError, zipfile.BadZipFile) as error:
        raise UnreadableFile(
            text("What is kept of this run is damaged: {reason}.", reason=str(error)[:200])
        ) from error


def _unpacked(data: bytes) -> RunView:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        facts, layers, shares = (
            json.loads(archive.read(f"{name}.json")) for name in ("facts", "layers", "shares")
        )
        arrays = {
            name[: -len(".npy")]: np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
            for name in archive.namelist()
            if name.endswith(".npy")
        }
    rows = len(layers["path"])
    plain: dict[str, Any] = {name: facts[name] for name in _PLAIN}
    return RunView(
        **plain,
        peak=Peak(**facts["peak"]),
        marks=[Mark(**mark) for mark in facts["marks"]],
        tree=tree_from(
            layers["path"],
            layers["name"],
            layers["type"],
            arrays["parent"].tolist(),
            arrays["elements"].tolist(),
        ),
        columns={
            name: arrays.get(f"column_{name}", np.full(rows, -1, dtype=np.int64))
            for name in COLUMNS
        },
        shares={(category, layer): size for category, layer, size in shares},
        line=Line(arrays["line_step"], arrays["line_allocated"], facts["peak_at"]),
    )
