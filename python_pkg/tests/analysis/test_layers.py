"""The layer table of a run small enough to do in the head."""

import sys

import pytest
from synthetic import CallKind, Category, PhaseKind, Script

from memtrack.analysis import layer_table
from memtrack.errors import UnavailableError


@pytest.fixture(scope="module")
def table():
    script = Script()
    script.device()
    root = script.layer("model")
    inner = script.layer("inner", root, parameters=3)
    script.layer("unused", root)
    weight = script.older(100, Category.PARAMETER, layer=inner)
    script.phase(PhaseKind.FORWARD, 0)
    with script.call(root, "2×4", size=8, needs_grad=1):
        with script.call(inner, "2×2", size=4) as call:
            script.save(weight)
            kept = script.alloc(40, layer=inner)
            script.save(kept)
        with script.call(inner, "9×9", size=81):
            script.save(kept)  # a second time: it counts where it was saved first
        script.free(script.alloc(7, Category.TEMPORARY, layer=root))
    script.phase(PhaseKind.BACKWARD, 0)
    with script.backward(call), script.call(inner, kind=CallKind.RECOMPUTE, size=1000):
        script.alloc(100, Category.GRADIENT, layer=inner)
    script.alloc(5, Category.OTHER)
    script.free(kept)
    return layer_table(script.build(), 0)


def column(table, name):
    return list(table.columns[name])


def test_bytes_add_up_along_the_tree(table):
    assert column(table, "at_peak") == [0, 240, 0]
    assert column(table, "total_at_peak") == [240, 240, 0]
    assert table.outside["at_peak"] == 5


def test_saved_counts_each_allocation_once_and_no_parameter(table):
    assert column(table, "saved") == [0, 40, 0]


def test_recomputation_is_no_call(table):
    assert column(table, "calls") == [1, 2, 0]


def test_output_is_of_the_largest_forward_call(table):
    assert column(table, "output_shape") == ["2×4", "9×9", ""]
    assert column(table, "output_bytes") == [8, 81, -1]
    assert column(table, "needs_grad") == [1, 0, 0]


def test_peak_while_a_layer_runs(table):
    # The model's forward sees the temporary; the inner layer's backward the gradient.
    assert column(table, "peak") == [147, 240, -1]


def test_change_and_live_after(table):
    assert column(table, "change") == [40, 40, 0]
    assert column(table, "live_after") == [140, 140, -1]


def test_never_called_has_no_time(table):
    assert column(table, "forward_ns")[2] == column(table, "backward_ns")[2] == -1
    assert column(table, "backward_ns") == [-1, 1000, -1]


def test_pandas_table_is_indexed_by_path(table):
    frame = table.to_pandas()
    assert list(frame.index) == ["model", "model.inner", "model.unused"]
    assert frame.loc["model.inner", "total_at_peak"] == 240
    assert frame["type"].tolist() == ["Module"] * 3


def test_without_pandas_it_says_how_to_get_it(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UnavailableError, match="pip install pandas"):
        table.to_pandas()
