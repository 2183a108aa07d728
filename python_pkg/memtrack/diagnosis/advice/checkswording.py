"""Checks of errors that the cause alone does not tell apart: by the wording of the error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from memtrack.diagnosis.diagnosis import Check
from memtrack.i18n import text

CHECKS_BY_WORDING: Mapping[str, Sequence[Check]] = MappingProxyType(
    {
        "not_oom.corrupt_checkpoint": (),  # the error itself says which file
        "placement.does_not_fit": (
            Check(
                "free_now",
                text("How much the device has free"),
                "print(torch.cuda.mem_get_info())",
            ),
        ),
        "not_oom.capture": (
            Check(
                "without_graphs",
                text("Whether it works without CUDA graphs"),
                "LLM(model, enforce_eager=True)      # vLLM; else torch.compile(model) without a mode",
            ),
        ),
        "host.mapping": (
            Check(
                "mappings_now",
                text("How many mappings there are, and how many there may be"),
                "wc -l /proc/<pid>/maps; sysctl vm.max_map_count; ulimit -v",
            ),
        ),
        "not_oom.crash": (
            Check(
                "where_it_crashed",
                text("In which call it crashed"),
                "python -X faulthandler train.py; dmesg | tail",
            ),
        ),
        "not_oom.disk_full": (
            Check(
                "disk_now", text("How full the disk and the quota are"), "df -h . /tmp; quota -s"
            ),
        ),
        "not_oom.forked": (
            Check(
                "cuda_before_fork",
                text("Whether CUDA was in use before the fork"),
                "print(torch.cuda.is_initialized())",
            ),
        ),
        "not_oom.open_files": (
            Check(
                "files_now",
                text("How many files may be open"),
                "ulimit -n; ls /proc/<pid>/fd | wc -l",
            ),
        ),
        "not_oom.hsa_resources": (
            Check(
                "rocm_log", text("What the driver says"), 'dmesg | grep -i "amdgpu\\|kfd" | tail'
            ),
        ),
        "not_oom.hpu_busy": (Check("gaudi_now", text("Who else is on the device"), "hl-smi"),),
        "not_oom.xpu_lost": (
            Check(
                "xpu_free", text("How much the device has free"), "print(torch.xpu.mem_get_info())"
            ),
        ),
    }
)
