"""What all tests share."""

import gc
import os
import signal
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import pytest

# What is recorded in tests is no run of anybody's; those of histories say where theirs goes.
os.environ["MEMTRACK_HISTORY"] = "off"

# The fixtures of a real server for tests/server; pytest takes plugins from this folder alone.
pytest_plugins = ["pytest_jupyter.jupyter_server"] if find_spec("pytest_jupyter") else []

# A GPU machine may have torch and pytest alone: what needs more is not collected there.
_NEEDED = {
    "IPython": ("notebook", "api", "cli"),
    "ipywidgets": ("widgets",),
    "pytest_jupyter": ("server",),
    "pynvml": ("devices",),
    "hypothesis": (
        "allocator",
        "analysis",
        "diagnosis/test_reading_properties.py",
        "exports",
        "planners/test_ledger.py",
        "recording",
        "reports",
        "readers",
    ),
}
collect_ignore = [
    folder for package, folders in _NEEDED.items() if not find_spec(package) for folder in folders
]


def _torch_before(major, minor):
    try:
        found = version("torch").split(".")
    except PackageNotFoundError:
        return False
    return (int(found[0]), int(found[1])) < (major, minor)


# An older torch cannot predict, and says so in one line.
if _torch_before(2, 4):
    collect_ignore += ["prediction", "notebook/test_predict_magic.py", "cli/test_predict_build.py"]


def pytest_collection_modifyitems(items):
    """Skip the tests marked `gpu`, with the reason, where there is no CUDA device."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    try:
        import torch
    except ImportError:
        reason = "torch is not installed"
    else:
        if torch.cuda.is_available():
            return
        reason = "no CUDA device on this machine"
    for item in marked:
        item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="module", autouse=True)
def nothing_of_other_modules():
    """What the tests of other files have left behind is gone."""
    gc.collect()


@pytest.fixture(autouse=True)
def garbage_collected_between_tests():
    """What a test has left behind is gone after it; the second generation suffices for young objects."""
    yield
    gc.collect(1)


def pytest_configure():
    """Garbage is collected between tests only; programs that they start can be interrupted.

    A recording counts what is alive beside its model: a collection in its midst, of what an earlier
    run has left, would be a fall that no second run repeats.
    """
    gc.disable()
    # In the background of a shell, SIGINT is ignored by every program that is started.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_unconfigure():
    """Leave what is alive at the end alone: each of many shells collects once more when Python exits."""
    gc.freeze()
