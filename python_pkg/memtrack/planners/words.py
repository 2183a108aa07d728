"""The options of `plan`, for the magic and the command line alike: what each sets, and its help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memtrack.i18n import Text, text
from memtrack.planners.inputs import MIXED, OPTIMIZERS

KINDS = ("ledger", "kv", "loading")
GPU = "--gpu"


@dataclass(frozen=True, slots=True)
class PlanOption:
    """An option that sets `field`; `value` stands for what follows it, "" for an option without."""

    name: str
    field: str
    value: str
    help: Text


def _table(*options: PlanOption) -> Mapping[str, PlanOption]:
    return {option.name: option for option in options}


_GPU = PlanOption(GPU, "gpu", "NAME|SIZE", text("the GPU to fit into, by name or size"))
_FLASH = PlanOption("--no-flash", "flash", "", text("attention that keeps its whole matrix"))
_BATCH = PlanOption("--batch", "batch", "N", text("sequences at a time on one GPU"))
_DTYPE = PlanOption("--dtype", "dtype", "DTYPE", text("the dtype of the weights: fp32, bf16, …"))

LEDGER = _table(
    _DTYPE,
    PlanOption("--optimizer", "optimizer", "|".join(OPTIMIZERS[:3]) + "|…", text("the optimizer")),
    PlanOption("--mixed", "mixed", "|".join(MIXED), text("how 16 bits and fp32 are mixed")),
    PlanOption("--zero", "zero", "0|1|2|3", text("the stage of ZeRO")),
    PlanOption("--fsdp", "zero", "", text("shard everything, as ZeRO 3 does")),
    PlanOption("--gpus", "gpus", "N", text("the number of GPUs")),
    PlanOption("--lora", "lora", "SHARE", text("train adapters of this share, such as 0.005")),
    PlanOption("--layers", "layers", "N", text("layers of the transformer")),
    PlanOption("--hidden", "hidden", "N", text("its hidden size")),
    PlanOption("--heads", "heads", "N", text("its attention heads")),
    PlanOption("--sequence", "sequence", "N", text("tokens of a sequence: adds activations")),
    _BATCH,
    PlanOption("--vocabulary", "vocabulary", "N", text("words of the vocabulary: adds logits")),
    PlanOption("--checkpointing", "checkpointing", "", text("recompute each layer in backward")),
    _FLASH,
    _GPU,
)
KV = _table(
    PlanOption("--length", "length", "N", text("tokens of a sequence, its prompt included")),
    _BATCH,
    _DTYPE,
    PlanOption("--cache", "cache_dtype", "DTYPE", text("the dtype of the cache: bf16, int8, int4")),
    PlanOption("--prompt", "prompt", "N", text("tokens read at once before the first new one")),
    PlanOption("--parameters", "parameters", "COUNT", text("the number of parameters: 7B")),
    _FLASH,
    _GPU,
)
LOADING = _table(
    PlanOption("--stored", "stored", "DTYPE", text("the dtype in the checkpoint")),
    PlanOption("--dtype", "dtype", "DTYPE", text("the dtype that the model is to have")),
    PlanOption("--built", "built", "DTYPE", text("the dtype in which the class makes its weights")),
    PlanOption("--largest", "largest", "COUNT", text("elements of the largest tensor")),
    _GPU,
)
OPTIONS_OF: Mapping[str, Mapping[str, PlanOption]] = {
    "ledger": LEDGER,
    "kv": KV,
    "loading": LOADING,
}
USAGE: Mapping[str, str] = {
    "ledger": "plan 7B [--optimizer adamw] [--dtype bf16] [--zero 3] [--gpus 8] [--gpu NAME|SIZE]",
    "kv": "plan kv CONFIG [--length N] [--batch N] [--cache DTYPE] [--gpu NAME|SIZE]",
    "loading": "plan loading 7B [--stored DTYPE] [--dtype DTYPE] [--built DTYPE] [--gpu NAME|SIZE]",
}
