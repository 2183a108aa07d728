"""Every way people train on a GPU: the peak is the allocator's own, and its bytes have names."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from memtrack.analysis import allocated, by_category, ledger, peak  # noqa: E402
from memtrack.analysis.agreement import agreement  # noqa: E402
from memtrack.analysis.reserved import reserved  # noqa: E402
from memtrack.capture import Recorder  # noqa: E402
from memtrack.recording.categories import CallKind, Category, PhaseKind  # noqa: E402

pytestmark = pytest.mark.gpu
WIDTH, BATCH = 512, 4096
MADE = (Category.ACTIVATION, Category.OUTPUT, Category.RECOMPUTED)


@pytest.fixture(autouse=True)
def clean_device():
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.init()
    yield
    gc.collect()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(x)))


class Stack(nn.Module):
    """Blocks, each of them checkpointed when `reentrant` is given."""

    def __init__(self, blocks=4, reentrant=None):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(blocks))
        self.head = nn.Linear(WIDTH, 10)
        self.reentrant = reentrant

    def forward(self, x):
        for block in self.blocks:
            if self.reentrant is None:
                x = block(x)
            else:
                x = checkpoint(block, x, use_reentrant=self.reentrant)
        return self.head(x)


def batch(device="cuda", needs_grad=False):
    return torch.randn(BATCH, WIDTH, device=device, requires_grad=needs_grad)


def recorded(model, train, steps=6, **options):
    """Record steps after a first one; check what must hold of any run; return the recording."""
    train()
    recorder = Recorder(model, **options)
    recorder.enter()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(steps):
        train()
    recorder.leave()
    highest, now = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
    data = recorder.finish()
    check(data, highest, now)
    return data


def check(data, highest, now):
    data.self_check()
    levels = allocated(data, 0)
    found = peak(data, 0)
    assert abs(found.bytes - highest) <= 0.001 * highest
    assert int(levels[-1]) == now
    cuts = np.arange(data.cuts + 1)
    assert (by_category(data, 0, cuts).sum(axis=1) == levels).all()
    assert (reserved(data, 0, cuts, levels) >= levels).all()
    parts = ledger(data, 0, found.cut)
    assert sum(part.bytes for part in parts.parts) == parts.total
    assert agreement(data, 0).differ == ()
    at_peak = bytes_at(data, found.cut)
    assert at_peak[Category.UNKNOWN] <= 0.005 * found.bytes
    table = data.allocations
    alive = (table["start"] < found.cut) & (found.cut <= table["end"])
    made = alive & np.isin(table["category"], MADE) & (table["phase"] >= 0)
    in_layers = made & (table["layer"] >= 0)
    assert table["bytes"][in_layers].sum() >= 0.99 * table["bytes"][made].sum()


def bytes_at(data, cut):
    return {Category(code): int(n) for code, n in enumerate(by_category(data, 0, [cut])[0])}


def trainer(model, optimizer, x, loss=lambda output: output.square().mean()):
    def train():
        optimizer.zero_grad()
        loss(model(x)).backward()
        optimizer.step()

    return train


def test_autocast_copies_are_named_after_their_parameters():
    model, x = Stack().cuda(), batch()
    optimizer = torch.optim.AdamW(model.parameters())

    def train():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(x).square().mean()
        loss.backward()
        optimizer.step()

    data = recorded(model, train)
    cast = data.allocations["category"] == Category.CAST_WEIGHT
    names = {data.string(int(name)) for name in data.allocations["name"][cast]}
    assert {"blocks.3.up.weight", "head.weight"} <= names
    one = data.allocations["name"] == data.strings.index("blocks.3.up.weight")
    assert set(data.allocations["requested"][cast & one].tolist()) == {2 * 4 * WIDTH * WIDTH}


def test_the_gradient_of_a_batch_is_known():
    model, x = Stack().cuda(), batch(needs_grad=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data = recorded(model, trainer(model, optimizer, x))
    assert not (data.allocations["category"] == Category.UNKNOWN).any()


def test_gradient_scaling_counts_each_step_once():
    model, x = Stack().cuda(), batch()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda")

    def train():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.float16):
            loss = model(x).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    assert recorded(model, train).steps == 6


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_shows_what_is_computed_again(reentrant):
    model, x = Stack(reentrant=reentrant).cuda(), batch(needs_grad=True)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    data = recorded(model, trainer(model, optimizer, x))
    again = data.calls["kind"] == CallKind.RECOMPUTE
    # Every block runs again in every step, with the layers inside it.
    per_step = np.bincount(data.phases["step"][data.calls["phase"][again]], minlength=data.steps)
    assert len(set(per_step.tolist())) == 1 and per_step[0] >= 4 * 2
    made = data.allocations["category"] == Category.RECOMPUTED
    assert (data.phases["kind"][data.allocations["phase"][made]] == PhaseKind.BACKWARD).all()
    widest = int(data.allocations["requested"][made].max())
    assert widest == 4 * 4 * WIDTH * BATCH


def test_gradients_that_accumulate_are_one_step():
    model, x = Stack().cuda(), batch()
    optimizer = torch.optim.AdamW(model.parameters())

    def train():
        optimizer.zero_grad()
        for _ in range(3):
            model(x).square().mean().backward()
        optimizer.step()

    data = recorded(model, train)
    assert data.steps == 6
    forwards = data.phases["kind"] == PhaseKind.FORWARD
    assert np.bincount(data.phases["step"][forwards]).tolist() == [3] * 6


def compiled_in_place(model):
    model.compile(backend="aot_eager")
    return model


@pytest.mark.parametrize(
    "compiled", [lambda model: torch.compile(model, backend="aot_eager"), compiled_in_place]
)
def test_a_compiled_model_is_one_layer(compiled):
    torch._dynamo.reset()
    model, x = Stack(), batch()
    model = compiled(model.cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    data = recorded(model, trainer(model, optimizer, x), label="net")
    assert "compiled" in {notice.id for notice in data.facts.notices}
    assert data.steps == 6
    assert len(data.facts.extra["run"]["batches"]) == 1


def test_a_module_shared_by_two_places_and_tied_weights_count_once():
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).cuda()
    model.append(model[0])
    model[2].weight = model[0].weight
    optimizer = torch.optim.AdamW(model.parameters())
    data = recorded(model, trainer(model, optimizer, batch()))
    parameters = data.allocations["category"] == Category.PARAMETER
    assert int(data.allocations["requested"][parameters].sum()) == 4 * (WIDTH**2 + 2 * WIDTH)


def test_several_models_in_one_loop():
    make, judge = Stack(2).cuda(), Stack(2).cuda()
    judge.head, make.head = nn.Linear(WIDTH, 1).cuda(), nn.Linear(WIDTH, WIDTH).cuda()
    first = torch.optim.Adam(make.parameters())
    second = torch.optim.Adam(judge.parameters())
    x = batch()

    def train():
        second.zero_grad()
        (judge(x).mean() - judge(make(x).detach()).mean()).backward()
        second.step()
        first.zero_grad()
        judge(make(x)).mean().backward()
        first.step()

    data = recorded([make, judge], train, label=["make", "judge"])
    assert data.steps == 6
    roots = [data.string(int(p)) for p in data.layers["path"][data.layers["parent"] == -1]]
    assert roots == ["make", "judge"]


def test_master_weights_are_state_of_the_optimizer():
    model = Stack(2).cuda().bfloat16()
    masters = [p.detach().float().requires_grad_() for p in model.parameters()]
    optimizer = torch.optim.AdamW(masters)
    x = batch().bfloat16()

    def train():
        model.zero_grad()
        model(x).square().mean().backward()
        for master, parameter in zip(masters, model.parameters(), strict=True):
            master.grad = parameter.grad.float()
        optimizer.step()
        with torch.no_grad():
            for master, parameter in zip(masters, model.parameters(), strict=True):
                parameter.copy_(master)

    data = recorded(model, train, optimizer=optimizer)
    state = data.allocations["category"] == Category.OPTIMIZER_STATE
    weights = sum(p.numel() for p in model.parameters())
    asked = int(data.allocations["requested"][state].sum())
    assert asked == 4 * 3 * weights  # master, first and second moment; `step` is on the CPU


@pytest.mark.parametrize("phase", ["forward", "backward", "optimizer"])
def test_out_of_memory_in_any_phase(phase):
    class Greedy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad + torch.empty(1 << 50, device="cuda")[0]

    model, x = Stack(2).cuda(), batch()

    class Bad(torch.optim.SGD):
        def step(self, closure=None):
            torch.empty(1 << 50, device="cuda")

    optimizer = (Bad if phase == "optimizer" else torch.optim.SGD)(model.parameters(), lr=1e-3)
    recorder = Recorder(model)
    recorder.enter()

    def train():
        output = model(x)
        if phase == "forward":
            model(torch.empty(1 << 50, device="cuda"))
        (Greedy.apply(output) if phase == "backward" else output).mean().backward()
        optimizer.step()

    with pytest.raises(torch.cuda.OutOfMemoryError):
        train()
    recorder.leave()
    data = recorder.finish("failed")
    data.self_check()
    assert int(allocated(data, 0)[-1]) == torch.cuda.memory_allocated()
    kinds = data.phases["kind"].tolist()
    wanted = {"forward": 0, "backward": 1, "optimizer": 2}[phase]
    assert max(kind for kind in kinds if kind != PhaseKind.OTHER) == wanted


def test_memory_of_another_thread_is_counted():
    model, x = Stack(2).cuda(), batch()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    kept = []

    def train():
        thread = threading.Thread(target=lambda: kept.append(torch.empty(3 << 18, device="cuda")))
        thread.start()
        trainer(model, optimizer, x)()
        thread.join()

    data = recorded(model, train)
    mine = data.allocations["requested"] == 3 << 20
    assert int((mine & (data.allocations["end"] == data.cuts)).sum()) == 7


def test_blocks_that_wait_for_another_stream():
    model, x = Stack(2).cuda(), batch()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    side = torch.cuda.Stream()

    def train():
        trainer(model, optimizer, x)()
        with torch.cuda.stream(side):
            torch.empty(1 << 22, device="cuda").record_stream(torch.cuda.current_stream())
        passing = torch.empty(1 << 22, device="cuda")
        passing.record_stream(side)

    data = recorded(model, train)
    assert len(np.unique(data.allocations["stream"])) == 2


def test_private_pool_of_a_graph():
    model, x = Stack(2).cuda(), batch()
    recorder = Recorder(model)
    recorder.enter()
    with torch.no_grad():
        model(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            kept = model(x)
        graph.replay()
    recorder.leave()
    data = recorder.finish()
    data.self_check()
    pools = {data.string(int(pool)) for pool in data.segments["pool"]}
    assert len(pools - {""}) == 1
    assert kept.shape == (BATCH, 10)


class Split(nn.Module):
    """Half of the layers on each of two devices."""

    def __init__(self):
        super().__init__()
        self.near = nn.ModuleList(Block() for _ in range(2)).to("cuda:0")
        self.far = nn.ModuleList(Block() for _ in range(2)).to("cuda:1")

    def forward(self, x):
        for block in self.near:
            x = block(x)
        x = x.to("cuda:1")
        for block in self.far:
            x = block(x)
        return x


def test_several_devices_in_one_process():
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    model = Split()
    optimizer = torch.optim.AdamW(model.parameters())
    x = batch("cuda:0")
    train = trainer(model, optimizer, x)
    train()
    recorder = Recorder(model)
    recorder.enter()
    for device in range(2):
        torch.cuda.reset_peak_memory_stats(device)
    for _ in range(6):
        train()
    recorder.leave()
    highest = [torch.cuda.max_memory_allocated(device) for device in range(2)]
    data = recorder.finish()
    data.self_check()
    assert len(data.devices) == 2
    for row in range(2):
        index = int(data.devices["index"][row])
        assert abs(peak(data, row).bytes - highest[index]) <= 0.001 * highest[index]
        assert agreement(data, row).differ == ()


DISTRIBUTED = """
import sys, torch, torch.distributed as dist
from torch import nn
from memtrack.capture import Recorder
from memtrack.recording.categories import Category
dist.init_process_group("nccl", init_method="file://" + sys.argv[2], rank=0, world_size=1)
torch.cuda.set_device(0)
model = nn.Sequential(*(nn.Linear(1024, 1024) for _ in range(8))).cuda()
if sys.argv[1] == "ddp":
    model = nn.parallel.DistributedDataParallel(model, device_ids=[0])
