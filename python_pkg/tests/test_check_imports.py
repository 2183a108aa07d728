"""The script that keeps the rooms apart, on small trees of its own."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_imports.py"


@pytest.fixture(scope="module")
def checker():
    spec = importlib.util.spec_from_file_location("check_imports", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def problems(checker, tmp_path):
    """Write one file and give the sentences about it."""

    def check(file, text):
        path = tmp_path / file
        path.parent.mkdir(parents=True)
        path.write_text(text)
        found = (
            checker.check_python(tmp_path / "python_pkg" / "memtrack")
            if path.suffix == ".py"
            else checker.check_typescript(tmp_path / "src")
        )
        return [arrow.problem for arrow in found]

    return check


ALLOWED = [
    ("python_pkg/memtrack/analysis/peak.py", "from memtrack.recording import Recording"),
    ("python_pkg/memtrack/analysis/peak.py", "from memtrack import units"),
    ("python_pkg/memtrack/analysis/peak.py", "from ..recording.columns import Events"),
    ("python_pkg/memtrack/analysis/peak.py", "from .ledger import Ledger\nimport numpy"),
    ("python_pkg/memtrack/capture/probes.py", "import torch"),
    ("python_pkg/memtrack/notebook/magic.py", "import IPython\nfrom memtrack.capture import x"),
    (
        "python_pkg/memtrack/notebook/magic.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch",
    ),
    ("python_pkg/memtrack/__init__.py", "def open():\n    from memtrack.readers import read"),
    ("python_pkg/memtrack/api.py", "def show():\n    from memtrack.widgets import live"),
    ("src/views/layers/body.ts", "import { rows } from '../../model/rows';"),
    ("src/views/layers/body.ts", "// import { Kernel } from '@jupyterlab/services';"),
    ("src/draw/plotly.ts", "import * as Plotly from 'plotly.js/lib/core';"),
    ("src/index.ts", "import { panel } from './plugins/panel';\nexport default [panel];"),
]

FORBIDDEN = [
    ("python_pkg/memtrack/recording/save.py", "from memtrack.analysis import peak"),
    ("python_pkg/memtrack/recording/save.py", "from memtrack import reports"),
    ("python_pkg/memtrack/recording/save.py", "from ..reports import text"),
    ("python_pkg/memtrack/analysis/peak.py", "def f():\n    import torch"),
    ("python_pkg/memtrack/analysis/peak.py", "import_module('torch.cuda')"),
    ("python_pkg/memtrack/reports/html.py", "if TYPE_CHECKING:\n    import torch"),
    ("python_pkg/memtrack/notebook/magic.py", "import torch"),
    ("python_pkg/memtrack/reports/html.py", "from IPython.display import HTML"),
    ("python_pkg/memtrack/server/app.py", "from memtrack.notebook import magic"),
    ("python_pkg/memtrack/__init__.py", "from memtrack.readers import read"),
    ("python_pkg/memtrack/api.py", "from memtrack.widgets import live"),
    ("python_pkg/memtrack/reports/html.py", "from memtrack import api"),
    ("python_pkg/memtrack/elsewhere/x.py", ""),
    ("src/model/rows.ts", "import { draw } from '../draw/canvas';"),
    ("src/views/table.ts", "import { Kernel } from '@jupyterlab/services';"),
    ("src/views/table.ts", "const p = await import('plotly.js/lib/core');"),
    ("src/views/table.ts", "export * from '../widgets/report';"),
    ("src/plugins/panel.ts", "import {\n  a,\n  b\n} from '../index';"),
    ("src/index.ts", "export const x = () => {};"),
    ("src/elsewhere/x.ts", ""),
]


@pytest.mark.parametrize(("file", "text"), ALLOWED)
def test_arrow_along_the_flow_passes(problems, file, text):
    assert problems(file, text) == []


@pytest.mark.parametrize(("file", "text"), FORBIDDEN)
def test_arrow_against_the_flow_is_refused(problems, file, text):
    assert len(problems(file, text)) == 1
