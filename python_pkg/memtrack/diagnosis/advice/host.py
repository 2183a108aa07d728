"""Advice on the computer's own memory."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

HOST: Sequence[Entry] = (
    Entry(
        "fewer_mappings",
        text("Map fewer files at once, or raise the limit"),
        text("joining files takes time and space on the disk once"),
        frozenset({"host_ram_exhausted"}),
        wordings=frozenset({"host.mapping"}),
        kinds=frozenset({"host"}),
        code=(
            "sudo sysctl -w vm.max_map_count=1048576; ulimit -v unlimited\n"
            "datasets.concatenate_datasets(parts).save_to_disk(path)     # few files instead of many"
        ),
    ),
    Entry(
        "host_memory",
        text("Need less of the computer's own memory"),
        text("nothing"),
        frozenset({"host_ram_exhausted"}),
        code=(
            "free -h\n"
            'model = AutoModel.from_pretrained(name, device_map="auto", dtype=torch.bfloat16)\n'
            "loader = DataLoader(ds, num_workers=2, prefetch_factor=2)"
        ),
        caveats=(
            text("Each worker of a DataLoader holds its own copy of Python objects"),
            text("A killed kernel (137, SIGKILL) is the system's doing: `dmesg | tail` tells"),
            text("float32 weights of 70 B parameters are 280 GB"),
        ),
    ),
    Entry(
        "no_pinning",
        text("Less pinned memory"),
        text("slower copies to the GPU"),
        frozenset({"pinned_or_wsl_host_limit"}),
        code=(
            "loader = DataLoader(ds, pin_memory=False)\n"
            "ulimit -l                        # the limit of this shell"
        ),
        caveats=(
            text(
                "WSL pins only part of what Windows gives it: memory= in %UserProfile%\\.wslconfig, "
                "then wsl --shutdown"
            ),
            text("PyTorch rounds pinned blocks up to a power of two"),
        ),
    ),
    Entry(
        "more_shm",
        text("More shared memory, or less of it used"),
        text("num_workers=0 is slower"),
        frozenset({"shm_or_bus_error"}),
        code=(
            "docker run --shm-size=8g …            # or --ipc=host\n"
            "loader = DataLoader(ds, num_workers=0)"
        ),
        caveats=(
            text("df -h /dev/shm shows what there is"),
            text("In Kubernetes: an emptyDir with medium: Memory mounted at /dev/shm"),
        ),
    ),
)
