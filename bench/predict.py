"""Predictions against what was measured on an H200: errors, savings, intervals, time.

Usage: python bench/predict.py [PEAKS.jsonl] [--models FILE] [--only SUBSTRING] [--limit SECONDS]
In: `peaks.jsonl` (8 models in up to 15 variants) and `bench/results/measured-models.json` (16 further
families); no GPU. Out: a line a configuration, a summary, and `bench/results/predict.json`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
STEPS = 4


def main() -> int:
    """Predict every configuration that was measured and write how far off each is."""
    sys.path.insert(0, str(HERE))
    warnings.simplefilter("ignore")
    options = _arguments()
    begun, rows = time.monotonic(), []
    for source, measured in _measured(options):
        if options.only not in f"{measured['model']}/{measured['variant']}":
            continue
        if time.monotonic() - begun > options.limit:
            print("stopped: time")
            break
        rows.append(_told(_compared(source, measured)))
    summary = {source: _summary(rows, source) for source in ("peaks", "families")}
    print(json.dumps(summary, indent=1))
    if options.out:
        Path(options.out).write_text(
            json.dumps({"summary": summary, "rows": rows}, indent=1) + "\n"
        )
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peaks", nargs="?", help="peaks.jsonl, as measure_peaks.py writes it")
    parser.add_argument("--models", default=str(RESULTS / "measured-models.json"))
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=1e9)
    parser.add_argument("--out", default=str(RESULTS / "predict.json"))
    return parser.parse_args()


def _measured(options: argparse.Namespace) -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    if options.peaks:
        lines = Path(options.peaks).read_text().splitlines()
        found += [("peaks", json.loads(line)) for line in lines]
    if Path(options.models).is_file():
        from prediction_families import FAMILIES

        rows = json.loads(Path(options.models).read_text())["rows"]
        found += [
            ("families", row) for row in rows if row["model"] in FAMILIES and "alone" not in row
        ]
    return [(source, row) for source, row in found if "error" not in row]


def _compared(source: str, measured: dict[str, Any]) -> dict[str, Any]:
    """Return one configuration predicted beside what was measured; its error where it raised."""
    from prediction_models import program

    from memtrack.predicting import predict

    row: dict[str, Any] = {"source": source, "model": measured["model"]}
    row |= {"variant": measured["variant"], "measured": measured["peak"]}
    row |= {"measured_reserved": measured["reserved"], "process": _process(measured)}
    begun = time.perf_counter()
    try:
        found = predict(program(row["model"], row["variant"]), steps=STEPS, gpu="H200")
    except Exception as error:  # noqa: BLE001 - a program that raises is a result
        last = traceback.extract_tb(error.__traceback__)[-1]
        return {**row, "raised": f"{type(error).__name__}: {error} ({last.name})"[:300]}
    row["seconds"] = round(time.perf_counter() - begun, 2)
    row |= {"predicted": found.peak_allocated, "reserved": found.peak_reserved}
    row |= {"interval": list(found.process_total), "assumptions": len(found.assumptions)}
    return row


def _process(measured: dict[str, Any]) -> int | None:
    """Return the process's total by the driver; None for `peaks.jsonl`, where others ran besides."""
    found: int | None = measured.get("process")
    return found


def _told(row: dict[str, Any]) -> dict[str, Any]:
    name = f"{row['model']:18s} {row['variant']:18s}"
    if "raised" in row:
        print(f"{name} RAISED {row['raised']}", flush=True)
        return row
    row["error"] = row["predicted"] / row["measured"] - 1
    row["reserved_error"] = row["reserved"] / row["measured_reserved"] - 1
    print(
        f"{name} {row['measured'] >> 20:6d} {row['error']:+7.2%}"
        f"  reserved {row['reserved_error']:+7.2%}  {row['seconds']:5.1f} s",
        flush=True,
    )
    return row


def _summary(rows: list[dict[str, Any]], source: str) -> dict[str, Any]:
    """Return medians and worst of one set of measurements; shares are of 1."""
    mine = [row for row in rows if row["source"] == source]
    done = [row for row in mine if "raised" not in row]
    if not done:
        return {"configurations": len(mine), "raised": len(mine)}
    peaks = [abs(row["error"]) for row in done]
    reserved = [abs(row["reserved_error"]) for row in done]
    savings = _savings(done)
    return {
        "configurations": len(mine),
        "raised": len(mine) - len(done),
        "peak_median": round(statistics.median(peaks), 5),
        "peak_worst": round(max(peaks), 5),
        "reserved_median": round(statistics.median(reserved), 5),
        "reserved_worst": round(max(reserved), 5),
        "saving_median": round(statistics.median(savings), 5) if savings else None,
        "seconds_median": statistics.median(row["seconds"] for row in done),
        "seconds_worst": max(row["seconds"] for row in done),
        **_intervals(done),
    }


def _savings(done: list[dict[str, Any]]) -> list[float]:
    """Return how far each variant's predicted saving is off, as a share of the base's peak."""
    base = {row["model"]: row for row in done if row["variant"] == "base"}
    found = []
    for row in done:
        against = base.get(row["model"])
        if against is None or row is against:
            continue
        promised = against["predicted"] - row["predicted"]
        kept = against["measured"] - row["measured"]
        found.append(abs(promised - kept) / against["measured"])
    return found


def _intervals(done: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how often the interval holds the process's total, and how wide it is."""
    known = [row for row in done if row["process"]]
    widths = [(row["interval"][1] - row["interval"][0]) / sum(row["interval"]) * 2 for row in done]
    if not known:
        return {"width_median": round(statistics.median(widths), 4)}
    held = [row["interval"][0] <= row["process"] <= row["interval"][1] for row in known]
    return {
        "width_median": round(statistics.median(widths), 4),
        "holds": round(sum(held) / len(held), 4),
    }


if __name__ == "__main__":
    sys.exit(main())
