"""CUDA and its driver as they answer around a failure of the allocator, on a build without CUDA."""

import torch

from memtrack.capture import livefacts, torch_api

MIB, GIB = 1 << 20, 1 << 30
TOTAL, FREE = 24 * GIB, GIB // 2
USED = 20 * GIB
STATISTICS = {
    "allocated_bytes": {"all": {"current": USED}},
    "reserved_bytes": {"all": {"current": USED + GIB}},
    "allocation": {"all": {"allocated": 3, "current": 2}},
}


def message(segment_gib="2.00"):
    return (
        f"CUDA out of memory. Tried to allocate {segment_gib} GiB. GPU 0 has a total capacity of"
        " 24.00 GiB of which 512.00 MiB is free. Of the allocated memory 20.00 GiB is allocated by"
        " PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated."
    )


def block(size, state, address):
    return {
        "address": address,
        "size": size,
        "requested_size": size,
        "state": state,
        "frames": [],
    }


def segments():
    """One segment: 20 GiB in use and 1 GiB free behind it."""
    blocks = [
        block(USED, "active_allocated", 0x1000000),
        block(GIB, "inactive", 0x1000000 + USED),
    ]
    return [
        {
            "device": 0,
            "address": 0x1000000,
            "total_size": USED + GIB,
            "allocated_size": USED,
            "active_size": USED,
            "requested_size": USED,
            "stream": 0,
            "segment_type": "large",
            "segment_pool_id": (0, 0),
            "is_expandable": False,
            "frames": [],
            "blocks": blocks,
        }
    ]


class Cuda:
    """CUDA and its driver as they answer after a failure."""

    def __init__(self, monkeypatch):
        self.observers, self.history, self.asked = [], False, []
        self.is_initialised = True
        self.trace = []
        set_ = monkeypatch.setattr
        set_(torch.cuda, "is_initialized", lambda: self.is_initialised)
        set_(torch.cuda, "mem_get_info", lambda _: (FREE, TOTAL))
        set_(torch.cuda, "current_device", lambda: 0)
        set_(torch.cuda, "get_per_process_memory_fraction", lambda _: 1.0, raising=False)
        set_(torch.cuda, "_lazy_call", lambda callback: callback())
        set_(torch_api._C, torch_api._ATTACH, self.observers.append, raising=False)
        monkeypatch.delattr(torch.cuda, torch_api._TRAMPOLINE, raising=False)
        set_(torch_api, "cuda_statistics", lambda _: STATISTICS)
        set_(livefacts, "read_statistics", lambda _: STATISTICS)
        set_(torch_api, "history_is_on", lambda: self.history)
        set_(torch_api, "snapshot_without_history", lambda: self.snapshot(with_history=False))
        set_(torch_api, "snapshot_with_history", lambda: self.snapshot(with_history=True))
        set_(livefacts, "identity", lambda _: ("GPU-1", ""))
        set_(livefacts, "nvidia_driver", lambda: None)

    def snapshot(self, *, with_history):
        self.asked.append(with_history)
        return {
            "segments": segments(),
            "device_traces": [list(self.trace) if with_history else []],
            "allocator_settings": {"expandable_segments": False},
        }

    def fail(self, segment=2 * GIB):
        for observer in self.observers:
            observer(0, segment, TOTAL, FREE)
        raise torch.cuda.OutOfMemoryError(message(f"{segment / GIB:.2f}"))
