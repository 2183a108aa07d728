"""Ordinary CUDA programs run without a GPU, and hold the storages they would hold on one."""

import pytest
import torch
from prediction.programs import PROGRAMS
from prediction.tested_gpu import GPU, KERNELS

from memtrack.prediction.stage.stage import Stage

CUDA = torch.device("cuda", 0)


def distinct(tensors):
    """Return the elements of tensors, each once, and the bytes of their storages, each once."""
    storages = {one.untyped_storage()._cdata: one for one in tensors}
    elements = sum(one.numel() for one in {id(one): one for one in tensors}.values())
    return elements, sum(one.untyped_storage().nbytes() for one in storages.values())


def states_of(optimizer):
    """Return an optimizer's state of the size of parameters; counters are left out."""
    values = (value for state in optimizer.state.values() for value in state.values())
    return [one for one in values if isinstance(one, torch.Tensor) and one.dim()]


@pytest.mark.parametrize("name", PROGRAMS)
def test_parameters_gradients_and_state_are_what_arithmetic_says(name):
    with Stage(GPU, KERNELS) as stage:
        trained = PROGRAMS[name]()
        parameters = list(trained.model.parameters())
        assert {stage.claimed_device(one) for one in parameters} == {CUDA}
        elements, size = distinct(parameters)
        assert elements == trained.elements
        assert size == elements * parameters[0].element_size()
        gradients = [one.grad for one in parameters if one.grad is not None]
        assert {stage.claimed_device(one) for one in gradients} <= {CUDA}
        trainable = [one for one in parameters if one.requires_grad]
        for optimizer in trained.optimizers:
            owned = [p for group in optimizer.param_groups for p in group["params"]]
            stepped = [one for one in owned if optimizer.state.get(one)]
            states = states_of(optimizer)
            assert {stage.claimed_device(one) for one in states} == {CUDA}
            held = trained.states * distinct(stepped)[0]
            assert sum(one.numel() for one in states) == held
        assert len(gradients) <= len(trainable)
    assert all(one.device.type == "meta" for one in parameters)


def trained(name):
    with Stage(GPU, KERNELS) as stage:
        notes = PROGRAMS[name]().notes
    return notes, stage.assumptions


def test_values_of_host_draws_decide_which_layers_run():
    notes, assumptions = trained("layer_drop")
    assert assumptions == ()
    assert 0 < notes["ran"] < 16


def test_the_scaler_steps_and_keeps_its_scale():
    notes, _ = trained("mixed_precision")
    assert [scale for scale, _ in notes["scales"]] == [65536.0, 65536.0]


def test_a_scaler_that_cannot_know_says_that_it_may_skip_steps():
    with Stage(GPU, KERNELS) as stage:
        model = torch.nn.Linear(512, 512).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        scaler = torch.amp.GradScaler("cuda")
        scaler.scale(model(torch.randn(8, 512, device="cuda")).sum()).backward()
        scaler.step(optimizer)
        assert len(states_of(optimizer)) == 4
    (said,) = [str(one.assumed) for one in stage.assumptions if one.operation == "GradScaler"]
    assert "skips" in said


def test_every_sample_of_a_loader_with_workers_is_seen():
    assert trained("loaded")[0]["seen"] == 24


def test_a_known_mask_selects_as_many_rows_as_it_has():
    assert trained("masked")[0]["kept"] == 4


def test_small_routing_is_computed_and_no_row_is_lost():
    rows = trained("experts")[0]["rows"]
    assert sum(rows) == 2 * 40 * 2


def test_hooks_on_modules_and_copies_keep_their_devices():
    assert trained("custom_function")[0]["calls"] == ["forward"] * 2
    assert trained("averaged")[0]["devices"] == {"cuda:0"}
    assert trained("offloaded")[0]["grads"] == {"cuda:0"}
    assert trained("pictures")[0]["counted"] == 2
