"""The first sentence of a diagnosis from text: what failed, with the figures that matter most."""

from __future__ import annotations

from collections.abc import Mapping

from memtrack.diagnosis.reading import Failure
from memtrack.i18n import Text, text
from memtrack.units import format_bytes

_DEVICES: Mapping[str, str] = {
    "cuda_oom": "GPU", "hip_oom": "GPU", "xpu_oom": "XPU", "npu_oom": "NPU", "gcu_oom": "GCU",
    "mlu_oom": "MLU", "supa_oom": "SUPA", "musa_oom": "GPU", "mtia_oom": "MTIA", "hpu_oom": "HPU",
    "ipu_oom": "IPU", "privateuseone_oom": "GPU", "mps_oom": "MPS", "cuda_malloc_async": "GPU",
    "directml_oom": "GPU", "third_party": "GPU", "tpu_oom": "TPU",
}  # fmt: skip
_LIBRARY: Mapping[str, str] = {
    "cublas": "cuBLAS", "cudnn": "cuDNN", "cufft": "cuFFT", "cusolver": "cuSOLVER",
    "cusparse": "cuSPARSE", "nccl": "NCCL", "bitsandbytes": "bitsandbytes",
}  # fmt: skip
_DOES_NOT_SAY = frozenset(
    {
        "cublas.create_failed", "cublas_status_execution_failed", "cublas_status_internal_error",
        "cudnn.execution", "cudnn.internal", "cudnn.not_initialized", "cusolver.create_failed",
        "cusolver.internal",
    }
)  # fmt: skip
"""Wordings and statuses that come of a full device and of other things alike."""

_WHAT: Mapping[str, Text] = {
    "illegal_access": text("a kernel read or wrote outside its memory (illegal access)"),
    "misaligned": text("a kernel used a misaligned address"),
    "illegal_instruction": text("a kernel ran into an illegal instruction"),
    "device_assert": text("a check inside a kernel failed (device-side assert)"),
    "bad_index": text("an index is out of range"),
    "launch_failure": text("a kernel failed (unspecified launch failure)"),
    "launch_resources": text("a kernel asks for more resources than a block may have"),
    "peers": text("a GPU cannot be mapped to so many others"),
    "launch_timeout": text("a kernel ran longer than the system allows"),
    "busy_unavailable": text("the GPU is busy or not available to this process"),
    "gpu_lost": text("the driver has lost the GPU"),
    "xid": text("the driver reports a fault of the GPU (Xid)"),
    "nvml_mismatch": text("driver and library do not match"),
    "nvml_blocked": text("the system blocks NVML"),
    "nvml": text("NVML cannot be used"),
    "mps_server": text("the CUDA Multi-Process Service cannot be reached"),
    "device_count": text("the GPUs cannot be counted"),
    "ecc": text("the GPU's memory has an error that cannot be corrected"),
    "hardware": text("the GPU has a fault"),
    "no_kernel_image": text("the program was built for other GPUs"),
    "no_device": text("no GPU is visible"),
    "old_driver": text("the driver is too old"),
    "built_without": text("PyTorch was built without CUDA"),
    "launch_config": text("a kernel was given sizes that no GPU can launch"),
    "xpu_lost": text("the driver has lost the GPU"),
    "hpu_busy": text("the Gaudi device is held by another process or cannot be had"),
    "hsa_resources": text(
        "ROCm's runtime could not get something it needs, which is seldom memory"
    ),
    "capture": text("a call was made that cannot be recorded in a CUDA graph"),
    "forked": text("CUDA was in use before this process was forked off"),
    "open_files": text("too many files are open"),
    "disk_full": text("a file could not be written, mostly because the disk or a quota is full"),
    "corrupt_checkpoint": text("a file is damaged or cut short"),
    "crash": text("native code crashed"),
    "unknown_error": text("CUDA reports another error"),
}


def headline(failure: Failure) -> Text:
    """Return the sentence for a failure."""
    if failure.kind == "not_oom":
        return _not_memory(failure)
    if failure.kind in _LIBRARY:
        return _library(failure)
    if failure.kind in _DEVICES or (failure.kind.endswith("_oom") and failure.device_memory):
        return _device(failure)
    return _other(failure)


def _device(failure: Failure) -> Text:
    name = _DEVICES.get(failure.kind, failure.kind.removesuffix("_oom").upper())
    where = f"{name} {failure.device}" if failure.device is not None else name
    said = {key: format_bytes(size) for key, size in failure.numbers.items()}
    requested, free, total = said.get("requested"), said.get("free"), said.get("total")
    if requested and said.get("allowed") and free:
        return text(
            "Out of memory on {where}: {requested} asked for, {allowed} allowed to this process"
            " ({free} free on the device).",
            where=where, requested=requested, allowed=said["allowed"], free=free,
        )  # fmt: skip
    if requested and said.get("allowed"):
        return text(
            "Out of memory on {where}: {requested} asked for, {allowed} allowed.",
            where=where, requested=requested, allowed=said["allowed"],
        )  # fmt: skip
    if requested and free and total:
        return text(
            "Out of memory on {where}: {requested} asked for, {free} of {total} free.",
            where=where, requested=requested, free=free, total=total,
        )  # fmt: skip
    if requested:
        return text(
            "Out of memory on {where}: {requested} asked for.", where=where, requested=requested
        )
    return text(
        "Out of memory on {where}; the message does not say how much was asked for.", where=where
    )


