"""Code of advice on devices that are not NVIDIA's: what runs there, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MODULES: Mapping[str, str] = MappingProxyType(
    {
        "gcu_oom": "gcu",
        "hip_oom": "cuda",
        "hpu_oom": "hpu",
        "mlu_oom": "mlu",
        "mps_oom": "mps",
        "mtia_oom": "mtia",
        "musa_oom": "musa",
        "npu_oom": "npu",
        "supa_oom": "supa",
        "xpu_oom": "xpu",
    }
)
"""By the kind of a failure, `torch.<module>` and the device's name; ROCm goes by that of CUDA."""
NOT_OF_TORCH = frozenset({"tpu_oom"})
"""Devices that have no module of their own in torch."""
NVIDIA_ONLY = (
    "nvidia-smi",
    "NVIDIA_",
    "CUDA_MODULE_LOADING",
    "CUDA_LAUNCH_BLOCKING",
    "/dev/nvidia",
)
CUDA_ONLY = ("CUDA_", "XLA_PYTHON", "bitsandbytes", "BitsAndBytes")
"""Variables and libraries that neither Metal nor Intel's and Huawei's devices know."""
NOT_IN_METAL = (
    "memory_summary",
    "_record_memory_history",
    ".graph",
    "cudnn",
    "memory_reserved",
    "fraction(",
)
"""What `torch.mps` lacks (torch 2.13)."""


def runs_on(kind: str, code: str) -> bool:
    """Return whether code written for CUDA has a counterpart on the device of a failure."""
    module = MODULES.get(kind)
    if kind in NOT_OF_TORCH:
        return not any(word in code for word in (*NVIDIA_ONLY, *CUDA_ONLY, "torch.cuda", '"cuda"'))
    if module is None:
        return True
    lacking = (
        *NVIDIA_ONLY,
        *(() if module == "cuda" else CUDA_ONLY),
        *(NOT_IN_METAL if module == "mps" else ()),
    )
    return not any(word in code for word in lacking)


def on_device(kind: str, code: str) -> str:
    """Return code written for CUDA as it is written for the device of a failure."""
    module = MODULES.get(kind, "cuda")
    if module == "mps":
        code = code.replace("torch.cuda.memory_allocated", "torch.mps.current_allocated_memory")
    return code.replace("torch.cuda.", f"torch.{module}.").replace('"cuda"', f'"{module}"')
