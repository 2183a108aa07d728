"""The same report in a terminal and on a page: bounded, escaped, in both languages."""

import dataclasses
import re
from pathlib import Path

import make_report_fixture
import pytest
from checks import HOSTILE, check_html, check_recording, check_text, with_hostile_names
from hypothesis import given
from hypothesis import strategies as st
from large_recording import large_recording
from synthetic import Category, PhaseKind, Script

from memtrack.reports import build_report, render_html, render_text
from memtrack.reports.cells import display_width, shortened, wrapped
from memtrack.reports.colours import colour_of
from memtrack.reports.lines import GROUPS
from memtrack.reports.words import PARTS


@pytest.fixture(scope="module")
def report():
    return make_report_fixture.build_fixture()[1]


def test_text_has_the_answer_first_and_everything_after(report):
    lines = render_text(report).split("\n")
    assert lines[0] == "Peak 7.36 GiB in backward of loss, step 2"
    assert "  activations            2.12 GiB   9 %  ███▎" in lines
    assert "  outputs                1.95 GiB   8 %  ██▉" in lines
    assert "  CUDA context           ~300 MiB   1 %  ▌" in lines
    assert "    attn     4×1024×512     136 MiB  64.0 MiB    24.0 MiB  1.46 GiB" in lines
    assert "in no layer                16.0 MiB         -           -         -" in lines
    assert "  step 2   5.41 GiB  7.36 GiB   1.77 GiB" in lines
    assert (
        "  pool 0.1: large blocks  20.0 MiB  8.00 MiB  12.0 MiB      12.0 MiB   12.0 MiB" in lines
    )
    assert "  Peak 8.00 MiB outside of forward, backward and optimizer, step 1" in lines
    assert "! Layers that ran on other threads were not seen." in lines
    assert lines[-1].startswith("! This recording has a limit")
    pin = next(number for number, line in enumerate(lines) if "▲" in line)
    assert lines[pin - 1][lines[pin].index("▲")] == "█"
    assert lines[pin + 1][lines[pin].index("▲")] == "b"


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_text_fits_its_width(report, width, language):
    lines = render_text(report, language, width).split("\n")
    assert max(map(display_width, lines)) <= width


def test_fewer_rows_say_how_many_are_missing(report):
    text = render_text(report, rows=3)
    assert "\n… and 5 more layers\n" in text
    assert "\n… and 1 more layer\n" in render_text(report, rows=7)
    names = [line.split()[0] for line in text.split("layer  ")[1].split("\n")[1:4]]
    assert names == ["gpt", "head", "loss"]


def test_chinese_is_chinese(report):
    assert render_text(report, "zh_CN").startswith("峰值 7.36 GiB，出现在第 2 步 loss 的反向中")
    assert "为反向保存" in render_html(report, "zh_CN")


def test_html_escapes_what_was_recorded(report):
    page = render_html(build_report(with_hostile_names(make_report_fixture.TinyRun().run())))
    check_html(page)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    check_html(render_html(report))


def test_html_brings_no_script_no_sheet_and_no_address(report):
    page = render_html(report)
    for forbidden in ("<script", "<style", "http", "url(", "javascript", "color:#", "background:#"):
        assert forbidden not in page
    assert page.count("<svg") == 1
    assert "currentColor" in page


def test_html_of_a_large_run_stays_small():
    page = render_html(build_report(large_recording(steps=200, blocks=20, leaves=5)))
    check_html(page)
    assert "more layers" in page


def test_state_and_evidence_are_told(report):
    for values, sentence in (
        ({"state": "recording"}, "The recording is still going on"),
        ({"state": "interrupted"}, "The recording was interrupted"),
        ({"state": "failed"}, "The run ended with an exception"),
        ({"evidence": "predicted"}, "These figures are predicted, not measured"),
    ):
        changed = dataclasses.replace(report, **values)
        assert f"! {sentence}" in render_text(changed).split("\n")
        assert sentence in render_html(changed)


def empty():
    return Script().build(label="nothing")


def only_a_device():
    script = Script()
    script.device("cpu", total=100)
    return script.build()


def running():
    script = Script()
    script.device()
    layer = script.layer("model")
    script.phase(PhaseKind.FORWARD, 0)
    with script.call(layer):
        script.alloc(100)
        return script.build(state="recording")


def no_layers():
    script = Script()
    script.device()
    script.phase(PhaseKind.OTHER, 0)
    script.alloc(100, Category.OTHER)
    return script.build()


def nothing_but_older():
    script = Script()
    script.device()
    script.older(100, Category.PARAMETER)
    return script.build()


@pytest.mark.parametrize("make", [empty, only_a_device, running, no_layers, nothing_but_older])
def test_every_law_holds_at_the_edges(make):
    check_recording(make())


def test_an_empty_recording_says_so():
    assert render_text(build_report(empty())).startswith("No memory was seen on any device")
    assert "No memory was seen on any device" in render_html(build_report(empty()))


@given(st.text(max_size=200), st.integers(10, 80))
def test_wrapped_lines_fit_and_lose_no_word(sentence, width):
    lines = wrapped(sentence, width, "  ")
    assert all(display_width(line) <= width for line in lines)
    words = [word for word in sentence.split(" ") if word and display_width(word) < width - 2]
    if all(word.isascii() and word.isprintable() for word in words):
        joined = "".join("".join(lines).split(" "))
        assert all(word in joined for word in words)


@given(st.text(max_size=50), st.integers(0, 20))
def test_shortened_cells_fit(cell, width):
    assert display_width(shortened(cell, width)) <= width


def test_hostile_names_reach_no_terminal(report):
    check_text(render_text(dataclasses.replace(report, label=HOSTILE)))


def test_every_part_has_the_colour_variable_of_the_browsers_side():
    style = Path(__file__).parents[3] / "style" / "base.css"
    defined = set(re.findall(r"(--memtrack-[a-z0-9-]+):", style.read_text(encoding="utf-8")))
    for part in (*PARTS, *(f"group-{number}" for number in range(1, GROUPS + 1)), "group-rest"):
        variable = colour_of(part).removeprefix("var(").split(",")[0]
        assert variable in defined, part


def test_where_the_device_dwarfs_the_tensors_their_share_of_each_other_is_told():
    report = build_report(large_recording(steps=1, blocks=2, leaves=2))
    view = report.views[0]
    assert view.ledger.allocated < view.ledger.total / 20
    lines = render_text(report).splitlines()
    assert sum(line.endswith("of the tensors") for line in lines) == sum(
        part.id in {category.id for category in Category} for part in view.ledger.parts
    )
    assert all(len(line) <= 80 for line in lines)
    assert re.search("占张量的 +[0-9]+ %$", render_text(report, "zh_CN"), re.MULTILINE)


def test_fallback_colours_lie_between_those_of_light_and_dark_themes():
    style = (Path(__file__).parents[3] / "style" / "base.css").read_text(encoding="utf-8")
    for part in PARTS:
        pattern = rf"--memtrack-{part.replace('_', '-')}: rgb\((\d+) (\d+) (\d+)\)"
        tones = [tuple(map(int, found)) for found in re.findall(pattern, style)]
        if not tones:
            assert part == "free"
            continue
        light, dark = tones
        mixed = [(one + other) // 2 for one, other in zip(light, dark, strict=True)]
        assert colour_of(part).endswith("#{:02x}{:02x}{:02x})".format(*mixed)), part
