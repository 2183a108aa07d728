"""Bytes of every rank to rank 0, over the CPU: on a group of their own, which is gone afterwards."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

import torch

from memtrack.capture.recorder import aside
from memtrack.errors import RecordingStateError, UnavailableError
from memtrack.i18n import text
from memtrack.rankfacts import RankFacts


def own_rank() -> RankFacts:
    """Return which rank this process is; RecordingStateError without a process group."""
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_initialized():
        raise RecordingStateError(
            text("There is no process group to gather through."),
            text("torch.distributed.init_process_group makes one."),
        )
    local = os.environ.get("LOCAL_RANK", "")
    return RankFacts(
        rank=distributed.get_rank(),
        world_size=distributed.get_world_size(),
        local_rank=int(local) if local.isdigit() else -1,
        host=socket.gethostname(),
        pid=os.getpid(),
    )


def gather_bytes(packed: bytes, timeout_s: float) -> list[bytes] | None:
    """Return what every rank has given, in their order; None on all ranks but 0."""
    distributed = torch.distributed
    group = None
    try:
        with aside():
            group = distributed.new_group(backend="gloo", timeout=timedelta(seconds=timeout_s))
            count = distributed.get_world_size()
            found: list[bytes] | None = [b""] * count if distributed.get_rank() == 0 else None
            distributed.gather_object(packed, found, dst=0, group=group)
    except RuntimeError as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise UnavailableError(
            text(
                "Not every rank gave its recording within {seconds} s ({problem}).",
                seconds=f"{timeout_s:g}",
                problem=problem,
            ),
            text("Call memtrack.gather on all of them, also without a recording."),
        ) from error
    finally:
        if group is not None:
            distributed.destroy_process_group(group)
    return found
