"""The user's program with a remedy applied from outside, to be predicted again.

`varied(build, changes)` gives another `build`: it makes the same program, changes what it has made
(modules and optimizers that were built inside it, nothing else of the user's), and returns its step with
what has to be around it. Only a prediction runs it; nothing of it is left afterwards.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from memtrack.errors import MemtrackError
from memtrack.i18n import text

Build = Callable[[], Callable[[], Any]]
Step = Callable[[], Any]


class NotApplicable(MemtrackError):
    """A change cannot be made to this program from outside; its saving is simulated instead."""


@dataclass(slots=True)
class Made:
    """What a program has built: its outermost modules, and its optimizers."""

    roots: list[torch.nn.Module] = field(default_factory=list)
    optimizers: list[torch.optim.Optimizer] = field(default_factory=list)


_LOSSES = ("cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div")
"""Those of `torch.nn.functional` that do not end in `_loss`."""
Change = Callable[[Made, Step], Step]
"""Changes what was made in place and returns the step with what belongs around it."""


def varied(build: Build, changes: Sequence[Change]) -> Build:
    """Return a `build` whose program has `changes`; NotApplicable comes when it is called."""

    def changed_build() -> Step:
        with _watching() as made:
            step = build()
        _keep_outermost(made)
        if not made.roots:
            raise NotApplicable(text("The program builds no module of its own."))
        for change in changes:
            step = change(made, step)
        return step

    return changed_build


@contextlib.contextmanager
def _watching() -> Iterator[Made]:
    """Note which modules and optimizers are built meanwhile; what they are is known at the end.

    A library that is first imported meanwhile may keep the stand-ins for good: then they note nothing
    and hold nothing.
    """
    made, modules, optimizers = Made(), list[Any](), list[Any]()
    watching = True
    module_init = torch.nn.Module.__init__
    optimizer_init = torch.optim.Optimizer.__init__

    def new_module(self: Any, *args: Any, **kwargs: Any) -> None:
        module_init(self, *args, **kwargs)
        if watching:
            modules.append(self)

    def new_optimizer(self: Any, *args: Any, **kwargs: Any) -> None:
        optimizer_init(self, *args, **kwargs)
        if watching:
            optimizers.append(self)

    try:
        with (
            replaced(torch.nn.Module, "__init__", new_module),
            replaced(torch.optim.Optimizer, "__init__", new_optimizer),
        ):
            yield made
        made.roots += modules
        made.optimizers += optimizers
    finally:
        watching = False
        modules.clear()
        optimizers.clear()


@contextlib.contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Put `value` in the place of an attribute meanwhile."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _keep_outermost(made: Made) -> None:
    inner = {id(child) for module in made.roots for child in module.children()}
    made.roots = [module for module in made.roots if id(module) not in inner]
    made.roots = [module for module in made.roots if any(True for _ in module.parameters())]


# ---------------------------------------------------------------------------- precision


def autocast(dtype: torch.dtype, device: str = "cuda") -> Change:
    """Run the forward of each step, and the loss after it, under autocast; backward and optimizer not.

    Programs often have a switch of their own, `autocast(enabled=use_amp)`: around the outermost modules
    it is on. What a module turns off inside, for the sake of float32, stays off.
    """

    def change(made: Made, step: Step) -> Step:
        def changed_step() -> Any:
            casting = _Casting(device, dtype)
            backward = torch.autograd.backward

            def without(*args: Any, **kwargs: Any) -> Any:
                casting.leave()
                return backward(*args, **kwargs)

            handles = [
                handle
                for root in made.roots
                for handle in (
                    root.register_forward_pre_hook(casting.begin),
                    root.register_forward_hook(casting.end, always_call=True),
                )
            ]
            casting.enter()
            switched = casting.switched(torch.autocast.__init__)
            try:
                with (
                    replaced(torch.autograd, "backward", without),
                    replaced(torch.autocast, "__init__", switched),
                ):
                    return step()
            finally:
                casting.leave()
                for handle in handles:
                    handle.remove()

        return changed_step

    return change


class _Casting:
    """Autocast that can be left and entered again."""

    def __init__(self, device: str, dtype: torch.dtype) -> None:
        self._device, self._dtype = device, dtype
        self._active: Any = None
        self._inside = 0

    def begin(self, *_: Any) -> None:
        self._inside += 1
        self.enter()

    def end(self, *_: Any) -> None:
        self._inside -= 1

    def switched(self, init: Callable[..., None]) -> Callable[..., None]:
        """Return an autocast's constructor that leaves none off outside of the modules."""

        def made(
            context: Any, device_type: str, dtype: Any = None, enabled: bool = True, **rest: Any
        ) -> None:
            if not enabled and not self._inside and device_type == self._device:
                enabled, dtype = True, self._dtype
            init(context, device_type, dtype, enabled, **rest)

        return made

    def enter(self) -> None:
        if self._active is None:
            self._active = torch.autocast(self._device, dtype=self._dtype)
            self._active.__enter__()

    def leave(self) -> None:
        active, self._active = self._active, None
        if active is not None:
            active.__exit__(None, None, None)


