"""The figures of `bench/predict.py` over its rows: errors, savings, intervals, time, what raised.

In: rows with `source`, `model`, `variant`, what was measured and predicted. Out: shares are of 1.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

Row = dict[str, Any]
TELLING = 0.001
"""Of the base's peak: a saving, or two that differ, by less has no sign to be right about."""


def summary_of(rows: Sequence[Row], source: str) -> dict[str, Any]:
    """Return the rows of the table that issue 5 asks for, over one set of measurements."""
    mine = [row for row in rows if row["source"] == source]
    done = [row for row in mine if "raised" not in row]
    raised = [f"{row['model']}/{row['variant']}" for row in mine if "raised" in row]
    found: dict[str, Any] = {"configurations": len(mine), "raised": len(raised)}
    found["raised_models"] = sorted({name.partition("/")[0] for name in raised})
    if not done:
        return found
    return {
        **found,
        **_errors("peak", [abs(row["error"]) for row in done], done),
        **_errors("reserved", [abs(row["reserved_error"]) for row in done], done),
        **_savings(done),
        **_intervals(done),
        "seconds_median": statistics.median(row["seconds"] for row in done),
        "seconds_worst": max(row["seconds"] for row in done),
        "processor_seconds_median": statistics.median(row["processor_seconds"] for row in done),
    }


def _errors(name: str, errors: Sequence[float], done: Sequence[Row]) -> dict[str, Any]:
    worst = max(range(len(errors)), key=errors.__getitem__)
    return {
        f"{name}_median": round(statistics.median(errors), 5),
        f"{name}_worst": round(errors[worst], 5),
        f"{name}_worst_of": f"{done[worst]['model']}/{done[worst]['variant']}",
    }


def _savings(done: Sequence[Row]) -> dict[str, Any]:
    """Return how far predicted savings are off, and whether sign and rank are right.

    A saving is a share of the base's measured peak. Signs are counted where it is `TELLING`; ranks are
    counted over pairs of variants of one model whose measured savings differ by as much.
    """
    pairs = list(_promised_and_kept(done))
    if not pairs:
        return {}
    apart = [abs(promised - kept) for _, promised, kept in pairs]
    signs = [promised * kept > 0 for _, promised, kept in pairs if abs(kept) > TELLING]
    ranks = [
        (one[1] - two[1]) * (one[2] - two[2]) > 0
        for one, two in itertools.combinations(pairs, 2)
        if one[0] == two[0] and abs(one[2] - two[2]) > TELLING
    ]
    found = {"savings": len(pairs), "saving_median": round(statistics.median(apart), 5)}
    found["saving_worst"] = round(max(apart), 5)
    found |= {f"{name}_right": _share(ok) for name, ok in (("sign", signs), ("rank", ranks)) if ok}
    return found


def _promised_and_kept(done: Sequence[Row]) -> Iterator[tuple[str, float, float]]:
    """Go through the variants that have a base: model, predicted saving, measured saving."""
    base = {row["model"]: row for row in done if row["variant"] == "base"}
    for row in done:
        against = base.get(row["model"])
        if against is not None and row is not against:
            whole = against["measured"]
            promised = (against["predicted"] - row["predicted"]) / whole
            yield row["model"], promised, (whole - row["measured"]) / whole


def _intervals(done: Sequence[Row]) -> dict[str, Any]:
    """Return how often the interval holds the process's total, and how wide it is."""
    widths = [(row["interval"][1] - row["interval"][0]) / sum(row["interval"]) * 2 for row in done]
    known = [row for row in done if row["process"]]
    held = [row["interval"][0] <= row["process"] <= row["interval"][1] for row in known]
    found: dict[str, Any] = {"width_median": round(statistics.median(widths), 4)}
    return found | ({"holds": _share(held)} if held else {})


def _share(right: Sequence[bool]) -> float:
    return round(sum(right) / len(right), 4)
