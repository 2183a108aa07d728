"""A browser's messages to a real kernel that is busy: zooms and signs of life come through subshells."""

import pytest
from jupyter_client.manager import start_new_kernel
from kernel_browser import Browser, custom, is_busy_with, is_end_of
from notebook_sources import TRAINING

pytest.importorskip("torch")
ipykernel = pytest.importorskip("ipykernel", minversion="7.1")


@pytest.fixture
def browser():
    manager, client = start_new_kernel(kernel_name="python3")
    browser = Browser(client)
    browser.wait_until_idle(browser.run(f"{TRAINING}\n%load_ext memtrack\nanswered = []"))
    yield browser
    client.stop_channels()
    manager.shutdown_kernel(now=True)


BUSY = """
import time
train(1)
%memtrack off
stop_ns = time.monotonic_ns() + 20 * 10**9
while time.monotonic_ns() < stop_ns and not answered:
    time.sleep(0.01)
train(1)
"""


def test_zoom_is_answered_while_a_cell_runs_and_ticks_are_sent(browser):
    browser.wait_until_idle(browser.run("%memtrack model"))
    shown = browser.wait_for(lambda message: message["msg_type"] == "display_data")
    comm = shown["content"]["data"]["application/vnd.jupyter.widget-view+json"]["model_id"]
    subshell = browser.subshell()
    cell = browser.run(BUSY)
    final = browser.wait_for(lambda message: message["msg_type"] == "update_display_data")
    assert final["content"]["data"]["text/plain"].startswith("Peak ")
    browser.send(
        comm,
        subshell,
        {"type": "window", "request": 3, "view": 0, "start": 0, "end": 50, "buckets": 10},
    )
    answer = browser.wait_for(custom("window"))
    assert answer["content"]["data"]["content"]["request"] == 3
    assert all(isinstance(buffer, memoryview) for buffer in answer["buffers"])
    assert not any(is_end_of(cell)(message) for message in browser.messages)
    browser.run("answered.append(1)", subshell)
    browser.wait_until_idle(cell)


HURRIED = """
from memtrack.capture import ticks
from memtrack.widgets import live
ticks.INTERVAL_NS = 2_000_000
live.MOST_OF_TIME = 1.0
%memtrack model
train(100)
"""


def numbers_of_ticks(browser):
    sent = [message for message in browser.messages if custom("tick")(message)]
    return [message["content"]["data"]["content"]["tick"] for message in sent]


def test_silent_browser_gets_no_more_ticks(browser):
    browser.wait_until_idle(browser.run(HURRIED))
    unseen, at_the_end = list(range(1, 21)), [21]  # the end of a cell is told once in any case
    assert numbers_of_ticks(browser) == unseen + at_the_end


def test_browser_that_answers_while_the_cell_runs_gets_more(browser):
    subshell = browser.subshell()
    cell = browser.run(HURRIED)
    while len(numbers_of_ticks(browser)) < 60:
        known = len(browser.messages)
        tick = browser.wait_for(
            lambda message, known=known: (
                custom("tick")(message)
                and not any(message is one for one in browser.messages[:known])
            )
        )
        number = tick["content"]["data"]["content"]["tick"]
        browser.send(tick["content"]["comm_id"], subshell, {"type": "seen", "tick": number})
    # Each answer read made the kernel say that it is idle; it said right away that it is not.
    assert sum(is_busy_with(cell)(message) for message in browser.messages) > 20
    assert not any(is_end_of(cell)(message) for message in browser.messages)


VIEW = "application/vnd.jupyter.widget-view+json"


def test_closing_all_widgets_does_not_end_the_recording(browser):
    browser.wait_until_idle(browser.run("%memtrack model\ntrain(1)"))
    assert VIEW in browser.wait_for(is_shown("update_display_data"))["content"]["data"]
    browser.messages.clear()
    cell = "import ipywidgets\nipywidgets.Widget.close_all()\ntrain(2)\n%memtrack off"
    browser.wait_until_idle(browser.run(cell))
    report = browser.wait_for(is_shown("update_display_data"))["content"]["data"]
    assert VIEW not in report
    packed = report["application/vnd.memtrack.report.v1+json"]
    assert (packed["model_id"], packed["report"]["steps"]) == ("", 3)
    assert not any(message["msg_type"] == "stream" for message in browser.messages)


def is_shown(kind):
    return lambda message: message["msg_type"] == kind
