"""One process of a group: what `torch.distributed` answers it, and what DistributedDataParallel keeps.

No group is joined and nothing is sent. Collectives work in place or into what they are given; what
others would have sent is not known. Buckets are those of torch's reducer
(torch/csrc/distributed/c10d/reducer.cpp): one MiB first, then `bucket_cap_mb`, from the last
parameter back. NCCL's own memory is outside of the allocator and not modelled.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

from memtrack.i18n import text
from memtrack.prediction.kernels.context import Effects
from memtrack.prediction.stage.arguments import tensors_in
from memtrack.prediction.stage.assumptions import Assumptions
from memtrack.prediction.stage.claims import claim_of
from memtrack.prediction.stage.patches import Patches
from memtrack.units import MIB

NCCL_BYTES = 400 * MIB
"""By how much a process of a group may need more: "some hundred MiB" for buffers and kernels."""
_FIRST_BUCKET, _BUCKET_MB = MIB, 25
_IN_PLACE = ("all_reduce", "broadcast", "reduce", "barrier", "monitored_barrier")
_INTO = (
    "all_gather",
    "all_gather_into_tensor",
    "all_to_all",
    "all_to_all_single",
    "gather",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
)
Tell = Callable[[str, Effects, torch.device], None]


class _Done:
    """The handle of a collective that is over."""

    def wait(self, *args: Any, **kwargs: Any) -> bool:
        """Return at once."""
        return True

    def is_completed(self) -> bool:
        """Return True."""
        return True


class Group:
    """Answers of `torch.distributed` to the program; no group before it asks to join one."""

    def __init__(self, assumptions: Assumptions, tell: Tell) -> None:
        self._assumptions = assumptions
        self._tell = tell
        self.size = 0

    def install(self, patches: Patches) -> None:
        """Put the replacements in."""
        distributed = torch.distributed
        inner = getattr(distributed, "distributed_c10d", distributed)
        for owner in (distributed, inner):
            patches.replace(owner, "init_process_group", lambda original: self._join)
            patches.replace(owner, "destroy_process_group", lambda original: self._leave)
            patches.replace(owner, "is_initialized", lambda original: lambda: self.size > 0)
            patches.replace(owner, "get_world_size", self._answering(lambda: self.size))
            patches.replace(owner, "get_rank", self._answering(_rank))
            patches.replace(owner, "get_backend", self._answering(lambda: "nccl"))
            for name in (*_IN_PLACE, *_INTO):
                patches.replace(owner, name, self._collective)
            patches.replace(owner, "broadcast_object_list", self._answering(lambda: None))
            patches.replace(owner, "all_gather_object", self._gathered)
        kind = DistributedDataParallel
        patches.replace(kind, "__init__", self._wrapping)
        for name, plain in _WRAPPER.items():
            patches.replace(kind, name, _always(plain))
        batch_norm = torch.nn.modules.batchnorm._BatchNorm
        patches.replace(torch.nn.SyncBatchNorm, "forward", lambda original: batch_norm.forward)

    def _join(self, backend: Any = None, *args: Any, **kwargs: Any) -> None:
        given = kwargs.get("world_size", -1)
        self.size = int(given if given > 0 else os.environ.get("WORLD_SIZE", 1))
        self._assumptions.add(
            "init_process_group",
            text("one process of {count}, without the memory of NCCL", count=self.size),
        )
        self._tell("NCCL", Effects(uncertain=NCCL_BYTES), torch.device("cuda", 0))

    def _leave(self, *args: Any, **kwargs: Any) -> None:
        self.size = 0

    def _answering(self, answer: Callable[[], Any]) -> Callable[[Any], Any]:
        """Return what answers a member of the group, and lets torch complain to others."""

        def make(original: Any) -> Any:
            def ask(*args: Any, **kwargs: Any) -> Any:
                return answer() if self.size else original(*args, **kwargs)

            return ask

        return make

    def _collective(self, original: Any) -> Any:
        def pass_on(*args: Any, **kwargs: Any) -> Any:
            if not self.size:
                return original(*args, **kwargs)
            for one in tensors_in(args, kwargs):
                claim = claim_of(one)
                if claim is not None and self.size > 1:
                    claim.forget()
            return _Done() if kwargs.get("async_op") else None

        return pass_on

    def _gathered(self, original: Any) -> Any:
        def gather(into: list[Any], given: Any, *args: Any, **kwargs: Any) -> None:
            if self.size:
                into[:] = [given] * self.size
            else:
                original(into, given, *args, **kwargs)

        return gather

    def _wrapping(self, original: Any) -> Any:
        def wrap(wrapper: Any, module: Any, *args: Any, **kwargs: Any) -> None:
            if not self.size:  # torch says what is missing
                original(wrapper, module, *args, **kwargs)
                return
            torch.nn.Module.__init__(wrapper)
            wrapper.module = module
            wrapper.device_ids = args[0] if args else kwargs.get("device_ids")
            wrapper.require_backward_grad_sync = True
            trained = [one for one in module.parameters() if one.requires_grad]
            if not trained:
                kind = "DistributedDataParallel is not needed when a module doesn't have any"
                raise RuntimeError(f"{kind} parameters that require a gradient.")
            cap = int((kwargs.get("bucket_cap_mb") or _BUCKET_MB) * MIB)
            shared = bool(kwargs.get("gradient_as_bucket_view"))
            wrapper.memtrack_buckets = _buckets(trained, cap, shared, wrapper)

        return wrap


def _always(plain: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return what replaces any function by `plain`."""
    return lambda original: plain


