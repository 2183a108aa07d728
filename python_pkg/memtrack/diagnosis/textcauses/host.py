"""What wordings about the computer's own memory make likely, and those of kernels and viewers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtrack.diagnosis.textcauses.scores import Candidate
from memtrack.i18n import text

_KILLED = text(
    "Signal 9 is what the system sends when its memory is full; a person or a scheduler may send it"
    " too."
)

HOST_CAUSES: Mapping[str, Sequence[Candidate]] = {
    "cpu_oom": (
        Candidate(
            "host_ram_exhausted",
            0.75,
            text("The allocator of the CPU refused: this is the computer's memory, not the GPU's."),
        ),
        Candidate(
            "graph_retention",
            0.2,
            text("A graph or results kept from step to step fill the computer's memory as well."),
        ),
    ),
    "host": (
        Candidate("host_ram_exhausted", 0.75, text("The computer's own memory ran out.")),
        Candidate("shm_or_bus_error", 0.1),
    ),
    "host.mapping": (
        Candidate(
            "host_ram_exhausted",
            0.5,
            text(
                "A mapped file takes addresses and one entry of the process's mappings, hardly memory:"
                " their number is limited, and in containers and by ulimit -v the addresses too."
            ),
        ),
        Candidate("unknown", 0.3),
    ),
    "host.oom_killed.code": (Candidate("host_ram_exhausted", 0.7, _KILLED),),
    "host.oom_killed.shell": (Candidate("host_ram_exhausted", 0.65, _KILLED),),
    "host.oom_killed.137": (Candidate("host_ram_exhausted", 0.65, _KILLED),),
    "host.oom_killed.signal": (Candidate("host_ram_exhausted", 0.65, _KILLED),),
    "host.oom_killed.worker": (Candidate("host_ram_exhausted", 0.7, _KILLED),),
    "host.oom_killed.launcher": (
        Candidate(
            "host_ram_exhausted",
            0.5,
            text(
                "The launcher ended its processes after one of them failed; which one and why stands"
                " before this line."
            ),
        ),
        Candidate("unknown", 0.35),
    ),
    "host.exited_unexpectedly": (
        Candidate("host_ram_exhausted", 0.4),
        Candidate("shm_or_bus_error", 0.35),
        Candidate("unknown", 0.3),
    ),
    "host_pinned": (
        Candidate(
            "pinned_or_wsl_host_limit",
            0.75,
            text(
                "The failure is in pinning the computer's memory, of which the system allows only a part."
            ),
        ),
        Candidate("host_ram_exhausted", 0.3),
    ),
    "host_pinned.thread": (
        Candidate("pinned_or_wsl_host_limit", 0.45),
        Candidate("unknown", 0.35),
    ),
    "shm_bus_error": (
        Candidate(
            "shm_or_bus_error",
            0.6,
            text(
                "A bus error in a worker means that shared memory (/dev/shm) is full, or that a mapped"
                " file is shorter than expected."
            ),
        ),
        Candidate("unknown", 0.3),
        Candidate("host_ram_exhausted", 0.15),
    ),
    "shm_bus_error.space": (
        Candidate(
            "shm_or_bus_error",
            0.85,
            text("The system itself says that no space is left in shared memory."),
        ),
    ),
    "shm_bus_error.nccl": (
        Candidate(
            "shm_or_bus_error",
            0.7,
            text(
                "NCCL keeps a segment of shared memory for each pair of GPUs, and this one could not be made."
            ),
        ),
        Candidate("not_oom_hardware_driver_env", 0.2),
    ),
    "jupyter": (
        Candidate("unknown", 0.45, text("The text does not tell why the kernel died.")),
        Candidate(
            "host_ram_exhausted",
            0.4,
            text("The system ends a kernel without a word when the computer's memory is full."),
        ),
        Candidate(
            "not_oom_hardware_driver_env",
            0.3,
            text("A crash in native code ends a kernel in the same way."),
        ),
    ),
    "triton": (
        Candidate(
            "kernel_shared_memory_limit",
            0.9,
            text(
                "The kernel needs more of the fast memory inside the GPU's cores than there is; device"
                " memory is not concerned."
            ),
        ),
    ),
    "triton.compile_without_reason": (
        Candidate("unknown", 0.45),
        Candidate(
            "capacity",
            0.3,
            text(
                "A full device has been seen to surface as an error of the compiler: look for an earlier"
                " error."
            ),
        ),
    ),
    "triton.compile": (
        Candidate("unknown", 0.45),
        Candidate("not_oom_hardware_driver_env", 0.3),
    ),
    "viewer": (
        Candidate(
            "viewer_or_snapshot_problem",
            0.55,
            text("The text is about a snapshot or the page that shows it."),
        ),
    ),
    "viewer.unpickle_error": (
        Candidate(
            "viewer_or_snapshot_problem",
            0.85,
            text("The viewer's page cannot read a number in this pickle."),
        ),
    ),
    "story.checkpoint_no_grad": (
        Candidate(
            "checkpointing_or_peft",
            0.55,
            text(
                "No input of a checkpointed part requires a gradient, so its backward is cut off: what is"
                " saved is training itself."
            ),
        ),
    ),
}
