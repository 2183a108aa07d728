"""Models and loops that are out of the ordinary: each is recorded, none is disturbed."""

from __future__ import annotations

import copy
import gc
import threading

import pytest

torch = pytest.importorskip("torch")

from checks import check_recording  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from memtrack.capture import Recorder, torch_api  # noqa: E402
from memtrack.recording.categories import Category  # noqa: E402

TORCH = tuple(int(number) for number in torch.__version__.split(".")[:2])
recent = pytest.mark.skipif(TORCH < (2, 5), reason="not in this torch, or not yet working")


def recorded(model, run, **options):
    recorder = Recorder(model, **options)
    recorder.enter()
    try:
        run()
    finally:
        recorder.leave()
        data = recorder.finish()
        check_recording(data)
    return data


def notices(data):
    return [notice.id for notice in data.facts.notices]


def test_data_loader_with_workers():
    from torch.utils.data import DataLoader, TensorDataset

    dataset = TensorDataset(torch.randn(64, 8), torch.randint(0, 4, (64,)))
    model = nn.Linear(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run():
        for x, y in DataLoader(dataset, batch_size=16, num_workers=2):
            optimizer.zero_grad()
            functional.cross_entropy(model(x), y).backward()
            optimizer.step()

    data = recorded(model, run)
    assert data.steps == 4
    inputs = data.allocations["category"] == Category.INPUT
    assert sorted(set(data.allocations["bytes"][inputs].tolist())) == [16 * 8, 16 * 8 * 4]


@recent  # before, importing dynamo takes the hooks of all optimizers away
def test_compiled_module_runs_and_is_said_to_be_compiled():
    model = torch.compile(nn.Sequential(nn.Linear(8, 8), nn.ReLU()))
    data = recorded(model, lambda: model(torch.randn(2, 8)).sum().backward())
    assert notices(data) == ["compiled_unseen"]


@pytest.mark.skipif(
    not torch_api.COMPILES_UNDER_MODES, reason="this torch compiles nothing under a dispatch mode"
)
def test_what_must_be_one_graph_is_still_compiled_while_it_is_recorded():
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    whole = torch.compile(model, fullgraph=True, backend="aot_eager")
    x = torch.randn(4, 8)
    expected = whole(x)

    def run():
        for _ in range(2):
            output = whole(x)
            output.sum().backward()
        assert torch.equal(output, expected)

    data = recorded(model, run)
    assert notices(data) == ["compiled_unseen"]
    # The compiled one stands for the model that is tracked, and is called once each time.
    assert data.calls["layer"].tolist() == [0, 0]


def test_scripted_module_is_said_to_hide_its_inside():
    model = torch.jit.script(nn.Sequential(nn.Linear(8, 8), nn.ReLU()))
    data = recorded(model, lambda: model(torch.randn(2, 8)).sum().backward())
    assert notices(data) == ["scripted"]


def test_lazy_module_gets_its_parameters_named_in_its_first_step():
    model = nn.Sequential(nn.LazyLinear(8), nn.ReLU())
    data = recorded(model, lambda: model(torch.randn(2, 5)).sum().backward())
    named = data.allocations["category"] == Category.PARAMETER
    sizes = data.allocations["bytes"][named]
    assert sorted(sizes[sizes > 0].tolist()) == [8 * 4, 5 * 8 * 4]


def test_sparse_gradients():
    model = nn.Embedding(100, 8, sparse=True)
    optimizer = torch.optim.SparseAdam(model.parameters())

    def run():
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.tensor([1, 2])).sum().backward()
            optimizer.step()

    assert recorded(model, run).steps == 2


def test_packed_sequences():
    model = nn.GRU(4, 8, batch_first=True)
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(3, 5, 4), [5, 3, 2], batch_first=True)
    data = recorded(model, lambda: model(packed)[0].data.sum().backward())
    assert data.string(data.calls.row(0)["output_shape"]).startswith("10×8, ")


@recent
def test_nested_tensors():
    model = nn.Linear(4, 4)
    pieces = [torch.randn(2, 4), torch.randn(3, 4)]
    recorded(model, lambda: model(torch.nested.nested_tensor(pieces, layout=torch.jagged)))


def test_meta_and_fake_tensors_have_no_bytes():
    from torch._subclasses.fake_tensor import FakeTensorMode

    model = nn.Linear(8, 8, device="meta")

    def run():
        model(torch.randn(2, 8, device="meta"))
        with FakeTensorMode():
            torch.randn(1000) + 1

    data = recorded(model, run)
    assert not (data.allocations["bytes"][data.allocations["start"] >= 0] >= 4000).any()


def export(model, x):
    if TORCH < (2, 5):
        pytest.skip("torch.export of this torch does not stand any hook on modules")
    torch.export.export(model, (x,))


