"""Memory that libraries keep in the allocator and no tensor of Python's shows: told by its size.

cuBLAS takes one workspace for each pair of handle and stream and keeps it; DistributedDataParallel
keeps the buckets its gradients are reduced in. Both are in the allocator's history like any block.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import torch

from memtrack.recording.categories import Category

Sizes = Mapping[Category, frozenset[int]]
_CUBLAS_DEFAULTS = (4096 * 1024 * 2 + 16 * 1024 * 8, 32 << 20)
"""`:4096:2:16:8` in KiB, and 32 MiB from Hopper on (aten/src/ATen/cuda/CublasHandlePool.cpp)."""
_CUBLASLT_DEFAULTS = (1 << 20, 4 << 20, 32 << 20)
_PAIR = re.compile(r":(\d+):(\d+)")


def sizes_of_libraries(models: Iterable[torch.nn.Module]) -> Sizes:
    """Return the bytes asked for by workspaces and by the buckets of the models' reducers."""
    return {Category.WORKSPACE: frozenset(_workspaces(os.environ)), **sizes_of_buckets(models)}


def sizes_of_buckets(models: Iterable[torch.nn.Module]) -> Sizes:
    """Return the bytes asked for by the buckets of the models' reducers alone."""
    sizes = frozenset(size for model in models for size in _buckets(model))
    return {Category.COMMUNICATION: sizes}


def _workspaces(environment: Mapping[str, str]) -> Iterable[int]:
    """Yield the sizes of workspaces; the variables are those that torch reads, in KiB."""
    configured = _PAIR.findall(environment.get("CUBLAS_WORKSPACE_CONFIG", ""))
    yield from _CUBLAS_DEFAULTS
    yield from _CUBLASLT_DEFAULTS
    if configured:
        yield sum(int(size) * int(count) for size, count in configured) * 1024
    for variable in ("CUBLASLT_WORKSPACE_SIZE", "_CUBLASLT_WORKSPACE_SIZE"):
        with contextlib.suppress(KeyError, ValueError):
            yield int(environment[variable]) * 1024


def _buckets(model: torch.nn.Module) -> Iterable[int]:
    # Logging data of torch's, worded as it likes; and a model may be such that nobody can walk through it.
    with contextlib.suppress(Exception):
        for module in model.modules():
            if type(module).__name__ != "DistributedDataParallel":
                continue
            told = cast(Any, module)._get_ddp_logging_data()
            for key in ("bucket_sizes", "rebuilt_bucket_sizes"):
                yield from (int(size) for size in re.findall(r"\d+", str(told.get(key, ""))))
