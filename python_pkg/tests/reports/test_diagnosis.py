"""A diagnosis as text, HTML and payload: the three agree, nothing is cut that is to be copied."""

import json
import re
from dataclasses import replace
from pathlib import Path

import make_diagnosis_fixture
import pytest

from memtrack.analysis.parts import Part
from memtrack.diagnosis.diagnosis import Advice, Cause, Check, Holder, Needed, Place
from memtrack.reports.cells import display_width
from memtrack.reports.diagnosishtml import diagnosis_html
from memtrack.reports.diagnosispayload import MIME_TYPE, diagnosis_bundle, encode_diagnosis
from memtrack.reports.diagnosistext import render_diagnosis
from memtrack.reports.words import literal

FOLDER = Path(make_diagnosis_fixture.__file__).parent / "fixtures" / "diagnosis"
DIAGNOSES = {name: make() for name, make in make_diagnosis_fixture.DIAGNOSES.items()}


@pytest.mark.parametrize("name", DIAGNOSES)
def test_files_are_what_the_script_writes(name):
    written = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert written == encode_diagnosis(DIAGNOSES[name])


def test_text_has_the_answer_first_and_then_reason_figures_advice_and_check():
    lines = render_diagnosis(DIAGNOSES["full"]).splitlines()
    assert lines[0].startswith("Out of memory in forward of layers.17.self_attn: 2.00 GiB asked")
    assert lines[2] == "Where: step 3, at train.py:88"
    order = [
        "Why: The peak is real: the work needs more memory than there is (93 % sure)",
        "! allocated 20.6 GiB > reserved 20.1 GiB",
        "What was needed, and what there was",
        "The device at that moment",
        "Who held the memory",
        "Other processes on this device",
        "What helps, the least harmful first",
        "Next check: See who holds it",
        "Then: Look at the batch",
        "Later errors, which follow from this one",
    ]
    assert [line for line in lines if line in order] == order
    assert re.search(r"activations +14\.8 GiB  62 %  █{20,}", "\n".join(lines))


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", DIAGNOSES)
def test_text_stays_within_its_columns(name, width, language):
    diagnosis = DIAGNOSES[name]
    long = literal("a sentence of many words " * 20)
    wide = replace(
        diagnosis, headline=long, causes=[Cause("capacity", 1.0, long, [long])], later=[long]
    )
    for one in (diagnosis, wide):
        lines = render_diagnosis(one, language, width).splitlines()
        assert max(map(display_width, lines)) <= width


def test_code_is_never_cut():
    code = "x = 1  # " + "y" * 200 + "\n    indented()"
    advice = Advice("a", literal("do"), literal("nothing"), code)
    diagnosis = replace(
        DIAGNOSES["none"], advice=[advice], checks=[Check("c", literal("see"), code)]
    )
    for line in code.splitlines():
        assert render_diagnosis(diagnosis).count(line) == 2
        assert diagnosis_html(diagnosis).count(line) == 2


def test_an_unknown_cause_is_told_without_a_share():
    assert "Why: The cause cannot be told from what is known\n" in render_diagnosis(
        DIAGNOSES["text"]
    )


def test_that_the_cause_is_unknown_is_not_told_beside_others():
    known = Cause("capacity", 0.4, literal("The peak is real"))
    unknown = Cause("unknown", 0.45, literal("Nobody knows"))
    diagnosis = replace(DIAGNOSES["text"], causes=[unknown, known])
    lines = render_diagnosis(diagnosis).splitlines()
    assert "Possibly: The peak is real (40 % sure)" in lines
    assert not [line for line in lines if "Nobody knows" in line]


def test_the_place_is_told_once():
    place = Place("backward", "h.11.mlp", 0, "In [3]:7")
    headline = literal("Out of memory")
    lines = render_diagnosis(replace(DIAGNOSES["text"], place=place, headline=headline))
    assert "\nWhere: backward of h.11.mlp, at In [3]:7\n" in lines
    known = replace(DIAGNOSES["text"], place=place, headline=literal("OOM in backward of h.11.mlp"))
    assert "\nWhere: at In [3]:7\n" in render_diagnosis(known)


