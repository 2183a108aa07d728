"""Activations of a transformer, from its shape.

Source: Korthikanti et al. 2022, *Reducing Activation Recomputation in Large Transformer Models*: equation 2
for a layer (34 sbh + 5 as²b bytes in 16 bits), section 4.3 for what lies outside the layers, section 5
for full recomputation. s is the sequence, b the batch, h the hidden size, a the heads. Here an element has w
bytes, and masks of dropout one byte: sbh (16 w + 2) + as²b (2 w + 1), which is theirs for w = 2.
"""

from __future__ import annotations

from memtrack.planners.inputs import LedgerInputs

UNITS = 32
"""Layers that the weights are taken to be in, where their number is not told."""


def activation_bytes(inputs: LedgerInputs) -> int:
    """Return what the layers keep for backward, 0 where the shape is not told.

    Fused attention keeps no s by s matrix, but one fp32 number a head and token (Dao 2023,
    FlashAttention-2, algorithm 1). With checkpointing each layer keeps its input, and one layer at a
    time has everything.
    """
    if not inputs.sequence:
        return 0
    tokens, width = inputs.sequence * inputs.batch, _width(inputs)
    one = tokens * inputs.hidden * (16 * width + 2)
    if inputs.flash:
        one += 4 * inputs.heads * tokens
    else:
        one += inputs.heads * inputs.sequence * tokens * (2 * width + 1)
    # Dropout's mask on the embeddings; the input of the last norm and that of the head.
    outside = tokens * inputs.hidden * (1 + 2 * width)
    if inputs.checkpointing:
        return inputs.layers * tokens * inputs.hidden * width + one + outside
    return inputs.layers * one + outside


def logits_bytes(inputs: LedgerInputs) -> int:
    """Return the logits in fp32, for a language model's loss (section 4.3: 4 sbv)."""
    return 4 * inputs.sequence * inputs.batch * inputs.vocabulary


def largest_unit(elements: int, inputs: LedgerInputs) -> int:
    """Return the elements of one layer, the unit that stage 3 gathers."""
    return -(-elements // (inputs.layers or UNITS))


def _width(inputs: LedgerInputs) -> int:
    return 4 if inputs.dtype == "fp32" and inputs.mixed == "none" else 2
