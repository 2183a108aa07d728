"""What remedies are predicted to save against what they saved on a GPU: sign, rank and error.

    python bench/advise.py MEASURED [--models a,b] [--out bench/results/advise.json]

MEASURED is a folder with `peaks.jsonl` (peaks measured on a GPU, a line a model and variant); those of other
families are in `bench/results/measured-models.json`. `bench/prediction_models.py` builds them without data.
Each remedy's figure is taken twice: by predicting the changed program again, and by changing the events
of the predicted run (what a recording that cannot be made again gets). No GPU is needed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import warnings
from pathlib import Path

import prediction_models
import torch

from memtrack.analysis.device import devices_in_order
from memtrack.prediction import changes
from memtrack.prediction.predict import predict
from memtrack.prediction.variants import block_paths, peaks_of
from memtrack.remedies.base import Ground
from memtrack.remedies.catalogue import recipes
from memtrack.remedies.recipe import Bound
from memtrack.remedies.references import evaluated
from memtrack.remedies.scene import Scene

GPU = "H200"
FAMILIES = Path(__file__).parent / "results" / "measured-models.json"
VARIANTS = {
    # variant of the measurements: (changes, remedy that simulates it)
    "autocast-bf16": (lambda _: [changes.autocast(torch.bfloat16)], "bf16_autocast"),
    "autocast-fp16": (lambda _: [changes.autocast(torch.float16)], "fp16_autocast"),
    "weights-bf16": (lambda _: [changes.weights(torch.bfloat16)], "bf16_weights"),
    "checkpoint": (lambda paths: [changes.checkpointed(paths)], "checkpoint_layers"),
    "bf16+checkpoint": (
        lambda paths: [changes.autocast(torch.bfloat16), changes.checkpointed(paths)],
        "bf16_autocast+checkpoint_layers",
    ),
    "half-batch": (lambda _: [changes.smaller_batch(2)], ""),
    "accumulate-2": (lambda _: [changes.accumulated(2)], "accumulate_gradients"),
    "sgd-momentum": (
        lambda _: [changes.optimizer_class(torch.optim.SGD, lr=1e-3, momentum=0.9)],
        "sgd_momentum",
    ),
    "adafactor": (lambda _: [changes.optimizer_class(torch.optim.Adafactor)], "adafactor"),
    "adamw-loop": (
        lambda _: [changes.optimizer_kernel(foreach=False, fused=False)],
        "loop_optimizer",
    ),
    "adamw-fused": (
        lambda _: [changes.optimizer_kernel(foreach=False, fused=True)],
        "fused_optimizer",
    ),
    "zero-not-none": (lambda _: [changes.zero_grad(set_to_none=False)], ""),
    "eager-attention": (lambda _: [changes.attention("eager")], ""),
    "forward-no-grad": (lambda _: [changes.forward_only], "evaluated"),
}
ALIKE = 0.002
"""Share of the base peak: measured savings that differ by less have no order, smaller ones no sign."""


def measured(folder: Path) -> dict[str, dict[str, int]]:
    """Return the peaks in bytes by model and variant; of steady steps where there are several."""
    found: dict[str, dict[str, int]] = {}
    for line in (folder / "peaks.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "error" not in row:
            peak = row.get("peak_steady", row["peak"])
            found.setdefault(row["model"], {})[row["variant"]] = peak
    return found


def measured_families() -> dict[str, dict[str, int]]:
    """Return the same of the models of other families; those without a base or a variant are left out."""
    found: dict[str, dict[str, int]] = {}
    for row in json.loads(FAMILIES.read_text())["rows"]:
        if row.get("steps"):
            last = row["steps"][-1]
            peak = max(last[phase] for phase in ("forward", "backward", "step"))
            found.setdefault(row["model"], {})[row["variant"]] = peak
    return {
        name: peaks
        for name, peaks in found.items()
        if "base" in peaks and any(variant in VARIANTS for variant in peaks)
    }


def simulated(data, remedy):
    """Return the peak with a remedy by changing the events of the base; None where it does not apply."""
    scene = Scene.of(Ground.of(data, devices_in_order(data)[0]))
    if remedy == "evaluated":
        return evaluated(scene, Bound.LIKELY).peak
    known = {one.id: one for one in recipes()}
    for one in remedy.split("+"):
        if known[one].refuse(scene) is not None:
            return None
        scene = known[one].change(scene, Bound.LIKELY)
    return scene.peak


def of_model(build, name, peaks):
    """Return a row a variant: measured, predicted and simulated saving in bytes, and the base."""
    begin = time.perf_counter()
    base = predict(build, steps=2, gpu=GPU)
    seconds = time.perf_counter() - begin
    whole, paths, rows = peaks_of(base).peak, block_paths(base), []
    for variant, (make, remedy) in VARIANTS.items():
        if variant not in peaks:
            continue
        row = {"model": name, "variant": variant, "measured": peaks["base"] - peaks[variant]}
        begin = time.perf_counter()
        try:
            again = predict(changes.varied(build, make(paths)), steps=2, gpu=GPU)
            row["predicted"] = whole - peaks_of(again).peak
        except Exception as error:  # noqa: BLE001 - a row that fails is told, the others go on
            row["failed"] = f"{type(error).__name__}: {error}"[:200]
        row["seconds"] = round(time.perf_counter() - begin, 2)
        peak = simulated(base, remedy) if remedy else None
        if peak is not None:
            row["simulated"] = whole - peak
        rows.append(row)
        print(name, variant, {k: v for k, v in row.items() if k not in ("model", "variant")})
    return {
        "model": name,
        "base_measured": peaks["base"],
        "base_predicted": whole,
        "seconds": round(seconds, 2),
        "rows": rows,
    }


def summary(results, how):
    """Return errors in percent of the base peak, and the shares of signs and of pairs in the right order."""
    errors, signs, pairs = [], [], []
    for result in results:
        base = result["base_measured"]
        rows = [row for row in result["rows"] if how in row]
        errors += [100 * abs(row[how] - row["measured"]) / base for row in rows]
        signs += [
            row[how] * row["measured"] > 0 for row in rows if abs(row["measured"]) > ALIKE * base
        ]
        pairs += [
            (one[how] - two[how]) * (one["measured"] - two["measured"]) > 0
            for number, one in enumerate(rows)
            for two in rows[:number]
            if abs(one["measured"] - two["measured"]) > 5 * ALIKE * base
        ]
    if not errors:
        return None
    return {
        "variants": len(errors),
        "median_error_percent": round(statistics.median(errors), 2),
        "worst_error_percent": round(max(errors), 2),
        "signs_right_percent": round(100 * sum(signs) / max(len(signs), 1), 1),
        "pairs_in_order_percent": round(100 * sum(pairs) / max(len(pairs), 1), 1),
    }


def main(arguments: list[str]) -> int:
    """Predict every variant of the models asked for and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measured", type=Path)
    parser.add_argument("--models", default="")
    parser.add_argument("--out", type=Path, default=Path("bench/results/advise.json"))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    peaks, others = measured(options.measured), measured_families()
    order = [*peaks, *(name for name in others if name not in peaks)]
    wanted = [name for name in options.models.split(",") if name] or order
    results = []
    if options.models and options.out.exists():  # the other models stay as they were
        earlier = json.loads(options.out.read_text())["models"]
        results = [one for one in earlier if one["model"] not in wanted]
    for name in wanted:
        family = name not in peaks
        build = prediction_models.program(name, "base")
        found = of_model(build, name, (others if family else peaks)[name])
        results.append({**found, "family": family})
        results.sort(key=lambda one: order.index(one["model"]))
        told = {
            "torch": torch.__version__,
            "predicted": summary([one for one in results if not one["family"]], "predicted"),
            "simulated": summary([one for one in results if not one["family"]], "simulated"),
            "families": {
                how: summary([one for one in results if one["family"]], how)
                for how in ("predicted", "simulated")
            },
            "models": results,
        }
        options.out.write_text(json.dumps(told, indent=1) + "\n")
    print(json.dumps({key: told[key] for key in ("predicted", "simulated", "families")}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
