"""What the text says and what the evidence shows: evidence outranks, nothing of either is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oom_fixtures import CAUSES, case, facts, snapshot

from memtrack.diagnosis.combined import combine
from memtrack.diagnosis.diagnosis import SURE, Cause, Diagnosis, Needed, Place, Process
from memtrack.diagnosis.evidence import explain_recording
from memtrack.diagnosis.explain import explain_text
from memtrack.diagnosis.titles import TITLES, title
from memtrack.i18n import text


def cause(name, confidence=0.9, *lines):
    return Cause(name, confidence, title(name), lines)


def diagnosis(*causes, **values):
    values = {"kind": "cuda_oom", "device_memory": True, **values}
    return Diagnosis(headline=text("Out of memory"), causes=causes, **values)


@pytest.mark.parametrize(("name", "expected"), CAUSES.items())
def test_text_and_snapshot_together_name_the_truth(name, expected):
    known = case(name)
    told = explain_text(f"{known['error_type']}: {known['message']}")
    found = combine(told, explain_recording(told, snapshot(name), 0, facts(name)))
    assert found.causes[0].id == expected
    assert found.causes[0].confidence >= SURE
    assert found.kind == "cuda_oom"
    assert found.message == told.message
    assert set(told.numbers) <= set(found.numbers)


def test_evidence_outranks_what_the_text_is_sure_of():
    told, shown = diagnosis(cause("fragmentation", 0.8)), diagnosis(cause("capacity", 0.7))
    found = combine(told, shown)
    assert [one.id for one in found.causes] == ["capacity", "fragmentation"]
    assert found.causes[1].confidence == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("name", "lines"),
    [("dtype_fp32_load", ["batch", "Out of memory"]), ("capacity", ["batch"])],
)
def test_a_cause_that_both_have_keeps_lines_that_are_not_of_the_same_figures(name, lines):
    found = combine(
        diagnosis(cause(name, 0.8, text("Out of memory"))),
        diagnosis(cause(name, 0.7, text("batch"))),
    )
    assert [one.confidence for one in found.causes] == [0.7]
    assert [one.render() for one in found.causes[0].evidence] == lines


def test_what_only_a_text_can_tell_stays_where_the_evidence_has_nothing():
    found = combine(diagnosis(cause("dtype_fp32_load", 0.7)), diagnosis(cause("unknown", 0.3)))
    assert [one.id for one in found.causes] == ["dtype_fp32_load"]
    assert found.causes[0].confidence == 0.7


def test_figures_are_merged_the_exact_ones_kept():
    told = diagnosis(numbers={"total": 5, "reserved": 100, "allowed": 7}, needed=Needed(segment=3))
    shown = diagnosis(numbers={"reserved": 101}, needed=Needed(requested=2))
    found = combine(told, shown)
    assert found.numbers == {"total": 5, "reserved": 101, "allowed": 7}
    assert (found.needed.requested, found.needed.segment) == (2, 3)


def test_the_driver_refused_on_a_device_full_of_others():
    told = explain_text("RuntimeError: CUDA error: out of memory")
    figures = {"total": 15 << 30, "free": 1 << 20, "allocated": 0, "process": 600 << 20}
    full = combine(told, diagnosis(cause("unknown", 0.3), numbers=figures))
    assert "capacity" in {one.id for one in told.causes} - {one.id for one in full.causes}
    mine = combine(told, diagnosis(numbers={**figures, "process": 14 << 30}))
    assert "capacity" in {one.id for one in mine.causes}


def test_a_refusal_is_no_contradiction_once_the_evidence_knows_the_limit():
    told = explain_text(
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 139.80 GiB"
        " of which 136.00 GiB is free. Of the allocated memory 3.00 GiB is allocated by PyTorch."
    )
    (line,) = told.contradictions
    limited = cause("per_process_fraction_limit", 0.95)
    assert combine(told, diagnosis(limited)).contradictions == [line]
    assert combine(told, diagnosis(limited, numbers={"allowed": 4 << 30})).contradictions == []


def test_contradictions_later_errors_and_processes_of_the_text_are_kept():
    told = diagnosis(
        contradictions=[text("Out of memory")],
        later=[text("batch")],
        other_processes=[Process(7, 9)],
        place=Place(site="train.py:3"),
    )
    found = combine(told, diagnosis(place=Place(phase="forward")))
    assert [one.render() for one in found.contradictions] == ["Out of memory"]
    assert [one.render() for one in found.later] == ["batch"]
    assert found.other_processes == [Process(7, 9)]
    assert found.place == Place(phase="forward", site="train.py:3")


def test_a_text_of_something_else_than_device_memory_is_the_answer():
    told = diagnosis(cause("host_ram_exhausted"), kind="cpu_oom", device_memory=False)
    assert combine(told, diagnosis(cause("capacity"))) is told


def test_a_recording_without_a_failure_adds_nothing():
    told = diagnosis(cause("capacity"))
    assert combine(told, diagnosis(kind="none", device_memory=False)) is told


def test_either_side_alone_is_the_answer():
    one = diagnosis(cause("capacity"))
    assert combine(one, None) is one
    assert combine(None, one) is one


causes = st.lists(
    st.tuples(st.sampled_from(sorted(TITLES)), st.floats(0, 0.59)),
    max_size=4,
    unique_by=lambda c: c[0],
)


@given(causes, causes, st.floats(0, 1), st.floats(0, 1))
def test_one_cause_at_most_is_the_reason_if_each_side_has_one_at_most(told, shown, first, other):
    def ranked(found, confidence):
        rest = [cause(name, share) for name, share in found]
        if rest:
            rest[0] = cause(rest[0].id, confidence)
        return sorted(rest, key=lambda one: -one.confidence)

    found = combine(diagnosis(*ranked(told, first)), diagnosis(*ranked(shown, other)))
    assert all(0 <= one.confidence <= 1 for one in found.causes)
    assert sum(one.confidence >= SURE for one in found.causes) <= 1
    assert len({one.id for one in found.causes}) == len(found.causes)
