"""Notebook cells that fail on a GPU, each in a way whose cause is known.

`SETUP` runs first and succeeds, `FAILS` fails. The cause is the id that the diagnosis should name.
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD = """
import torch
from torch import nn
MIB = 1 << 20

def limit(gib):
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(gib * 1024 * MIB / total)

def transformer(layers, width, vocabulary):
    layer = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True)
    inner = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
    return nn.Sequential(nn.Embedding(vocabulary, width), inner, nn.Linear(width, vocabulary)).cuda()

# Libraries take their workspaces once, with the first product of each thread.
warm = nn.Linear(64, 64).cuda()
warm(torch.randn(2, 64, device="cuda")).sum().backward()

def loss_of(model, rows, length, vocabulary):
    x = torch.randint(0, vocabulary, (rows, length), device="cuda")
    return nn.functional.cross_entropy(model(x).flatten(0, 1), x.flatten())
"""


@dataclass(frozen=True)
class Failing:
    """A failure: what makes it ready, the cell that fails, its cause, its phase where there is one."""

    setup: str
    fails: str
    cause: str
    kind: str = "cuda_oom"
    phase: str = ""
    or_else: str = ""
    """A second cause that is as true: a limit that is set is also all there is."""


CASES = {
    "forward_activations": Failing(
        "limit(4); model = transformer(6, 512, 8000); optimizer = torch.optim.AdamW(model.parameters())",
        "for rows in (4, 8, 16, 32, 64, 128, 256):\n"
        "    loss_of(model, rows, 512, 8000).backward(); optimizer.step(); optimizer.zero_grad()",
        "capacity",
    ),
    "backward_peak": Failing(
        "limit(2); model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(14)]).cuda()",
        "model(torch.randn(4096, 4096, device='cuda')).sum().backward()",
        "capacity",
        phase="backward",
    ),
    "optimizer_first_step": Failing(
        "limit(3); model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(16)]).cuda()\n"
        "optimizer = torch.optim.AdamW(model.parameters())",
        "model(torch.randn(8, 4096, device='cuda')).sum().backward(); optimizer.step()",
        "capacity",
        phase="optimizer",
    ),
    "fragmentation": Failing(
        "limit(4)\nblocks = [torch.empty(60 * MIB, dtype=torch.uint8, device='cuda') for _ in range(64)]\n"
        "for i in range(0, 64, 2): blocks[i] = None\n"
        "small = [torch.empty(31 * MIB, dtype=torch.uint8, device='cuda') for _ in range(32)]",
        "torch.empty(600 * MIB, dtype=torch.uint8, device='cuda')",
        "fragmentation",
    ),
    "leak_loss_graph": Failing(
        "limit(3); model = transformer(2, 256, 4000)",
        "total = 0\nfor step in range(1000): total = total + loss_of(model, 8, 256, 4000)",
        "graph_retention",
        phase="forward",
    ),
    "fraction_limit": Failing(
        "limit(1)",
        "torch.empty(2048 * MIB, dtype=torch.uint8, device='cuda')",
        "per_process_fraction_limit",
    ),
    "absurd_shape": Failing(
        "", "torch.empty((1 << 20, 1 << 22), device='cuda')", "integer_overflow_or_garbage_size"
    ),
    "other_process": Failing(
        "import subprocess, sys\nfree, _ = torch.cuda.mem_get_info()\n"
        "code = f\"import torch, time; x = torch.empty({free - 6 * 1024 * MIB}, dtype=torch.uint8, device='cuda');\"\n"
        "code += \"print('up', flush=True); time.sleep(60)\"\n"
        "other = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE)\n"
        "other.stdout.readline()",
        "held = [torch.empty(1024 * MIB, dtype=torch.uint8, device='cuda') for _ in range(40)]",
        "other_process_or_framework",
    ),
    "illegal_access": Failing(
        "x, at = torch.zeros(10, device='cuda'), torch.tensor([10**9], device='cuda')",
        "y = x[at]; torch.cuda.synchronize()",
        "not_oom_bad_index_or_int32",
        kind="not_oom",
    ),
    "device_assert": Failing(
        "",
        "nn.functional.cross_entropy(torch.randn(4, 10, device='cuda'),"
        " torch.tensor([1, 2, 3, 99], device='cuda')); torch.cuda.synchronize()",
        "not_oom_bad_index_or_int32",
        kind="not_oom",
    ),
    "embedding_assert": Failing(
        "",
        "nn.Embedding(10, 4).cuda()(torch.tensor([11], device='cuda')); torch.cuda.synchronize()",
        "not_oom_bad_index_or_int32",
        kind="not_oom",
    ),
    "pinned_host": Failing(
        "",
        "torch.empty(2**46, dtype=torch.uint8, pin_memory=True)",
        "pinned_or_wsl_host_limit",
        kind="host_pinned",
    ),
    "cpu_allocator": Failing(
        "",
        "torch.empty(2**50, dtype=torch.uint8)",
        "integer_overflow_or_garbage_size",
        kind="cpu_oom",
    ),
}
"""Failures of every form, by name."""

_TRAIN = "def train(rows):\n    loss = model(torch.randn(rows, 1024, device='cuda')).mean()\n    loss.backward()\n    optimizer.step()\n"

PHASES = {
    "notebook_forward": Failing(
        "model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 65536)).cuda()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)\n" + _TRAIN + "limit(1.2)",
        "train(8192)",
        "capacity",
        phase="forward",
        or_else="per_process_fraction_limit",
    ),
    "notebook_backward": Failing(
        "model = nn.Sequential(nn.Linear(1024, 16384), nn.ReLU(), nn.Linear(16384, 16384)).cuda()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)\n" + _TRAIN + "limit(1.6)",
        "train(16)",
        "capacity",
        phase="backward",
    ),
    "notebook_optimizer": Failing(
        "model = nn.Sequential(nn.Linear(1024, 8192), nn.ReLU(), nn.Linear(8192, 16384)).cuda()\n"
        "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n" + _TRAIN + "limit(1.35)",
        "train(16)",
        "capacity",
        phase="optimizer",
    ),
}
"""Failures whose memory must be given back without a restart of the kernel."""
