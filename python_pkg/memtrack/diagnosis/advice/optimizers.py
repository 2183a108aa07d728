"""Advice on the optimizer's state and its temporaries."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

OPTIMIZERS: Sequence[Entry] = (
    Entry(
        "fused_optimizer",
        text("The fused variant of the optimizer"),
        text("nothing"),
        frozenset({"capacity"}),
        code=(
            "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)    # or "
            "foreach=False"
        ),
        caveats=(
            text(
                "It saves the temporaries of optimizer.step(), not the state: helps where the peak "
                "lies there"
            ),
        ),
        phases=frozenset({"optimizer"}),
    ),
    Entry(
        "eight_bit_optimizer",
        text("8-bit optimizer state"),
        text("needs bitsandbytes; results differ a little: compare on a small run"),
        frozenset({"capacity"}),
        code=(
            "import bitsandbytes as bnb\noptimizer = bnb.optim.AdamW8bit(model.parameters(), lr=lr)"
        ),
        caveats=(
            text("Small tensors (below 4096 elements) stay in 32 bits"),
            text("The state of an old checkpoint cannot be loaded into it"),
        ),
        saves="eight_bit_states",
    ),
    Entry(
        "leaner_optimizer",
        text("Adafactor, or SGD with momentum"),
        text("converges differently: learning rate and schedule have to be tuned again"),
        frozenset({"capacity"}),
        code="optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-2)",
        caveats=(
            text("Adam keeps 8 bytes a parameter, SGD with momentum 4, Adafactor nearly none"),
        ),
        phases=frozenset({"optimizer"}),
    ),
    Entry(
        "train_adapters",
        text("Train adapters (LoRA) only"),
        text("less freedom to learn; needs peft"),
        frozenset({"capacity"}),
        code=(
            "from peft import LoraConfig, get_peft_model\n"
            'model = get_peft_model(model, LoraConfig(r=16, target_modules="all-linear"))\n'
            "optimizer = torch.optim.AdamW(p for p in model.parameters() if p.requires_grad)"
        ),
        caveats=(
            text("Only for a model that has learned before: what is frozen stays as it is"),
            text(
                "Gradients and optimizer state shrink to those of the adapters; activations do not"
            ),
        ),
    ),
)
