"""What holds of every explanation, whatever was recorded and whatever the process told."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oom_fixtures import FOLDER
from random_recordings import recordings, steps

from memtrack.diagnosis.advice.catalogue import CATALOGUE
from memtrack.diagnosis.diagnosis import SURE, Diagnosis
from memtrack.diagnosis.evidence import HeldFact, LiveFacts, ProcessFact, explain_recording
from memtrack.diagnosis.titles import TITLES
from memtrack.i18n import languages
from memtrack.readers.torch_snapshot import read_snapshot

GIB = 1 << 30
sizes = st.one_of(st.none(), st.integers(0, 64 * GIB))
processes = st.lists(
    st.builds(ProcessFact, st.integers(1, 99), st.integers(-1, 64 * GIB)), max_size=3
)
held = st.lists(
    st.builds(
        HeldFact,
        st.just("Out[3]"),
        st.sampled_from(("output", "exception", "variable")),
        st.integers(-1, GIB),
    ),
    max_size=3,
)
facts = st.builds(
    LiveFacts,
    total=sizes,
    free=sizes,
    limit=sizes,
    requested=sizes,
    segment=sizes,
    reserved=sizes,
    allocated=sizes,
    process=sizes,
    processes=processes,
    held=held,
    cut=st.one_of(st.none(), st.integers(0, 60)),
)
many = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@many
@given(st.one_of(recordings(most_actions=30), steps()), facts)
def test_confidences_are_shares_in_order_and_one_cause_at_most_is_the_reason(data, known):
    for device in range(len(data.devices)):
        found = explain_recording(None, data, device, known)
        confidences = [cause.confidence for cause in found.causes]
        assert all(0 <= one <= 1 for one in confidences)
        assert sum(one >= SURE for one in confidences) <= 1
        assert len({cause.id for cause in found.causes}) == len(found.causes)
        assert {cause.id for cause in found.causes} <= set(TITLES)
        if found.causes[:1] and found.causes[0].id != "unknown":
            assert confidences == sorted(confidences, reverse=True)


@many
@given(recordings(most_actions=30), facts)
def test_parts_sum_to_the_device_where_the_process_told_of_it(data, known):
    found = explain_recording(None, data, 0, known)
    parts = {part.id: part.bytes for part in found.parts}
    assert all(size > 0 for size in parts.values())
    if found.kind == "none" or known.total is None or known.free is None:
        return
    around = {"context", "others", "outside", "free"}
    held_by_us = sum(size for name, size in parts.items() if name not in around | {"process"})
    if held_by_us + known.free <= known.total:
        assert sum(parts.values()) == known.total


@many
@given(recordings(most_actions=30), facts)
def test_every_sentence_reads_in_every_language(data, known):
    found = explain_recording(None, data, 0, known)
    for language in languages():
        for line in _sentences(found):
            assert "{" not in line.render(language)


@many
@given(recordings(most_actions=30))
def test_without_a_failure_there_is_no_cause(data):
    found = explain_recording(None, data, 0)
    assert (found.kind, found.device_memory, list(found.causes)) == ("none", False, [])


@pytest.mark.parametrize(
    "path", sorted((FOLDER.parent / "snapshots").glob("gpt2*")), ids=lambda path: path.name
)
def test_a_healthy_snapshot_has_no_cause(path):
    data = read_snapshot(path)
    assert explain_recording(None, data, 0).causes == ()


@many
@given(recordings(most_actions=30), facts)
def test_savings_are_positive_and_of_advice_that_has_a_figure(data, known):
    figures = {entry.id for entry in CATALOGUE if entry.saves}
    for one in explain_recording(None, data, 0, known).advice:
        assert one.saving_bytes is None or (one.saving_bytes > 0 and one.id in figures)


@many
@given(recordings(most_actions=30), facts)
def test_holders_never_hold_more_than_is_in_use(data, known):
    found = explain_recording(None, data, 0, known)
    for holder in found.holders:
        assert 0 <= holder.bytes <= found.numbers.get("allocated", 0)
        assert not isinstance(holder.bytes, np.integer)


def _sentences(found: Diagnosis):
    yield found.headline
    for cause in found.causes:
        yield from (cause.title, *cause.evidence)
    for advice in found.advice:
        yield from (advice.title, advice.cost, *advice.caveats)
    yield from (check.text for check in found.checks)
    yield from (holder.name for holder in found.holders)
