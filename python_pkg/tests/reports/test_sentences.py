"""What a report says is computed: each sentence appears when its numbers say so, with them."""

import pytest
from synthetic import Category, PhaseKind, Script

from memtrack.i18n import languages
from memtrack.recording import Notice
from memtrack.reports import build_report
from memtrack.reports.notices import _SENTENCES, notice_sentences

MIB = 1 << 20


def script_of(*layers):
    script = Script()
    script.device()
    rows = [script.layer(layers[0])] if layers else []
    rows += [script.layer(name, rows[0]) for name in layers[1:]]
    return script, rows


def view(script, **facts):
    return build_report(script.build(**facts)).views[0]


def headline(script):
    return str(view(script).headline)


def details(script):
    return [str(detail) for detail in view(script).details]


def test_headline_names_phase_layer_and_step():
    script, (_, mlp) = script_of("model", "mlp")
    for step in range(2):
        script.phase(PhaseKind.FORWARD, step)
        with script.call(mlp) as call:
            pass
        script.phase(PhaseKind.BACKWARD, step)
        with script.backward(call):
            script.free(script.alloc(MIB * (1 + step)))
    assert headline(script) == "Peak 2.00 MiB in backward of mlp, step 2"


@pytest.mark.parametrize(
    ("name", "told"), [("0", "blocks.0"), ("0.fc", "blocks.0.fc"), ("fc", "fc")]
)
def test_a_layer_that_is_only_a_number_keeps_the_name_of_its_model(name, told):
    script, (_, inner) = script_of("blocks", name)
    script.phase(PhaseKind.FORWARD, 0)
    with script.call(inner):
        script.alloc(MIB)
    assert headline(script) == f"Peak 1.00 MiB in forward of {told}"


def test_a_single_step_is_not_numbered():
    script, _ = script_of("model")
    script.phase(PhaseKind.OPTIMIZER, 0)
    script.alloc(MIB)
    assert headline(script) == "Peak 1.00 MiB in the optimizer step"


def test_the_root_is_named_where_it_is_alone_or_one_of_several():
    script, (model, mlp) = script_of("model", "mlp")
    script.phase(PhaseKind.FORWARD, 0)
    with script.call(model):
        script.alloc(MIB)
    assert headline(script) == "Peak 1.00 MiB in forward of model"
    script.layer("other")
    with script.call(mlp):
        script.alloc(MIB)
    assert headline(script) == "Peak 2.00 MiB in forward of model.mlp"


def test_between_phases_only_a_layer_is_named():
    script, (_, mlp) = script_of("model", "mlp")
    script.phase(PhaseKind.OTHER, 0)
    script.alloc(MIB)
    assert headline(script) == "Peak 1.00 MiB outside of forward, backward and optimizer"
    script.alloc(MIB, layer=mlp)
    assert headline(script) == "Peak 2.00 MiB in mlp"


def test_no_memory_is_said():
    script, _ = script_of()
    assert headline(script) == "No memory was seen on this device"
    assert details(script) == []


def test_shares_are_the_largest_four_from_one_per_cent_up():
    script, _ = script_of()
    sizes = {
        Category.PARAMETER: 100,
        Category.GRADIENT: 90,
        Category.OPTIMIZER_STATE: 200,
        Category.ACTIVATION: 500,
        Category.INPUT: 105,
        Category.TEMPORARY: 5,
    }
    for category, size in sizes.items():
        script.older(size, category)
    shares = "50 % activations, 20 % optimizer state, 10 % batch, 10 % parameters"
    assert details(script)[0] == f"At the peak: {shares}"


