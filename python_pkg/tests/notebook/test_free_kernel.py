"""`%memtrack free` in a real kernel, which keeps more alive than a shell alone."""

from pathlib import Path
from textwrap import dedent

import pytest
from failing_cells import CELLS, SETUP
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

pytest.importorskip("torch")

HERE = Path(__file__).parent.parent


def texts(cell):
    """Return what a cell shows: streams and plain texts."""
    return "".join(
        output.get("text", "") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
    )


def test_a_kernel_has_its_memory_back():
    names = ("forward", "generator", "await")
    sources = [
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n%load_ext memtrack\n{SETUP}",
        "from failing_cells import Census, storages",
    ]
    for name in names:
        sources += [
            "before = storages()",
            dedent(CELLS[name]),
            "added = Census(before); print(added.alive)",
            "%memtrack free",
            "model = None; print(added.alive)",
        ]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    for place, _ in enumerate(names):
        _, failed, held, freed, left = notebook.cells[2 + 5 * place : 7 + 5 * place]
        assert failed.outputs[0].ename == "OutOfMemoryError"
        assert int(texts(held)) >= 1 << 20
        assert "the last error, with the variables of its frames" in texts(freed)
        assert int(texts(left)) == 0
