"""What a kernel row is told, and what it declares besides its outputs.

A row is a pure function of what it is given here: of the shapes, dtypes and strides of its tensors,
of its other arguments, and of the settings in `KernelContext`. Its answer is remembered and used
again for the same arguments, so it must not read anything else.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

NOTHING = 0


class Gpu(Protocol):
    """The GPU a prediction is for."""

    @property
    def name(self) -> str:
        """As the driver calls it: `NVIDIA H200`."""

    @property
    def total(self) -> int:
        """Bytes of memory."""

    @property
    def capability(self) -> tuple[int, int]:
        """Compute capability: (9, 0) for Hopper."""

    @property
    def multiprocessors(self) -> int:
        """How many streaming multiprocessors it has."""


class KernelTable(Protocol):
    """The table of CUDA kernels that the stage asks."""

    @property
    def rows(self) -> frozenset[str]:
        """Names of the operations, without namespace and overload, that `run` wants to see."""

    @property
    def swaps(self) -> frozenset[str]:
        """Names of the operations, without namespace and overload, that `swap` wants to see."""

    def run(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
    ) -> Any:
        """Return the outputs of one operation below autograd, made on meta, or NotImplemented.

        `args` and `kwargs` hold meta tensors; no mode is active, so aten may be called freely.
        """

    def swap(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
    ) -> Any:
        """Return the outputs of an operation above autograd and autocast, or NotImplemented.

        Called for what Python code calls and is named in `swaps`, and for every operation while
        `torch.autocast("cuda")` is on (`context.autocast`). What is called inside goes through
        autograd and then to `run`; tensors are on meta here too, and what is made on meta claims
        the device of the operation. An operation that C++ calls inside another one is not seen:
        `einsum` has to be cast as a whole, `cross_entropy_loss` to be taken apart.
        """

    def forget_casts(self) -> None:
        """Let go of what was kept for autocast: its outermost block was left."""


@dataclass
class Effects:
    """What one operation needs besides its outputs; bytes as requested, unrounded."""

    scratch: list[int] = field(default_factory=list)
    """Alive together, from the outputs' making to the end of the operation."""
    sequences: list[list[int]] = field(default_factory=list)
    """Each a list of sizes that come one after another, each gone before the next."""
    kept: list[tuple[Hashable, int]] = field(default_factory=list)
    """Workspaces of libraries: made once for each key, then there to the end."""
    uncertain: int = NOTHING
    """Bytes by which the operation may need more or less than said."""

    def __bool__(self) -> bool:
        return bool(self.scratch or self.sequences or self.kept or self.uncertain)


@dataclass
class KernelContext:
    """Settings that decide which kernel CUDA takes, and the declarations of a row."""

    gpu: Gpu
    backward: bool = False
    """Whether the operation runs in autograd's backward: on another thread on CUDA."""
    allow_tf32: bool = False
    """`torch.backends.cuda.matmul.allow_tf32`."""
    deterministic: bool = False
    """`torch.are_deterministic_algorithms_enabled()`."""
    cudnn: bool = True
    """`torch.backends.cudnn.enabled`."""
    benchmark: bool = False
    """`torch.backends.cudnn.benchmark`."""
    grad: bool = True
    """`torch.is_grad_enabled()`, for `swap`."""
    autocast: Any = None
    """The dtype of `torch.autocast("cuda")` where it is on, else None; for `swap`."""
    device: Any = None
    """The device claimed by the operation's tensors: `cuda:0`, `cpu`."""
    effects: Effects = field(default_factory=Effects)

    def scratch(self, nbytes: int) -> None:
        """Declare memory allocated and freed inside the operation, alive with its other scratch."""
        if nbytes > 0:
            self.effects.scratch.append(int(nbytes))

    def scratch_sequence(self, sizes: Iterable[int]) -> None:
        """Declare memory that comes and goes inside the operation, one piece after another."""
        pieces = [int(size) for size in sizes if size > 0]
        if pieces:
            self.effects.sequences.append(pieces)

    def keep(self, key: Hashable, nbytes: int) -> None:
        """Declare a library's workspace: allocated the first time `key` comes, kept to the end."""
        if nbytes > 0:
            self.effects.kept.append((key, int(nbytes)))

    def widen(self, nbytes: int) -> None:
        """Declare by how many bytes a kernel that is not modelled may differ, up or down."""
        self.effects.uncertain += max(int(nbytes), 0)
