"""Each failure made on an H200: its true cause is named first, with figures from its snapshot."""

from dataclasses import replace

import pytest
from oom_fixtures import CAUSES, TOTAL, facts, snapshot, without_history

from memtrack.diagnosis.diagnosis import SURE
from memtrack.diagnosis.evidence import explain_recording

MIB = 1 << 20


@pytest.fixture(scope="module")
def explained():
    found = {}

    def explain(name):
        if name not in found:
            found[name] = explain_recording(None, snapshot(name), 0, facts(name))
        return found[name]

    return explain


def evidence(diagnosis):
    return " | ".join(line.render() for line in diagnosis.causes[0].evidence)


@pytest.mark.parametrize(("name", "cause"), CAUSES.items())
def test_the_truth_is_named_first_and_with_certainty(explained, name, cause):
    found = explained(name)
    assert (found.kind, found.device_memory) == ("cuda_oom", True)
    assert found.causes[0].id == cause
    assert found.causes[0].confidence >= SURE
    assert found.causes[0].evidence


@pytest.mark.parametrize("name", CAUSES)
def test_no_other_cause_is_told_as_the_reason(explained, name):
    sure = [cause.id for cause in explained(name).causes if cause.confidence >= SURE]
    assert sure == [CAUSES[name]]


@pytest.mark.parametrize("name", sorted(set(CAUSES) - {"other_process", "fraction_limit"}))
def test_the_snapshot_alone_tells_the_same_cause(name):
    assert explain_recording(None, snapshot(name), 0).causes[0].id == CAUSES[name]


@pytest.mark.parametrize("name", ["other_process", "fraction_limit"])
def test_what_no_snapshot_can_know_is_not_told_with_certainty(name):
    found = explain_recording(None, snapshot(name), 0)
    assert all(cause.confidence < SURE for cause in found.causes)


@pytest.mark.parametrize(
    ("name", "requested", "segment", "largest"),
    [
        ("absurd_shape", 1 << 44, 1 << 44, None),
        ("backward_peak", 64 * MIB, 64 * MIB, 0),
        ("dynamic_shapes", 71_362_560, 70 * MIB, 49_553_408),
        ("forward_activations", 250 * MIB, 250 * MIB, 16 * MIB),
        ("fraction_limit", 2048 * MIB, 2048 * MIB, None),
        ("fragmentation", 600 * MIB, 600 * MIB, 29 * MIB),
        ("leak_loss_graph", 32_768_000, 32 * MIB, 12 * MIB),
        ("optimizer_first_step", 64 * MIB, 64 * MIB, 0),
        ("other_process", 1024 * MIB, 1024 * MIB, 0),
    ],
)
def test_the_request_is_the_tensor_not_the_segment(explained, name, requested, segment, largest):
    needed = explained(name).needed
    assert (needed.requested, needed.segment, needed.largest_free) == (requested, segment, largest)


@pytest.mark.parametrize(
    ("name", "phase", "site"),
    [
        ("backward_peak", "backward", ""),
        ("dynamic_shapes", "forward", "pytorch_utils.py:119 forward"),
        ("forward_activations", "backward", ""),
        ("fragmentation", "", "make_failures.py:48 fragmentation"),
        ("leak_loss_graph", "forward", "modeling_gpt2.py:697 forward"),
        ("optimizer_first_step", "optimizer", "make_failures.py:38 optimizer_first_step"),
        ("absurd_shape", "", "make_failures.py:94 absurd_shape"),
    ],
)
def test_the_place_is_the_one_in_the_trace(explained, name, phase, site):
    place = explained(name).place
    assert (place.phase, place.site) == (phase, site)


@pytest.mark.parametrize("name", CAUSES)
def test_parts_sum_to_the_device(explained, name):
    parts = explained(name).parts
    assert sum(part.bytes for part in parts) == TOTAL
    assert all(part.bytes > 0 for part in parts)


def test_fragmentation_shows_the_free_bytes_their_pieces_and_what_stands_between(explained):
    found = evidence(explained("fragmentation"))
    assert "928 MiB is free in the pool that serves it, for 600 MiB asked" in found
    assert "its largest block is 29.0 MiB" in found
    assert "32 pieces" in found
    assert "32 of make_failures.py:47 fragmentation (992 MiB)" in found
    assert "Simulated with expandable_segments, the request is served" in found


