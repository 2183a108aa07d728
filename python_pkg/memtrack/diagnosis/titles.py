"""What each cause is called, in words: one table, the same from a text alone and with evidence."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memtrack.i18n import Text, text

TITLES: Mapping[str, Text] = MappingProxyType(
    {
        "capacity": text("The peak is real: the work needs more memory than there is"),
        "unknown": text("The cause cannot be told from what is known"),
        "fragmentation": text("Fragmentation: enough is free, but in no single piece"),
        "graph_retention": text("An autograd graph is kept alive from step to step"),
        "exception_traceback_or_stale_reference": text(
            "Old references keep tensors alive: a traceback, an output or a variable"
        ),
        "eval_accumulation": text("Results pile up on the GPU"),
        "hook_leak": text("Hooks keep tensors alive from step to step"),
        "missing_no_grad": text("Inference keeps activations for a backward that never comes"),
        "per_process_fraction_limit": text("A limit set for this process refused, not the device"),
        "other_process_or_framework": text("Other processes or frameworks hold the memory"),
        "zombie_or_leftover_process": text("A process left over from earlier holds the memory"),
        "memory_outside_allocator": text("Memory of this process outside PyTorch's allocator"),
        "cuda_graph_memory": text("Private pools of CUDA graphs hold the memory"),
        "cudnn_workspace": text("A workspace of cuDNN or cuBLAS does not fit"),
        "integer_overflow_or_garbage_size": text(
            "The size asked for is absurd: a mistake in a shape or an overflow"
        ),
        "logits_or_attention_quadratic": text(
            "Logits or attention: one tensor that grows with the vocabulary or the square of the sequence"
        ),
        "huge_input_or_boxes": text("One unusually large sample"),
        "checkpointing_or_peft": text(
            "Checkpointing or adapters that do not save what they seem to"
        ),
        "dtype_fp32_load": text("The model was loaded in float32"),
        "fsdp_or_state_dict_save": text("Saving gathers the whole model at once"),
        "serving_memory_budget": text("The memory budget of the serving engine"),
        "rank_device_mapping": text("Several processes use the same device"),
        "allocator_bug_or_option": text("An option or a defect of the allocator"),
        "platform_allocation_limit": text("A limit of the platform for one allocation"),
        "kernel_shared_memory_limit": text("Shared memory inside a GPU kernel, not device memory"),
        "nvml_failure_masks_oom": text("An out-of-memory error hidden behind a failure of NVML"),
        "host_ram_exhausted": text("The computer's own memory is full, not the GPU's"),
        "pinned_or_wsl_host_limit": text("Pinned host memory: the system's limit is reached"),
        "shm_or_bus_error": text("Shared memory between processes (/dev/shm) is full"),
        "not_oom_hardware_driver_env": text(
            "Not memory: the driver, the hardware or the environment"
        ),
        "not_oom_bad_index_or_int32": text("Not memory: an index or a size out of range"),
        "not_oom_recoverable_warning": text("Only a warning: PyTorch went on in another way"),
        "viewer_or_snapshot_problem": text("The snapshot or its viewer, not memory"),
    }
)


def title(cause: str) -> Text:
    """Return the words for a cause; the id itself for one that is not in the table."""
    return TITLES.get(cause) or Text("{name}", {"name": cause})
