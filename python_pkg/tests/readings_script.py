"""A recording made by hand whose allocator was read, as `capture.readings` would have read it."""

from synthetic import Category, PhaseKind, Script

from memtrack.recording.categories import ReadingKind

KIB, MIB = 1 << 10, 1 << 20
FAMILIES = (
    "allocated_bytes",
    "active_bytes",
    "requested_bytes",
    "reserved_bytes",
    "inactive_split_bytes",
    "allocation",
    "active",
    "segment",
    "inactive_split",
)
POOLS = ("all", "large_pool", "small_pool")
FIGURES = ("current", "peak", "allocated", "freed")


def figures(scale, ooms=0):
    """Statistics as `torch.cuda.memory_stats` gives them, every figure another one."""
    found = {"num_ooms": ooms, "num_alloc_retries": 2 * ooms}
    for place, family in enumerate(FAMILIES):
        unit = scale * (1237 if family.endswith("bytes") else 1) * (place + 1)
        for figure, factor in zip(FIGURES, (3, 5, 11, 8), strict=True):
            large, small = unit * factor * 1000, unit * factor
            for pool, value in zip(POOLS, (large + small, large, small), strict=True):
                found[f"{family}.{pool}.{figure}"] = value
    for family in ("oversize_allocations", "oversize_segments"):
        found |= {f"{family}.{figure}": scale for figure in FIGURES}
    return found


def read(script, kind, statistics, device=0, label=None):
    """Add a reading; return its row."""
    script.now += 2_000
    add = script.builder.strings.add
    row = script.builder["readings"].add(
        cut=script.cut,
        time_ns=script.now,
        device=device,
        kind=kind,
        label=-1 if label is None else add(label),
    )
    for name, value in statistics.items():
        if value:
            script.builder["statistics"].add(reading=row, name=add(name), value=value)
    return row


def training(steps=3, marks=("before eval",), devices=1):
    """Steps of forward, backward and optimizer, each read as it ends; then marks, then the end."""
    script = Script()
    rows = [script.device(index=index, name=f"GPU {index}") for index in range(devices)]

    def take(kind, scale, label=None):
        for row in rows:
            read(script, kind, figures(scale * (row + 1)), row, label)

    script.phase(PhaseKind.OTHER, step=0)
    take(ReadingKind.START, 1)
    scale = 1
    for step in range(steps):
        kept = []
        for kind in (PhaseKind.FORWARD, PhaseKind.BACKWARD, PhaseKind.OPTIMIZER):
            script.phase(kind, step=step)
            kept.append(script.alloc(100 * MIB * (step + 1), Category.ACTIVATION))
            if kind is not PhaseKind.FORWARD:
                script.free(kept.pop(0))
            scale += 1
            script.now += 50_000
            take(ReadingKind.PHASE, scale)
        script.phase(PhaseKind.OTHER, step=step)
        script.now += 50_000
        for row in kept:
            script.free(row)
        if step < steps - 1:
            take(ReadingKind.STEP, scale + 100)
    for label in marks:
        script.now += 50_000
        take(ReadingKind.MARK, scale, label)
    script.now += 50_000
    take(ReadingKind.END, scale)
    return script
