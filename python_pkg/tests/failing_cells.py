"""Cells that run out of memory on the CPU, in every shape that keeps their tensors alive.

Each is (what it is, cell). Before them `SETUP` has been run; `fail()` is the error of the allocator.
"""

import gc

SETUP = """
import torch
from torch import nn

KB = 256  # floats in a KiB

def fail():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

def big(kib=512):
    return torch.ones(kib * KB, requires_grad=True)

class Block(nn.Module):
    def __init__(self, fails=False):
        super().__init__()
        self.linear = nn.Linear(64, 64)
        self.fails = fails
    def forward(self, x):
        hidden = self.linear(x)
        active = hidden.relu() * hidden.sigmoid()
        if self.fails:
            fail()
        return active + x

class FailsInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x * 2)
        return x.clone()
    @staticmethod
    def backward(ctx, gradient):
        wide = torch.cat([gradient, gradient])
        fail()

class FailingStep(torch.optim.SGD):
    def step(self):
        work = [big() for _ in range(4)]
        fail()
"""

CELLS = {
    "forward": """
        model = nn.Sequential(*[Block(fails=n == 5) for n in range(6)])
        model(torch.randn(4096, 64)).sum().backward()
    """,
    "backward": """
        net = nn.Sequential(Block(), Block())
        loss = FailsInBackward.apply(net(torch.randn(4096, 64))).sum()
        work = [big() for _ in range(3)]
        loss.backward()
    """,
    "optimizer": """
        net = nn.Linear(64, 64)
        FailingStep(net.parameters(), lr=0.1).step()
    """,
    "nested functions": """
        def outer():
            mine = big()
            def inner():
                own = mine * 2
                return [fail() for _ in range(2)] and own
            return inner()
        outer()
    """,
    "comprehension": """
        def comprehended():
            mine = [big() for n in range(4)]
            return [fail() if n == 3 else one * n for n, one in enumerate(mine)]
        comprehended()
    """,
    "generator": """
        def batches():
            for n in range(4):
                batch = big()
                if n == 2:
                    fail()
                yield batch
        def consumed():
            return [batch * 2 for batch in batches()]
        consumed()
    """,
    "chained": """
        def first():
            one = big(); fail()
        def second():
            two = big()
            try:
                first()
            except RuntimeError as error:
                three = big()
                raise ValueError("wrapped") from error
        second()
    """,
    "in the handling": """
        def handled():
            one = big()
            try:
                fail()
            except RuntimeError:
                two = one + 1
                fail()
        handled()
    """,
    "group": """
        def many():
            found = []
            for n in range(2):
                try:
                    mine = big(); fail()
                except RuntimeError as error:
                    found.append(error)
            raise ExceptionGroup("several", found)
        many()
    """,
    "a cycle": """
        def cyclic():
            work = big()
            try:
                fail()
            except RuntimeError as error:
                kept = error
                raise
        cyclic()
    """,
    "await": """
        import asyncio
        async def later():
            mine = big()
            await asyncio.sleep(0)
            fail()
        async def sooner():
            own = big()
            await asyncio.gather(later(), later())
        await sooner()
    """,
    "a thread's": """
        from concurrent.futures import ThreadPoolExecutor
        def busy():
            mine = big(); fail()
        def waits():
            with ThreadPoolExecutor(1) as pool:
                pool.submit(busy).result()
        waits()
    """,
    "a timed cell": """
        get_ipython().run_cell_magic("time", "", "def f():\\n    mine = big(); fail()\\nf()")
    """,
    "context manager": """
        from contextlib import contextmanager
        @contextmanager
        def scope():
            mine = big()
            yield mine
        def within():
            with scope() as one:
                two = one * 2
                fail()
        within()
    """,
}
NEEDS_GROUPS = ("group",)


def storages():
    """Return the bytes of each CPU storage that a tensor of Python's shows."""
    import torch

    gc.collect()
    found = {}
    for thing in gc.get_objects():
        if issubclass(type(thing), torch.Tensor) and thing.device.type == "cpu":
            storage = thing.untyped_storage()
            found[storage._cdata] = storage.nbytes()
    return found


class Census:
    """Weak references to storages: `alive` are the bytes of those still there."""

    def __init__(self, known=()):
        import torch
        from torch.multiprocessing.reductions import StorageWeakRef

        self._weak = {}
        for thing in gc.get_objects():
            if issubclass(type(thing), torch.Tensor) and thing.device.type == "cpu":
                storage = thing.untyped_storage()
                if storage._cdata not in known:
                    self._weak[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())

    @property
    def alive(self):
        return sum(size for weak, size in self._weak.values() if not weak.expired())
