"""Every operation that was measured on an H200, predicted: the share of figures that agree."""

from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[4] / "bench"
SHARE = 0.94
"""Of the figures within 3 %; `bench/kernels_predicted.py` says which are not."""


@pytest.fixture
def bench(monkeypatch):
    """The module that compares, as run from its own folder."""
    monkeypatch.syspath_prepend(str(BENCH))
    return pytest.importorskip("kernels_predicted")


def test_what_was_measured_is_predicted_within_3_percent_as_often_as_promised(bench):
    rows = [bench.compared(one) for one in bench.cases()]
    assert len(rows) > 500
    assert bench.summary(rows)["share"] >= SHARE


def test_figures_that_differ_are_not_called_close(bench):
    rows = [
        {"name": "one", "forward_peak": [1 << 20, 1 << 20], "forward_kept": [2 << 20, 1 << 20]},
        {"name": "other", "raised": "Error"},
    ]
    told = bench.summary(rows)
    assert (told["figures"], told["within_3_percent"], told["raised"]) == (5, 1, 1)
    assert bench.error_of([3 << 20, 2 << 20]) == pytest.approx(0.5)
