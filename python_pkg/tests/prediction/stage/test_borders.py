"""What lies outside the stage: read, never changed, and found again as it was."""

import copy
import gc
import os
import random
import re
import resource
import threading

import numpy as np
import pytest
import torch
from prediction.programs import mlp
from prediction.tested_gpu import GPU, KERNELS
from torch import nn

import memtrack
from memtrack.errors import PredictionError, UsageError
from memtrack.prediction.stage.stage import Stage


def disturb():
    """Change everything a program may change."""
    torch.manual_seed(1234)
    random.seed(1234)
    np.random.seed(1234)
    os.environ["MEMTRACK_TESTED"] = "1"
    torch.set_default_device("cuda")
    torch.set_default_dtype(torch.float64)
    torch.set_autocast_enabled("cuda", True)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    torch.use_deterministic_algorithms(True)
    torch.set_grad_enabled(False)


def on_stage(program):
    """Run a program on the stage."""
    with Stage(GPU, KERNELS):
        program()


def settings():
    """Return the settings that `disturb` changes and the fixture does not see."""
    return (
        torch.backends.cuda.matmul.allow_tf32,
        torch.backends.cudnn.benchmark,
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
    )


def test_all_settings_are_put_back():
    before = settings()
    with Stage(GPU, KERNELS):
        disturb()
        assert torch.zeros(1).device == torch.device("cuda", 0)
    assert settings() == before


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_all_settings_are_put_back_when_the_program_raises(error):
    before = settings()

    def program():
        disturb()
        with torch.autocast("cuda"):
            raise error

    with pytest.raises(error):
        on_stage(program)
    assert settings() == before


def test_an_interrupt_inside_backward_leaves_nothing_behind():
    def interrupt(gradient):
        raise KeyboardInterrupt

    def program():
        loss = mlp().cuda()(torch.randn(2, 16, device="cuda")).sum()
        loss.register_hook(interrupt)
        loss.backward()

    with pytest.raises(KeyboardInterrupt):
        on_stage(program)
    assert torch.ones(2).sum().item() == 2


def test_the_program_may_leave_default_contexts_open():
    with Stage(GPU, KERNELS):
        context = torch.device("cuda")
        context.__enter__()
        context.__exit__(None, None, None)
    assert torch.zeros(1).device.type == "cpu"


def test_a_default_device_around_the_prediction_is_the_programs_too():
    with torch.device("meta"):
        with Stage(GPU, KERNELS) as stage:
            made = torch.zeros(3)
            assert stage.claimed_device(made).type == "meta"
        assert torch.zeros(3).device.type == "meta"


def test_outside_modules_are_refused_and_stay_as_they_are():
    with torch.random.fork_rng(devices=[]):
        model = mlp()
    before = {name: one.clone() for name, one in model.state_dict().items()}
    for use in (nn.Module.cuda, nn.Module.half, lambda one: one(torch.randn(2, 16))):
        with pytest.raises(PredictionError, match="exists outside"), Stage(GPU, KERNELS):
            use(model)
    for name, one in model.state_dict().items():
        assert one.device.type == "cpu"
        assert torch.equal(one, before[name])


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.add_(1),
        lambda one: one.zero_(),
        lambda one: one.__setitem__(0, 5.0),
        lambda one: torch.add(torch.ones(3), 1, out=one),
        lambda one: one.view(1, 3).mul_(2),
        lambda one: torch._foreach_add_([one], 1),
    ],
)
def test_outside_tensors_are_never_written(change):
    outside = torch.arange(3.0)
    with pytest.raises(PredictionError, match="would change"), Stage(GPU, KERNELS):
        change(outside)
    assert outside.tolist() == [0, 1, 2]


def test_outside_tensors_are_read():
    outside = torch.arange(6.0).reshape(2, 3)
    with Stage(GPU, KERNELS) as stage:
        moved = outside[1].cuda() * 2
        assert stage.known_value(moved).tolist() == [6, 8, 10]
        assert outside.sum().item() == 15
        assert stage.claimed_device(outside) is None
        copied = copy.deepcopy(outside)
        assert copied.tolist() == outside.tolist()


def test_other_threads_go_on_with_their_own_tensors():
    results = []

    def work(begun, done):
        begun.wait()
        real = torch.arange(4.0)
        results.append((real.device.type, (real + 1).tolist(), torch.cuda.is_available()))
        done.set()

    begun, done = threading.Event(), threading.Event()
    available = torch.cuda.is_available()
    thread = threading.Thread(target=work, args=(begun, done))
    thread.start()
    with Stage(GPU, KERNELS):
        assert torch.cuda.is_available()
        begun.set()
        assert done.wait(10)
    thread.join()
    assert results == [("cpu", [1, 2, 3, 4], available)]


def test_what_is_kept_is_a_plain_meta_tensor():
    with Stage(GPU, KERNELS):
        kept = mlp().cuda()
        kept(torch.randn(2, 16, device="cuda")).sum().backward()
    weight = kept[0].weight
    assert weight.device.type == weight.grad.device.type == "meta"
    assert "device='meta'" in repr(weight)
    with pytest.raises(RuntimeError):
        weight.sum().item()
    kept.zero_grad()
    del kept, weight
    gc.collect()


