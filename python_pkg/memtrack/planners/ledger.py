"""The ledger of one GPU in training, from the number of parameters.

Sources: Rajbhandari et al. 2020, *ZeRO: Memory Optimizations Toward Training Trillion Parameter Models*,
section 3 (16 bytes a parameter with Adam in mixed precision) and 5 (what each stage shards); PyTorch's
documentation of DistributedDataParallel (`gradient_as_bucket_view`) and FSDP; DeepSpeed's
documentation of `reduce_bucket_size`; bitsandbytes' documentation of block-wise optimizers.
"""

from __future__ import annotations

from memtrack.planners.activations import activation_bytes, largest_unit, logits_bytes
from memtrack.planners.inputs import LedgerInputs
from memtrack.planners.parts import PlanPart
from memtrack.planners.quantities import bytes_of

BUCKET_ELEMENTS = 500_000_000
"""DeepSpeed's default `reduce_bucket_size`: gradients reduced at a time in stages 1 and 2."""
BLOCK = 256
"""Elements of an 8-bit state that share one fp32 scale, in bitsandbytes from 0.44 on."""
FACTOR_SIDE = 4096
"""Side of the matrices that Adafactor factors, where the hidden size is not told."""


def ledger_parts(inputs: LedgerInputs) -> list[PlanPart]:
    """Return the parts of one GPU; 1 B fp32 with Adam gives 4, 4 and 8 billion bytes.

    >>> [part.bytes for part in ledger_parts(LedgerInputs(10**9, optimizer="adam"))][:3]
    [4000000000, 4000000000, 8000000000]
    """
    adapters = int(inputs.parameters * inputs.lora + 0.5)
    trained = adapters if inputs.lora > 0 else inputs.parameters
    weights = inputs.parameters + adapters
    shards = inputs.gpus
    own_weights = _share(weights, shards, inputs.zero >= 3)
    own_gradients = _share(trained, shards, inputs.zero >= 2)
    own_states = _share(trained, shards, inputs.zero >= 1)
    parts = [
        PlanPart("parameter", bytes_of(own_weights, inputs.dtype)),
        PlanPart("gradient", 0 if _idle(inputs) else bytes_of(own_gradients, inputs.dtype)),
        PlanPart("optimizer_state", state_bytes(own_states, inputs)),
        PlanPart("cast_weight", _copies(own_states, weights, inputs)),
        PlanPart("communication", _communication(weights, trained, inputs)),
        PlanPart("activation", 0 if _idle(inputs) else activation_bytes(inputs)),
        PlanPart("output", logits_bytes(inputs)),
    ]
    return [part for part in parts if part.bytes > 0]


def state_bytes(trained: int, inputs: LedgerInputs) -> int:
    """Return the bytes of the optimizer's state for `trained` parameters on this GPU.

    PyTorch makes states like their parameters, in their dtype; with master weights they are fp32.
    Adam and AdamW keep two moments, momentum, RMSprop, Adagrad and Lion one, plain SGD none. 8-bit Adam
    keeps two bytes a parameter and two fp32 scales for every 256 (bitsandbytes). Adafactor without a
    first moment keeps a row and a column for each matrix instead of all of it (Shazeer and Stern 2018,
    algorithm 4): 2/n of the elements of an n by n matrix, in fp32.
    """
    dtype = "fp32" if inputs.mixed == "master" else inputs.dtype
    match inputs.optimizer:
        case "adam" | "adamw":
            return 2 * bytes_of(trained, dtype)
        case "lion" | "momentum" | "rmsprop" | "adagrad":
            return bytes_of(trained, dtype)
        case "adam8bit":
            return 2 * trained + 2 * 4 * -(-trained // BLOCK)
        case "adafactor":
            return 4 * -(-2 * trained // (inputs.hidden or FACTOR_SIDE))
        case _:
            return 0


def _share(count: int, shards: int, is_sharded: bool) -> int:
    """Return the elements on this GPU; the last shard is padded."""
    return -(-count // shards) if is_sharded else count


def _idle(inputs: LedgerInputs) -> bool:
    return inputs.optimizer == "none"


def _copies(own_trained: int, weights: int, inputs: LedgerInputs) -> int:
    """Return fp32 master weights, which ZeRO shards with the states, or the 16-bit copies of autocast."""
    if inputs.mixed == "master":
        return 0 if _idle(inputs) else bytes_of(own_trained, "fp32")
    if inputs.mixed == "autocast":
        # Of sharded weights only those of the running unit are there to be cast.
        copied = weights if inputs.zero < 3 or inputs.gpus == 1 else largest_unit(weights, inputs)
        return bytes_of(copied, "bf16")
    return 0


def _communication(weights: int, trained: int, inputs: LedgerInputs) -> int:
    """Return the buffers that several GPUs need.

    Without ZeRO, DDP's buckets are a second copy of the gradients unless `gradient_as_bucket_view`. In
    stages 1 and 2 a bucket of half a billion gradients at most. In stage 3 the running unit (a layer)
    whole, and the next one fetched ahead, with the gradients of one before they are scattered.
    """
    if inputs.gpus == 1 or _idle(inputs):
        return 0
    if inputs.zero == 0:
        return bytes_of(trained, inputs.dtype)
    if inputs.zero < 3:
        return bytes_of(min(trained, BUCKET_ELEMENTS), inputs.dtype)
    whole = 2 * largest_unit(weights, inputs) + largest_unit(trained, inputs)
    return bytes_of(whole, inputs.dtype)