def test_a_large_tensor_is_named_by_what_it_holds():
    script, (_, head) = script_of("model", "head")
    script.older(8 * MIB, Category.PARAMETER, name="head.weight")
    script.phase(PhaseKind.FORWARD, 0)
    with script.call(head, "8×512×50257", "float32", 4 * MIB - 100):
        script.alloc(4 * MIB, layer=head, requested=4 * MIB - 100)
    assert "8.00 MiB of it (67 %) is one tensor: head.weight" in details(script)
    for _ in range(2):
        with script.call(head, "8×512×50257", "float32", 20 * MIB):
            script.alloc(20 * MIB, layer=head)
    script.phase(PhaseKind.BACKWARD, 0)
    script.alloc(20 * MIB, layer=head)
    told = (
        "60.0 MiB of it (83 %) is 3 tensors of 20.0 MiB each: "
        "output of head (8×512×50257 float32), made in backward of head"
    )
    assert told in details(script)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"stack": True}, "made at train.py:3 f"),
        ({}, "batch"),
    ],
)
def test_a_large_tensor_without_a_layer(values, name):
    script, _ = script_of()
    script.phase(PhaseKind.OTHER, 0)
    if "stack" in values:
        values = {"stack": script.stack(("train.py", "f", 3))}
    script.alloc(MIB, Category.INPUT, **values)
    assert details(script)[1] == f"1.00 MiB of it (100 %) is one tensor: {name}"


def test_workspaces_of_libraries_are_not_called_tensors():
    script, _ = script_of()
    script.phase(PhaseKind.FORWARD, 0)
    for name in ("cuBLAS", "cuBLAS in backward"):
        script.alloc(8 * MIB, Category.WORKSPACE, name=name)
    told = "16.0 MiB of it (100 %) is what libraries work in: cuBLAS, cuBLAS in backward"
    assert told in details(script)


def test_small_tensors_are_not_told():
    script, _ = script_of()
    for size in range(100, 110):
        script.older(size)
    assert not [detail for detail in details(script) if "tensor:" in detail or "each" in detail]


def test_the_heaviest_part_of_the_model_is_told():
    script, (_, first, second) = script_of("model", "first", "second")
    script.older(70, layer=first)
    script.older(30, layer=second)
    assert "first holds 70 B of it (70 %)" in details(script)


def test_a_part_with_layers_inside_is_told_with_them():
    script, (_, block) = script_of("model", "block")
    inner = [script.layer(name, block) for name in ("a", "b", "c")]
    for row in inner:
        script.older(10, layer=row)
    assert "block and the layers inside it hold 30 B of it (100 %)" in details(script)


def test_saved_for_backward_is_told_with_its_layer():
    script, (_, first) = script_of("model", "first")
    script.phase(PhaseKind.FORWARD, 0)
    with script.call(first):
        script.save(script.alloc(40))
    script.save(script.alloc(60), -1)
    assert "Up to 100 B was saved for backward, 40 % of it by first" in details(script)


def test_what_no_layer_made_is_told_with_its_line():
    script, (model,) = script_of("model")
    script.older(50, layer=model)
    script.phase(PhaseKind.FORWARD, 0)
    for size, line in ((10, 1), (40, 2)):
        script.alloc(size, stack=script.stack(("train.py", "step", line)))
    told = "50 B of it (50 %) was made outside the layers, the largest part at train.py:2 step"
    assert told in details(script)
    script.older(1000, layer=model)
    assert not [detail for detail in details(script) if "outside the layers" in detail]


def test_what_is_older_than_the_recording_and_belongs_to_nothing():
    script, (model,) = script_of("model")
    script.older(40, layer=model)
    script.older(60)
    told = "60 B of it (60 %) was there before the recording and belongs to no layer"
    assert told in details(script)


def test_rounding_is_told_when_it_is_a_per_cent_and_a_mebibyte():
    script, _ = script_of()
    script.older(20 * MIB, requested=18 * MIB)
    told = "2.00 MiB of it (10 %) is rounding: the allocator gives whole blocks"
    assert told in details(script)
    script.older(500 * MIB)
    assert told not in details(script)


def test_the_cache_is_told_when_it_is_a_tenth():
    script, _ = script_of()
    script.older(60 * MIB)
    script.sample(reserved=100 * MIB)
    assert "40.0 MiB more is reserved by the allocator and not in use" in details(script)


def test_every_known_notice_has_a_sentence_in_every_language():
    notices = [Notice(identifier) for identifier in _SENTENCES]
    for language in languages():
        sentences = [sentence.render(language) for sentence in notice_sentences(notices)]
        assert len(set(sentences)) == len(_SENTENCES)


def test_an_unknown_notice_is_told_by_its_id_and_each_once():
    sentences = notice_sentences([Notice("new", {"x": 1}), Notice("threads"), Notice("threads")])
    assert [str(sentence) for sentence in sentences] == [
        "This recording has a limit that this version does not know: new.",
        "Layers that ran on other threads were not seen.",
    ]