def test_one_prediction_at_a_time_and_none_in_backward():
    with Stage(GPU, KERNELS), pytest.raises(UsageError, match="running"), Stage(GPU, KERNELS):
        pass

    def begin(gradient):
        with pytest.raises(UsageError, match="backward"), Stage(GPU, KERNELS):
            pass

    value = torch.ones(1, requires_grad=True)
    doubled = value * 2
    doubled.register_hook(begin)
    doubled.sum().backward()


def test_large_models_take_no_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Stage(GPU, KERNELS) as stage:
        model = nn.Sequential(*(nn.Linear(20_000, 20_000, bias=False) for _ in range(50)))
        assert stage.claimed_device(model[0].weight).type == "cpu"
        model.cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        model(torch.randn(512, 20_000, device="cuda")).mean().backward()
        optimizer.step()
        assert sum(one.numel() for one in model.parameters()) == 50 * 20_000**2
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 200e6, f"80 GB of weights took {grown / 1e6:.0f} MB"


def test_files_are_neither_written_nor_read(tmp_path):
    path = tmp_path / "weights.pt"
    with Stage(GPU, KERNELS) as stage:
        torch.save(mlp().state_dict(), path)
        assert not path.exists()
        assert stage.assumptions[0].operation == "save"
        with pytest.raises(PredictionError, match="no weights are read"):
            torch.load(path)


def refusal(program):
    """Return the sentence with which a program is refused."""
    with pytest.raises(PredictionError) as raised, Stage(GPU, KERNELS):
        program()
    return str(raised.value)


def send_to_another():
    torch.distributed.init_process_group("nccl", rank=0, world_size=2)
    torch.distributed.send(torch.zeros(2, device="cuda"), 1)


def make_sparse():
    torch.eye(4, device="cuda").to_sparse()


def look_up_sparsely():
    table = nn.Embedding(8, 2, sparse=True).cuda()
    table(torch.zeros(2, dtype=torch.long, device="cuda")).sum().backward()


def capture():
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        torch.zeros(2, device="cuda")


def make_quantized():
    torch.quantize_per_tensor(torch.randn(4, 4), 0.1, 0, torch.qint8)


@pytest.mark.parametrize(
    ("program", "operation"),
    [
        (send_to_another, "torch.distributed.send"),
        (make_sparse, "aten._to_sparse"),
        (make_quantized, "aten.quantize_per_tensor"),
    ],
)
def test_what_is_not_modelled_is_refused_by_name_and_line(program, operation):
    assert re.match(rf"Cannot predict {operation} at test_borders.py:\d+: ", refusal(program))
    assert not torch.distributed.is_initialized()


@pytest.mark.parametrize(
    ("program", "way_out"), [(look_up_sparsely, "sparse=False"), (capture, "step that is captured")]
)
def test_a_refusal_says_what_to_ask_instead(program, way_out):
    assert re.match(rf"Cannot predict \S+ at test_borders.py:\d+: .*{way_out}", refusal(program))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_works_on_the_predictions_tensors_ends_it():
    weight = []

    def work():
        (weight[0] * 2).sum()

    def program():
        weight.append(torch.ones(3, device="cuda"))
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    assert "threading.Thread at test_borders.py" in refusal(program)


def test_a_thread_of_its_own_work_is_left_alone_and_lives_on():
    done, go_on = [], threading.Event()

    def work():
        done.append(torch.ones(3).sum().item())
        go_on.wait(5)
        done.append(torch.ones(3, device="meta").shape)

    with Stage(GPU, KERNELS):
        thread = threading.Thread(target=work)
        thread.start()
    go_on.set()
    thread.join()
    assert done == [3.0, (3,)]


def test_nothing_is_profiled():
    with Stage(GPU, KERNELS) as stage:
        with torch.profiler.profile(profile_memory=True) as profiler:
            torch.ones(3, device="cuda").sum()
        assert not torch.autograd._profiler_enabled()
        assert len(profiler.key_averages()) == 0
        profiler.export_chrome_trace("never.json")
    assert "torch.profiler" in [one.operation for one in stage.assumptions]


def test_a_file_that_was_not_written_is_told_of_beside_the_programs_error(tmp_path):
    file = tmp_path / "weights.pt"

    def program():
        torch.save({}, file)
        file.rename(tmp_path / "best.pt")

    with pytest.raises(FileNotFoundError) as raised, Stage(GPU, KERNELS):
        program()
    if hasattr(raised.value, "add_note"):
        assert "nothing was written" in raised.value.__notes__[0]


def test_what_would_be_compiled_runs_as_written_and_says_so():
    with Stage(GPU, KERNELS) as stage:
        model = torch.compile(nn.Linear(2, 2).cuda(), mode="max-autotune")
        model.compile()
        twice = torch.compile(fullgraph=True)(lambda x: x * 2)
        assert twice(model(torch.ones(1, 2, device="cuda"))).shape == (1, 2)
    assert {one.operation for one in stage.assumptions} == {"torch.compile"}


def test_a_recording_inside_a_prediction_is_refused():
    def program():
        with memtrack.track():
            torch.ones(3, device="cuda")

    with pytest.raises(UsageError, match="cannot begin inside a prediction"), Stage(GPU, KERNELS):
        program()
