"""One search for who keeps a device's memory alive, from the user's names to the last resort."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import torch

from memtrack.capture.holders import roots
from memtrack.capture.holders.storages import Found, storages_of
from memtrack.capture.holders.walk import Walk

LIMIT_S = 1.0
"""How long a search may take; a million objects are seen in less."""


def search(
    shell: Any, devices: Sequence[torch.device], limit_s: float = LIMIT_S, everywhere: bool = True
) -> Walk:
    """Return the finished walk from all names of the process. It is to be closed at once.

    Without `everywhere` from what the notebook keeps alone: variables, outputs and errors.
    A `with` of a generator would stand among the running functions whose variables are looked at.
    """
    walk = Walk(devices, limit_s, roots.barriers(shell))
    try:
        _search_notebook(walk, shell)
        if everywhere:
            _search_modules(walk, shell)
    except BaseException:
        walk.close()
        raise
    return walk


def _search_notebook(walk: Walk, shell: Any) -> None:
    """Models first, so that parameters are theirs and not their optimizer's."""
    models, others, optimizers = roots.variables(shell)
    for some in (models, others, optimizers):
        walk.stage(some)
    walk.users_end = len(walk.objects)
    walk.stage(roots.outputs(shell))
    walk.stage(roots.exceptions(shell))


def _search_modules(walk: Walk, shell: Any) -> None:
    walk.stage(roots.ours(shell))
    mine, theirs = roots.globals_of_modules()
    walk.stage(mine)
    walk.stage(roots.running_frames())
    walk.stage(theirs)
    walk.stage(roots.class_roots(list(walk.classes)))


def nameless(walk: Walk, devices: Sequence[torch.device]) -> tuple[list[Found], str]:
    """Return the storages of tensors that no name leads to, and what kind of object refers to them."""
    unseen = list(walk.unseen())
    known = {held.found.key for held in walk.held}
    found = [one for tensor in unseen for one in storages_of(tensor, devices)]
    fresh = {one.key: one for one in found if one.key not in known}
    holders = gc.get_referrers(*unseen) if fresh else []
    kinds = {
        f"{type(one).__module__}.{type(one).__qualname__}".removeprefix("builtins.")
        for one in holders
        if one is not unseen and one is not found
    }
    holders.clear()
    return list(fresh.values()), ", ".join(sorted(kinds)[:3])
