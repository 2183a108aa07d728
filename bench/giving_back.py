"""What `%memtrack free` gives back of a failed cell's bytes, and whether what stays is named.

Counted apart from memtrack: by torch's allocator, by the driver, and by hand over the model's
gradients and the optimizer's state. In: a shell of `failures_live.py` with a cell of `PHASES` that
has failed. Out: bytes.
"""

from __future__ import annotations

import gc
from typing import Any

ENOUGH = 0.95
"""Share of the bytes of a failed cell that is to be back, or to be named by its holder."""
STAYS = "What stays, and who holds it:"


class Levels:
    """What torch's allocator has handed out and what the driver has free, in bytes, at one moment."""

    def __init__(self, torch: Any) -> None:
        self.allocated = int(torch.cuda.memory_allocated())
        self.free = int(torch.cuda.mem_get_info()[0])


def given_back(torch: Any, shell: Any, before: Levels, failed: Levels) -> dict[str, Any]:
    """Return what the failed cell had added, what `%memtrack free` gave back, and who has the rest.

    `before` is from before the cell, `failed` from after its explanation.
    """
    said = "\n".join(shell.texts("%memtrack free --cache"))
    gc.collect()
    after = Levels(torch)
    added, left = failed.allocated - before.allocated, after.allocated - before.allocated
    known = held_by_name(shell.shell.user_ns)
    stays = said.partition(STAYS)[2].strip().splitlines()[:6]
    named = all(any(name in line.split() for line in stays) for name in known)
    share = 1.0 if added <= 0 else (added - left) / added
    return {
        "share": round(share, 4),
        "added": added,
        "given_back": added - left,
        "left": left,
        "held": known,
        "named": bool(known) and named and sum(known.values()) >= ENOUGH * left,
        "device_given_back": after.free - failed.free,
        "device_left": before.free - after.free,
        "stays": stays,
    }


def is_enough(one: dict[str, Any]) -> bool:
    """Whether 95 % of the bytes are back, or those that stay have their exact holder's name."""
    return bool(one["share"] >= ENOUGH or one["named"])


def held_by_name(variables: dict[str, Any]) -> dict[str, int]:
    """Return the bytes that the cell may have left with `model` (gradients) and `optimizer` (state)."""
    gradients = [one.grad for one in variables["model"].parameters() if one.grad is not None]
    states = [
        value
        for state in variables["optimizer"].state.values()
        for value in state.values()
        if getattr(value, "is_cuda", False)
    ]
    sums = {"model": sum(map(_bytes, gradients)), "optimizer": sum(map(_bytes, states))}
    return {name: size for name, size in sums.items() if size}


def _bytes(tensor: Any) -> int:
    return int(tensor.untyped_storage().nbytes())
