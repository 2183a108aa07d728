"""What each planner is told. Sizes are counts of elements, tokens or layers, never bytes.

Names are those of the payload, and of `src/model/planner/inputs.ts`. 0 is "not told".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.planners.quantities import DTYPE_BITS, choice

OPTIMIZERS = (
    "adamw",
    "adam",
    "adam8bit",
    "adafactor",
    "lion",
    "momentum",
    "rmsprop",
    "adagrad",
    "sgd",
    "none",
)
MIXED = ("none", "autocast", "master")
"""How precisions are mixed: not; autocast over fp32 weights; 16-bit weights with fp32 master weights."""
FLOATS = ("fp32", "bf16", "fp16")
MOST = 1 << 53


@dataclass(frozen=True, slots=True)
class LedgerInputs:
    """One training step. `lora` is the share of parameters added as adapters; the others are frozen."""

    parameters: int
    dtype: str = "fp32"
    optimizer: str = "adamw"
    mixed: str = "none"
    zero: int = 0
    gpus: int = 1
    lora: float = 0.0
    layers: int = 0
    hidden: int = 0
    heads: int = 0
    sequence: int = 0
    batch: int = 1
    vocabulary: int = 0
    checkpointing: bool = False
    flash: bool = True

    def __post_init__(self) -> None:
        choice(text("dtype"), self.dtype, FLOATS)
        choice(text("optimizer"), self.optimizer, OPTIMIZERS)
        choice(text("kind of mixed precision"), self.mixed, MIXED)
        _check_whole(self, ("parameters", "gpus", "batch"), 1)
        _check_whole(self, ("layers", "hidden", "heads", "sequence", "vocabulary"), 0)
        if self.zero not in (0, 1, 2, 3):
            raise UsageError(text("The ZeRO stage is 0, 1, 2 or 3, not {value}.", value=self.zero))
        if not 0 <= self.lora <= 1:
            raise UsageError(
                text("The share of adapters is from 0 to 1, not {value}.", value=self.lora),
                text("LoRA often trains about 0.005 of the parameters."),
            )
        if self.mixed == "autocast" and self.dtype != "fp32":
            raise UsageError(
                text("Autocast is for fp32 weights, not for {dtype}.", dtype=self.dtype),
                text("16-bit weights with fp32 copies: mixed 'master'."),
            )
        if self.mixed == "master" and self.dtype == "fp32":
            raise UsageError(
                text("Master weights go with 16-bit weights."),
                text("Choose the dtype bf16 or fp16."),
            )
        shape = ("layers", "hidden", "heads", "sequence")
        missing = [name for name in shape if not getattr(self, name)]
        if self.sequence and missing:
            raise UsageError(
                text("Activations need {names} as well.", names=", ".join(missing)),
                text("Leave the sequence out to plan without activations."),
            )


@dataclass(frozen=True, slots=True)
class KvInputs:
    """Generation. Lengths are tokens; `window` holds in `windowed` of the layers.

    `key_size` and `value_size` are elements of one head. `prompt` is what is read at once before the
    first new token, 0 for all of `length`.
    """

    layers: int
    kv_heads: int
    key_size: int
    value_size: int
    length: int = 4096
    batch: int = 1
    dtype: str = "bf16"
    cache_dtype: str = "bf16"
    window: int = 0
    windowed: int = 0
    parameters: int = 0
    hidden: int = 0
    heads: int = 0
    intermediate: int = 0
    vocabulary: int = 0
    prompt: int = 0
    flash: bool = True

    def __post_init__(self) -> None:
        choice(text("dtype"), self.dtype, DTYPE_BITS)
        choice(text("dtype"), self.cache_dtype, DTYPE_BITS)
        _check_whole(self, ("layers", "kv_heads", "key_size", "value_size", "length", "batch"), 1)
        names = ("window", "windowed", "parameters", "hidden", "heads", "intermediate")
        _check_whole(self, (*names, "vocabulary", "prompt"), 0)
        if self.windowed > self.layers:
            raise UsageError(text("There are fewer layers than layers with a window."))


@dataclass(frozen=True, slots=True)
class LoadingInputs:
    """Loading a checkpoint of `stored` dtype into a model that is to be of `dtype`.

    `built` is the dtype in which the model's class makes its parameters; `largest` is the largest
    tensor in elements.
    """

    parameters: int
    stored: str = "bf16"
    dtype: str = "bf16"
    built: str = "fp32"
    largest: int = 0

    def __post_init__(self) -> None:
        for dtype in (self.stored, self.dtype, self.built):
            choice(text("dtype"), dtype, DTYPE_BITS)
        _check_whole(self, ("parameters",), 1)
        _check_whole(self, ("largest",), 0)
        if self.largest > self.parameters:
            raise UsageError(text("The largest tensor has more elements than the whole model."))


Inputs = LedgerInputs | KvInputs | LoadingInputs


def as_json(inputs: Inputs) -> dict[str, Any]:
    """Return the inputs by name, as payloads and fixtures hold them."""
    return {field.name: getattr(inputs, field.name) for field in fields(inputs)}


def _check_whole(inputs: Inputs, names: tuple[str, ...], least: int) -> None:
    for name in names:
        value = getattr(inputs, name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not least <= value < MOST:
            raise UsageError(
                text(
                    "{name} is a whole number from {least} up, not {value}.",
                    name=name,
                    least=least,
                    value=value,
                )
            )