def test_changing_shapes_are_told_by_the_number_of_sizes(explained):
    found = evidence(explained("dynamic_shapes"))
    assert "617 MiB is free" in found
    assert "shapes change from pass to pass" in found
    saving = {one.id: one.saving_bytes for one in explained("dynamic_shapes").advice}
    assert set(saving) >= {"buckets", "expandable_segments"}


def test_a_leak_shows_what_each_pass_keeps_and_where_it_was_made(explained):
    found = explained("leak_loss_graph")
    assert "kept about 159 MiB more, over the 17 passes before: 2.67 GiB, 90 %" in evidence(found)
    assert "activations.py:66 forward (1.06 GiB)" in evidence(found)
    first = found.advice[0]
    assert first.id == "keep_numbers_not_tensors"
    assert first.saving_bytes == pytest.approx(2.67 * 1024 * MIB, rel=0.01)


def test_the_first_step_of_the_optimizer_shows_the_state_it_made(explained):
    found = explained("optimizer_first_step")
    assert "It is the optimizer's first step: it has made 896 MiB of state" in evidence(found)
    assert "eight_bit_optimizer" in [one.id for one in found.advice]
    assert "accumulate_gradients" not in [one.id for one in found.advice]


def test_backward_shows_what_the_forward_had_left(explained):
    found = evidence(explained("backward_peak"))
    assert "The forward of this step ended with 1.84 GiB in use" in found
    assert "Not fragmentation: no block that could serve it is free" in found


def test_a_batch_that_doubled_is_told(explained):
    assert "tensors 2.0 times as large" in evidence(explained("forward_activations"))


def test_another_process_is_named_with_its_bytes(explained):
    found = explained("other_process")
    assert "Process 766: 134 GiB" in evidence(found)
    assert found.other_processes[0].pid == 766
    assert found.needed.others == found.other_processes[0].bytes


def test_a_limit_is_told_with_what_the_device_had(explained):
    found = evidence(explained("fraction_limit"))
    assert "This process may hold 1.00 GiB" in found
    assert "the device has 139 GiB free" in found


@pytest.mark.parametrize(
    "name", ["leak_loss_graph", "backward_peak", "forward_activations", "optimizer_first_step"]
)
def test_without_a_history_a_leak_and_a_real_peak_are_not_told_apart(name):
    found = explain_recording(None, without_history(name), 0, facts(name))
    assert found.causes[0].id == "capacity"
    assert found.causes[0].confidence < SURE
    assert "there is no history" in evidence(found)
    assert "grows_each_step" in [check.id for check in found.checks]


@pytest.mark.parametrize("name", ["fragmentation", "dynamic_shapes"])
def test_fragmentation_shows_without_a_history(name):
    found = explain_recording(None, without_history(name), 0, facts(name))
    assert (found.causes[0].id, found.causes[0].confidence) == ("fragmentation", 0.9)


def test_headlines_read_well_in_both_languages(explained):
    line = explained("leak_loss_graph").headline
    assert line.render() == (
        "Out of memory in forward at modeling_gpt2.py:697 forward:"
        " 31.2 MiB asked for, largest free block 12.0 MiB"
    )
    assert line.render("zh_CN") == (
        "显存不足：在前向中（modeling_gpt2.py:697 forward）请求 31.2 MiB，最大空闲块 12.0 MiB"
    )


@pytest.mark.parametrize(
    "told", [None, [], {"0": 3}, {"0": {"stack": 99_999}}, {"0": {"stack": "x", "device_free": -4}}]
)
def test_damaged_notes_of_a_failure_cost_the_place_only(told):
    data = snapshot("fragmentation")
    damaged = replace(data, facts=replace(data.facts, extra={"failures": told}))
    found = explain_recording(None, damaged, 0)
    assert found.causes[0].id == "fragmentation"
    # What the device had is the address of the event as well.
    assert (found.place.site, found.needed.device_free) == ("", 145_530_945_536)
