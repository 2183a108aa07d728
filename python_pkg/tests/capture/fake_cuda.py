"""CUDA as torch shows it, with the memory of an H200 in one training run, on a build without it."""

from types import SimpleNamespace

import torch
from devices.fake_nvml import ALLOCATOR, CUDA_TOTAL, H200, USED

FIGURES = {"reserved": ALLOCATOR, "used": USED, "total": CUDA_TOTAL}


class FakeCuda:
    """Installs itself over `torch.cuda`; the figures of each device may be changed as it goes on."""

    def __init__(self, monkeypatch, devices=1):
        self.figures = [dict(FIGURES) for _ in range(devices)]
        self.initialised, self.capturing, self.backend = True, False, "native"
        self.uuids = [H200.removeprefix("GPU-")] * devices
        self.calls = []
        for name in (
            "is_initialized",
            "memory_stats_as_nested_dict",
            "mem_get_info",
            "get_device_properties",
            "is_current_stream_capturing",
            "get_allocator_backend",
        ):
            monkeypatch.setattr(torch.cuda, name, self._watched(name))

    def rows(self):
        return {torch.device("cuda", index): index for index in range(len(self.figures))}

    def _watched(self, name):
        def function(*arguments):
            self.calls.append(name)
            return getattr(self, f"_{name}")(*arguments)

        return function

    def _is_initialized(self):
        return self.initialised

    def _is_current_stream_capturing(self):
        return self.capturing

    def _get_allocator_backend(self):
        return self.backend

    def _of(self, device, name):
        value = self.figures[device.index][name]
        if isinstance(value, Exception):
            raise value
        return value

    def _memory_stats_as_nested_dict(self, device):
        reserved = self._of(device, "reserved")
        return reserved and {"reserved_bytes": {"all": {"current": reserved}}}

    def _mem_get_info(self, device):
        total = self._of(device, "total")
        return total - self._of(device, "used"), total

    def _get_device_properties(self, device):
        return SimpleNamespace(uuid=self.uuids[device.index])
