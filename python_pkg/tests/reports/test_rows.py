"""Lines of the layer table in text and HTML: alike siblings share one, and every layer is counted."""

from __future__ import annotations

import numpy as np
import pytest

from memtrack.recording import Category, RecordingBuilder, RecordingData
from memtrack.recording.data import Facts
from memtrack.recording.tables import Table
from memtrack.reports.build import build_report
from memtrack.reports.rows import shown_layers


def transformer(blocks: list[int]) -> RecordingData:
    """A root with one block a size, each block holding one inner layer of that many bytes."""
    builder = RecordingBuilder()
    word = builder.strings.add
    builder["devices"].add(kind=word("cpu"), index=0, name=word("CPU"), total=-1)
    layers = builder["layers"]

    def layer(parent: int, name: str, kind: str, depth: int, subtree: int) -> int:
        return layers.add(
            parent=parent,
            name=word(name),
            path=word(name),
            type=word(kind),
            depth=depth,
            subtree=subtree,
        )

    layer(-1, "model", "Model", 0, 1 + 2 * len(blocks))
    for number, size in enumerate(blocks):
        block = layer(0, str(number), "Block", 1, 2)
        inner = layer(block, "mlp", "Linear", 2, 1)
        category = int(Category.PARAMETER)
        builder["allocations"].add(
            device=0, bytes=size, requested=size, start=-1, end=0, category=category, layer=inner
        )
    builder["phases"].add(kind=3, step=0, start=0, end=0, start_ns=0, end_ns=1)
    return builder.build(Facts(), {"events": Table("events", {})})


def lines(blocks: list[int], most: int = 20) -> tuple[list[tuple[str, int]], int]:
    report = build_report(transformer(blocks))
    found, left_out = shown_layers(report, report.views[0], most)
    return [(line.name, line.alike) for line in found], left_out


def test_alike_siblings_share_a_line_that_stands_for_their_subtrees_too():
    shown, left_out = lines([8, 8, 8, 8])
    assert shown == [("model", 1), ("0 … 3 (4×)", 4), ("mlp", 1)]
    assert left_out == 0


def test_siblings_that_differ_stand_for_themselves():
    shown, _ = lines([8, 8, 9, 8, 8, 8])
    names = [name for name, _ in shown if name != "mlp"]
    assert names == ["model", "0", "1", "2", "3 … 5 (3×)"]


@pytest.mark.parametrize("seed", range(20))
def test_lines_and_what_is_left_out_count_every_layer_that_holds_something(seed):
    generator = np.random.default_rng(seed)
    blocks = generator.integers(1, 3, size=12).tolist()
    shown, left_out = lines(blocks)
    copies, inside = 0, 1
    for name, alike in shown:
        copies += inside if name == "mlp" else alike
        inside = alike if name not in ("mlp", "model") else inside
    assert copies + left_out == 1 + 2 * len(blocks)
