"""A browser with the view of a history and a real kernel: runs are changed, also while a cell runs."""

import pytest
from jupyter_client.manager import start_new_kernel
from kept_runs import KIB, many
from kernel_browser import Browser, custom, is_end_of

from memtrack.reports.comparison import MIME_TYPE as COMPARISON
from memtrack.reports.historypayload import MIME_TYPE as HISTORY
from memtrack.runs import History

pytest.importorskip("ipykernel", minversion="7.1")
VIEW = "application/vnd.jupyter.widget-view+json"
WAITING = """
import time
stop_ns = time.monotonic_ns() + 20 * 10**9
while time.monotonic_ns() < stop_ns and not answered:
    time.sleep(0.01)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path))
    with History(tmp_path) as history:
        many(history, 3)
    return tmp_path


@pytest.fixture
def browser(folder):
    manager, client = start_new_kernel(kernel_name="python3")
    browser = Browser(client)
    browser.wait_until_idle(browser.run("%load_ext memtrack\nanswered = []"))
    yield browser
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def result(browser, code):
    browser.run(code)
    shown = browser.wait_for(lambda message: message["msg_type"] == "execute_result")
    return shown["content"]["data"]


def test_runs_are_changed_from_the_browser_while_a_cell_runs(browser, folder):
    bundle = result(browser, "%memtrack history")
    comm = bundle[VIEW]["model_id"]
    assert bundle[HISTORY]["model_id"] == comm
    assert [run["id"] for run in bundle[HISTORY]["runs"]] == [3, 2, 1]
    subshell = browser.subshell()
    cell = browser.run(WAITING)
    browser.send(comm, subshell, {"type": "rename", "request": 5, "id": 2, "name": "wide"})
    answer = browser.wait_for(custom("runs"))["content"]["data"]["content"]
    assert answer["request"] == 5
    assert [(run["id"], run["name"]) for run in answer["runs"]] == [(2, "wide")]
    assert not any(is_end_of(cell)(message) for message in browser.messages)
    browser.send(comm, subshell, {"type": "diff", "request": 6, "a": 1, "b": 2})
    answer = browser.wait_for(custom("diff"))
    assert answer["content"]["data"]["content"]["comparison"]["peak"]["after"] == 2 * KIB
    assert answer["buffers"]
    browser.run("answered.append(1)", subshell)
    browser.wait_until_idle(cell)
    with History(folder) as history:
        assert history.run("wide").id == 2


def test_a_comparison_has_a_view_and_a_payload(browser):
    bundle = result(browser, "%memtrack diff 1 3")
    assert bundle[COMPARISON]["comparison"]["peak"] == {"before": KIB, "after": 3 * KIB}
    assert bundle[VIEW]["model_id"] and bundle["text/plain"].startswith("Peak 1.00 KiB")
