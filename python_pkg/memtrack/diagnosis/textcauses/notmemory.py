"""What errors that are no shortage of memory come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtrack.diagnosis.reading import Failure
from memtrack.diagnosis.textcauses.scores import Candidate, Scores
from memtrack.i18n import Text, text

INDEX = "not_oom_bad_index_or_int32"
ENVIRONMENT = "not_oom_hardware_driver_env"

_ADDRESS = text(
    "A kernel read or wrote where nothing is: an index out of range, sizes above 2^31 counted in 32"
    " bits, or a mistake in an extension."
)
_ASSERT = text("A check inside a kernel failed: mostly a label or an index out of range.")
_DRIVER = text("The driver or its library says so by itself; PyTorch only passes it on.")
_LOST = text("The GPU no longer answers: the board, its power or the bus.")
_HSA = text(
    "ROCm's runtime uses this status for queues, events, threads and for memory alike; access to /dev/kfd"
    " and processes that share the GPU are the first to look at."
)
_BUSY = text(
    "Another process holds the GPU alone (compute mode Exclusive Process), or one that ended badly"
    " has not let go."
)
_FILE = text("The file is cut short or was written by two processes at once.")
_DISK = text(
    "The device that has no space is a disk, a quota on it or a network drive: a checkpoint is as large as"
    " the weights, with the optimizer's state three times that."
)

NOT_MEMORY_CAUSES: Mapping[str, Sequence[Candidate]] = {
    "illegal_access": (Candidate(INDEX, 0.7, _ADDRESS), Candidate(ENVIRONMENT, 0.15)),
    "misaligned": (Candidate(INDEX, 0.5, _ADDRESS), Candidate(ENVIRONMENT, 0.3)),
    "illegal_instruction": (Candidate(ENVIRONMENT, 0.5), Candidate(INDEX, 0.35)),
    "device_assert": (Candidate(INDEX, 0.85, _ASSERT),),
    "bad_index": (Candidate(INDEX, 0.85, text("The message itself names the index.")),),
    "launch_failure": (
        Candidate(
            ENVIRONMENT,
            0.5,
            text(
                "Public reports of this error ended at the board, its firmware or its power as often as"
                " at a kernel."
            ),
        ),
        Candidate(INDEX, 0.4, _ADDRESS),
    ),
    "launch_resources": (
        Candidate(
            "kernel_shared_memory_limit",
            0.6,
            text(
                "A kernel asks for more threads, registers or shared memory than a block may have."
            ),
        ),
        Candidate(ENVIRONMENT, 0.3),
    ),
    "peers": (
        Candidate(
            ENVIRONMENT,
            0.7,
            text("A GPU can be mapped to about eight others only; fewer visible devices avoid it."),
        ),
        Candidate("rank_device_mapping", 0.2),
    ),
    "launch_timeout": (
        Candidate(
            ENVIRONMENT,
            0.55,
            text("A GPU that also drives a screen ends kernels that run for some seconds."),
        ),
    ),
    "busy_unavailable": (
        Candidate(ENVIRONMENT, 0.55, _BUSY),
        Candidate("zombie_or_leftover_process", 0.35, _BUSY),
        Candidate("unknown", 0.25),
    ),
    "gpu_lost": (Candidate(ENVIRONMENT, 0.9, _LOST),),
    "nvml_mismatch": (
        Candidate(
            ENVIRONMENT, 0.9, text("The driver was updated while the old one is still loaded.")
        ),
    ),
    "nvml_blocked": (
        Candidate(
            ENVIRONMENT,
            0.9,
            text("WSL or the system keeps programs from asking NVML; the GPU itself may work."),
        ),
    ),
    "nvml": (Candidate(ENVIRONMENT, 0.8, _DRIVER),),
    "mps_server": (
        Candidate(
            ENVIRONMENT,
            0.85,
            text(
                "MPS is NVIDIA's Multi-Process Service here, not Apple's Metal: its server cannot be reached."
            ),
        ),
    ),
    "device_count": (Candidate(ENVIRONMENT, 0.75, _DRIVER),),
    "ecc": (
        Candidate(
            ENVIRONMENT, 0.85, text("The GPU's memory has an error that cannot be corrected.")
        ),
    ),
    "hardware": (Candidate(ENVIRONMENT, 0.85, _LOST),),
    "no_kernel_image": (
        Candidate(
            ENVIRONMENT,
            0.85,
            text("PyTorch or an extension was built for other GPUs than this one."),
        ),
    ),
    "no_device": (
        Candidate(
            ENVIRONMENT,
            0.75,
            text("No GPU is visible: the driver, CUDA_VISIBLE_DEVICES or the container."),
        ),
    ),
    "old_driver": (Candidate(ENVIRONMENT, 0.85, text("The driver is older than PyTorch needs.")),),
    "built_without": (Candidate(ENVIRONMENT, 0.85, text("This PyTorch was built without CUDA.")),),
    "launch_config": (
        Candidate(
            INDEX,
            0.6,
            text(
                "A kernel was to be launched over a grid that no GPU has: a dimension of zero, or a batch"
                " above 65,535 in a kernel that counts it there."
            ),
        ),
        Candidate(ENVIRONMENT, 0.2),
    ),
    "xpu_lost": (
        Candidate(ENVIRONMENT, 0.55, _LOST),
        Candidate(
            "capacity",
            0.3,
            text(
                "Intel's driver has been seen to lose the device where another would report that memory"
                " is full."
            ),
        ),
    ),
    "hsa_resources": (
        Candidate("unknown", 0.4, _HSA),
        Candidate(ENVIRONMENT, 0.35, _HSA),
        Candidate("capacity", 0.2),
    ),
    "hpu_busy": (
        Candidate(
            ENVIRONMENT,
            0.6,
            text("A Gaudi device serves one process at a time, and this one did not get it."),
        ),
        Candidate("zombie_or_leftover_process", 0.35),
    ),
    "capture": (
        Candidate(
            ENVIRONMENT,
            0.6,
            text(
                "While a CUDA graph is recorded, CUDA refuses what cannot be replayed: waiting for the GPU,"
                " new memory outside the graph's pool, some collectives."
            ),
        ),
    ),
    "forked": (
        Candidate(
            ENVIRONMENT,
            0.85,
            text(
                "A process that is forked cannot use the CUDA of its parent: it has to be spawned."
            ),
        ),
    ),
    "open_files": (
        Candidate(
            ENVIRONMENT,
            0.8,
            text(
                "Each tensor that goes from one process to another holds a file open: the limit of open files"
                " is reached."
            ),
        ),
    ),
    "disk_full": (Candidate(ENVIRONMENT, 0.8, _DISK),),
    "corrupt_checkpoint": (Candidate(ENVIRONMENT, 0.7, _FILE),),
    "crash": (
        Candidate(ENVIRONMENT, 0.5, text("Native code crashed: a library or its version.")),
        Candidate("unknown", 0.3),
    ),
    "unknown_error": (
        Candidate(ENVIRONMENT, 0.5, _DRIVER),
        Candidate(INDEX, 0.25),
        Candidate("unknown", 0.25),
    ),
    "recoverable_warning": (
        Candidate(
            "not_oom_recoverable_warning",
            0.6,
            text(
                "The line is printed at every failed attempt, also when the next one succeeds; nothing"
                " after it in this text says that the run ended."
            ),
        ),
        Candidate("capacity", 0.4),
    ),
}

_XID_APPLICATION = frozenset({"13", "31", "43", "45"})
"""NVIDIA's numbers for errors that a program causes; the others are of the board or the driver."""


def weigh_not_memory(failure: Failure, scores: Scores) -> None:
    """Weigh an error that is no shortage of memory, by its wording and its status."""
    name = failure.wording.removeprefix("not_oom.")
    if name == "xid":
        _xid(failure.status, scores)
    else:
        scores.add_all(NOT_MEMORY_CAUSES.get(name, ()))


def _xid(number: str, scores: Scores) -> None:
    line: Text = text("The driver logged Xid {number}.", number=number)
    if number in _XID_APPLICATION:
        scores.add(INDEX, 0.5, line, _ADDRESS)
        scores.add(ENVIRONMENT, 0.4, line)
    else:
        scores.add(ENVIRONMENT, 0.85, line, _LOST)