else:
    from torch.distributed.fsdp import fully_shard
    for layer in model:
        fully_shard(layer)
    fully_shard(model)
optimizer = torch.optim.AdamW(model.parameters())
x = torch.randn(4096, 1024, device="cuda")
def train():
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
train()
recorder = Recorder(model)
recorder.enter()
torch.cuda.synchronize()
torch.cuda.reset_peak_memory_stats()
for _ in range(6):
    train()
recorder.leave()
highest = torch.cuda.max_memory_allocated()
data = recorder.finish()
data.self_check()
from memtrack.analysis import peak
from memtrack.analysis.totals import by_category
found = peak(data, 0)
assert abs(found.bytes - highest) <= 0.001 * highest, (found.bytes, highest)
shares = dict(zip(Category, by_category(data, 0, [found.cut])[0].tolist()))
assert shares[Category.UNKNOWN] <= 0.005 * found.bytes, shares
assert data.steps == 6, data.steps
if sys.argv[1] == "ddp":
    assert shares[Category.COMMUNICATION] >= 8 * 4 * 1024 * 1024, shares
print({c.id: n for c, n in shares.items() if n})
dist.destroy_process_group()
"""


@pytest.mark.parametrize("kind", ["ddp", "fsdp2"])
def test_wrapped_for_several_processes(kind, tmp_path):
    ran = run_script(DISTRIBUTED, kind, str(tmp_path / "meet"))
    assert ran.returncode == 0, ran.stderr[-3000:]


ELSEWHERE = """
import torch
from torch import nn
from memtrack.analysis import allocated, peak
from memtrack.analysis.reserved import reserved
from memtrack.capture import Recorder
import numpy as np
model = nn.Sequential(*(nn.Linear(1024, 1024) for _ in range(8))).cuda()
optimizer = torch.optim.AdamW(model.parameters())
x = torch.randn(4096, 1024, device="cuda")
recorder = Recorder(model)
recorder.enter()
for _ in range(6):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
recorder.leave()
highest, held = torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved()
data = recorder.finish()
data.self_check()
found = peak(data, 0).bytes
"""


def test_expandable_segments():
    script = ELSEWHERE + (
        "assert abs(found - highest) <= 0.001 * highest, (found, highest)\n"
        "assert data.segments['expandable'].all() and len(data.segments)\n"
        "levels = allocated(data, 0)\n"
        "assert int(reserved(data, 0, np.array([data.cuts]), levels)[0]) == held\n"
    )
    ran = run_script(script, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")
    assert ran.returncode == 0, ran.stderr[-3000:]


def test_an_allocator_without_history_is_followed_by_storages():
    script = ELSEWHERE + (
        "assert data.facts.source == 'storages'\n"
        "assert 'no_history_async' in {n.id for n in data.facts.notices}\n"
        "assert 0.8 * highest <= found <= highest, (found, highest)\n"
    )
    ran = run_script(script, PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync")
    assert ran.returncode == 0, ran.stderr[-3000:]


def run_script(script, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
