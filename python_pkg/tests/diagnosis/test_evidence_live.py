"""Recordings with steps, layers and categories, and what a live process tells: each cause by itself."""

import pytest
from synthetic import Category, EventKind, PhaseKind, Script

from memtrack.diagnosis.diagnosis import Place
from memtrack.diagnosis.evidence import (
    HeldFact,
    LiveFacts,
    ProcessFact,
    explain_facts,
    explain_recording,
)
from memtrack.diagnosis.explain import explain_text

MIB, GIB = 1 << 20, 1 << 30


class Training:
    """Steps of a model of one layer, which fail in the forward of the last."""

    def __init__(self, total=8 * GIB):
        self.script = Script()
        self.script.device(total=total)
        self.layer = self.script.layer("model")
        self.inner = self.script.layer("self_attn", self.layer)
        self.line = self.script.stack(("train.py", "step", 88))

    def step(self, number, backward=True, keep=0, saved=False, stack=None):
        script = self.script
        script.phase(PhaseKind.FORWARD, number)
        with script.call(self.inner):
            passing = script.alloc(64 * MIB, layer=self.inner, stack=self.line)
            if keep:
                stack = self.line if stack is None else stack
                kept = script.alloc(keep, layer=self.inner, stack=stack)
                if saved:
                    script.save(kept)
        if backward:
            script.phase(PhaseKind.BACKWARD, number)
            passing, freed = script.alloc(32 * MIB, Category.TEMPORARY), passing
            script.free(freed)
        script.free(passing)

    def fail(self, number, size=512 * MIB):
        self.script.phase(PhaseKind.FORWARD, number)
        with self.script.call(self.inner):
            self.script.alloc(MIB, layer=self.inner)
            self.script.segment(EventKind.OOM, size)
        return self.script.build(source="allocator", state="failed")


def causes(found):
    return [cause.id for cause in found.causes]


def leaking(steps=8, **values):
    training = Training()
    for number in range(steps):
        training.step(number, keep=768 * MIB, **values)
    return training.fail(steps)


def test_what_autograd_keeps_from_step_to_step_is_a_graph():
    found = explain_recording(None, leaking(saved=True), 0)
    assert causes(found)[0] == "graph_retention"
    assert found.causes[0].confidence == 0.9
    told = [line.render() for line in found.causes[0].evidence]
    assert told[0].startswith(
        "Each step kept about 768 MiB more, over the 7 steps before: 5.25 GiB"
    )
    assert told[1] == "What is kept was made at: train.py:88 step (5.25 GiB)"
    assert told[2] == "Autograd keeps 5.25 GiB of it for a backward"


def test_what_piles_up_without_graphs_in_training_is_held_by_old_references():
    found = explain_recording(None, leaking(), 0)
    assert causes(found)[0] == "exception_traceback_or_stale_reference"


def test_what_piles_up_where_nothing_is_trained_are_results():
    found = explain_recording(None, leaking(backward=False), 0)
    assert causes(found)[0] == "eval_accumulation"
    assert found.advice[0].id in ("delete_before_next", "results_to_cpu")


def test_what_piles_up_inside_a_hook_is_the_hooks():
    training = Training()
    stack = training.script.stack(("train.py", "step", 88), ("stats.py", "save_hook", 5))
    for number in range(8):
        training.step(number, keep=768 * MIB, stack=stack)
    found = explain_recording(None, training.fail(8), 0)
    assert causes(found)[0] == "hook_leak"
    assert "save_hook" in found.causes[0].evidence[-1].render()


def test_steps_that_give_everything_back_are_no_leak():
    training = Training(total=512 * MIB)
    for number in range(8):
        training.step(number)
    assert "graph_retention" not in causes(explain_recording(None, training.fail(8), 0))


def full(training=None, **facts):
    training = training or Training()
    training.script.phase(PhaseKind.OTHER, 0)
    training.script.alloc(2 * GIB, Category.PARAMETER)
    training.script.alloc(4 * GIB, Category.OPTIMIZER_STATE)
    training.script.alloc(1 * GIB, Category.GRADIENT)
    training.step(0)
    return explain_recording(None, training.fail(1, size=2 * GIB), 0, LiveFacts(**facts))


def test_a_full_device_is_capacity_with_the_categories_that_fill_it():
    found = full(total=8 * GIB, free=512 * MIB)
    assert causes(found)[0] == "capacity"
    told = " | ".join(line.render() for line in found.causes[0].evidence)
    assert "7.00 GiB (88 %) of the 8.00 GiB" in told
    assert "In use: optimizer state 4.00 GiB, parameters 2.00 GiB, gradients 1.00 GiB" in told