def _rank() -> int:
    return int(os.environ.get("RANK", 0))


def _buckets(
    trained: Sequence[torch.nn.Parameter], cap: int, shared: bool, wrapper: Any
) -> list[torch.Tensor]:
    """Make the flat tensors that gradients are reduced in; `shared` lets gradients live there."""
    made: list[torch.Tensor] = []
    for members in _assigned(trained, cap):
        first = members[0]
        count = sum(one.numel() for one in members)
        flat = torch.zeros(count, dtype=first.dtype, device=first.device)
        made.append(flat)
        if not shared:
            continue
        places = flat.split([one.numel() for one in members])
        for one, place in zip(members, places, strict=True):
            one.register_post_accumulate_grad_hook(_moved_to(place.view(one.shape), wrapper))
    return made


def _moved_to(place: torch.Tensor, wrapper: Any) -> Callable[[torch.Tensor], None]:
    """Return the hook that moves a gradient into its bucket, as a backward that reduces does."""

    def move(parameter: torch.Tensor) -> None:
        if wrapper.require_backward_grad_sync and parameter.grad is not place:
            parameter.grad = place

    return move


def _assigned(
    trained: Sequence[torch.nn.Parameter], cap: int
) -> Iterator[list[torch.nn.Parameter]]:
    """Give the parameters of each bucket: by dtype and device, full once it has its limit of bytes."""
    filling: dict[Any, tuple[int, list[torch.nn.Parameter]]] = {}
    limits: dict[Any, int] = {}
    for one in reversed(trained):
        key = (one.dtype, one.device)
        size, members = filling.get(key, (0, []))
        size, members = size + one.numel() * one.element_size(), [*members, one]
        filling[key] = (size, members)
        if size >= limits.setdefault(key, _FIRST_BUCKET):
            yield members
            del filling[key]
            limits[key] = cap
    yield from (members for _, members in filling.values())


def _forward(wrapper: Any, *args: Any, **kwargs: Any) -> Any:
    return wrapper.module(*args, **kwargs)


@contextlib.contextmanager
def _no_sync(wrapper: Any) -> Iterator[None]:
    before, wrapper.require_backward_grad_sync = wrapper.require_backward_grad_sync, False
    try:
        yield
    finally:
        wrapper.require_backward_grad_sync = before


def _logging(wrapper: Any) -> dict[str, str]:
    """Return the sizes of the buckets as torch's logging tells them, by which they are known."""
    sizes = [one.untyped_storage().nbytes() for one in wrapper.memtrack_buckets]
    return {"bucket_sizes": ", ".join(map(str, sizes))}


def _nothing(wrapper: Any, *args: Any, **kwargs: Any) -> None:
    """Do nothing: nobody communicates."""


_WRAPPER = {
    "forward": _forward,
    "no_sync": _no_sync,
    "_get_ddp_logging_data": _logging,
    "_set_static_graph": _nothing,
    "register_comm_hook": _nothing,
}
