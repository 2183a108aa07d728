"""Plans as text and HTML: widths, languages, escaping, and the same figures everywhere."""

import re

import make_advice_fixture
import make_plan_fixture
import pytest

import memtrack
from memtrack.errors import UsageError
from memtrack.planners.capacity import Capacity, capacity_of
from memtrack.planners.gpus import GPUS, find_gpu
from memtrack.reports.advicepayload import encode_advice
from memtrack.reports.cells import display_width
from memtrack.reports.plan import Plan
from memtrack.reports.planhtml import plan_html
from memtrack.reports.plantext import render_plan
from memtrack.reports.planwords import WAYS
from memtrack.units import format_bytes

PLANS = [
    Plan(inputs, Capacity("<b>", 24 << 30))
    for inputs in (
        *make_plan_fixture.LEDGERS,
        *make_plan_fixture.GENERATIONS,
        *make_plan_fixture.LOADINGS,
    )
]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_text_stays_within_its_width(plan, language, width):
    for line in render_plan(plan, language, width).splitlines():
        assert display_width(line) <= width


@pytest.mark.parametrize("plan", PLANS)
def test_text_and_html_have_every_figure(plan):
    text, html = render_plan(plan), plan_html(plan)
    assert "<b>" not in html
    for size in [part.bytes for part in plan.parts] + [way.host for way in plan.ways]:
        assert format_bytes(size) in text
        assert format_bytes(size) in re.sub("<[^>]*>", " ", html)


def test_the_api_takes_what_people_write():
    plan = memtrack.plan("7e9", dtype="torch.bfloat16", optimizer="AdamW", gpu="A100 80GB")
    assert plan.inputs.dtype == "bf16"
    assert plan.total == 7 * 10**9 * 8
    assert plan.fits
    assert memtrack.plan(10**9, gpu=8 << 30).fits is False
    assert memtrack.plan(10**9).fits is None
    with pytest.raises(UsageError, match="Did you mean 'optimizer'"):
        memtrack.plan("7B", optimiser="adam")
    with pytest.raises(UsageError, match="Only a plan of generation"):
        memtrack.plan("7B").longest_sequence  # noqa: B018 - it is what raises
    assert memtrack.plan_loading("70B").ways[0].host == 0


def test_a_gpu_is_found_by_its_usual_names():
    for gpu in GPUS:
        assert find_gpu(gpu.name) is gpu
    for word in ("rtx4090", "RTX-4090", "geforce rtx 4090", "4090"):
        assert find_gpu(word).name == "NVIDIA GeForce RTX 4090"
    assert capacity_of("24GiB") == Capacity("", 24 << 30)
    for word in ("", "nothing", "0", "-3GiB"):
        with pytest.raises(UsageError):
            capacity_of(word)


def test_the_fixture_of_advice_is_up_to_date():
    import json

    written = (make_advice_fixture.FOLDER / "advice.json").read_text(encoding="utf-8")
    assert json.loads(written) == encode_advice(make_advice_fixture.advised())


def test_copies_of_autocast_are_those_of_what_runs():
    sharded = memtrack.plan("13B", mixed="autocast", zero=3, gpus=8, layers=40)
    assert sharded["cast_weight"] == 2 * 13 * 10**9 // 40
    assert "the weights of the running layer × 2 bytes" in render_plan(sharded, width=120)
    for stage in (0, 2):
        whole = memtrack.plan("13B", mixed="autocast", zero=stage, gpus=8)
        assert whole["cast_weight"] == 2 * 13 * 10**9
        line = next(one for one in str(whole).splitlines() if "autocast copies" in one)
        assert line.endswith("13.0 B × 2 bytes")


def test_ways_to_load_say_where_the_dtype_changes():
    told = str(memtrack.plan_loading("8B", stored="fp16", dtype="bf16", built="fp32"))
    assert told.startswith("Loading 8.00 B parameters: fp16 in the file, fp32 as the class builds")
    assert "torch.bfloat16" in told
    for way in WAYS.values():
        assert "dtype" in str(way)
