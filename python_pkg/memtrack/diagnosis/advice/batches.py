"""Advice on batches: less at once, the same in all."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

BATCHES: Sequence[Entry] = (
    Entry(
        "buckets",
        text("Few lengths instead of many: pad to buckets"),
        text("some padding is computed"),
        frozenset({"fragmentation"}),
        code=(
            "length = next(b for b in (128, 256, 512, 1024) if b >= longest)\n"
            'batch = tokenizer(texts, padding="max_length", max_length=length, truncation=True)'
        ),
        caveats=(
            text("Run the largest bucket once at the start: what it needs is then in the cache"),
        ),
    ),
    Entry(
        "accumulate_gradients",
        text("A smaller batch, its gradients accumulated"),
        text("slower, with more and smaller steps"),
        frozenset({"capacity", "huge_input_or_boxes"}),
        code=(
            "n = 4\n"
            "for i, part in enumerate(batches):\n"
            "    loss = model(part) / n              # divide, or the gradient is n times as "
            "large\n"
            "    loss.backward()\n"
            "    if (i + 1) % n == 0:\n"
            "        optimizer.step()\n"
            "        optimizer.zero_grad(set_to_none=True)"
        ),
        caveats=(
            text("Divide the loss by the number of parts"),
            text("BatchNorm sees the small batches: not the same as one large batch"),
            text("Parts of different lengths: weigh them by the tokens that count"),
            text("Parameters, gradients and optimizer state stay as they are"),
        ),
        phases=frozenset({"backward", "forward"}),
    ),
    Entry(
        "smaller_inputs",
        text("Shorter sequences or smaller images"),
        text("the model sees less"),
        frozenset({"capacity", "logits_or_attention_quadratic", "huge_input_or_boxes"}),
        code="batch = tokenizer(texts, truncation=True, max_length=1024)",
        phases=frozenset({"backward", "forward"}),
    ),
)
