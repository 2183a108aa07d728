"""What a process takes beside its allocator, against an H200; how far apart a prediction may be."""

import json
from pathlib import Path

import pytest

from memtrack.prediction.overheads import (
    ASSUMED_SHARE,
    CHOSEN_SHARE,
    FOREIGN_SHARE,
    LAYOUT_SHARE,
    Doubts,
    context_bytes,
    process_bytes,
)
from memtrack.prediction.target import target_of

MIB, GIB = 1 << 20, 1 << 30
MEASURED = Path(__file__).parents[3] / "bench" / "results" / "measured-models.json"
WITHOUT_PRODUCTS = "pyramid"
"""The one program of the bench that multiplies no matrices: all of it is convolutions."""


@pytest.mark.skipif(not MEASURED.is_file(), reason="the bench's results are not here")
def test_what_an_h200_takes_beside_the_allocator_lies_in_the_interval():
    rows = json.loads(MEASURED.read_text())["rows"]
    rows = [row for row in rows if row.get("process") and "error" not in row]
    assert len(rows) > 70
    for row in rows:
        low, high = context_bytes(target_of("H200"), row["model"] != WITHOUT_PRODUCTS)
        assert low <= row["process"] - row["reserved"] <= high, row["model"]
        assert high - low <= 70 * MIB


def test_a_gpu_that_is_not_known_has_the_widest_interval():
    some = [context_bytes(target_of(name)) for name in ("T4", "RTX 4090", "A100", "H100", "B200")]
    for unknown in (None, "24GiB", "MI300X"):
        low, high = context_bytes(target_of(unknown))
        assert all(low <= least and most <= high for least, most in some)


def test_each_doubt_widens_by_its_share():
    held = 10 * GIB
    assert Doubts().apart(held) == int(held * LAYOUT_SHARE)
    for doubts, more in (
        (Doubts(sizes=True), ASSUMED_SHARE),
        (Doubts(foreign=True), FOREIGN_SHARE),
        (Doubts(together=held), CHOSEN_SHARE),
    ):
        assert doubts.apart(held) == pytest.approx(held * (LAYOUT_SHARE + more), abs=2)
    assert Doubts(largest=64 * MIB).apart(held) == int(held * LAYOUT_SHARE) + 64 * MIB
    assert Doubts(largest=3).apart(0) == 3
    few, many = Doubts(together=10 * MIB).apart(held), Doubts(together=100 * MIB).apart(held)
    assert Doubts().apart(held) < few < many < Doubts(together=GIB).apart(held)


def test_the_process_is_what_is_reserved_and_the_context():
    assert process_bytes((300, 700), 1000, 100) == (1200, 1800)
    assert process_bytes((300, 700), 0, 100) == (300, 800)
