"""Advice on precision: fewer bytes a number."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

PRECISION: Sequence[Entry] = (
    Entry(
        "bf16_autocast",
        text("bfloat16 autocast"),
        text(
            "changed rounding; usually faster. Activations shrink by up to half; parameters, "
            "gradients and optimizer state do not"
        ),
        frozenset({"capacity", "logits_or_attention_quadratic"}),
        code=(
            'with torch.autocast("cuda", dtype=torch.bfloat16):\n'
            "    loss = model(batch)\n"
            "loss.backward()                 # outside of autocast; no GradScaler"
        ),
        caveats=(
            text("Fast from Ampere on (A100, RTX 30); before that use float16 with a GradScaler"),
            text("Autocast keeps 16-bit copies of the weights until it ends"),
        ),
        phases=frozenset({"backward", "forward"}),
    ),
    Entry(
        "load_in_bf16",
        text("Load the model in bfloat16"),
        text("fewer digits in the weights"),
        frozenset({"dtype_fp32_load"}),
        code=(
            "model = AutoModel.from_pretrained(name, dtype=torch.bfloat16)   # transformers < "
            "4.56: torch_dtype="
        ),
        caveats=(
            text(
                "For training keep float32 weights and use autocast, unless the optimizer handles "
                "bfloat16 well"
            ),
            text("Check: next(model.parameters()).dtype"),
        ),
        saves="half_parameters",
    ),
    Entry(
        "quantised_weights",
        text("Quantised weights for inference or LoRA"),
        text("a little quality; needs bitsandbytes"),
        frozenset({"dtype_fp32_load"}),
        code=(
            "from transformers import BitsAndBytesConfig\n"
            "model = AutoModelForCausalLM.from_pretrained(\n"
            "    name, quantization_config=BitsAndBytesConfig(load_in_4bit=True))"
        ),
    ),
)
