"""Source of training that runs out of GPU memory in a known place, for tests with and without a shell.

Each text defines `model`, `optimizer` and `train()`, which fails once the model has been made and
`MORE_MIB` more of the device may be had.
"""

from types import MappingProxyType

MIB = 1 << 20

MORE_MIB = MappingProxyType({"forward": 768, "backward": 512, "optimizer": 800})
"""Beyond the model: enough for all that comes before the failure (the input and 33 MiB of workspace
for each of two threads; in the optimizer 544 MiB of gradients and 64 of states), too little for it.
"""

_TRAINING = """
import torch
from torch import nn
torch.manual_seed(0)
{model}
{optimizer}
def train():
    optimizer.zero_grad(set_to_none=True)
    loss = model(torch.randn({batch}, 1024, device="cuda")).mean()
    loss.backward()
    optimizer.step()
"""

_SGD = "optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)"
_ADAM = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)"


def _model(middle, wide):
    return (
        f"model = nn.Sequential(nn.Linear(1024, {middle}), nn.ReLU(),"
        f" nn.Sequential(nn.Dropout(0.0), nn.Linear({middle}, {wide}))).cuda()"
    )


SOURCES = MappingProxyType(
    {
        # An output of 2 GiB, of weights that take 256 MiB.
        "forward": _TRAINING.format(model=_model(1024, 65536), optimizer=_SGD, batch=8192),
        # Weights of 1 GiB, whose gradient is as large.
        "backward": _TRAINING.format(model=_model(16384, 16384), optimizer=_SGD, batch=16),
        # Weights of 512 MiB and their gradients fit, the two states of Adam do not.
        "optimizer": _TRAINING.format(model=_model(8192, 16384), optimizer=_ADAM, batch=16),
    }
)
"""What fails in each phase; in forward and backward it is layer `2.1`."""

LAYERS = MappingProxyType({"forward": "2.1", "backward": "2.1", "optimizer": ""})


def allocations(torch):
    """Return what our work must not change: bytes, their peaks, how many allocations there were."""
    statistics = torch.cuda.memory_stats()
    names = ("allocated_bytes.all", "reserved_bytes.all", "allocation.all")
    return {
        f"{name}.{metric}": statistics[f"{name}.{metric}"]
        for name in names
        for metric in ("current", "peak", "allocated")
    }


def limit(torch, mib):
    """Let this process have so many MiB of the device beyond what it has, cache dropped."""
    torch.cuda.empty_cache()
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + mib * MIB) / total)
