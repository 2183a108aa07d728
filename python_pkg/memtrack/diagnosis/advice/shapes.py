"""Advice on sizes: mistakes in shapes, and tensors that grow faster than the batch."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

SHAPES: Sequence[Entry] = (
    Entry(
        "check_shapes",
        text("Look at the shapes at the line that asked"),
        text("nothing"),
        frozenset({"integer_overflow_or_garbage_size", "huge_input_or_boxes"}),
        code=("print(a.shape, b.shape, a.dtype)      # just before the line\nassert n < 10_000, n"),
        caveats=(
            text("(N, 1) with (1, M) broadcasts to N × M"),
            text("A length read from a file or computed in int32 may be garbage or negative"),
        ),
    ),
    Entry(
        "fused_attention",
        text("Attention that never makes the whole matrix"),
        text("nothing"),
        frozenset({"logits_or_attention_quadratic"}),
        code="out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)",
        caveats=(
            text(
                "A float mask or float32 inputs may lead back to the kernel that makes the matrix"
            ),
            text('With transformers: attn_implementation="sdpa", and no output_attentions'),
        ),
    ),
    Entry(
        "logits_in_chunks",
        text("Compute logits and loss in chunks"),
        text("the last layer is computed twice"),
        frozenset({"logits_or_attention_quadratic"}),
        code=(
            "from torch.utils.checkpoint import checkpoint\n"
            "def part(h, y):\n"
            '    return F.cross_entropy(lm_head(h).float(), y, reduction="sum")\n'
            "loss = sum(checkpoint(part, h, y, use_reentrant=False)\n"
            "           for h, y in zip(hidden.split(1024), labels.split(1024))) / "
            "labels.numel()"
        ),
        caveats=(
            text("When generating, only the last position's logits are needed"),
            text("Divide by the labels that count, not by the ignored ones"),
        ),
    ),
    Entry(
        "bound_lengths",
        text("Bound the longest sample"),
        text("long samples are cut or left out"),
        frozenset({"huge_input_or_boxes", "logits_or_attention_quadratic"}),
        code=(
            "batch = tokenizer(texts, truncation=True, max_length=2048)\n"
            "loader = DataLoader(ds, batch_sampler=by_tokens(max_tokens=16_384))"
        ),
        caveats=(text("One sample in a thousand is enough to fail: test with the largest first"),),
    ),
)