@pytest.mark.parametrize(
    "transform",
    [
        lambda model, x: torch.jit.trace(model, x),
        export,
        lambda model, x: torch.func.grad(
            lambda p: torch.func.functional_call(model, p, (x,)).sum()
        )(dict(model.named_parameters())),
        lambda model, x: torch.vmap(model)(x),
    ],
    ids=["trace", "export", "grad", "vmap"],
)
def test_transforms_inside_a_recording(transform):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    recorded(model, lambda: transform(model, torch.randn(2, 8)))


def test_calls_on_other_threads_are_said_not_to_be_seen():
    model = nn.Linear(8, 8)

    def run():
        model(torch.randn(2, 8))
        worker = threading.Thread(target=lambda: model(torch.randn(2, 8)).sum().backward())
        worker.start()
        worker.join()

    data = recorded(model, run)
    assert notices(data) == ["threads"]
    assert len(data.calls) == 1


def test_double_backward():
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh())

    def run():
        x = torch.randn(2, 8, requires_grad=True)
        (gradient,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        gradient.pow(2).sum().backward()

    recorded(model, run)


def test_inplace_layers_and_custom_functions():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.kept = x * 2
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * x

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.relu = nn.Linear(8, 8), nn.ReLU(inplace=True)

        def forward(self, x):
            return Scale.apply(self.relu(self.linear(x)))

    model = Model()
    recorded(model, lambda: model(torch.randn(2, 8)).sum().backward())


def test_module_that_calls_itself():
    class Recursive(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x, depth=3):
            x = self.linear(x)
            return x if depth == 0 else self(x, depth - 1)

    model = Recursive()
    data = recorded(model, lambda: model(torch.randn(2, 4)).sum().backward())
    assert len(data.calls) == 8
    assert data.steps == 1


def test_copy_of_a_tracked_model_is_not_tracked():
    model = nn.Linear(4, 4)

    def run():
        clone = copy.deepcopy(model)
        model(torch.randn(2, 4))
        clone(torch.randn(2, 4))

    assert len(recorded(model, run).calls) == 1


def test_models_that_come_and_go_are_followed_one_by_one():
    def run():
        for _ in range(3):
            model = nn.Linear(4, 4)
            model(torch.randn(2, 4))
            del model
            gc.collect()

    assert len(recorded(None, run).layers) == 3


def test_optimizer_with_a_closure_makes_one_step_a_call():
    model = nn.Linear(4, 4)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)

    def run():
        x = torch.randn(8, 4)

        def closure():
            optimizer.zero_grad()
            loss = model(x).pow(2).sum()
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)

    assert recorded(model, run).steps == 3


def adversarial(generator, critic, optimizers, iterations):
    for _ in range(iterations):
        fake = generator(torch.randn(8, 4))
        optimizers[1].zero_grad()
        critic(fake.detach()).sum().backward()
        optimizers[1].step()
        optimizers[0].zero_grad()
        critic(fake).sum().backward()
        optimizers[0].step()


def test_two_optimizers_in_turn_make_one_step():
    models = [nn.Linear(4, 4), nn.Linear(4, 1)]
    optimizers = [torch.optim.Adam(model.parameters()) for model in models]
    data = recorded(models, lambda: adversarial(*models, optimizers, 3))
    assert data.steps == 3


def test_an_optimizer_left_over_from_an_earlier_cell_does_not_merge_steps():
    model = nn.Linear(4, 4)
    left_over = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = torch.optim.Adam(model.parameters())
    ended = []

    def run():
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.randn(2, 4)).sum().backward()
            optimizer.step()

    recorder = Recorder(model)
    recorder.on_step.append(lambda: ended.append(recorder.steps_done))
    recorder.enter()
    run()
    recorder.leave()
    data = recorder.finish()
    check_recording(data)
    assert data.steps == 4
    assert left_over.state == {}
    forwards = [
        int(s) for s, k in zip(data.phases["step"], data.phases["kind"], strict=True) if k == 0
    ]
    assert forwards == [0, 1, 2, 3]
    assert len(ended) == 4


