"""Importing memtrack is cheap and takes nothing from the notebook or from torch."""

import subprocess
import sys


def test_import_loads_neither_torch_nor_jupyter():
    program = (
        "import sys, memtrack; "
        "print(*sorted({name.partition('.')[0] for name in sys.modules} & "
        "{'torch', 'IPython', 'ipywidgets', 'jupyter_server', 'tornado', 'transformers'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
