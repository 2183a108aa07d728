"""`%memtrack gpu` in a shell, with devices from a tape and without any."""

import pytest
from made_tape import made_tape
from nvml_tape import TapedNvml

from memtrack.devices.nvmlsource import NvmlSource
from memtrack.notebook import gpus
from memtrack.notebook.gpus import gpus_page

GIB = 1 << 30


@pytest.fixture
def source():
    return NvmlSource(TapedNvml(made_tape(2, ((4 * GIB,), ()), first_pid=4_000_001)))


def test_the_magic_shows_text_and_html(bare, source, monkeypatch):
    monkeypatch.setattr(gpus, "AllDevices", lambda: source)
    bare.run("%load_ext memtrack")
    bare.run("%memtrack gpu")
    (shown,) = bare.shown
    assert shown["text/plain"].startswith("GPU 0, NVIDIA H200: 4.00 GiB of 140 GiB in use (3 %)")
    assert "GPU 1, NVIDIA H200" in shown["text/plain"]
    assert shown["text/html"].startswith('<div lang="en">')
    assert bare.err == ""


def test_the_driver_is_let_go_after_the_look(source):
    gpus_page("en", source)
    assert source._nvml._initialised is False


def test_this_notebooks_part_comes_from_its_own_figures(source, monkeypatch):
    usage = {"uuid": "GPU-00000000-0000-4000-8000-000000000000", "allocated": GIB}
    usage |= {"reserved": 2 * GIB, "context": GIB}
    monkeypatch.setattr(gpus, "usage_now", lambda: [usage])
    text = gpus_page("en", source).text
    assert "1.00 GiB  this notebook: tensors" in text
    assert "1.00 GiB  this notebook: allocator cache" in text


def test_what_follows_the_word_is_refused(bare):
    bare.run("%load_ext memtrack")
    bare.run("%memtrack gpu 0")
    assert "%memtrack gpu takes nothing after it." in bare.out + bare.err
