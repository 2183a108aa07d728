"""Single operations as predicted, beside what an H200 allocated for them.

Usage: python bench/kernels_predicted.py [--only SUBSTRING] [--worst N] [--out FILE]
In: `bench/kernel_cases.py`, and `bench/results/kernels.json` as `bench/kernels.py` wrote it; no GPU.
Out: the worst figures and the share within 3 %, and `bench/results/kernels-predicted.json`. A figure
is what is alive after the forward, its peak, or the peak of the backward, above what was there before.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MEASURED = HERE / "results" / "kernels.json"
FIGURES = ("forward_kept", "forward_peak", "backward_peak")
CLOSE = 0.03
LEAST = 1 << 20
"""Figures are compared with at least so many bytes: some hundred bytes decide nothing."""


class Level:
    """Bytes allocated on the predicted device, and their highest since `mark`."""

    def __init__(self, blocks: Any) -> None:
        self._blocks, self.now, self.highest = blocks, 0, 0
        blocks.on_change = self._changed
        self._base = 0

    def _changed(self, change: int) -> None:
        self.now += change
        self.highest = max(self.highest, self.now)

    def mark(self) -> None:
        """Count from here."""
        self._blocks.bury()
        self._base = self.highest = self.now

    def kept_and_peak(self) -> tuple[int, int]:
        """Return what is alive, and the most that was, beyond what the mark found."""
        self._blocks.bury()
        return self.now - self._base, self.highest - self._base


def predicted(name: str) -> dict[str, int]:
    """Return the figures of one case, as `bench/kernels.py` measures them; what it raises, it raises."""
    from kernel_cases import CASES

    from memtrack.allocator.settings import Settings
    from memtrack.prediction.kernels.table import CudaKernels
    from memtrack.prediction.record import StagedRecorder
    from memtrack.prediction.stage.stage import Stage
    from memtrack.prediction.target import target_of

    target = target_of("H200", None)
    with Stage(target, CudaKernels()) as stage:
        recorder = StagedRecorder(Settings(), target.name)
        stage.on_effects(recorder.declare)
        recorder.enter()
        try:
            return _run(CASES[name], Level(recorder.blocks), recorder.blocks)
        finally:
            recorder.detach()


def _run(make: Any, level: Level, blocks: Any) -> dict[str, int]:
    from kernels import backward_of

    function, wanted = make()
    if wanted:  # as in the measurement, a first run makes workspaces
        outputs = function()
        backward = backward_of(outputs, wanted)
        grads = backward() if backward else None
        del outputs, backward, grads
    level.mark()
    outputs = function()
    kept, peak = level.kept_and_peak()
    figures = {"forward_kept": kept, "forward_peak": peak}
    backward = backward_of(outputs, wanted)
    if backward is not None:
        level.mark()
        grads = backward()
        figures["backward_peak"] = level.kept_and_peak()[1]
        del grads
    figures["uncertain"] = blocks.uncertain
    return figures


def compared(measured: dict[str, Any]) -> dict[str, Any]:
    """Return a case's figures as pairs of predicted and measured; what it raised instead."""
    row: dict[str, Any] = {"name": measured["name"]}
    try:
        figures = predicted(measured["name"])
    except Exception as error:  # noqa: BLE001 - a case that raises is a result
        return {**row, "raised": f"{type(error).__name__}: {error}"[:200]}
    row["uncertain"] = figures["uncertain"]
    row |= {key: [figures.get(key), measured[key]] for key in FIGURES if key in measured}
    return row


def error_of(pair: list[Any]) -> float:
    """Return how far a predicted figure is off, as a share of the measured one."""
    predicted_bytes, measured_bytes = pair
    if predicted_bytes is None:
        return 1.0 if measured_bytes else 0.0
    return float((predicted_bytes - measured_bytes) / max(measured_bytes, LEAST))


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how many figures are within 3 %, by family (the first word) and in all."""
    families: dict[str, list[int]] = {}
    for row in rows:
        counts = families.setdefault(row["name"].split()[0], [0, 0])
        for key in FIGURES:
            if "raised" in row:
                counts[1] += 1
            elif key in row:
                counts[0] += abs(error_of(row[key])) <= CLOSE
                counts[1] += 1
    close, count = (sum(one[n] for one in families.values()) for n in (0, 1))
    return {
        "cases": len(rows),
        "raised": sum("raised" in row for row in rows),
        "figures": count,
        "within_3_percent": close,
        "share": round(close / max(count, 1), 4),
        "not_all_close": {name: one for name, one in sorted(families.items()) if one[0] < one[1]},
    }


def cases(only: str = "") -> list[dict[str, Any]]:
    """Return what was measured of the cases whose names hold `only`."""
    from kernel_cases import CASES

    measured = json.loads(MEASURED.read_text())["cases"]
    return [
        one
        for one in measured
        if one["name"] in CASES and only in one["name"] and "error" not in one
    ]


def _worst(rows: list[dict[str, Any]], count: int) -> list[str]:
    found = [(9.0, f"{row['name']}: {row['raised']}") for row in rows if "raised" in row]
    for row in rows:
        for key in FIGURES:
            if key in row and abs(error_of(row[key])) > CLOSE:
                error, (here, there) = error_of(row[key]), row[key]
                found.append((abs(error), f"{error:+8.1%} {row['name']} {key} {here} {there}"))
    return [line for _, line in sorted(found, reverse=True)[:count]]


def main() -> int:
    """Predict every case and write the figures beside those that were measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--worst", type=int, default=40)
    parser.add_argument("--out", default="", help="for all cases: results/kernels-predicted.json")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    warnings.simplefilter("ignore")
    begun = time.monotonic()
    rows = [compared(one) for one in cases(options.only)]
    print("\n".join(_worst(rows, options.worst)))
    told = summary(rows)
    print(json.dumps(told, indent=1), f"{time.monotonic() - begun:.1f} s")
    out = options.out or ("" if options.only else HERE / "results" / "kernels-predicted.json")
    if out:
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        Path(out).write_text(f'{{"summary": {json.dumps(told)}, "rows": [\n{lines}\n]}}\n')
    return 0


if __name__ == "__main__":
    sys.exit(main())
