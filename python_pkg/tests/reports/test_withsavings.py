"""A diagnosis with a recording of the run has what its advice would save; without one no figure."""

import time
from dataclasses import replace

import pytest
from large_recording import large_recording
from small_programs import recorded

import memtrack
from memtrack.diagnosis.advice import advise as advise_on_causes
from memtrack.diagnosis.diagnosis import Cause, Diagnosis
from memtrack.i18n import text
from memtrack.remedies import advise
from memtrack.reports import withsavings
from memtrack.reports.diagnosistext import render_diagnosis
from memtrack.reports.withsavings import with_savings


@pytest.fixture(scope="module")
def diagnosis():
    advice = advise_on_causes([Cause("capacity", 0.9, text("too large"))])
    return Diagnosis("cuda_oom", True, text("x"), advice=advice)


def figures(diagnosis):
    return {one.id: one.saving_bytes for one in diagnosis.advice}


def test_advice_gets_the_figures_that_memtrack_advise_has(diagnosis):
    found = with_savings(diagnosis, recorded())
    known = {one.id: one for one in advise(recorded()).remedies}
    assert figures(diagnosis)["checkpoint_layers"] is None
    told = figures(found)["checkpoint_layers"]
    assert 0 < told <= known["checkpoint_layers"].saving_bytes
    assert "saves" in render_diagnosis(found)
    assert [one.id for one in found.advice] == [one.id for one in diagnosis.advice]


def test_a_figure_of_the_failure_itself_is_kept(diagnosis):
    own = replace(diagnosis, advice=[replace(one, saving_bytes=7) for one in diagnosis.advice])
    assert with_savings(own, recorded()) is own


def test_what_is_no_lack_of_device_memory_or_too_long_is_left_alone(diagnosis, monkeypatch):
    crash = replace(diagnosis, device_memory=False)
    assert with_savings(crash, recorded()) is crash
    monkeypatch.setattr(withsavings, "MOST_EVENTS", recorded().cuts - 1)
    assert with_savings(diagnosis, recorded()) is diagnosis


def test_figures_for_the_longest_recording_come_within_the_second(diagnosis):
    data = large_recording(6, 100, 10)
    assert data.cuts == withsavings.MOST_EVENTS
    with_savings(diagnosis, recorded())  # imports
    begin = time.process_time()
    with_savings(diagnosis, data)
    assert time.process_time() - begin < 2  # half a second on an idle core


@pytest.mark.parametrize(("data", "has"), [(large_recording(3, 6, 10), True), (recorded(), False)])
def test_a_message_with_the_recording_of_its_device_has_figures(data, has):
    class Known:
        pass

    Known.data = data  # of a GPU, and of the CPU, whose memory is not what ran out
    text = "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.7 GiB total capacity)"
    assert not any(figures(memtrack.explain(text)).values())
    assert any(figures(memtrack.explain(text, Known())).values()) is has
