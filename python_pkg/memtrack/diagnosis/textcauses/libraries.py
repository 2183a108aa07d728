"""What a wording without figures makes likely: statuses of CUDA and its libraries, serving engines.

By wording, else by kind. Where one sentence has several causes in public reports, none is sure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtrack.diagnosis.textcauses.scores import Candidate
from memtrack.i18n import text

_PLAIN = text(
    "The driver itself refused memory, outside PyTorch's allocator, and gives no figures: the device"
    " may be full of others' memory, or a limit on pinned memory of the computer was met."
)
_HANDLE = text(
    "The library asks the driver for its handle and workspace, outside PyTorch's cache: it fails when"
    " the device is full, and also when versions do not fit together."
)
_LATE = text(
    "The library allocates outside PyTorch's cache: what PyTorch keeps reserved is not free for it."
)
_DRIVER = text("A driver call of the allocator with expandable segments failed.")
_SERVING = text(
    "The serving engine reserves a share of the device at the start, and it does not fit."
)
_RESOLUTION = text(
    "The program looked at what is free before its attention and gave up: that grows with the square of the"
    " image's size."
)
_PLAN = text(
    "The plan that spreads the layers counts what is free at that moment: what an earlier model or"
    " another process holds is missing."
)
_EVERY_SIZE = text("Every attempt ended in a lack of memory, also that with a single sample.")
_THIRD = text("The message comes from another library, which allocates outside PyTorch.")

LIBRARY_CAUSES: Mapping[str, Sequence[Candidate]] = {
    "cuda_error": (
        Candidate("other_process_or_framework", 0.4, _PLAIN),
        Candidate("pinned_or_wsl_host_limit", 0.35, _PLAIN),
        Candidate("capacity", 0.3, _PLAIN),
        Candidate("rank_device_mapping", 0.2),
        Candidate("memory_outside_allocator", 0.2, _LATE),
    ),
    "cuda_runtime_error_2": (
        Candidate(
            "capacity", 0.5, text("Error 2 of the CUDA runtime is cudaErrorMemoryAllocation.")
        ),
        Candidate("other_process_or_framework", 0.35),
    ),
    "hip_oom": (
        Candidate("capacity", 0.4),
        Candidate("other_process_or_framework", 0.35),
    ),
    "cublas": (
        Candidate("capacity", 0.45, _HANDLE),
        Candidate("other_process_or_framework", 0.3, _HANDLE),
        Candidate("memory_outside_allocator", 0.3, _LATE),
        Candidate("not_oom_hardware_driver_env", 0.25, _HANDLE),
    ),
    "cublas.create_failed": (
        Candidate("capacity", 0.4, _HANDLE),
        Candidate(
            "not_oom_bad_index_or_int32",
            0.3,
            text(
                "An earlier error of a kernel, such as a label out of range, can surface here as well."
            ),
        ),
        Candidate("memory_outside_allocator", 0.3, _LATE),
        Candidate("not_oom_hardware_driver_env", 0.25),
    ),
    "cublas.failed": (
        Candidate(
            "not_oom_bad_index_or_int32",
            0.45,
            text(
                "The library was called with sizes or addresses that are wrong, or after an earlier error"
                " of a kernel."
            ),
        ),
        Candidate("not_oom_hardware_driver_env", 0.35),
        Candidate("capacity", 0.15),
    ),
    "cudnn.alloc_failed": (
        Candidate("cudnn_workspace", 0.5, text("cuDNN could not get the workspace it wanted.")),
        Candidate("capacity", 0.45, _LATE),
        Candidate("memory_outside_allocator", 0.25, _LATE),
    ),
    "cudnn.no_engine": (
        Candidate(
            "cudnn_workspace",
            0.5,
            text("No algorithm for this convolution fits what is left of the device."),
        ),
        Candidate("capacity", 0.4),
        Candidate("not_oom_hardware_driver_env", 0.25),
    ),
    "cudnn": (
        Candidate("unknown", 0.4, _HANDLE),
        Candidate("capacity", 0.35, _HANDLE),
        Candidate("not_oom_hardware_driver_env", 0.3, _HANDLE),
        Candidate("cudnn_workspace", 0.2),
    ),
    "cudnn.execution": (
        Candidate(
            "capacity",
            0.35,
            text("Public reports of this status ended at a full device as often as anywhere else."),
        ),
        Candidate("cudnn_workspace", 0.3),
        Candidate("not_oom_hardware_driver_env", 0.3, _HANDLE),
        Candidate("not_oom_bad_index_or_int32", 0.25),
    ),
    "cudnn.failed": (
        Candidate("not_oom_hardware_driver_env", 0.4),
        Candidate("not_oom_bad_index_or_int32", 0.35),
        Candidate("cudnn_workspace", 0.15),
    ),
    "cufft": (
        Candidate("memory_outside_allocator", 0.5, _LATE),
        Candidate("capacity", 0.4, _LATE),
    ),
    "cufft.failed": (
        Candidate("not_oom_hardware_driver_env", 0.4),
        Candidate("capacity", 0.25),
    ),
    "cusolver": (
        Candidate("capacity", 0.4, _HANDLE),
        Candidate("memory_outside_allocator", 0.35, _LATE),
        Candidate("not_oom_hardware_driver_env", 0.3),
    ),
    "cusolver.failed": (Candidate("not_oom_hardware_driver_env", 0.35),),
    "cusparse": (
        Candidate("capacity", 0.4, _HANDLE),
        Candidate("memory_outside_allocator", 0.35, _LATE),
    ),
    "nccl": (
        Candidate(
            "memory_outside_allocator",
            0.5,
            text("NCCL allocates its buffers at the first collective, outside PyTorch's cache."),
        ),
        Candidate("capacity", 0.4),
        Candidate("rank_device_mapping", 0.25),
    ),
    "nccl.internal": (
        Candidate(
            "memory_outside_allocator",
            0.4,
            text("A full device shows as an internal error of NCCL; its own log tells more."),
        ),
        Candidate("not_oom_hardware_driver_env", 0.35),
        Candidate("capacity", 0.25),
    ),
    "nccl.system": (
        Candidate("not_oom_hardware_driver_env", 0.5),
        Candidate(
            "shm_or_bus_error",
            0.3,
            text("NCCL's system errors are of sockets and of shared memory between processes."),
        ),
    ),
    "cuda_malloc_async": (
        Candidate(
            "allocator_bug_or_option",
            0.45,
            text(
                "The message comes from the cudaMallocAsync backend, which the program or a variable chose."
            ),
        ),
        Candidate("capacity", 0.45),
        Candidate("other_process_or_framework", 0.25),
    ),
    "cuda_driver": (
        Candidate("capacity", 0.45, _DRIVER),
        Candidate("allocator_bug_or_option", 0.35, _DRIVER),
        Candidate("other_process_or_framework", 0.25),
    ),
    "cuda_driver.curesult_2": (
        Candidate("capacity", 0.45, text("CUresult 2 is CUDA_ERROR_OUT_OF_MEMORY.")),
        Candidate("other_process_or_framework", 0.35),
        Candidate("memory_outside_allocator", 0.25),
    ),
    "cuda_driver.expandable_corrupt": (
        Candidate(
            "allocator_bug_or_option",
            0.55,
            text(
                "An expandable segment was left half mapped: after one out-of-memory error every later"
                " allocation in it fails with this assertion."
            ),
        ),
        Candidate("capacity", 0.3),
    ),
    "cuda_driver.not_ready": (
        Candidate(
            "pinned_or_wsl_host_limit",
            0.45,
            text(
                "Mapped memory could not be made resident: WSL has a limit below what nvidia-smi calls"
                " free."
            ),
        ),
        Candidate("allocator_bug_or_option", 0.35, _DRIVER),
        Candidate("capacity", 0.2),
    ),
    "cuda_driver.unknown": (
        Candidate("allocator_bug_or_option", 0.5, _DRIVER),
        Candidate("not_oom_hardware_driver_env", 0.35),
    ),
    "not_oom_text": (
        Candidate(
            "nvml_failure_masks_oom",
            0.85,
            text(
                "PyTorch was about to report an out-of-memory error and could not ask NVML for the figures"
                " (MIG, Jetson, containers, a driver that does not match)."
            ),
        ),
        Candidate("capacity", 0.4),
    ),
    "bitsandbytes": (
        Candidate(
            "capacity",
            0.4,
            text("bitsandbytes prints it for managed memory too, which old GPUs do not support."),
        ),
        Candidate("unknown", 0.35),
        Candidate("not_oom_hardware_driver_env", 0.3),
    ),
    "cuda_oom.resolution": (
        Candidate("capacity", 0.45, _RESOLUTION),
        Candidate("logits_or_attention_quadratic", 0.4, _RESOLUTION),
    ),
    "placement.does_not_fit": (
        Candidate("capacity", 0.55, _PLAN),
        Candidate("other_process_or_framework", 0.35, _PLAN),
        Candidate("exception_traceback_or_stale_reference", 0.3, _PLAN),
    ),
    "placement.every_batch_size": (
        Candidate("capacity", 0.5, _EVERY_SIZE),
        Candidate(
            "exception_traceback_or_stale_reference",
            0.45,
            text("What a failed attempt leaves behind is missing in the next one."),
        ),
    ),
    "third_party": (
        Candidate("capacity", 0.45, _THIRD),
        Candidate("memory_outside_allocator", 0.35, _THIRD),
        Candidate("other_process_or_framework", 0.35, _THIRD),
    ),
    "directml_oom": (
        Candidate("capacity", 0.5),
        Candidate("platform_allocation_limit", 0.3),
    ),
    "jetson": (
        Candidate(
            "platform_allocation_limit",
            0.5,
            text(
                "On Jetson the GPU's memory is the computer's own, and it must come in large pieces."
            ),
        ),
        Candidate("capacity", 0.4),
        Candidate("fragmentation", 0.3),
    ),
    "vllm": (Candidate("serving_memory_budget", 0.85, _SERVING),),
}