def test_autocast_on_the_cpu():
    model = nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64))
    optimizer = torch.optim.AdamW(model.parameters())

    def run():
        for _ in range(2):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = model(torch.randn(4, 64)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    assert recorded(model, run).steps == 2


def test_empty_scalar_complex_and_boolean_outputs():
    class Model(nn.Module):
        def forward(self, x):
            return torch.empty(0, 3), torch.tensor(1.0), torch.view_as_complex(x), x > 0

    model = Model()
    data = recorded(model, lambda: model(torch.randn(2, 2)))
    assert data.string(data.calls.row(0)["output_shape"]) == "0×3, scalar, 2, …"


def test_users_own_watching_inside_ours():
    model = nn.Linear(4, 4)

    def run():
        with torch.profiler.profile(profile_memory=True):
            model(torch.randn(2, 4)).sum().backward()
        with torch.autograd.graph.save_on_cpu():
            model(torch.randn(2, 4)).sum().backward()
        with torch.autograd.detect_anomaly(check_nan=False):
            model(torch.randn(2, 4)).sum().backward()

    recorded(model, run)


def test_error_of_a_users_hook_reaches_the_user():
    model = nn.Sequential(nn.Linear(4, 4))

    def refuse(module, args, output):
        raise ValueError("the user's hook")

    model[0].register_forward_hook(refuse)
    with pytest.raises(ValueError, match="the user's hook"):
        recorded(model, lambda: model(torch.randn(2, 4)))


def test_evaluation_between_epochs_is_told_apart_from_training():
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run():
        for _ in range(2):
            for _ in range(3):
                optimizer.zero_grad()
                model(torch.randn(2, 4)).sum().backward()
                optimizer.step()
            with torch.no_grad():
                for _ in range(2):
                    model(torch.randn(2, 4))

    assert recorded(model, run).steps == 10


def test_a_teacher_without_gradients_is_part_of_the_step():
    models = [nn.Linear(4, 4), nn.Linear(4, 4)]
    optimizer = torch.optim.SGD(models[1].parameters(), lr=0.1)

    def run():
        for _ in range(3):
            x = torch.randn(2, 4)
            with torch.no_grad():
                target = models[0](x)
            optimizer.zero_grad()
            functional.mse_loss(models[1](x), target).backward()
            optimizer.step()

    assert recorded(models, run).steps == 3


def test_parameters_of_a_model_that_is_not_tracked_are_not_activations():
    tracked, other = nn.Linear(8, 8), nn.Linear(8, 100)
    data = recorded(tracked, lambda: other(tracked(torch.randn(2, 8))).sum().backward())
    weight = data.allocations["bytes"] == 8 * 100 * 4
    before = data.allocations["start"] == -1
    assert Category.ACTIVATION not in data.allocations["category"][weight & before]
    assert Category.PARAMETER in data.allocations["category"][weight & before]


def test_nested_tensors_of_the_strided_kind():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=True).eval()
    mask = torch.tensor([[False, False, True], [False, True, True]])

    def run():
        with torch.no_grad():
            model(torch.randn(2, 3, 8), src_key_padding_mask=mask)

    recorded(model, run)


def test_transforms_on_another_thread():
    model, found = nn.Linear(4, 4), []

    def transform():
        found.append(torch.func.grad(lambda x: (x**2).sum())(torch.ones(2)).tolist())

    def run():
        worker = threading.Thread(target=transform)
        worker.start()
        worker.join()

    recorded(model, run)
    assert found == [[2.0, 2.0]]


def test_output_that_is_a_mesh_of_dataclasses_is_read_once():
    import time
    from dataclasses import dataclass, field

    @dataclass
    class Node:
        tensor: torch.Tensor
        others: list = field(default_factory=list)

    nodes = [Node(torch.zeros(1)) for _ in range(60)]
    for node in nodes:
        node.others = nodes

    class Mesh(nn.Module):
        def forward(self, x):
            return nodes

    model = Mesh()
    began = time.perf_counter()
    recorded(model, lambda: model(torch.ones(1)))
    assert time.perf_counter() - began < 20


def test_recordings_that_do_not_end_in_order_leave_nothing():
    model = nn.Linear(4, 4)
    first, second = Recorder(model), Recorder(model)
    first.enter()
    second.enter()
    first.leave()
    first.finish()
    model(torch.randn(2, 4)).sum().backward()
    assert torch.func.grad(lambda x: (x**2).sum())(torch.ones(1)).tolist() == [2.0]
    second.leave()
    data = second.finish()
    check_recording(data)
    assert len(data.calls) == 1


def test_a_failure_of_ours_is_told_in_one_line_and_the_run_goes_on(monkeypatch, capsys):
    model = nn.Linear(4, 4)
    recorder = Recorder(model)
    recorder.enter()

    def fail(*_):
        raise AssertionError("a bug of ours")

    monkeypatch.setattr(recorder._observer.calls, "begin", fail)
    output = model(torch.randn(2, 4))
    output.sum().backward()
    assert output.shape == (2, 4)
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "memtrack has stopped recording (AssertionError: a bug of ours). Your run goes on."
    ]
    recorder.leave()
    data = recorder.finish()
    assert data.facts.state == "failed"
    assert "gave_up" in notices(data)


def test_two_optimizers_make_one_step_also_where_no_model_is_named():
    models = [nn.Linear(4, 4), nn.Linear(4, 1)]
    optimizers = [torch.optim.Adam(model.parameters()) for model in models]
    data = recorded(None, lambda: adversarial(*models, optimizers, 3))
    assert data.steps in (2, 3)
