"""The ledger of one GPU against the figures of its sources, and its laws."""

import dataclasses
import json
from itertools import pairwise

import make_plan_fixture
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrack.errors import UsageError
from memtrack.planners.inputs import OPTIMIZERS, LedgerInputs
from memtrack.planners.ledger import ledger_parts
from memtrack.planners.parts import total_of
from memtrack.planners.quantities import parse_count

BILLION = 10**9


def parts_of(*arguments, **options):
    return {part.id: part.bytes for part in ledger_parts(LedgerInputs(*arguments, **options))}


def test_a_billion_in_fp32_with_adam_is_four_four_and_eight():
    assert parts_of(BILLION, optimizer="adam") == {
        "parameter": 4 * BILLION,
        "gradient": 4 * BILLION,
        "optimizer_state": 8 * BILLION,
    }


def test_mixed_precision_with_adam_is_sixteen_bytes_a_parameter():
    # ZeRO, section 3.1: 7.5 B parameters take 120 GB.
    parts = parts_of(7_500_000_000, dtype="bf16", mixed="master")
    assert sum(parts.values()) == 120 * BILLION


@pytest.mark.parametrize(("stage", "gigabytes"), [(1, 31.4), (2, 16.6), (3, 1.9)])
def test_stages_of_zero_are_those_of_figure_1_of_the_paper(stage, gigabytes):
    # 7.5 B parameters on 64 GPUs; the paper counts no buckets.
    parts = parts_of(7_500_000_000, dtype="bf16", mixed="master", zero=stage, gpus=64)
    parts.pop("communication")
    assert sum(parts.values()) / BILLION == pytest.approx(gigabytes, abs=0.05)


def test_states_are_the_guides():
    # Section 4.4: 8 GB become about 2 with 8 bits, 4 with momentum.
    assert parts_of(BILLION, optimizer="momentum")["optimizer_state"] == 4 * BILLION
    assert parts_of(BILLION, optimizer="adam8bit")["optimizer_state"] == 2 * BILLION + 8 * 3_906_250
    assert "optimizer_state" not in parts_of(BILLION, optimizer="sgd")
    assert parts_of(BILLION, optimizer="adafactor")["optimizer_state"] < 4 * BILLION / 1000


def test_adapters_alone_have_gradients_and_states():
    parts = parts_of(7 * BILLION, dtype="bf16", lora=0.01)
    assert parts == {
        "parameter": 2 * 7_070_000_000,
        "gradient": 2 * 70_000_000,
        "optimizer_state": 4 * 70_000_000,
    }


def test_ddp_has_a_second_copy_of_the_gradients_in_its_buckets():
    one, four = parts_of(BILLION), parts_of(BILLION, gpus=4)
    assert four == {**one, "communication": one["gradient"]}


GPT3 = {"layers": 96, "hidden": 12_288, "heads": 96, "sequence": 2048, "dtype": "bf16"}


def test_activations_of_gpt3_are_those_of_the_paper():
    # Korthikanti et al.: as/h = 16, so a layer has (34 + 80) sbh bytes; flash attention leaves 34.
    tokens = 2048 * 12_288
    eager = parts_of(175 * BILLION, flash=False, **GPT3)["activation"]
    assert eager == 96 * 114 * tokens + 5 * tokens
    fused = parts_of(175 * BILLION, **GPT3)["activation"]
    assert fused == 96 * (34 * tokens + 4 * 96 * 2048) + 5 * tokens
    kept = parts_of(175 * BILLION, flash=False, checkpointing=True, **GPT3)["activation"]
    assert kept == 96 * 2 * tokens + 114 * tokens + 5 * tokens


def test_fp32_doubles_all_but_the_masks():
    half = parts_of(BILLION, **GPT3)["activation"]
    full = parts_of(BILLION, **{**GPT3, "dtype": "fp32"})["activation"]
    masks = (96 * 2 + 1) * 2048 * 12_288
    sums = 96 * 4 * 96 * 2048
    assert full - masks - sums == 2 * (half - masks - sums)


@given(
    st.integers(1, 10**12),
    st.sampled_from(OPTIMIZERS),
    st.sampled_from([("fp32", "none"), ("bf16", "none"), ("bf16", "master"), ("fp32", "autocast")]),
    st.integers(1, 2048),
    st.sampled_from([0.0, 0.001, 0.3]),
)
def test_a_later_stage_never_has_more_states_gradients_or_weights(
    count, optimizer, kind, gpus, lora
):
    dtype, mixed = kind
    options = {"optimizer": optimizer, "dtype": dtype, "mixed": mixed, "gpus": gpus, "lora": lora}
    stages = [parts_of(count, zero=stage, **options) for stage in range(4)]
    for before, after in pairwise(stages):
        for part in ("parameter", "gradient", "optimizer_state", "cast_weight"):
            assert after.get(part, 0) <= before.get(part, 0)
    # All shards together hold everything, padded by less than an element each.
    whole, shard = stages[0], stages[3]
    for part in ("parameter", "gradient"):
        missing = whole.get(part, 0) - gpus * shard.get(part, 0)
        assert -gpus * 4 <= missing <= 0


def test_parts_sum_to_the_total():
    for inputs in make_plan_fixture.LEDGERS:
        parts = ledger_parts(inputs)
        assert total_of(parts) == sum(part.bytes for part in parts) > 0
        assert all(part.bytes > 0 for part in parts)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dtype": "bf61"}, "Did you mean 'bf16'?"),
        ({"optimizer": "adamm"}, "Did you mean 'adam"),
        ({"zero": 4}, "The ZeRO stage is 0, 1, 2 or 3, not 4."),
        ({"gpus": 0}, "gpus is a whole number from 1 up, not 0."),
        ({"batch": True}, "batch is a whole number from 1 up, not True."),
        ({"lora": 2}, "from 0 to 1, not 2"),
        ({"mixed": "master"}, "Master weights go with 16-bit weights."),
        ({"mixed": "autocast", "dtype": "bf16"}, "Autocast is for fp32 weights"),
        ({"sequence": 10, "hidden": 5}, "Activations need layers, heads as well."),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(changes, said):
    with pytest.raises(UsageError) as caught:
        LedgerInputs(BILLION, **changes)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("word", ["", "B", "-7B", "0", "seven", "7X", "1e400", True, float("nan")])
def test_counts_that_are_none(word):
    with pytest.raises(UsageError, match="is not a number of parameters"):
        parse_count(word)


def test_the_fixture_of_both_languages_is_up_to_date():
    written = json.loads((make_plan_fixture.FOLDER / "cases.json").read_text())
    assert written == json.loads(json.dumps(make_plan_fixture.cases()))
    payload = json.loads((make_plan_fixture.FOLDER / "payload.json").read_text())
    assert payload == json.loads(json.dumps(make_plan_fixture.payload()))


def test_inputs_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        LedgerInputs(1).gpus = 2
