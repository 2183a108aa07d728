"""Nothing of a recording may stay in the process: checked around every test here."""

import pytest

torch = pytest.importorskip("torch")

from torch.autograd import graph  # noqa: E402
from torch.nn.modules import module as module_hooks  # noqa: E402
from torch.optim import optimizer as optimizer_hooks  # noqa: E402

from memtrack.capture import torch_api  # noqa: E402


def installed():
    """Return what a recording might leave behind."""
    from torch.utils import _python_dispatch

    return {
        "forward pre-hooks": len(module_hooks._global_forward_pre_hooks),
        "forward hooks": len(module_hooks._global_forward_hooks),
        "always-called hooks": len(module_hooks._global_forward_hooks_always_called),
        "optimizer pre-hooks": len(optimizer_hooks._global_optimizer_pre_hooks),
        "optimizer post-hooks": len(optimizer_hooks._global_optimizer_post_hooks),
        "saved-tensor hooks": torch_api.top_saved_tensor_hooks(),
        "dispatch mode": _python_dispatch._get_current_dispatch_mode(),
        "disable_saved_tensors_hooks": graph.disable_saved_tensors_hooks,
    }


@pytest.fixture(autouse=True)
def nothing_stays():
    """Assert that hooks and modes are after the test what they were before it."""
    before = installed()
    yield
    assert installed() == before
