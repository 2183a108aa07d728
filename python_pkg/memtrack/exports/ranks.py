"""The table of ranks, a row each, to be written out."""

from __future__ import annotations

import numpy as np

from memtrack.exports.table import Column, DataTable, numbers
from memtrack.reports.ranks import RanksReport


def ranks_table(report: RanksReport) -> DataTable:
    """Return a row a rank; what is not known of one is unknown in the table."""
    rows = report.rows

    def column(values: list[int]) -> Column:
        return numbers(np.array(values, dtype=np.int64), -1)

    categories = [] if report.imbalance is None else report.imbalance.categories
    held = [{} if row.held is None else row.held.categories for row in rows]
    return DataTable(
        "ranks",
        {
            "rank": Column(np.array([row.facts.rank for row in rows], dtype=np.int64)),
            "host": Column([row.facts.host for row in rows]),
            "state": Column([row.state for row in rows]),
            "steps": column([row.steps for row in rows]),
            "step_ns": column([-1 if row.step_ns is None else row.step_ns for row in rows]),
            "peak_bytes": column([-1 if row.peak is None else row.peak.bytes for row in rows]),
            "reserved_bytes": column(
                [-1 if row.held is None else row.held.reserved for row in rows]
            ),
            **{
                f"{share.name}_bytes": column([one.get(share.name, 0) for one in held])
                for share in categories
            },
        },
    )
