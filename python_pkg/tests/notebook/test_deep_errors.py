"""Errors of endless recursion and of long chains: shown as they are, and looked at in no time."""

import time
import traceback

import pytest

pytest.importorskip("torch")

from memtrack.diagnosis.raised import may_be_about_memory
from memtrack.reports.diagnosispayload import MIME_TYPE

OOM = "torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB.')"
CELLS = {
    "one function": "def f(n): return f(n + 1)\nf(0)",
    "two functions": "def f(n): return g(n)\ndef g(n): return f(n)\nf(0)",
    "a property": "class A:\n    @property\n    def x(self): return self.x\nA().x",
    "its own text": "class B:\n    def __repr__(self): return repr(self)\nrepr(B())",
    "a module": "class M(torch.nn.Module):\n    def forward(self, x): return self(x)\nM()(0)",
}


@pytest.fixture
def shallow(bare):
    """A shell in which recursion ends soon: IPython takes seconds to show a thousand frames."""
    bare.run("%xmode Minimal")
    bare.run("import sys, torch; before = sys.getrecursionlimit(); sys.setrecursionlimit(400)")
    yield bare
    bare.run("sys.setrecursionlimit(before)")


@pytest.mark.parametrize("cell", CELLS.values(), ids=list(CELLS))
def test_a_recursion_error_is_what_it_is_without_us(shallow, cell):
    def shown(cell):
        before = len(shallow.out)
        result = shallow.run(cell, store_history=False)
        assert type(result.error_in_exec) is RecursionError
        return shallow.out[before:], len(shallow.shown)

    alone, displayed = shown(cell)
    shallow.run("%load_ext memtrack")
    assert shown(cell) == (alone, displayed)
    assert shallow.err == ""


def test_an_endless_recursion_is_told_from_memory_in_a_fraction_of_its_traceback():
    def f(n):
        return f(n + 1)

    try:
        f(0)
    except RecursionError as raised:
        error = raised
    begin = time.perf_counter()
    shown = traceback.format_exception(error)
    middle = time.perf_counter()
    assert not may_be_about_memory(error)
    end = time.perf_counter()
    assert shown[-1].startswith("RecursionError")
    assert end - middle < 0.2 * (middle - begin)


def test_memory_that_ran_out_deep_inside_is_explained(shallow):
    shallow.run("%load_ext memtrack")
    shallow.run(f"def h(n):\n    if n == 200: raise {OOM}\n    return h(n + 1)\nh(0)")
    assert any(MIME_TYPE in bundle for bundle in shallow.shown)
    assert shallow.err == ""
