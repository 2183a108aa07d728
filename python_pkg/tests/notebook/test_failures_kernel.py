"""A failed cell in a real kernel, as a saved notebook keeps it: their traceback, then our explanation."""

import json

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from memtrack.reports.diagnosispayload import MIME_TYPE
from memtrack.reports.payload import MIME_TYPE as REPORT_TYPE

pytest.importorskip("torch")

SETUP = """
import torch
from torch import nn
model = nn.Linear(4, 4)
def oom():
    raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
        " capacity of 23.70 GiB of which 512.00 MiB is free.")
%load_ext memtrack
"""


def executed(*cells):
    notebook = new_notebook(cells=[new_code_cell(source) for source in (SETUP, *cells)])
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    nbformat.validate(notebook)
    assert notebook.cells[0].outputs == [], "loading prints nothing"
    return notebook.cells[1:]


def test_the_explanation_stands_below_the_traceback():
    failed, again, other = executed("model(torch.ones(1, 4))\noom()", "%memtrack explain", "1/0")
    error, explained = failed.outputs
    assert (error.output_type, error.ename) == ("error", "OutOfMemoryError")
    assert "memtrack" not in "\n".join(error.traceback)
    assert set(explained.data) == {"text/plain", "text/html", MIME_TYPE}
    assert explained.data[MIME_TYPE]["place"]["site"] == "In [1]:5"
    assert len(json.dumps(explained.data)) < 60_000
    assert again.outputs[0].data[MIME_TYPE] == explained.data[MIME_TYPE]
    assert [output.output_type for output in other.outputs] == ["error"]


def test_a_recorded_cell_has_report_traceback_and_explanation():
    (cell,) = executed("%%memtrack model\nmodel(torch.ones(1, 4)).sum().backward()\noom()")
    report, error, explained = cell.outputs
    assert report.data[REPORT_TYPE]["report"]["state"] == "failed"
    assert error.ename == "OutOfMemoryError"
    assert explained.data["text/plain"].startswith("Out of memory on GPU 0: 2.00 GiB asked for")