def weights(dtype: torch.dtype) -> Change:
    """Have weights, and what is given to the model of floating point, in another dtype."""

    def change(made: Made, step: Step) -> Step:
        for root in made.roots:
            root.to(dtype)
            root.register_forward_pre_hook(_with_inputs(_cast_to(dtype)), with_kwargs=True)
        return step

    return change


def _cast_to(dtype: torch.dtype) -> Callable[[torch.Tensor], torch.Tensor]:
    def cast(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_floating_point() and not tensor.requires_grad and tensor.dtype != dtype:
            tensor.data = tensor.data.to(dtype)
        return tensor

    return cast


def _with_inputs(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    """Return a hook that gives a module its tensors changed, in lists, tuples and dictionaries too."""

    def each(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return change(value)
        if type(value) in (list, tuple):
            return type(value)(each(one) for one in value)
        if type(value) is dict:
            return {name: each(one) for name, one in value.items()}
        return value

    def hook(module: Any, args: Any, kwargs: Any) -> Any:
        del module
        return each(args), each(kwargs)

    return hook


# ---------------------------------------------------------------------------- optimizers

_ADAMS = (torch.optim.Adam, torch.optim.AdamW)
_FUSED = (*_ADAMS, torch.optim.SGD)


def optimizer_class(kind: type[torch.optim.Optimizer], **settings: Any) -> Change:
    """Have another class of optimizer in the place of each Adam."""

    def change(made: Made, step: Step) -> Step:
        adams = [one for one in made.optimizers if type(one) in _ADAMS]
        if not adams:
            raise NotApplicable(text("The program builds no Adam."))
        dummy = torch.nn.Parameter(torch.zeros(1))
        defaults = kind([dummy], **settings).defaults
        for one in adams:
            one.__class__ = kind
            _set_groups(one, defaults)
        return step

    return change


def optimizer_kernel(*, foreach: bool, fused: bool) -> Change:
    """Have the optimizers step as a loop, in groups or in one kernel."""

    def change(made: Made, step: Step) -> Step:
        known = [one for one in made.optimizers if isinstance(one, _FUSED)]
        if not known:
            raise NotApplicable(text("The program builds no optimizer that has such kernels."))
        for one in known:
            _set_groups(one, {"foreach": foreach, "fused": fused})
        return step

    return change


def _set_groups(optimizer: torch.optim.Optimizer, settings: dict[str, Any]) -> None:
    optimizer.defaults.update(settings)
    for group in optimizer.param_groups:
        lr = group.get("lr")
        group.update(settings)
        if lr is not None:
            group["lr"] = lr


def zero_grad(*, set_to_none: bool) -> Change:
    """Have every `zero_grad` let gradients go, or fill them with zeros."""

    def change(made: Made, step: Step) -> Step:
        owners: list[Any] = [*made.optimizers, *made.roots]
        for one in owners:
            one.zero_grad = _zeroing(one.zero_grad, set_to_none)
        return step

    return change


def _zeroing(zero: Callable[..., Any], set_to_none: bool) -> Callable[..., Any]:
    def zeroed(*args: Any, **kwargs: Any) -> Any:
        del args
        return zero(**{**kwargs, "set_to_none": set_to_none})

    return zeroed


# ---------------------------------------------------------------------------- the batch


def accumulated(parts: int) -> Change:
    """Take each batch in parts: as many forwards and backwards, one step of the optimizer.

    The parts are cut from the first dimension of what the outermost modules are given, and of targets
    that losses outside of them compare with their outputs.
    """

    def change(made: Made, step: Step) -> Step:
        step = _cut_batches(made, step, parts)
        if parts == 1 or not made.optimizers:
            return step
        gate = _Gate(made)

        def changed_step() -> Any:
            found = None
            for part in range(parts):
                gate.may_step = part == parts - 1
                found = step()
            return found

        return changed_step

    return change


def smaller_batch(parts: int) -> Change:
    """Take one of `parts` of each batch, and leave the others away."""

    def change(made: Made, step: Step) -> Step:
        return _cut_batches(made, step, parts)

    return change


def _cut_batches(made: Made, step: Step, parts: int) -> Step:
    whole: list[int] = []

    def cut(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dim() == 0 or tensor.requires_grad:
            return tensor
        if not whole:
            whole.append(tensor.shape[0])
        size = whole[0]
        if tensor.shape[0] != size or size < parts:
            return tensor
        tensor.data = tensor.data[: size // parts].clone()
        return tensor

    for root in made.roots:
        root.register_forward_pre_hook(_with_inputs(cut), with_kwargs=True)
    return lambda: _with_cut_targets(step, parts if parts > 1 else 0)


def _with_cut_targets(step: Step, parts: int) -> Any:
    """Run a step in which targets that are `parts` times as long as what they are compared with are cut."""
    losses = torch.nn.functional
    names = [name for name in dir(losses) if name.endswith("_loss") or name in _LOSSES]
    with contextlib.ExitStack() as stack:
        for name in names if parts else ():
            stack.enter_context(replaced(losses, name, _cutting(getattr(losses, name), parts)))
        return step()


def _cutting(loss: Callable[..., Any], parts: int) -> Callable[..., Any]:
    def cut(given: Any, *args: Any, **kwargs: Any) -> Any:
        target = args[0] if args else kwargs.get("target")
        if isinstance(target, torch.Tensor) and target.dim() and not target.requires_grad:
            count = given.shape[0] if given.dim() else 0
            if count and target.shape[0] == count * parts:
                target.data = target.data[:count].clone()
        return loss(given, *args, **kwargs)

    return cut


class _Gate:
    """Lets the optimizer step at the last part only, and gradients go only after it has stepped."""

    def __init__(self, made: Made) -> None:
        self.may_step = True
        self._has_stepped = True
        for one in made.optimizers:
            one.step = self._gated(one.step, self._steps)  # type: ignore[method-assign]
        owners: list[Any] = [*made.optimizers, *made.roots]
        for owner in owners:
            owner.zero_grad = self._gated(owner.zero_grad, self._zeroes)

    def _gated(self, call: Callable[..., Any], opens: Callable[[], bool]) -> Callable[..., Any]:
        def gated(*args: Any, **kwargs: Any) -> Any:
            return call(*args, **kwargs) if opens() else None

        return gated

    def _steps(self) -> bool:
        self._has_stepped = self._has_stepped or self.may_step
        return self.may_step

    def _zeroes(self) -> bool:
        passes, self._has_stepped = self._has_stepped, False
        return passes


# ---------------------------------------------------------------------------- modules


def checkpointed(paths: Sequence[str]) -> Change:
    """Checkpoint the modules at `paths` below the outermost ones; models of transformers by their own switch."""
    from torch.utils.checkpoint import checkpoint

    def change(made: Made, step: Step) -> Step:
        done = 0
        for root in made.roots:
            if getattr(root, "supports_gradient_checkpointing", False):
                root.gradient_checkpointing_enable(  # type: ignore[operator]
                    gradient_checkpointing_kwargs={"use_reentrant": False}
                )
                root.config.use_cache = False  # type: ignore[union-attr]
                done += 1
                continue
            for path in paths:
                block = _module_at(root, path)
                if block is not None:
                    block.forward = _again(checkpoint, block.forward)
                    done += 1
        if not done:
            raise NotApplicable(text("No layer that repeats was found in the program."))
        return step

    return change


def _again(checkpoint: Callable[..., Any], forward: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        if not torch.is_grad_enabled():
            return forward(*args, **kwargs)
        return checkpoint(forward, *args, use_reentrant=False, **kwargs)

    return run


def _module_at(root: torch.nn.Module, path: str) -> torch.nn.Module | None:
    try:
        return root.get_submodule(path)
    except AttributeError:
        return None


def attention(name: str) -> Change:
    """Have models of transformers compute attention by another implementation, such as `sdpa`."""

    def change(made: Made, step: Step) -> Step:
        able = [root for root in made.roots if hasattr(root, "set_attn_implementation")]
        if not able:
            raise NotApplicable(text("Only models of transformers can change their attention so."))
        for root in able:
            root.set_attn_implementation(name)  # type: ignore[operator]
        return step

    return change


def forward_only(made: Made, step: Step) -> Step:
    """Evaluate: no graph, no backward, no step of the optimizer."""

    def nothing(*args: Any, **kwargs: Any) -> None:
        del args, kwargs

    for one in made.optimizers:
        one.step = nothing  # type: ignore[method-assign,assignment]
    for root in made.roots:
        root.eval()

    def changed_step() -> Any:
        with torch.no_grad(), replaced(torch.autograd, "backward", nothing):
            return step()

    return changed_step
