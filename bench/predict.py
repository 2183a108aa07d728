"""Predictions against what was measured on an H200: errors, savings, intervals, time.

Usage: python bench/predict.py [PEAKS.jsonl] [--models FILE] [--only SUBSTRING] [--limit SECONDS]
In: `peaks.jsonl` (8 models in up to 15 variants), `bench/results/measured-models.json` (16 further
families) and `measured-zoo.json` (29 models that no rule was made from); no GPU. Out: a line a configuration, a summary, and `bench/results/predict.json`.

`peaks.jsonl` has no totals of processes: they ran side by side. There the total is what was reserved and
what `measured-models.json` tells besides, in the median: the same GPU, driver and torch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from predict_summary import summary_of

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
STEPS = 3


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
    summary = {source: summary_of(rows, source) for source in ("peaks", "families", "zoo")}
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
    """Return what was measured, with the total of each process."""
    from prediction_families import FAMILIES
    from prediction_zoo import ZOO

    found: list[tuple[str, dict[str, Any]]] = []
    known = Path(options.models)
    rows = json.loads(known.read_text())["rows"] if known.is_file() else []
    rows += json.loads((RESULTS / "measured-zoo.json").read_text())["rows"]
    rows = [row for row in rows if "error" not in row]
    if options.peaks:
        lines = map(json.loads, Path(options.peaks).read_text().splitlines())
        beside = _beside(rows)
        found += [("peaks", {"process": one.get("reserved", 0) + beside, **one}) for one in lines]
    found += [("families", row) for row in rows if row["model"] in FAMILIES and "alone" not in row]
    found += [("zoo", row) for row in rows if row["model"] in ZOO]
    return [(source, row) for source, row in found if "error" not in row]


def _beside(rows: Sequence[dict[str, Any]]) -> int:
    """Return what processes had of the device beside what was reserved, in the median, bytes."""
    known = [row["process"] - row["reserved"] for row in rows if row.get("process")]
    return round(statistics.median(known)) if known else 0


def _compared(source: str, measured: dict[str, Any]) -> dict[str, Any]:
    """Return one configuration predicted beside what was measured; its error where it raised."""
    from prediction_models import program

    from memtrack.predicting import predict

    row: dict[str, Any] = {"source": source, "model": measured["model"]}
    row |= {"variant": measured["variant"], "measured": measured["peak"]}
    row |= {"measured_reserved": measured["reserved"], "process": measured.get("process")}
    begun, busy = time.perf_counter(), time.process_time()
    try:
        found = predict(program(row["model"], row["variant"]), steps=STEPS, gpu="H200")
    except Exception as error:  # noqa: BLE001 - a program that raises is a result
        last = traceback.extract_tb(error.__traceback__)[-1]
        return {**row, "raised": f"{type(error).__name__}: {error} ({last.name})"[:300]}
    row["seconds"] = round(time.perf_counter() - begun, 2)
    row["processor_seconds"] = round(time.process_time() - busy, 2)
    row |= {"predicted": found.peak_allocated, "reserved": found.peak_reserved}
    row |= {"interval": list(found.process_total), "assumptions": len(found.assumptions)}
    row |= {"uncertain": found.told.uncertain, "unmodelled": list(found.told.unmodelled)}
    return row


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


if __name__ == "__main__":
    sys.exit(main())
