"""Advice on who else is on the device."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

DEVICE_SHARING: Sequence[Entry] = (
    Entry(
        "another_gpu",
        text("Use a device that is free"),
        text("nothing"),
        frozenset(
            {"other_process_or_framework", "zombie_or_leftover_process", "rank_device_mapping"}
        ),
        code=(
            "nvidia-smi --query-gpu=index,memory.free --format=csv\n"
            "export CUDA_VISIBLE_DEVICES=1       # before Python starts"
        ),
        caveats=(
            text(
                "PyTorch counts the visible devices from 0 again, fastest first; nvidia-smi by bus"
            ),
        ),
    ),
    Entry(
        "end_leftovers",
        text("End processes that nobody needs any more"),
        text("what they had not saved is lost"),
        frozenset({"zombie_or_leftover_process", "other_process_or_framework"}),
        code=(
            "%memtrack who                # who they are, and the command that ends each\n"
            "kill <pid>                   # kill -9 only if that does not help"
        ),
        caveats=(
            text("Only your own, and only when you know what they are"),
            text(
                "A process may be a notebook of yours: shut its kernel down in JupyterLab instead"
            ),
            text("In a container the numbers may be those of the host"),
        ),
        saves="other_processes",
    ),
    Entry(
        "no_preallocation",
        text("Keep other frameworks from taking the whole device"),
        text("nothing"),
        frozenset({"other_process_or_framework", "memory_outside_allocator"}),
        code=(
            "export XLA_PYTHON_CLIENT_PREALLOCATE=false     # JAX: takes 75 % by default\n"
            "export TF_FORCE_GPU_ALLOW_GROWTH=true          # TensorFlow: takes all by default"
        ),
        caveats=(text("Before they are imported"),),
    ),
    Entry(
        "smaller_context",
        text("Use less outside the allocator: lazy loading, fewer contexts and communicators"),
        text("nothing"),
        frozenset({"memory_outside_allocator"}),
        code=(
            "export CUDA_MODULE_LOADING=LAZY       # the default since CUDA 12.2\n"
            "nvidia-smi --query-compute-apps=pid,used_memory --format=csv"
        ),
        caveats=(
            text(
                "NCCL holds buffers for each communicator, CUDA graphs some for each kernel in them"
            ),
        ),
    ),
    Entry(
        "polite_limit",
        text("On a shared card, a limit for each process"),
        text("your process fails earlier, and alone"),
        frozenset({"other_process_or_framework"}),
        code="torch.cuda.set_per_process_memory_fraction(0.5)",
    ),
    Entry(
        "serving_budget",
        text("Smaller budget or context of the serving engine"),
        text("fewer or shorter requests at once"),
        frozenset({"serving_memory_budget"}),
        wordings=frozenset({"vllm.free_less_than_desired", "vllm.profiling", "vllm.tgi"}),
        code=(
            "vllm serve MODEL --gpu-memory-utilization 0.85 --max-model-len 8192 --max-num-seqs 32"
        ),
        caveats=(
            text("The share is of the whole device: what others hold has to fit in the rest"),
            text("--enforce-eager saves the memory of CUDA graphs"),
        ),
    ),
    Entry(
        "serving_share",
        text("A larger share for the serving engine, a shorter context or smaller weights"),
        text("less is left for peaks and for others"),
        frozenset({"serving_memory_budget"}),
        wordings=frozenset({"vllm.no_cache_blocks", "vllm.kv_cache_too_small", "vllm.sglang"}),
        kinds=frozenset({"vllm"}),
        code=(
            "vllm serve MODEL --gpu-memory-utilization 0.95 --max-model-len 8192\n"
            "python -m sglang.launch_server --model-path MODEL --mem-fraction-static 0.9"
        ),
        caveats=(
            text(
                "What the weights leave of the share is for the cache: fewer bits, or more GPUs"
                " (--tensor-parallel-size)"
            ),
        ),
    ),
)
