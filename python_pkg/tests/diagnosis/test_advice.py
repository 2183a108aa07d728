"""The catalogue: complete, in the order of least harm, chosen by cause and phase."""

import ast
import re

import pytest

from memtrack.diagnosis.advice import advise, checks_for
from memtrack.diagnosis.advice.catalogue import CATALOGUE
from memtrack.diagnosis.advice.checks import CHECKS
from memtrack.diagnosis.diagnosis import Cause
from memtrack.diagnosis.titles import TITLES, title

CHINESE = re.compile(r"[\u4e00-\u9fff]")
BY_ID = {entry.id: entry for entry in CATALOGUE}


def cause(name, confidence=0.9):
    return Cause(name, confidence, title(name))


def ids(causes, **values):
    return [one.id for one in advise(causes, **values)]


def sentences():
    for entry in CATALOGUE:
        yield from (entry.title, entry.cost, *entry.caveats)
    yield from TITLES.values()
    yield from (check.text for checks in CHECKS.values() for check in checks)


def test_ids_are_unique():
    assert len(BY_ID) == len(CATALOGUE)


def test_advice_and_checks_serve_causes_that_exist():
    served = {name for entry in CATALOGUE for name in entry.causes}
    assert served <= set(TITLES)
    assert set(CHECKS) <= set(TITLES)


@pytest.mark.parametrize("name", sorted(TITLES))
def test_every_cause_has_advice_or_a_check(name):
    assert advise([cause(name)]) or checks_for([cause(name)])


def test_everything_reads_in_chinese():
    for sentence in sentences():
        assert CHINESE.search(sentence.render("zh_CN")), sentence.template


def _is_python(code):
    shell = r"^(export|unset|nvidia-smi|ulimit|free|df|kill|docker|memtrack|vllm|python|env|sudo|grep|%|CUDA_LAUNCH)"
    return code and not any(re.match(shell, line) for line in code.splitlines())


@pytest.mark.parametrize(
    "entry", [one for one in CATALOGUE if _is_python(one.code)], ids=lambda one: one.id
)
def test_code_in_python_is_python(entry):
    ast.parse(entry.code)


@pytest.mark.parametrize(
    "check", [one for many in CHECKS.values() for one in many if _is_python(one.code)], ids=str
)
def test_checks_in_python_are_python(check):
    ast.parse(check.code)


def test_the_order_is_that_of_least_harm():
    order = [entry.id for entry in CATALOGUE]
    guide = [
        "delete_before_next",
        "set_to_none",
        "bf16_autocast",
        "accumulate_gradients",
        "checkpoint_layers",
        "eight_bit_optimizer",
        "shard_the_model",
        "offload_to_cpu",
    ]
    assert sorted(guide, key=order.index) == guide


def test_the_traps_of_the_guide_are_told():
    def told(name):
        entry = BY_ID[name]
        lines = (entry.cost, *entry.caveats)
        return " ".join(line.render() for line in lines) + entry.code

    assert "Divide the loss" in told("accumulate_gradients")
    assert "BatchNorm" in told("accumulate_gradients")
    assert "GradScaler is for float16 only" in told("fp16_autocast")
    assert "Ampere" in told("bf16_autocast")
    assert "no GradScaler" in told("bf16_autocast")
    assert "use_reentrant=False" in told("checkpoint_layers")
    assert "+20–35 %" in told("checkpoint_layers")
    assert "Dropout" in told("checkpoint_layers")
    assert "does not help where tensors in use fill the device" in told("expandable_segments")
    assert "empty_cache() does not help" in told("delete_before_next")
    assert "saves nothing" in told("shard_the_model")
    assert "Windows" in told("driver_and_versions")
    assert "--shm-size" in told("more_shm")


def test_what_helps_against_the_likeliest_cause_comes_first():
    found = ids([cause("capacity", 0.5), cause("graph_retention", 0.9)])
    assert found[0] == "keep_numbers_not_tensors"


