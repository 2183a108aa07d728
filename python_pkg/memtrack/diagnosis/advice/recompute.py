"""Advice on activations: compute them again, or keep them elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

RECOMPUTE: Sequence[Entry] = (
    Entry(
        "checkpoint_layers",
        text("Activation checkpointing of the repeated layers"),
        text("+20–35 % time, as the forward is computed twice"),
        frozenset({"capacity"}),
        code=(
            "from torch.utils.checkpoint import checkpoint\n"
            "for block in self.blocks:\n"
            "    x = checkpoint(block, x, use_reentrant=False)"
        ),
        caveats=(
            text(
                "use_reentrant=False: the other variant drops gradients where no input requires one"
            ),
            text("BatchNorm updates its statistics twice: leave it outside"),
            text(
                "Dropout repeats its mask, since the random state is kept (preserve_rng_state=True)"
            ),
            text("What is checkpointed must not change its inputs in place"),
            text("With transformers: model.gradient_checkpointing_enable()"),
        ),
        phases=frozenset({"backward", "forward"}),
    ),
    Entry(
        "checkpointing_that_works",
        text("Checkpointing with adapters: inputs must require a gradient"),
        text("nothing"),
        frozenset({"checkpointing_or_peft"}),
        code=(
            'model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})\n'
            "model.enable_input_require_grads()\n"
            "model.config.use_cache = False"
        ),
        caveats=(
            text("A warning that no input requires a gradient means that nothing is trained"),
        ),
    ),
    Entry(
        "activations_on_cpu",
        text("Keep activations in the computer's memory"),
        text("slower, as every activation crosses the bus twice; takes pinned memory"),
        frozenset({"capacity"}),
        code=(
            "with torch.autograd.graph.save_on_cpu(pin_memory=True):\n"
            "    loss = model(batch)\n"
            "loss.backward()"
        ),
        caveats=(text("The computer needs as much free memory of its own"),),
        phases=frozenset({"backward", "forward"}),
    ),
)
