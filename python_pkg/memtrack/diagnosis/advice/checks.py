"""What to look at next, by cause: a command or a line of code that decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from memtrack.diagnosis.diagnosis import Check
from memtrack.i18n import text

_GROWS_EACH_STEP = Check(
    "grows_each_step",
    text("Whether memory grows with every step"),
    "print(step, torch.cuda.memory_allocated())",
)
_WHO_KEEPS_IT = Check("who_keeps_it", text("Who keeps the memory, by name"), "%memtrack who")
_WHO_IS_THERE = Check(
    "who_is_there",
    text("Who else is on the device"),
    "nvidia-smi --query-compute-apps=pid,used_memory,process_name --format=csv",
)
_PRINT_SIZES = Check(
    "print_sizes", text("The sizes just before the line that failed"), "print(x.shape, y.shape)"
)
CHECKS: Mapping[str, Sequence[Check]] = MappingProxyType(
    {
        "capacity": (
            _GROWS_EACH_STEP,
            Check(
                "where_at_the_peak",
                text("Which layers and categories fill the peak"),
                (
                    "%memtrack model --optimizer optimizer    # then one step\n"
                    "memtrack run train.py                    # a script, in a shell"
                ),
            ),
            Check(
                "summary_before_after",
                text("What each stage adds"),
                "print(torch.cuda.memory_summary())",
            ),
        ),
        "fragmentation": (
            Check(
                "largest_block",
                text("Whether a free block was large enough: open a snapshot of the failure"),
                (
                    "torch.cuda.memory._record_memory_history(max_entries=100_000)\n"
                    "...\n"
                    'torch.cuda.memory._dump_snapshot("oom.pickle")    # then: memtrack open oom.pickle'
                ),
            ),
            Check(
                "same_shapes",
                text("Whether it still fails with all shapes the same"),
                "batch = batch[:, :512]",
            ),
        ),
        "graph_retention": (
            _GROWS_EACH_STEP,
            _WHO_KEEPS_IT,
        ),
        "exception_traceback_or_stale_reference": (_WHO_KEEPS_IT,),
        "eval_accumulation": (_GROWS_EACH_STEP,),
        "hook_leak": (
            Check(
                "count_hooks",
                text("How many hooks there are"),
                "print(sum(len(m._forward_hooks) for m in model.modules()))",
            ),
        ),
        "missing_no_grad": (
            Check(
                "requires_grad",
                text("Whether outputs carry a graph"),
                "print(model(batch).requires_grad, torch.is_grad_enabled())",
            ),
        ),
        "per_process_fraction_limit": (
            Check(
                "limit_in_code",
                text("Where the limit is set"),
                'grep -rn "set_per_process_memory_fraction\\|memory_fraction" .',
            ),
        ),
        "other_process_or_framework": (_WHO_IS_THERE,),
        "zombie_or_leftover_process": (
            _WHO_IS_THERE,
            Check(
                "hidden_holders",
                text("Who holds the device although nvidia-smi lists nobody"),
                "sudo fuser -v /dev/nvidia*",
            ),
        ),
        "memory_outside_allocator": (
            Check(
                "process_against_reserved",
                text("What the process holds beyond what PyTorch reserved"),
                (
                    "nvidia-smi --query-compute-apps=pid,used_memory --format=csv\n"
                    'python -c "import torch; print(torch.cuda.memory_reserved())"'
                ),
            ),
        ),
        "cuda_graph_memory": (
            Check(
                "without_graphs",
                text("Whether it fits without CUDA graphs"),
                'torch.compile(model, mode="default")',
            ),
        ),
        "cudnn_workspace": (
            Check(
                "without_cudnn",
                text("Whether it works without cuDNN"),
                "torch.backends.cudnn.enabled = False",
            ),
        ),
        "integer_overflow_or_garbage_size": (_PRINT_SIZES,),
        "logits_or_attention_quadratic": (_PRINT_SIZES,),
        "huge_input_or_boxes": (
            Check(
                "largest_sample",
                text("How large the largest sample is"),
                "print(max(len(x) for x in dataset))",
            ),
        ),
        "checkpointing_or_peft": (
            Check(
                "what_is_trained",
                text("What is trained, and whether checkpointing is on"),
                "model.print_trainable_parameters(); print(model.is_gradient_checkpointing)",
            ),
        ),
        "dtype_fp32_load": (
            Check(
                "dtype_of_weights",
                text("Which dtype the weights have"),
                "print({p.dtype for p in model.parameters()})",
            ),
        ),
        "rank_device_mapping": (
            Check(
                "ranks_and_devices",
                text("Which process uses which device"),
                (
                    'print(os.environ.get("LOCAL_RANK"), torch.cuda.current_device(), '
                    'os.environ.get("CUDA_VISIBLE_DEVICES"))'
                ),
            ),
        ),
        "serving_memory_budget": (
            Check(
                "free_before_start",
                text("How much is free before the engine starts"),
                "nvidia-smi --query-gpu=memory.free,memory.total --format=csv",
            ),
        ),
        "allocator_bug_or_option": (
            Check(
                "allocator_options",
                text("Which options the allocator has"),
                (
                    "env | grep -i alloc_conf\n"
                    'python -c "import torch; print(torch.cuda.get_allocator_backend())"'
                ),
            ),
        ),
        "platform_allocation_limit": (
            Check(
                "one_large_piece",
                text("How large one allocation can be"),
                "torch.empty(4 << 30, dtype=torch.uint8, device=device)",
            ),
        ),
        "kernel_shared_memory_limit": (
            Check(
                "shared_memory_of_gpu",
                text("How much shared memory a block may have"),
                "print(torch.cuda.get_device_properties(0).shared_memory_per_block_optin)",
            ),
        ),
        "nvml_failure_masks_oom": (
            Check(
                "free_on_device",
                text("How much the device has free"),
                "print(torch.cuda.mem_get_info())",
            ),
        ),
        "host_ram_exhausted": (
            Check(
                "host_memory_now",
                text("How full the computer's own memory is"),
                "free -h; dmesg | tail -20",
            ),
        ),
        "pinned_or_wsl_host_limit": (
            Check("locked_limit", text("The limit of locked memory"), "ulimit -l; free -h"),
        ),
        "shm_or_bus_error": (Check("shm_now", text("How full /dev/shm is"), "df -h /dev/shm"),),
        "not_oom_hardware_driver_env": (
            Check(
                "driver_log",
                text("What the driver says"),
                'nvidia-smi; dmesg | grep -i "xid\\|nvrm" | tail',
            ),
        ),
        "not_oom_bad_index_or_int32": (
            Check(
                "blocking_launch",
                text("The line that is really to blame"),
                "CUDA_LAUNCH_BLOCKING=1 python script.py",
            ),
        ),
        "fsdp_or_state_dict_save": (
            Check(
                "peak_of_saving",
                text("Whether the peak lies in saving"),
                (
                    "torch.cuda.reset_peak_memory_stats(); save(); "
                    "print(torch.cuda.max_memory_allocated())"
                ),
            ),
        ),
        "unknown": (
            Check(
                "record_it",
                text("Record it: what is in use when it fails"),
                "python -m memtrack run script.py",
            ),
            _WHO_IS_THERE,
        ),
    }
)
