"""Stop, in a real kernel: the run ends as without us, the recording as interrupted."""

import time

import pytest
from jupyter_client.manager import start_new_kernel
from notebook_sources import TRAINING

from memtrack.reports.payload import MIME_TYPE

pytest.importorskip("torch")

ENDLESS = "print('begun')\nwhile True:\n    train(1)"
LEFT = """
from torch.nn.modules import module
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack
print(len(module._global_forward_hooks), len(_get_current_dispatch_mode_stack()))
"""


@pytest.fixture
def kernel():
    manager, client = start_new_kernel(kernel_name="python3")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(kernel, code, interrupt=False):
    """Run a cell, stopping it once it has printed something; return its messages."""
    manager, client = kernel
    request = client.execute(code)
    messages = []
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        messages.append(message)
        if interrupt and message["msg_type"] == "stream":
            time.sleep(0.5)
            manager.interrupt_kernel()
            interrupt = False
        if message["content"].get("execution_state") == "idle":
            return messages


def of_type(messages, kind):
    return [message["content"] for message in messages if message["msg_type"] == kind]


@pytest.mark.parametrize("cell", [f"%%memtrack model\n{ENDLESS}", ENDLESS])
def test_stop_button(kernel, cell):
    run(kernel, f"{TRAINING}\n%load_ext memtrack")
    messages = []
    if not cell.startswith("%%"):
        messages += run(kernel, "%memtrack model")
    messages += run(kernel, cell, interrupt=True)
    (error,) = of_type(messages, "error")
    assert error["ename"] == "KeyboardInterrupt"
    assert "magics.py" not in "\n".join(error["traceback"])
    report = of_type(messages, "update_display_data")[-1]["data"][MIME_TYPE]["report"]
    assert report["state"] == "interrupted"
    assert report["steps"] > 1
    (left,) = of_type(run(kernel, LEFT), "stream")
    assert left["text"] == "0 0\n"
    assert of_type(run(kernel, "train(2)"), "error") == []