def test_savings_are_the_bytes_that_were_there():
    saving = {one.id: one.saving_bytes for one in full(total=8 * GIB, free=512 * MIB).advice}
    assert saving["set_to_none"] == 1 * GIB
    assert saving["bf16_autocast"] is None


def test_the_place_is_the_layer_that_ran():
    found = full(total=8 * GIB, free=512 * MIB)
    assert found.place == Place("forward", "model.self_attn", 2, "")
    assert found.headline.render().startswith(
        "Out of memory in forward of model.self_attn: 2.00 GiB asked"
    )


def test_what_the_process_tells_of_the_place_outranks_the_recording():
    found = full(total=8 * GIB, free=0, place=Place("backward", "model.head", 7, "run.py:3"))
    assert found.place == Place("backward", "model.head", 7, "run.py:3")


def test_a_large_tensor_in_attention_is_told_as_such():
    assert "logits_or_attention_quadratic" in causes(full(total=8 * GIB, free=512 * MIB))


def test_references_of_the_last_error_outrank_capacity():
    old = HeldFact("sys.last_value", "exception", 5 * GIB)
    found = full(total=8 * GIB, free=512 * MIB, held=[old])
    assert causes(found)[0] == "exception_traceback_or_stale_reference"
    assert found.causes[0].evidence[0].render() == "sys.last_value keeps 5.00 GiB alive"
    saving = {one.id: one.saving_bytes for one in found.advice}
    assert saving["free_old_references"] == 5 * GIB


def test_a_variable_of_the_notebook_is_no_accusation():
    mine = HeldFact("model", "variable", 5 * GIB)
    assert causes(full(total=8 * GIB, free=512 * MIB, held=[mine]))[0] == "capacity"


@pytest.mark.parametrize(("size", "first"), [(5 * GIB, True), (0, False)])
def test_graphs_of_several_forwards_outrank_capacity_where_they_are_known_to_be_large(size, first):
    kept = HeldFact("total", "graph", size, passes=37)
    found = full(total=8 * GIB, free=512 * MIB, held=[kept])
    assert (causes(found)[0] == "graph_retention") == first
    lines = [one.render() for cause in found.causes for one in cause.evidence]
    told = [
        one for one in lines if one.startswith("`total` keeps the autograd graphs of 37 forward")
    ]
    assert len(told) == 1 and all(("5.00 GiB" in one) == bool(size) for one in told)


