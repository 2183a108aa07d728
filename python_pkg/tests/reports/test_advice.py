"""Advice as text, HTML, JSON and payload: the same figures, escaped, within its width, in two languages."""

import json
import re

import pytest
from IPython.core.formatters import DisplayFormatter
from large_recording import large_recording

from memtrack import advise
from memtrack.diagnosis.advice.comments import in_language
from memtrack.errors import UsageError
from memtrack.i18n import languages
from memtrack.remedies.catalogue import SINGLE_DEVICE
from memtrack.remedies.recipe import Cost
from memtrack.remedies.words import TIMES
from memtrack.reports.advicehtml import advice_html
from memtrack.reports.advicepayload import encode_advice
from memtrack.reports.advicetext import render_advice
from memtrack.reports.cells import display_width
from memtrack.reports.payload import MIME_TYPE
from memtrack.units import format_bytes


@pytest.fixture(scope="module")
def found():
    data = large_recording(3, 6, 10)
    return advise(data, int(0.6 * advise(data).base.peak))


def test_a_list_of_remedies_that_shows_itself(found):
    assert isinstance(found, list) and found[0].applies and found[0].saving_bytes > 0
    bundle = found._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", MIME_TYPE}
    advice = bundle[MIME_TYPE]["report"]["advice"]
    assert advice == json.loads(json.dumps(encode_advice(found.advised)))
    assert [one["id"] for one in advice["remedies"]] == [one.id for one in found]
    assert "help" in repr(found)


def test_ipython_shows_the_table_although_it_is_a_list(found):
    formats, _ = DisplayFormatter().format(found)
    assert formats["text/plain"] == str(found)
    assert "What helps, the most first" in formats["text/plain"]


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("width", [60, 80, 120])
def test_text_keeps_to_its_width_but_for_code(found, language, width):
    code = {line.strip() for one in found for line in in_language(one.code, language).splitlines()}
    for line in render_advice(found.advised, language, width).splitlines():
        assert display_width(line) <= width or line.strip() in code


@pytest.mark.parametrize("language", languages())
def test_no_title_of_the_table_is_cut(found, language):
    table = render_advice(found.advised, language, 72).split("\n\n")[1]
    assert "…" not in table
    words = "".join(table.split())
    for one in found:
        if one.applies and one.peak is not None:
            last = one.title.render(language).split()[-1]
            assert last in words


@pytest.mark.parametrize("language", languages())
def test_every_figure_of_the_table_is_in_text_and_html(found, language):
    plain, page = render_advice(found.advised, language), advice_html(found.advised, language)
    for one in found:
        if one.applies and one.peak is not None:
            assert format_bytes(one.peak) in plain
            assert format_bytes(one.peak) in page
            assert one.title.render(language)[:12] in plain
    assert format_bytes(found.budget) in plain and format_bytes(found.base.peak) in page
    assert (
        page.count("<details>")
        == page.count("</details>")
        >= len([one for one in found if one.applies])
    )
    assert len(page) < 100_000


def test_the_payload_has_the_members_that_browsers_read(found):
    advice = encode_advice(found.advised)
    assert set(advice) == {"budget", "base", "remedies", "combinations"}
    for one in advice["remedies"]:
        assert {"id", "title", "applies", "why", "saving", "peak", "low", "high"} <= set(one)
        assert set(one["title"]) == set(languages())
        assert one["cost_class"] in ("none", "low", "medium", "high")
        if one["peak"] is not None:
            assert one["saving"] == advice["base"]["peak"] - one["peak"]
    for one in advice["combinations"]:
        assert one["saving"] == advice["base"]["peak"] - one["peak"]
        assert type(one["fits"]) is bool
    assert not re.search(r"\bNaN\b|Infinity", json.dumps(advice))


def test_json_of_the_command_line_has_one_language(found):
    told = found.to_json("zh_CN")
    assert told["schema"] == "memtrack.advice/1"
    assert all(type(one["title"]) is str for one in told["remedies"])


def test_the_class_of_a_time_is_that_of_the_median_that_was_measured():
    told = {one.id: one for one in SINGLE_DEVICE if one.id in TIMES}
    assert told.keys() == TIMES.keys()
    assert "1.1 to 14 times the time of a step, median 1.75" in str(told["adafactor"].measured)
    bounds = ((1.0, Cost.NONE), (1.1, Cost.LOW), (1.5, Cost.MEDIUM), (99.0, Cost.HIGH))
    for name in told:
        median = float(TIMES[name][3])
        assert told[name].cost_class == next(one for most, one in bounds if median <= most), name


@pytest.mark.parametrize("wrong", [None, 3, "run.memtrack", object()])
def test_advice_on_what_is_no_recording_is_refused(wrong):
    with pytest.raises(UsageError, match="recording"):
        advise(wrong)
