"""Advice for cards before Ampere, where bfloat16 is slow."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

OLDER_CARDS: Sequence[Entry] = (
    Entry(
        "fp16_autocast",
        text("float16 autocast with a GradScaler, on older cards"),
        text("small range: steps with inf are skipped"),
        frozenset({"capacity"}),
        code=(
            'scaler = torch.amp.GradScaler("cuda")\n'
            'with torch.autocast("cuda", dtype=torch.float16):\n'
            "    loss = model(batch)\n"
            "scaler.scale(loss).backward()\n"
            "scaler.step(optimizer); scaler.update()"
        ),
        caveats=(
            text("Before clipping gradients: scaler.unscale_(optimizer)"),
            text("The GradScaler is for float16 only; bfloat16 needs none"),
        ),
        phases=frozenset({"backward", "forward"}),
    ),
)
