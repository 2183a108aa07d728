"""What all tests share."""

import pytest

# The fixtures of a real server for tests/server; pytest takes plugins from this folder alone.
pytest_plugins = ["pytest_jupyter.jupyter_server"]


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
