"""Layers of two models: which is which, known because the test has made the change."""

import pytest
from synthetic import Script

from memtrack.comparison.matching import match_layers
from memtrack.comparison.shapes import structure_hash


def model(spec, label="model"):
    """Return a recording of a module tree: `{name: (type, elements, {children})}`."""
    script = Script()
    script.device()

    def add(name, described, parent):
        kind, elements, inside = described
        row = script.layer(name, parent, kind, parameters=elements, parameter_bytes=4 * elements)
        for child, what in inside.items():
            add(child, what, row)

    for name, described in spec.items():
        add(name, described, -1)
    return script.build()


def block(width, extra=None):
    inside = {
        "norm": ("LayerNorm", 2 * width, {}),
        "attn": ("Attention", 4 * width * width, {}),
        "mlp": (
            "MLP",
            0,
            {
                "up": ("Linear", 4 * width * width, {}),
                "act": ("GELU", 0, {}),
                "down": ("Linear", 4 * width * width, {}),
            },
        ),
    }
    return ("Block", 0, {**inside, **(extra or {})})


def gpt(blocks, head=5000, name="model", names=None):
    listed = {(names or str)(number): one for number, one in enumerate(blocks)}
    inside = {
        "wte": ("Embedding", 8000, {}),
        "h": ("ModuleList", 0, listed),
        "head": ("Linear", head, {}),
    }
    return {name: ("GPT", 0, inside)}


def pairs(a, b):
    """Return the matched paths and how they were found, the same ones left out."""
    found = match_layers(a, b)
    names = [[data.string(int(path)) for path in data.layers["path"]] for data in (a, b)]
    told = {
        names[0][row]: (names[1][other], how)
        for row, (other, how) in enumerate(zip(found.partner, found.how, strict=True))
        if other >= 0 and (how != "same" or names[0][row] != names[1][other])
    }
    removed = [names[0][row] for row in found.removed]
    added = [names[1][row] for row in found.added]
    for row, other in enumerate(found.partner):
        assert other < 0 or found.back[other] == row
        assert (found.sure[row] > 0) == (other >= 0)
    return told, removed, added


def test_equal_models_match_whole():
    a, b = model(gpt([block(16)] * 3)), model(gpt([block(16)] * 3))
    assert pairs(a, b) == ({}, [], [])
    assert structure_hash(a) == structure_hash(b)


def test_the_label_is_the_name_of_a_variable():
    a, b = model(gpt([block(16)])), model(gpt([block(16)], name="net"))
    told, removed, added = pairs(a, b)
    assert {how for _, how in told.values()} == {"same"} and removed == added == []
    assert structure_hash(a) == structure_hash(b)


def test_a_widened_head_is_the_same_layer():
    a, b = model(gpt([block(16)] * 2)), model(gpt([block(16)] * 2, head=9000))
    assert pairs(a, b) == ({}, [], [])
    assert structure_hash(a) != structure_hash(b)


def test_renamed_blocks_are_found_in_order():
    a, b = (
        model(gpt([block(16), block(32)])),
        model(gpt([block(16), block(32)], names=lambda n: f"layer_{n}")),
    )
    told, removed, added = pairs(a, b)
    assert told["model.h.0"] == ("model.h.layer_0", "renamed")
    assert told["model.h.1"] == ("model.h.layer_1", "renamed")
    assert told["model.h.1.mlp.up"] == ("model.h.layer_1.mlp.up", "same")
    assert removed == added == []


def test_a_block_taken_out_is_removed_and_its_neighbours_keep_their_partners():
    blocks = [block(16), block(24), block(32)]
    a, b = model(gpt(blocks)), model(gpt([blocks[0], blocks[2]]))
    told, removed, added = pairs(a, b)
    assert told["model.h.2"] == ("model.h.1", "renamed")
    assert removed == ["model.h.1"] and added == []


def test_of_equal_blocks_the_last_is_the_one_that_went():
    a, b = model(gpt([block(16)] * 4)), model(gpt([block(16)] * 3))
    assert pairs(a, b) == ({}, ["model.h.3"], [])


