"""A real shell with a publisher that keeps what it is given."""

import IPython
import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from notebook_sources import TRAINING
from traitlets.config import Config

from memtrack import api


class Notebook:
    """A shell as a front end sees it: `run` a cell, look at `shown` and at what went to stderr."""

    def __init__(self, shell, capsys):
        self.shell = shell
        self._capsys = capsys
        self.out = self.err = ""

    def run(self, cell, **options):
        result = self.shell.run_cell(cell, **{"store_history": True, **options})
        self.out, self.err = self._capsys.readouterr()
        return result

    @property
    def published(self):
        return self.shell.display_pub.outputs

    @property
    def shown(self):
        """What the outputs show now: one bundle for each display id, updated in place."""
        outputs = {}
        for number, output in enumerate(self.published):
            key = (output["transient"] or {}).get("display_id", number)
            assert key in outputs or not output["update"], "an update of something never shown"
            outputs[key] = output["data"]
        return list(outputs.values())

    def texts(self):
        return [bundle["text/plain"] for bundle in self.shown]


def new_shell():
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor" if IPython.version_info >= (9,) else "NoColor"
    return InteractiveShell(config=config)


@pytest.fixture
def bare(capsys, monkeypatch):
    """A notebook in which memtrack is not loaded."""
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    monkeypatch.setattr(api, "_finished", lambda: None)  # what other tests have recorded
    monkeypatch.setattr(api, "_holds_finished", None)
    shell = new_shell()
    shell.display_pub = CapturingDisplayPublisher(parent=shell)
    shell.display_pub.outputs = []
    yield Notebook(shell, capsys)
    shell.extension_manager.unload_extension("memtrack")


@pytest.fixture
def notebook(bare):
    """A notebook in which memtrack is loaded."""
    bare.shell.extension_manager.load_extension("memtrack")
    return bare


@pytest.fixture
def training(notebook):
    """A notebook with a `model`, an `optimizer` and `train(steps)`."""
    pytest.importorskip("torch")
    assert notebook.run(TRAINING).success
    return notebook