def test_beside_a_sure_reason_only_likely_ones_are_told():
    causes = [
        Cause("capacity", 0.9, literal("peak")),
        Cause("per_process_fraction_limit", 0.4, literal("limit")),
        Cause("fragmentation", 0.2, literal("pieces")),
    ]
    lines = render_diagnosis(replace(DIAGNOSES["none"], causes=causes)).splitlines()
    assert lines[1:] == ["Why: peak (90 % sure)", "Possibly: limit (40 % sure)"]
    unsure = render_diagnosis(replace(DIAGNOSES["none"], causes=causes[1:]))
    assert "Possibly: pieces (20 % sure)" in unsure


def test_a_failure_that_is_not_of_memory_has_no_figures():
    shown = render_diagnosis(DIAGNOSES["crash"])
    assert shown.splitlines() == [
        "Not out of memory: a kernel read or wrote outside its memory (illegal access).",
        "Why: Not memory: an index or a size out of range (70 % sure)",
        "",
        "Next check: Find the kernel",
        "     CUDA_LAUNCH_BLOCKING=1 python train.py",
    ]


def test_the_segment_is_told_only_where_it_is_not_the_request():
    same = replace(DIAGNOSES["none"], needed=Needed(requested=2 << 20, segment=2 << 20))
    other = replace(same, needed=Needed(requested=3 << 20, segment=20 << 20))
    assert "as the allocator asked" not in render_diagnosis(same)
    assert "20.0 MiB" in render_diagnosis(other)


def test_control_characters_and_markup_of_the_user_do_nothing():
    evil = literal("\x1b[31m<script>alert(1)</script>\n{x}")
    diagnosis = replace(
        DIAGNOSES["full"],
        headline=evil,
        holders=[Holder(evil, 1)],
        place=Place("forward", "<i>layer</i>\x1b", 1, "\x1b]0;title\x07"),
        message="<script>alert(2)</script>",
    )
    assert "\x1b" not in render_diagnosis(diagnosis)
    page = diagnosis_html(diagnosis)
    assert "<script" not in page and "<i>" not in page and "\x1b" not in page
    assert page.count("&lt;script&gt;") == 3


def test_html_names_every_colour_as_the_page_does_and_fills_the_device():
    page = diagnosis_html(DIAGNOSES["full"])
    assert "var(--memtrack-activation," in page and "color:#" not in page
    shares = [float(share) for share in re.findall(r"flex:([\d.]+) 0 0", page)]
    assert sum(shares) == pytest.approx(1, abs=1e-4)
    assert page.count("<div") == page.count("</div>")


def test_chinese_is_whole():
    shown = render_diagnosis(DIAGNOSES["full"], "zh_CN")
    assert "位置：第 3 步、在 train.py:88 处" in shown
    assert "可行的办法（代价最小的在前）" in shown and "Where" not in shown
    assert diagnosis_html(DIAGNOSES["full"], "zh_CN").startswith('<div lang="zh-CN">')


def test_browsers_get_code_with_its_comments_in_each_language():
    code = "ulimit -n 9  # before Python starts"
    diagnosis = replace(DIAGNOSES["none"], checks=[Check("c", literal("see"), code)])
    told = encode_diagnosis(diagnosis)["checks"][0]
    assert told["code"] == told["codes"]["en"] == code
    assert told["codes"]["zh_CN"] == "ulimit -n 9  # 在启动 Python 之前"


def test_bundle_holds_the_three_forms_and_is_plain_json():
    bundle = diagnosis_bundle(DIAGNOSES["full"], "en")
    assert set(bundle) == {"text/plain", "text/html", MIME_TYPE}
    payload = json.loads(json.dumps(bundle[MIME_TYPE]))
    assert payload["causes"][0]["confidence"] == 0.93
    assert payload["remedies"][1]["saving_bytes"] is None
    assert sum(part["bytes"] for part in payload["parts"]) == payload["numbers"]["total"]


def test_a_payload_is_bounded():
    many = [literal("line " * 50)] * 1000
    huge = replace(
        DIAGNOSES["full"],
        causes=[Cause("capacity", 0.9, many[0], many)] * 3,
        later=many,
        message="m" * 10**7,
    )
    assert len(json.dumps(encode_diagnosis(huge))) < 200_000
    assert len(diagnosis_html(huge)) < 100_000


def test_of_tensors_without_a_category_only_the_kind_is_unknown():
    parts = [Part("unknown", 3 << 30), Part("free", 1 << 30)]
    shown = replace(DIAGNOSES["text"], parts=parts)
    assert re.search(r"^  tensors of unknown kind +3.00 GiB  75 %", render_diagnosis(shown), re.M)
    assert "tensors of unknown kind 3.00 GiB" in diagnosis_html(shown)
