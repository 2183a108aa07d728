"""Every operation below autograd: outputs as CUDA makes them, without data.

Comes in: an aten overload and its arguments, meta tensors with claims, now and then a real tensor.
Goes out: meta tensors with claims. In between the table of CUDA kernels is asked; its answers, and
those of torch's own meta kernels, are remembered by the metadata they depend on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from memtrack.errors import MemtrackError
from memtrack.i18n import text
from memtrack.prediction.kernels.context import Effects, Gpu, KernelContext, KernelTable
from memtrack.prediction.stage.answers import Answers
from memtrack.prediction.stage.arguments import NOTHING, tensors_in
from memtrack.prediction.stage.assumptions import Assumptions, refused
from memtrack.prediction.stage.claims import (
    CPU,
    KEY,
    META,
    Claim,
    Depth,
    claim_of,
    indexed,
    is_meta,
)
from memtrack.prediction.stage.facts import (
    FACTORY,
    IN_PLACE,
    PURE,
    VIEW,
    OperationFacts,
)
from memtrack.prediction.stage.known import MAX_ELEMENTS, begin_value, compute, remember
from memtrack.prediction.stage.metas import outputs_of
from memtrack.prediction.stage.outside import Outside
from memtrack.prediction.stage.remembered import NotDescribable, described, key_of, made
from memtrack.prediction.stage.shapes import Shapes
from memtrack.prediction.stage.specials import DENSE, Specials
from memtrack.prediction.stage.values import claim_new, claim_outputs, update

Tensor = torch.Tensor
NO_EFFECTS = Effects()
_graph_task = torch._C._current_graph_task_id
_NO_GRAPH_TASK = -1
_PLAIN = (
    (Tensor, torch.nn.Parameter, torch.nn.Buffer)
    if hasattr(torch.nn, "Buffer")
    else (
        Tensor,
        torch.nn.Parameter,
    )
)


class Operations(TorchDispatchMode):
    """The mode that runs a predicted program's operations; one object a prediction."""

    def __init__(self, gpu: Gpu, kernels: KernelTable, assumptions: Assumptions) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._gpu = gpu
        self._kernels = kernels
        self._rows = getattr(kernels, "rows", None)
        self.answers = Answers(assumptions)
        self.outside = Outside()
        self._specials = Specials(self, Shapes(self, assumptions), assumptions)
        self._facts: dict[Any, OperationFacts] = {}
        self._remembered: dict[Any, Any] = {}
        self.recent = CPU
        """The device in use: C++ makes tensors on meta for "where my arguments are"."""
        self.destination: torch.device | None = None
        """The device that the next tensor made on "meta" claims; set where a device is swapped."""
        self.asked = ""
        """The one of `ACCUMULATING` that Python code calls now."""
        self.on_effects: Callable[[Any, Effects, torch.device], None] = lambda op, effects, on: None
        """Told what an operation needed besides its outputs, before they are returned."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Spare each operation a wrapper against compilation, which does not happen here."""
        return False

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Let torch know that nothing here is to be compiled."""
        return True

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run one operation without data."""
        for one in types:
            if one not in _PLAIN and _dispatches(one):
                return NotImplemented
        before, Depth.below = Depth.below, True
        try:
            with torch._C.DisableTorchFunction():
                return self.operate(func, args, kwargs or NOTHING)
        finally:
            Depth.below = before

    def operate(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run one operation; torch functions and modes are off."""
        facts = self._facts.get(op)
        if facts is None:
            facts = self._learn(op)
        if facts.special is not None:
            outcome = facts.special(op, args, kwargs)
            if outcome is not NotImplemented:
                return outcome
        kind = facts.kind
        if facts.composite:
            with self:
                return op.decompose(*args, **kwargs)
        if kind is VIEW:
            return op(*args, **kwargs)
        if kind is FACTORY:
            return self._make(facts, op, args, kwargs)
        tensors = tensors_in(args, kwargs)
        claims = []
        for one in tensors:
            try:
                claim = one.untyped_storage().__dict__.get(KEY)
            except (RuntimeError, NotImplementedError):
                raise refused(
                    facts.title,
                    text("tensors of layout {layout} are not modelled", layout=one.layout),
                    DENSE if one.is_sparse else "",
                ) from None
            if claim is None:
                return self._with_outside(facts, op, args, kwargs, tensors)
            claims.append(claim)
        return self._compute(facts, op, args, kwargs, tensors, claims)

    def _with_outside(
        self,
        facts: OperationFacts,
        op: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        tensors: list[Tensor],
    ) -> Any:
        """Run an operation some of whose tensors are real, or not of this prediction."""
        if facts.writes:
            given = [args[place] for place in facts.writes if place < len(args)]
            given += [kwargs[name] for name in facts.written_names if name in kwargs]
            for one in tensors_in(given, NOTHING):
                self.outside.check_written(one, facts.title)
        keeps_scalars = any(is_meta(one) for one in tensors)
        taken = {id(one): self.outside.taken_in(one, facts.title, keeps_scalars) for one in tensors}
        args = tuple(_exchanged(one, taken) for one in args)
        kwargs = {name: _exchanged(one, taken) for name, one in kwargs.items()}
        tensors = tensors_in(args, kwargs)
        claims = [self.outside.claim_for(one) for one in tensors]
        return self._compute(facts, op, args, kwargs, tensors, claims)

    def _compute(
        self,
        facts: OperationFacts,
        op: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        tensors: list[Tensor],
        claims: list[Claim],
    ) -> Any:
        device = self._device_of(facts, tensors, claims)
        if facts.takes_device and any(type(one) is torch.device for one in args):
            raise refused(facts.title, text("it is not modelled"))
        meta_kwargs = kwargs
        if facts.takes_device and kwargs:
            device, meta_kwargs = self._redirected(kwargs, device)
        self.recent = device
        outputs = self._outputs(facts, op, args, meta_kwargs, tensors, device)
        if facts.kind is IN_PLACE:
            update(facts, op, args, kwargs, claims)
            return outputs
        claim_outputs(facts, op, args, kwargs, claims, outputs, device)
        return outputs

    # outputs

    def _outputs(
        self,
        facts: OperationFacts,
        op: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        tensors: list[Tensor],
        device: torch.device,
    ) -> Any:
        has_row = self._has_row(facts, device)
        if facts.kind is IN_PLACE and not has_row and _is_plain_update(facts, tensors):
            return args[0] if facts.returns_first else None
        if facts.kind is not PURE and facts.kind is not IN_PLACE:
            return self._run(facts, op, args, kwargs, device, has_row)[0]
        return self._repeated(facts, op, args, kwargs, tensors, device)

    def _has_row(self, facts: OperationFacts, device: torch.device) -> bool:
        return device.type == "cuda" and (self._rows is None or facts.name in self._rows)

    def _repeated(
        self,
        facts: OperationFacts,
        op: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        tensors: list[Tensor],
        device: torch.device,
    ) -> Any:
        """Return the outputs of an operation, from memory where it ran with the like before."""
        has_row = self._has_row(facts, device)
        try:
            in_backward = _graph_task() != _NO_GRAPH_TASK
            key = (op, device, in_backward, _flags(), torch.get_default_dtype(), key_of(args))
            if kwargs:
                named = [(name, key_of(kwargs[name])) for name in kwargs if name != "generator"]
                key = (*key, *named)
            found = self._remembered.get(key)
        except TypeError:  # an argument that cannot be hashed
            return self._run(facts, op, args, kwargs, device, has_row)[0]
        if found is not None:
            description, effects = found
            if effects is not NO_EFFECTS:
                self.on_effects(op, effects, device)
            return made(description, tensors)
        outputs, effects = self._run(facts, op, args, kwargs, device, has_row)
        with contextlib.suppress(NotDescribable):
            self._remembered[key] = described(outputs, tensors), effects
        return outputs

    def _run(
        self,
        facts: OperationFacts,
        op: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        device: torch.device,
        has_row: bool,
    ) -> tuple[Any, Effects]:
        """Ask the table of kernels, else torch's meta kernel; return outputs and effects."""
        outputs, effects = NotImplemented, NO_EFFECTS
        if kwargs and kwargs.get("generator") is not None:
            kwargs = {**kwargs, "generator": None}
        try:
            if has_row:
                context = self.context(device)
                outputs = self._kernels.run(op, args, kwargs, context)
                effects = context.effects if context.effects else NO_EFFECTS
            if outputs is NotImplemented:
                outputs = outputs_of(facts.name, args, kwargs)
            if outputs is NotImplemented:
                outputs = op(*args, **kwargs)
        except RuntimeError as error:
            if not _lacks_shapes(error):
                raise
            raise refused(
                facts.title, text("torch has no shapes for it without data"), _line(error)
            ) from error
        if effects is not NO_EFFECTS:
            self.on_effects(op, effects, device)
        return outputs, effects

    def context(self, device: torch.device) -> KernelContext:
        """Return what a kernel row is told now."""
        tf32, deterministic, cudnn, benchmark = _flags()
        autocast = None
        if torch.is_autocast_enabled("cuda"):
            autocast = torch.get_autocast_dtype("cuda")
        return KernelContext(
            gpu=self._gpu,
            backward=_graph_task() != _NO_GRAPH_TASK,
            allow_tf32=tf32,
            deterministic=deterministic,
            cudnn=cudnn,
            benchmark=benchmark,
            grad=torch.is_grad_enabled(),
            autocast=autocast,
            device=device,
        )

    def declare_scratch(self, op: Any, tensor: Tensor) -> None:
        """Tell of a tensor that lives inside an operation only."""
        self.declare_bytes(op, tensor, [tensor.untyped_storage().nbytes()])

    def declare_bytes(self, op: Any, tensor: Tensor, sizes: list[int]) -> None:
        """Tell of memory that lives inside an operation only, where a tensor is."""
        claim = claim_of(tensor)
        if claim is not None:
            self.on_effects(op, Effects(scratch=sizes), claim.device)

    # devices

    def _device_of(
        self, facts: OperationFacts, tensors: list[Tensor], claims: list[Claim]
    ) -> torch.device:
        """Return the device an operation runs on, as CUDA would choose or refuse."""
        device: torch.device | None = None
        on_host = on_meta = False
        for one, claim in zip(tensors, claims, strict=True):
            claimed = claim.device
            if claimed is CPU:
                on_host = on_host or one.dim() > 0
            elif claimed is META:
                on_meta = True
            elif device is None:
                device = claimed
            elif device is not claimed and one.dim() and not facts.mixes:
                raise _mixed(facts, device, claimed)
        if device is None:
            return META if on_meta and not on_host else CPU
        if on_host and not facts.mixes:
            raise _mixed(facts, device, CPU)
        return device

    def _redirected(
        self, kwargs: dict[str, Any], device: torch.device
    ) -> tuple[torch.device, dict[str, Any]]:
        """Return the device that an explicit `device=` claims, and arguments for meta."""
        asked = kwargs.get("device")
        if asked is not None:
            device = self._meant(asked, device)
        elif self.destination is not None:
            device = self.destination
        changed = {**kwargs, "device": META} if asked is not None else dict(kwargs)
        if changed.get("pin_memory"):
            changed["pin_memory"] = False
        return device, changed

    def _meant(self, asked: torch.device, otherwise: torch.device) -> torch.device:
        """Return the device claimed by what is made on `asked`.

        Meta stands for the device swapped above, else C++ asks for where its tensors are.
        """
        if asked.type == "cpu":
            return CPU
        if asked.type == "meta":
            return self.destination or otherwise
        return indexed(asked)

    # tensors from nothing

    def _make(
        self, facts: OperationFacts, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        asked = kwargs.get("device")
        device = CPU if asked is None else self._meant(asked, self.recent)
        meta_kwargs = {**kwargs, "device": META}
        meta_kwargs.pop("pin_memory", None)
        outputs = self._repeated(facts, op, args, meta_kwargs, [], device)
        if device is META:
            claim_new(outputs, META)
            return outputs
        ((one, claim),) = claim_new(outputs, device) or ((outputs, None),)
        if claim is None:
            return outputs
        if facts.uninitialised:
            begin_value(one, claim)
        elif one.numel() <= MAX_ELEMENTS:
            real = compute(op, args, kwargs)
            if isinstance(real, Tensor):
                remember(one, claim, real)
        else:
            number = {"zeros": 0, "ones": 1}.get(facts.name)
            number = args[1] if facts.name == "full" and len(args) > 1 else number
            if isinstance(number, (int, float, bool)):
                claim.uniform = torch.tensor(number, dtype=one.dtype)
        return outputs

    # special operations

    def _learn(self, op: Any) -> OperationFacts:
        facts = self._facts[op] = OperationFacts(op)
        facts.special = self._specials.handler(facts.name)
        return facts

    def lifted(self, real: Tensor) -> Tensor:
        """Return a tensor without data for a real one that was made of the program's numbers."""
        return self._specials.lifted(real)


def _exchanged(value: Any, taken: dict[int, Tensor]) -> Any:
    """Return an argument with its tensors exchanged. No closure: one that calls itself keeps them alive."""
    if isinstance(value, Tensor):
        return taken[id(value)]
    if type(value) in (list, tuple):
        return [_exchanged(one, taken) for one in value]
    return value


def _is_plain_update(facts: OperationFacts, tensors: list[Tensor]) -> bool:
    """Tell whether running an operation in place on meta could tell nothing: shapes all fit."""
    if not (facts.returns_first or facts.name.startswith("_foreach_")):
        return False
    if facts.name.startswith("_foreach_") or len(tensors) < 2:
        return True
    shape = tensors[0].shape
    return all(one.shape == shape for one in tensors[1:])


def _flags() -> tuple[bool, bool, bool, bool]:
    """Return the settings that choose kernels: TF32, deterministic, cuDNN, its benchmark."""
    return (
        torch._C._get_cublas_allow_tf32(),
        torch._C._get_deterministic_algorithms(),
        torch._C._get_cudnn_enabled(),
        torch._C._get_cudnn_benchmark(),
    )


def _dispatches(kind: Any) -> bool:
    """Tell whether a tensor type runs operations itself."""
    return (
        getattr(kind, "__torch_dispatch__", None) is not torch._C._disabled_torch_dispatch_impl
        and getattr(kind, "__torch_dispatch__", None) != Tensor.__torch_dispatch__
    )


def _mixed(facts: OperationFacts, one: torch.device, other: torch.device) -> MemtrackError:
    return refused(
        facts.title,
        text("its tensors are on {one} and {other}, which CUDA refuses", one=one, other=other),
        text("Move them to one device."),
    )


def _lacks_shapes(error: RuntimeError) -> bool:
    """Tell whether an operation has no kernel without data, as one of the user's that has no fake."""
    return isinstance(error, NotImplementedError) or "no fake impl registered" in str(error)


def _line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200]
