"""Advice for what is no lack of memory."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

BROKEN_CONTEXT = frozenset(
    {
        "illegal_access",
        "misaligned",
        "illegal_instruction",
        "device_assert",
        "launch_failure",
        "launch_timeout",
        "hardware",
        "ecc",
        "unknown_error",
    }
)
"""Errors after which every later call of CUDA fails: CUDA's documentation calls them sticky."""
DRIVER = frozenset(
    {
        "gpu_lost",
        "xid",
        "ecc",
        "hardware",
        "device_count",
        "no_device",
        "no_kernel_image",
        "old_driver",
        "built_without",
    }
)
NVML = frozenset({"nvml", "nvml_mismatch", "nvml_blocked"})

NOT_MEMORY: Sequence[Entry] = (
    Entry(
        "restart_process",
        text("Do not go on in this process: restart the kernel"),
        text("what is only in memory is lost"),
        frozenset({"not_oom_bad_index_or_int32", "not_oom_hardware_driver_env"}),
        wordings=BROKEN_CONTEXT,
        code=(
            "CUDA_LAUNCH_BLOCKING=1 python train.py      # then the traceback names the right line"
        ),
        caveats=(
            text(
                "After an illegal access or a device-side assert the context is broken: every "
                "later call fails"
            ),
        ),
    ),
    Entry(
        "check_indices",
        text("Check labels and indices on the CPU"),
        text("nothing"),
        frozenset({"not_oom_bad_index_or_int32"}),
        wordings=frozenset({*BROKEN_CONTEXT, "bad_index"}),
        code=(
            "assert 0 <= labels.min() and labels.max() < num_classes\n"
            "model.cpu()(batch_on_cpu)         # the CPU names the wrong index"
        ),
        caveats=(
            text("An embedding needs as many rows as the tokenizer has words"),
            text("More than 2^31 elements: some kernels still count in 32 bits; split the tensor"),
        ),
    ),
    Entry(
        "smaller_grid",
        text("Give the kernel a batch that it can launch"),
        text("a few launches more"),
        frozenset({"not_oom_bad_index_or_int32"}),
        wordings=frozenset({"launch_config"}),
        kinds=frozenset({"not_oom"}),
        code=(
            "parts = zip(q.split(32768), k.split(32768), v.split(32768))\n"
            "out = torch.cat([attend(*part) for part in parts])"
        ),
        caveats=(text("An empty tensor, with a size of 0, ends in the same error"),),
    ),
    Entry(
        "driver_and_versions",
        text("Use versions of driver, CUDA and PyTorch that fit together"),
        text("a reboot, or reloading the driver"),
        frozenset({"not_oom_hardware_driver_env", "nvml_failure_masks_oom"}),
        wordings=DRIVER | NVML | frozenset({"crash", "illegal_instruction", "unknown_error"}),
        code=("nvidia-smi\npython -m torch.utils.collect_env"),
        caveats=(
            text(
                "`Driver/library version mismatch`: the driver was updated and is not loaded yet: "
                "reboot"
            ),
            text(
                "In WSL the driver is Windows': update it there, then wsl --shutdown; install none "
                "in Linux"
            ),
            text("Xid errors in `dmesg` point to hardware or driver"),
        ),
    ),
    Entry(
        "device_is_busy",
        text("See who has the device, and in which mode it is"),
        text("nothing"),
        frozenset({"not_oom_hardware_driver_env"}),
        wordings=DRIVER | frozenset({"busy_unavailable", "mps_server"}),
        code=(
            "nvidia-smi -q -d COMPUTE,ECC\nnvidia-smi --query-compute-apps=pid,name --format=csv"
        ),
        caveats=(text("In mode Exclusive_Process one process has the device for itself"),),
    ),
    Entry(
        "fewer_visible_gpus",
        text("Let the process see only the GPUs that it uses"),
        text("nothing"),
        frozenset({"not_oom_hardware_driver_env"}),
        wordings=frozenset({"peers"}),
        code=(
            'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0,1,2,3"   # before torch is imported'
        ),
        caveats=(text("Of many GPUs each can reach the memory of about eight others directly"),),
    ),
    Entry(
        "file_again",
        text("Download or save the file again"),
        text("nothing"),
        frozenset({"not_oom_hardware_driver_env"}),
        wordings=frozenset({"corrupt_checkpoint"}),
        code='state = torch.load(path, map_location="cpu", weights_only=True)',
        caveats=(text("Save under another name and rename it at the end, from one process only"),),
    ),
    Entry(
        "read_it_as_oom",
        text("Treat it as out of memory"),
        text("nothing"),
        frozenset({"nvml_failure_masks_oom"}),
        code='python -c "import torch; print(torch.cuda.mem_get_info())"',
        caveats=(
            text(
                "PyTorch failed while it wrote the message: MIG, Jetson and containers lack parts "
                "of NVML"
            ),
        ),
    ),
    Entry(
        "smaller_kernel",
        text("Smaller blocks or fewer stages in the kernel"),
        text("the kernel may be slower"),
        frozenset({"kernel_shared_memory_limit"}),
        code='triton.Config({"BLOCK_M": 64, "BLOCK_N": 64}, num_stages=2, num_warps=4)',
        caveats=(
            text(
                "A GPU of another generation has other limits: 99 KiB on consumer cards, 227 KiB "
                "on H100"
            ),
        ),
    ),
    Entry(
        "ignore_warning",
        text("Nothing has to be done"),
        text("some speed, where PyTorch chose another way"),
        frozenset({"not_oom_recoverable_warning"}),
    ),
    Entry(
        "open_with_memtrack",
        text("Open the snapshot here"),
        text("nothing"),
        frozenset({"viewer_or_snapshot_problem"}),
        code=('memtrack open snapshot.pickle\ntorch.cuda.memory._dump_snapshot("snapshot.pickle")'),
        caveats=(text("The web viewer fails on very large files and on some Python versions"),),
    ),
)
