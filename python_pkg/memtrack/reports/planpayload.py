"""A plan as the browser gets it, and as `memtrack plan --json` prints it.

    {"schema": "memtrack.plan/1", "kind": "ledger"|"kv"|"loading", "inputs": {name: number|string|bool},
     "gpus": [{"name": str, "usable": int}], "gpu": str, "capacity": int|null, "model_id": str?}

`inputs` are those of `memtrack/planners/inputs.py`; the browser computes the rest, as its reader
moves them. `gpu` is the name of the chosen GPU, "" where `capacity` is a size alone. Bytes are integers.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from memtrack.planners.capacity import known_capacities
from memtrack.planners.inputs import KvInputs, as_json

if TYPE_CHECKING:
    from memtrack.reports.plan import Plan

PLAN_MIME_TYPE = "application/vnd.memtrack.plan.v1+json"
SCHEMA = "memtrack.plan/1"


def encode_plan(plan: Plan) -> dict[str, Any]:
    """Return the JSON of a plan, as the module's docstring lays out."""
    return {
        "schema": SCHEMA,
        "kind": plan.kind,
        "inputs": as_json(plan.inputs),
        "gpus": [{"name": one.name, "usable": one.usable} for one in known_capacities()],
        "gpu": "" if plan.gpu is None else plan.gpu.name,
        "capacity": None if plan.gpu is None else plan.gpu.usable,
    }


def plan_json(plan: Plan) -> dict[str, Any]:
    """Return the inputs and the answer, without the table of GPUs."""
    payload = encode_plan(plan)
    del payload["gpus"]
    payload["total"] = plan.total
    payload["verdict"] = plan.verdict
    if plan.ways:
        return {**payload, "ways": [asdict(way) for way in plan.ways]}
    payload["parts"] = {part.id: part.bytes for part in plan.parts}
    if isinstance(plan.inputs, KvInputs) and plan.gpu is not None:
        payload["longest_sequence"] = plan.longest_sequence
        payload["largest_batch"] = plan.largest_batch
    return payload