def _library(failure: Failure) -> Text:
    name = _LIBRARY[failure.kind]
    if failure.wording in _DOES_NOT_SAY or failure.status.lower() in _DOES_NOT_SAY:
        return text(
            "{library} failed and does not say of what; a full GPU is one of the usual reasons.",
            library=name,
        )
    if failure.device_memory:
        return text("It seems that {library} could not get memory on the GPU.", library=name)
    return text("{library} reports an error that is not about memory.", library=name)


def _not_memory(failure: Failure) -> Text:
    name = failure.wording.removeprefix("not_oom.")
    if name == "recoverable_warning":
        return text(
            "An allocation of {requested} failed once; nothing here says that the run ended.",
            requested=format_bytes(failure.numbers.get("requested", 0)),
        )
    return text("Not out of memory: {what}.", what=_WHAT.get(name, _WHAT["unknown_error"]))


def _other(failure: Failure) -> Text:
    said = {key: format_bytes(size) for key, size in failure.numbers.items()}
    if failure.kind in ("cpu_oom", "host") and "requested" in said:
        return text(
            "The computer's own memory ran out, not the GPU's: {requested} asked for.",
            requested=said["requested"],
        )
    if failure.wording == "vllm.free_less_than_desired" and "desired" in said and "free" in said:
        return text(
            "The serving engine wants {desired} of the GPU, of which {free} is free.",
            desired=said["desired"], free=said["free"],
        )  # fmt: skip
    if failure.wording == "triton.out_of_resources" and "required" in said and "limit" in said:
        return text(
            "A kernel needs {required} of shared memory inside the GPU, which has {limit}; device"
            " memory is not concerned.",
            required=said["required"], limit=said["limit"],
        )  # fmt: skip
    return _PLAIN.get(failure.wording, _PLAIN.get(failure.kind, _PLAIN["story"]))


_KILLED = text("A process was killed from outside, mostly because the computer's memory was full.")
_UNCOMPILED = text("A kernel could not be compiled; the text does not say why.")
_PLAIN: Mapping[str, Text] = {
    "cuda_error": text(
        "Out of memory, told by the driver without figures: the GPU's memory, or pinned memory of the computer."
    ),
    "cuda_runtime_error_2": text("Out of memory, told by the CUDA runtime without figures."),
    "cuda_driver": text("Out of memory, told by the driver while it mapped memory."),
    "cuda_driver.unknown": text("The driver failed while it mapped memory; memory was not short."),
    "cuda_driver.expandable_corrupt": text(
        "The allocator is damaged, which happens after an earlier out-of-memory error."
    ),
    "not_oom_text": text("Out of memory, hidden behind a failure of NVML."),
    "jetson": text("Out of memory on the Jetson, whose GPU uses the computer's memory."),
    "cpu_oom": text("The computer's own memory ran out, not the GPU's."),
    "host": text("The computer's own memory ran out, not the GPU's."),
    "host.mapping": text(
        "A file could not be mapped into memory: mostly a limit on mappings or addresses is reached."
    ),
    "host.oom_killed.kernel_log": _KILLED,
    "host.oom_killed.cgroup": _KILLED,
    "host.oom_killed.slurm": _KILLED,
    "host.oom_killed.kubernetes": _KILLED,
    "host.oom_killed.worker": _KILLED,
    "host.oom_killed.code": _KILLED,
    "host.oom_killed.137": _KILLED,
    "host.oom_killed.signal": _KILLED,
    "host.oom_killed.ray": _KILLED,
    "host.oom_killed.shell": _KILLED,
    "host.oom_killed.launcher": text("The launcher ended its processes after one of them failed."),
    "host.exited_unexpectedly": text("A worker process ended without saying why."),
    "host_pinned": text("The computer's memory could not be pinned; the GPU's is not concerned."),
    "shm_bus_error": text("Shared memory between processes (/dev/shm) failed, not the GPU's."),
    "jupyter": text("The kernel died; the text does not say why."),
    "vllm": text("The share of the GPU that the serving engine may use is too small."),
    "placement.does_not_fit": text(
        "The model does not fit on the GPU by the plan of its layers: some would go to the CPU or the disk."
    ),
    "placement.every_batch_size": text(
        "Every batch size that was tried ran out of memory, down to a single sample."
    ),
    "triton": text("A kernel needs more shared memory inside the GPU than there is."),
    "triton.compile_without_reason": _UNCOMPILED,
    "triton.compile": _UNCOMPILED,
    "viewer": text("A snapshot or its viewer has a problem; memory is not concerned."),
    "story.checkpoint_no_grad": text("Checkpointing cuts off the gradients of its part."),
    "story": text("No error line was found; what follows goes by the words of the text alone."),
}
