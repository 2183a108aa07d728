"""The answer of `%memtrack gpu`: parts that sum, lines that fit, HTML without anything foreign."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrack.devices.environment import Environment
from memtrack.devices.leftovers import OTHER, SELF, DeviceProcess
from memtrack.devices.readings import FLAGS, DeviceReading, Readings
from memtrack.reports.cells import display_width
from memtrack.reports.gpupage import GpusPage, OwnPart, device_parts
from memtrack.reports.gpuwords import flag_words

GIB, MIB = 1 << 30, 1 << 20


def device(**figures):
    return DeviceReading(
        **{
            "uuid": "GPU-1",
            "index": 0,
            "name": "NVIDIA H200",
            "total": 140 * GIB,
            "used": 10 * GIB,
            "free": 129 * GIB,
            "reserved": GIB,
            **figures,
        }
    )


ME = DeviceProcess(1, 6 * GIB, "running", SELF)
HER = DeviceProcess(2, 3 * GIB, "running", OTHER, command="python train.py", user="grace")
OWN = OwnPart(4 * GIB, 5 * GIB, GIB)


def parts_of(one, processes=(), own=None):
    return [(part.id, part.bytes) for part in device_parts(one, processes, own)]


def test_this_notebooks_part_is_split_and_the_rest_is_told_apart():
    assert parts_of(device(), [ME, HER], OWN) == [
        ("activation", 4 * GIB),
        ("cache", GIB),
        ("context", GIB),
        ("others", 3 * GIB),
        ("unknown", GIB),
        ("free", 129 * GIB),
        ("outside", GIB),
    ]


def test_without_torch_this_notebook_is_what_the_driver_counts():
    assert parts_of(device(), [ME, HER])[:2] == [("context", 6 * GIB), ("others", 3 * GIB)]


def test_unknown_bytes_of_a_process_are_not_invented():
    hidden = DeviceProcess(2, None, "hidden")
    assert parts_of(device(), [hidden]) == [
        ("unknown", 10 * GIB),
        ("free", 129 * GIB),
        ("outside", GIB),
    ]


sizes = st.integers(0, 64 * GIB)


@given(
    used=sizes,
    free=sizes,
    reserved=st.none() | sizes,
    others=st.lists(st.none() | sizes, max_size=4),
    own=st.none() | st.tuples(sizes, sizes, st.none() | sizes),
)
def test_parts_sum_to_the_device_whatever_is_told(used, free, reserved, others, own):
    one = device(used=used, free=free, reserved=reserved, total=used + free + (reserved or 0))
    processes = [DeviceProcess(at, size, "running") for at, size in enumerate(others)]
    part = None if own is None else OwnPart(min(own[:2]), max(own[:2]), own[2])
    parts = device_parts(one, processes, part)
    assert sum(each.bytes for each in parts) == one.total
    assert all(each.bytes >= 0 for each in parts)


def page(*devices, language="en", **facts):
    return GpusPage(Readings(devices), language=language, **facts)


def test_the_text_says_what_a_look_would_ask_for():
    one = device(utilisation=83, temperature_c=61, power_w=512.4, power_limit_w=700.0)
    text = page(one, processes={"GPU-1": [ME, HER]}, own={"GPU-1": OWN}).text
    first = " ".join(text.splitlines()[:2])
    assert "GPU 0, NVIDIA H200: 10.0 GiB of 139 GiB in use (7 %)" in first
    assert "busy 83 %, 61 °C, 512 of 700 W" in first
    assert "  4.00 GiB  this notebook: tensors" in text.splitlines()
    assert "python train.py" in text
    assert "It belongs to grace: ask them." in text


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_lines_fit_a_terminal(language):
    one = device(flags=FLAGS, utilisation=100, temperature_c=90, power_w=700.0, name="N" * 120)
    for line in page(one, own={"GPU-1": OWN}, language=language).text.splitlines():
        assert display_width(line) <= 80


@pytest.mark.parametrize("flag", FLAGS)
def test_every_condition_is_a_sentence_in_every_language(flag):
    assert flag_words(flag).render("en").endswith(".")
    assert flag_words(flag).render("zh_CN").endswith("。")


def test_without_devices_the_way_out_is_the_answer():
    nothing = GpusPage(Readings(refusal="library_not_found"), Environment(is_container=True))
    assert nothing.text.startswith("This container was started without a GPU.")
    assert "docker run --gpus all" in " ".join(nothing.text.split())
    assert "docker run --gpus all" in nothing.html


def test_a_lost_device_says_that_its_figures_are_old():
    text = page(device(refusal="gpu_is_lost", processes=None)).text
    assert "The figures are the last that it has told." in text


def test_html_is_whole_and_nothing_in_it_is_foreign():
    nasty = "<script>alert(1)</script>"
    her = DeviceProcess(2, GIB, "running", command=nasty, user=nasty)
    html = page(device(name=nasty, flags=("throttle_thermal",)), processes={"GPU-1": [her]}).html
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    opened = re.findall(r"<(div|p|table|tbody|tr|td|th|span|thead|code|br)\b", html)
    closed = re.findall(r"</(\w+)>", html)
    assert sorted(one for one in opened if one != "br") == sorted(closed)
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%", html)]
    assert sum(widths) == pytest.approx(100, abs=0.01)


def test_the_language_is_told_to_whoever_reads_it_aloud():
    assert page(device(), language="zh_CN").html.startswith('<div lang="zh-CN">')