def test_graphs_that_hold_little_are_not_why():
    kept = HeldFact("total", "graph", GIB // 8, passes=37)
    assert "graph_retention" not in causes(full(total=8 * GIB, free=512 * MIB, held=[kept]))


@pytest.mark.parametrize(
    ("leftover", "cause"),
    [(False, "other_process_or_framework"), (True, "zombie_or_leftover_process")],
)
def test_others_are_named_by_what_they_are(leftover, cause):
    other = ProcessFact(4121, 30 * GIB, "python old.py", leftover)
    found = full(total=40 * GIB, free=GIB, process=9 * GIB, processes=[other])
    assert causes(found)[0] == cause
    assert "Process 4121 (python old.py): 30.0 GiB" in [
        line.render() for line in found.causes[0].evidence
    ]


def test_memory_of_the_process_beside_its_allocator_is_told():
    found = full(total=24 * GIB, free=GIB, process=22 * GIB, reserved=8 * GIB)
    assert "memory_outside_allocator" in causes(found)


def test_a_limit_that_no_text_tells_shows_in_what_the_device_had():
    found = full(free=100 * GIB)
    assert "per_process_fraction_limit" in causes(found)
    assert all(cause.confidence < 0.6 for cause in found.causes if cause.id != "capacity")


def test_private_pools_that_hold_the_memory_are_told():
    training = Training()
    script = training.script
    script.phase(PhaseKind.OTHER, 0)
    script.hold(1 << 40, 6 * GIB, pool="0.1")
    script.alloc(MIB, address=1 << 40)
    found = explain_recording(
        None, training.fail(0, size=GIB), 0, LiveFacts(total=8 * GIB, free=512 * MIB)
    )
    assert causes(found)[0] == "cuda_graph_memory"
    assert "hold 6.00 GiB of the 6.00 GiB reserved" in found.causes[0].evidence[0].render()


def test_an_error_of_the_driver_without_a_refusal_of_the_allocator_was_of_other_memory():
    told = explain_text("torch.AcceleratorError: CUDA error: out of memory")
    stats = {"num_ooms": 0, "allocation.all.allocated": 9}
    found = explain_facts(told, LiveFacts(total=80 * GIB, free=79 * GIB, stats=stats))
    assert causes(found) == ["pinned_or_wsl_host_limit"]
    assert found.causes[0].confidence == 0.65
    refused = explain_facts(told, LiveFacts(total=80 * GIB, free=GIB // 2, stats=stats))
    assert causes(refused) == ["unknown"]


def test_the_allocators_state_without_history_tells_fragmentation_by_the_segment_alone():
    script = Script()
    script.device(total=8 * GIB)
    script.phase(PhaseKind.OTHER, 0)
    script.hold(1 << 40, 2 * GIB, older=True)
    for place in range(4):
        script.older(GIB // 4, address=(1 << 40) + place * (GIB // 2), stream=0)
    data = script.build(source="allocator")
    found = explain_recording(None, data, 0, LiveFacts(segment=600 * MIB, free=100 * MIB))
    assert causes(found)[0] == "fragmentation"
    assert found.needed.requested is None
    assert found.needed.largest_free == GIB // 4


def test_weights_in_float32_where_nothing_is_trained_are_told_with_what_half_would_save():
    script = Script()
    script.device(total=8 * GIB)
    layer = script.layer("model", parameters=GIB, parameter_bytes=4 * GIB)
    script.older(4 * GIB, Category.PARAMETER, layer=layer)
    script.phase(PhaseKind.FORWARD, 0)
    with script.call(layer):
        script.alloc(3 * GIB, layer=layer)
        script.segment(EventKind.OOM, 2 * GIB)
    data = script.build(source="allocator", state="failed")
    found = explain_recording(None, data, 0, LiveFacts(total=8 * GIB, free=GIB))
    assert "dtype_fp32_load" in causes(found)
    saving = {one.id: one.saving_bytes for one in found.advice}
    assert saving["load_in_bf16"] == 2 * GIB


def unwatched(number_of_bytes, blocks=24):
    """Blocks of a forward, as a snapshot of torch tells them: by stacks, without phases and layers."""
    script = Script()
    script.device(total=8 * GIB)
    script.phase(PhaseKind.OTHER, 0)
    outer = [("train.py", "run", 9)]
    call = [*outer, ("/lib/torch/nn/modules/module.py", "_call_impl", 1790)]
    inner = [script.stack(*call, ("model.py", "forward", line)) for line in (1, 2, 3)]
    between = script.stack(*outer)
    for _ in range(blocks):
        for stack in inner:
            script.alloc(80 * MIB, Category.UNKNOWN, stack=stack)
        script.alloc(MIB, Category.UNKNOWN, stack=between, requested=number_of_bytes)
    script.segment(EventKind.OOM, 512 * MIB)
    return script.build(source="allocator", evidence="opened")


def test_passes_that_end_in_a_number_are_steps():
    found = explain_recording(None, unwatched(4), 0)
    assert (causes(found)[0], found.causes[0].confidence) == ("graph_retention", 0.9)


def test_layers_called_one_by_one_are_not_taken_for_steps_with_certainty():
    found = explain_recording(None, unwatched(MIB), 0)
    assert all(cause.confidence < 0.6 for cause in found.causes if cause.id == "graph_retention")


def test_capacity_is_less_sure_the_more_of_the_device_is_others():
    other = ProcessFact(4121, 3 * GIB)
    found = full(total=12 * GIB, free=GIB, process=8 * GIB, processes=[other])
    (sure,) = (cause.confidence for cause in found.causes if cause.id == "capacity")
    assert sure <= 0.75


def test_a_peak_of_little_on_a_device_full_of_others_is_unlikely():
    def told(**facts):
        found = full(total=80 * GIB, free=GIB, **facts)
        return {cause.id: cause.confidence for cause in found.causes}

    assert told().get("capacity", 0.0) < 0.1
    assert told(process=8 * GIB).get("capacity", 0.0) < 0.1
    assert told(process=79 * GIB)["capacity"] > 0.1


def test_what_the_driver_keeps_for_itself_is_no_other_process():
    found = full(total=80 * GIB, free=71 * GIB + GIB // 2, process=8 * GIB, reserved=7 * GIB)
    assert found.needed.others == 0
    assert "others" not in [part.id for part in found.parts]
    hidden = full(total=80 * GIB, free=30 * GIB, process=8 * GIB, reserved=7 * GIB)
    assert hidden.needed.others == 42 * GIB
    assert {part.id: part.bytes for part in hidden.parts}["others"] > 41 * GIB


def test_what_is_neither_free_nor_the_allocators_is_a_possibility_where_the_driver_is_silent():
    found = full(total=24 * GIB, free=GIB)
    told = {cause.id: cause for cause in found.causes}["other_process_or_framework"]
    assert told.confidence < 0.6
    assert "is neither free nor PyTorch's" in told.evidence[0].render()
    assert "other_process_or_framework" not in causes(full(total=8 * GIB, free=GIB // 2))