def test_the_optimizers_step_gets_advice_on_the_optimizer():
    found = ids([cause("capacity")], phase="optimizer")
    assert found[:2] == ["fused_optimizer", "eight_bit_optimizer"]
    assert "checkpoint_layers" not in found


def test_backward_gets_no_advice_that_only_helps_before_it():
    assert "set_to_none" in ids([cause("capacity")], phase="forward")
    assert "set_to_none" not in ids([cause("capacity")], phase="backward")


def test_what_is_no_lack_of_memory_gets_no_advice_to_save_memory():
    found = advise([cause("not_oom_bad_index_or_int32"), cause("capacity", 0.5)])
    assert [one.id for one in found] == ["restart_process", "check_indices"]
    checks = checks_for([cause("not_oom_bad_index_or_int32"), cause("capacity", 0.5)])
    assert [one.id for one in checks] == ["blocking_launch"]


def test_a_saving_is_shown_only_where_a_figure_is_known():
    found = advise([cause("capacity")], {"eight_bit_states": 6 << 30}, "optimizer")
    saving = {one.id: one.saving_bytes for one in found}
    assert saving["eight_bit_optimizer"] == 6 << 30
    assert saving["fused_optimizer"] is None


def test_advice_is_bounded_and_leaves_room_for_the_second_cause():
    found = ids([cause("capacity"), cause("per_process_fraction_limit", 0.4)])
    assert len(found) <= 8
    assert "raise_limit" in found


def test_an_unlikely_cause_brings_no_advice():
    assert advise([cause("capacity", 0.1)]) == []


@pytest.mark.parametrize("kind", ["mps_oom", "xpu_oom", "npu_oom"])
@pytest.mark.parametrize("name", sorted(TITLES))
def test_no_code_for_nvidia_on_other_devices(kind, name):
    module = kind.removesuffix("_oom")
    codes = [one.code for one in advise([cause(name)], kind=kind)]
    codes += [one.code for one in checks_for([cause(name)], kind)]
    assert not [code for code in codes if re.search(r"nvidia|torch\.cuda\.|\"cuda\"|CUDA_", code)]
    if name == "capacity":
        assert f'with torch.autocast("{module}", dtype=torch.bfloat16):' in "\n".join(codes)


def test_growth_on_metal_is_looked_at_by_metals_own_counter():
    codes = [one.code for one in checks_for([cause("capacity")], "mps_oom")]
    assert codes[0] == "print(step, torch.mps.current_allocated_memory())"


@pytest.mark.parametrize(
    ("wording", "expected"),
    [
        ("not_oom.device_assert", ["restart_process"]),
        ("not_oom.corrupt_checkpoint", ["file_again"]),
        ("not_oom.nvml_blocked", ["driver_and_versions"]),
        ("not_oom.busy_unavailable", ["device_is_busy"]),
        ("not_oom.gpu_lost", ["driver_and_versions", "device_is_busy"]),
    ],
)
def test_advice_without_a_lack_of_memory_is_for_that_error(wording, expected):
    causes = [cause("not_oom_hardware_driver_env")]
    assert ids(causes, kind="not_oom", wording=wording) == expected
    checks = checks_for(causes, "not_oom", wording)
    assert bool(checks) is (expected != ["file_again"])


def test_a_wrong_index_found_on_the_cpu_needs_no_restart():
    causes = [cause("not_oom_bad_index_or_int32")]
    assert ids(causes, kind="not_oom", wording="not_oom.bad_index") == ["check_indices"]


def test_what_costs_nothing_comes_before_ending_processes():
    found = ids([cause("other_process_or_framework")])
    assert found.index("another_gpu") < found.index("end_leftovers")


def test_a_setting_comes_before_changed_data_where_memory_is_in_pieces():
    found = ids([cause("fragmentation")])
    assert found[0] == "expandable_segments"
    assert "buckets" in found