def test_something_put_into_a_sequence_moves_every_name():
    layers = [("Linear", 100, {}), ("ReLU", 0, {}), ("Linear", 200, {})]
    before = {"model": ("Sequential", 0, {str(n): one for n, one in enumerate(layers)})}
    layers.insert(1, ("Dropout", 0, {}))
    after = {"model": ("Sequential", 0, {str(n): one for n, one in enumerate(layers)})}
    told, removed, added = pairs(model(before), model(after))
    assert told == {"model.1": ("model.2", "renamed"), "model.2": ("model.3", "renamed")}
    assert (removed, added) == ([], ["model.1"])


def test_adapters_in_one_block_leave_it_the_same_block():
    plain, adapted = block(16), block(16, {"lora": ("Adapter", 64, {})})
    a, b = model(gpt([plain] * 3)), model(gpt([adapted, plain, plain]))
    assert pairs(a, b) == ({}, [], ["model.h.0.lora"])


def test_another_class_under_the_same_name_is_told():
    norm = ("RMSNorm", 16, {})
    a, b = model(gpt([block(16)])), model(gpt([block(16, {"norm": norm})]))
    assert pairs(a, b)[0] == {"model.h.0.norm": ("model.h.0.norm", "retyped")}


@pytest.mark.parametrize("name", ["module", "_orig_mod"])
def test_a_wrapped_model_is_found_inside(name):
    inner = gpt([block(16)] * 2)["model"]
    a, b = model({"model": inner}), model({"model": ("Wrapper", 0, {name: inner})})
    told, removed, added = pairs(a, b)
    assert told["model"] == (f"model.{name}", "moved")
    assert told["model.h.1.mlp.down"] == (f"model.{name}.h.1.mlp.down", "same")
    assert removed == [] and added == []
    found = match_layers(a, b)
    assert found.sure[0] == pytest.approx(0.9)


def test_a_block_moved_to_another_parent_is_found():
    encoder = ("Encoder", 0, {"0": block(16), "1": block(16)})
    a = model({"model": ("Net", 0, {"encoder": encoder, "head": ("Linear", 7, {})})})
    b = model(
        {"model": ("Net", 0, {"body": ("Body", 3, {"inner": encoder}), "head": ("Linear", 7, {})})}
    )
    told, removed, added = pairs(a, b)
    assert told["model.encoder"] == ("model.body.inner", "moved")
    assert removed == [] and added == []


def test_recordings_without_layers_match_nothing():
    empty = Script()
    empty.device()
    assert match_layers(empty.build(), model(gpt([block(16)]))).added == [0]


def test_ten_thousand_layers_are_matched_quickly():
    import time

    a = model(gpt([block(16)] * 1400))
    b = model(gpt([block(16)] * 1390 + [block(32)] * 10, names=lambda n: f"b{n}"))
    begun = time.process_time()  # what other processes take counts for nothing here
    found = match_layers(a, b)
    assert time.process_time() - begun < 1.0
    assert len(found.partner) == 9804 and min(found.partner) >= 0


def wrapped(described, kind="Wrapper", name="_fsdp_wrapped_module", elements=0, **others):
    return (kind, elements, {name: described, **others})


def test_blocks_that_are_wrapped_are_the_blocks_they_were():
    plain = model(gpt([block(16)] * 3))
    for each in (
        wrapped(block(16)),
        wrapped(block(16), elements=3000),
        wrapped(wrapped(block(16), name="_orig_mod"), name="module"),
        wrapped(block(16), name="anything"),
        wrapped(block(16), name="base_layer", lora=("Linear", 64, {})),
    ):
        b = model(gpt([each] * 3))
        told, removed, added = pairs(plain, b)
        assert removed == []
        assert added == [f"model.h.{n}.lora" for n in range(3) if "lora" in each[2]]
        for number in range(3):
            inside, how = told[f"model.h.{number}"]
            assert inside.startswith(f"model.h.{number}.") and how == "moved"
            assert told[f"model.h.{number}.mlp.up"] == (f"{inside}.mlp.up", "same")
        back, removed, added = pairs(b, plain)
        assert added == [] and back[told["model.h.1"][0]] == ("model.h.1", "moved")


def test_a_model_in_a_wrapper_of_any_name_is_found():
    plain = model(gpt([block(16)] * 2))
    inside = wrapped(gpt([block(16)] * 2)["model"], kind="Task", name="net")
    b = model({"task": wrapped(inside, name="base_model")})
    told, removed, added = pairs(plain, b)
    assert told["model"] == ("task.base_model.net", "moved") and removed == added == []
