"""Memory from a few numbers: `memtrack.plan`, `memtrack.plan_kv`, `memtrack.plan_loading`.

No code of the user's runs and torch is not needed.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.planners.capacity import capacity_of
from memtrack.planners.config import kv_inputs_of
from memtrack.planners.inputs import Inputs, KvInputs, LedgerInputs, LoadingInputs
from memtrack.planners.quantities import parse_count, parse_dtype
from memtrack.planners.request import PlanRequest, optimizer_name
from memtrack.reports.plan import Plan

__all__ = ["Plan", "plan", "plan_kv", "plan_loading", "plan_of"]


def plan(parameters: int | float | str, *, gpu: str | int | None = None, **options: Any) -> Plan:
    """Return the ledger of one GPU in training, from the number of parameters: 7e9 or `"7B"`.

    `options` are `dtype` ("fp32", "bf16", "fp16"), `optimizer` ("adamw", "adam8bit", "adafactor", "sgd", …),
    `mixed` ("none", "autocast", "master": 16-bit weights with fp32 copies), `zero` (0 to 3; FSDP is 3),
    `gpus`, `lora` (the share of adapters, others frozen); with `layers`, `hidden`, `heads`, `sequence`,
    `batch` activations too, with `vocabulary` logits; `checkpointing`, `flash`. `gpu` is a name such as
    `"A100 80GB"`, a size such as `"24GiB"`, or bytes.

        memtrack.plan("1B", optimizer="adam")["gradient"]        # 4_000_000_000
        memtrack.plan("7B", dtype="bf16", mixed="master", zero=3, gpus=8, gpu="A100 80GB").fits
    """
    _check_names(options, LedgerInputs)
    if "dtype" in options:
        options["dtype"] = parse_dtype(options["dtype"])
    if "optimizer" in options:
        options["optimizer"] = optimizer_name(options["optimizer"])
    return _planned(LedgerInputs(parse_count(parameters), **options), gpu)


def plan_kv(config: object, *, gpu: str | int | None = None, **options: Any) -> Plan:
    """Return what generation needs: weights, KV cache, logits and workspace.

    `config` is a model of transformers, its configuration, a dictionary, or the path of a `config.json`.
    `options` are those of `KvInputs`, above all `length`, `batch`, `dtype` and `cache_dtype` ("bf16", "fp8",
    "int8", "int4"). With a `gpu`, `longest_sequence` and `largest_batch` say what fits.

        memtrack.plan_kv(model.config, length=32_768, gpu="24GiB").largest_batch
    """
    _check_names(options, KvInputs)
    for name in ("dtype", "cache_dtype"):
        if name in options:
            options[name] = parse_dtype(options[name])
    if "parameters" in options:
        options["parameters"] = parse_count(options["parameters"])
    return _planned(kv_inputs_of(config, **options), gpu)


def plan_loading(
    parameters: int | float | str, *, gpu: str | int | None = None, **options: Any
) -> Plan:
    """Return the peaks of the usual ways to load a checkpoint, in the computer's memory and on the GPU.

    `options` are `stored` (the dtype of the file), `dtype` (that of the model), `built` (that in which
    its class makes it) and `largest` (elements of the largest tensor).

        memtrack.plan_loading("70B", stored="bf16").ways[0].host
    """
    _check_names(options, LoadingInputs)
    for name in ("stored", "dtype", "built"):
        if name in options:
            options[name] = parse_dtype(options[name])
    return _planned(LoadingInputs(parse_count(parameters), **options), gpu)


def plan_of(request: PlanRequest, language: str = "") -> Plan:
    """Return the plan that the words of a magic or a command line ask for."""
    return replace(_planned(request.inputs, request.gpu or None), language=language)


def _planned(inputs: Inputs, gpu: str | int | None) -> Plan:
    capacity = None if gpu is None else capacity_of(gpu)
    return LivePlan(inputs, capacity)


def _check_names(options: dict[str, Any], inputs: type[Any]) -> None:
    known = [one.name for one in fields(inputs) if one.name != "parameters"]
    if inputs is KvInputs:
        known.append("parameters")
    for name in options:
        if name not in known:
            raise UsageError.unknown_word(text("option"), name, [*known, "gpu"])


class LivePlan(Plan):
    """A plan that is also an ipywidgets view, for front ends that know nothing of our MIME type."""

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        from memtrack.widgets.plan import with_plan_view

        return with_plan_view(super()._repr_mimebundle_(**options))
