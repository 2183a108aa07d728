"""The KV cache and what else generation needs, and the longest and most that fit.

Sources: the cache is 2 × layers × heads × head size × length × batch × bytes (Pope et al. 2022, *Efficiently
Scaling Transformer Inference*, section 2.1), with the key and value heads that queries share counted once
(Ainslie et al. 2023, grouped-query attention); windows as Mistral 7B's (Jiang et al. 2023); quantised
caches as transformers' `QuantizedCache` documents them: groups of 64 elements with a scale and a zero, the
last 128 tokens as they are.
"""

from __future__ import annotations

from dataclasses import replace

from memtrack.planners.inputs import KvInputs
from memtrack.planners.parts import PlanPart, total_of, verdict
from memtrack.planners.quantities import DTYPE_BITS, bytes_of

GROUP, SCALE_BYTES, RESIDUAL = 64, 4, 128
"""Elements that share a 16-bit scale and a 16-bit zero; the newest tokens, which are not quantised."""
WORKSPACE = 32 << 20
"""cuBLAS on Hopper; 8 MiB before (`CUBLAS_WORKSPACE_CONFIG` in PyTorch's documentation)."""
MOST_TOKENS, MOST_BATCH = 1 << 24, 1 << 20
_QUANTISED = ("int8", "int4")


def kv_parts(inputs: KvInputs) -> list[PlanPart]:
    """Return weights, cache, logits and workspace in bytes."""
    parts = [
        PlanPart("parameter", bytes_of(inputs.parameters, inputs.dtype)),
        PlanPart("cache_kv", cache_bytes(inputs)),
        PlanPart("output", _logits(inputs)),
        PlanPart("workspace", _workspace(inputs)),
    ]
    return [part for part in parts if part.bytes > 0]


def cache_bytes(inputs: KvInputs) -> int:
    """Return the bytes of keys and values of all layers.

    Llama 2 7B with 2048 tokens for 8 sequences in 16 bits takes 8 GiB:

    >>> cache_bytes(KvInputs(32, 32, 128, 128, length=2048, batch=8)) == 8 << 30
    True
    """
    whole = (inputs.layers - _windowed(inputs)) * _layer_bytes(inputs, inputs.length)
    seen = min(inputs.length, inputs.window or inputs.length)
    return whole + _windowed(inputs) * _layer_bytes(inputs, seen)


def longest_sequence(inputs: KvInputs, capacity: int) -> int:
    """Return the most tokens a sequence that fit `capacity` bytes, 0 for none."""
    return _most(MOST_TOKENS, lambda n: _fits(replace(inputs, length=n, prompt=0), capacity))


def largest_batch(inputs: KvInputs, capacity: int) -> int:
    """Return the most sequences at a time that fit `capacity` bytes, 0 for none."""
    return _most(MOST_BATCH, lambda n: _fits(replace(inputs, batch=n), capacity))


def _fits(inputs: KvInputs, capacity: int) -> bool:
    return verdict(total_of(kv_parts(inputs)), capacity) == "fits"


def _most(limit: int, fits: object) -> int:
    """Return the largest number up to `limit` that fits; what fits is all below it."""
    assert callable(fits)
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _windowed(inputs: KvInputs) -> int:
    return inputs.windowed if inputs.window else 0


def _layer_bytes(inputs: KvInputs, tokens: int) -> int:
    """Return the cache of one layer that holds `tokens` of each sequence."""
    token = inputs.kv_heads * (inputs.key_size + inputs.value_size) * inputs.batch
    if inputs.cache_dtype not in _QUANTISED:
        return bytes_of(token * tokens, inputs.cache_dtype)
    kept = min(tokens, RESIDUAL)
    packed = token * (tokens - kept)
    plain = "fp32" if inputs.dtype == "fp32" else "bf16"
    scales = SCALE_BYTES * -(-packed // GROUP)
    return bytes_of(packed, inputs.cache_dtype) + scales + bytes_of(token * kept, plain)


def _logits(inputs: KvInputs) -> int:
    """Return the logits of the last token and their fp32 copy, from which the next one is chosen."""
    return inputs.batch * inputs.vocabulary * (_width(inputs) + 4)


def _width(inputs: KvInputs) -> int:
    """Return the bytes of an activation: 2 for quantised weights too, which are computed in 16 bits."""
    return 4 if DTYPE_BITS[inputs.dtype] == 32 else 2


def _workspace(inputs: KvInputs) -> int:
    """Return the scratch: the larger of reading the prompt and of growing a layer's cache, and cuBLAS.

    A prompt has, at the widest place of a layer, its residual and normed input and the two halves of a
    gated MLP; without fused attention also the scores and their softmax. A cache that grows by
    concatenation has one layer twice for a moment.
    """
    prompt = inputs.prompt or inputs.length
    wide = 2 * inputs.hidden + 2 * inputs.intermediate
    tokens = inputs.batch * prompt
    reading = tokens * wide * _width(inputs)
    if not inputs.flash:
        reading = max(reading, 2 * tokens * inputs.heads * prompt * _width(inputs))
    return max(reading, _layer_bytes(inputs, inputs.length)) + WORKSPACE
