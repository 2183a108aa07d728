"""Operations whose output's shape depends on values: computed where known, else expected sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from memtrack.i18n import text
from memtrack.prediction.stage.assumptions import Assumptions, refused
from memtrack.prediction.stage.claims import META, Claim, claim_of, set_claim
from memtrack.prediction.stage.known import MISSING, compute, remember, value_of

if TYPE_CHECKING:
    from memtrack.prediction.stage.operations import Operations

Special = Callable[[Any, Any, Any], Any]
_MASKS = (torch.bool, torch.uint8)
_INDEX = 8
UNKNOWN_SHARE = 0.5
"""The share of elements taken to be nonzero where nothing at all is known of a mask."""


class Shapes:
    """Handlers for `nonzero` and its relatives."""

    def __init__(self, operations: Operations, assumptions: Assumptions) -> None:
        self._operations = operations
        self._assumptions = assumptions

    def special(self, name: str) -> Special | None:
        """Return the handler of an operation, None for the many that need none."""
        handlers: dict[str, Special] = {
            "nonzero": self._nonzero,
            "masked_select": self._masked_select,
            "index": self._index,
            "_unsafe_index": self._index,
            "index_put": self._put,
            "index_put_": self._put,
            "_index_put_impl_": self._put,
            "_unique2": self._unique,
            "_unique": self._unique,
            "unique_dim": self._unique,
            "unique_dim_consecutive": self._unique,
            "unique_consecutive": self._unique,
            "repeat_interleave": self._repeat,
            "bincount": self._bincount,
        }
        return handlers.get(name)

    def _nonzero(self, op: Any, args: Any, kwargs: Any) -> Any:
        mask = self._own(args[0], "nonzero")
        known = value_of(mask)
        if known is not None:
            return self._outputs(op, (mask,), {}, mask)
        count = self._count(mask, "nonzero")
        rows = self._new((count, mask.dim()), torch.int64, mask)
        if mask.dim() == 1:
            claim = claim_of(rows)
            assert claim is not None
            claim.bound = mask.shape[0]
            if count == mask.shape[0]:
                remember(rows, claim, torch.arange(count).reshape(count, 1))
        return rows

    def _masked_select(self, op: Any, args: Any, kwargs: Any) -> Any:
        source, mask = (self._own(one, "masked_select") for one in args[:2])
        if value_of(mask) is not None and value_of(source) is not None:
            return self._outputs(op, (source, mask), {}, source)
        shape = torch.broadcast_shapes(source.shape, mask.shape)
        known = value_of(mask)
        if known is not None:
            count = int(known.expand(shape).count_nonzero())
        else:
            times = shape.numel() / max(mask.numel(), 1)
            count = round(self._count(mask, "masked_select") * times)
        return self._new((count,), source.dtype, source)

    def _index(self, op: Any, args: Any, kwargs: Any) -> Any:
        """Masks among the indices become the rows they select; the rest is torch's own."""
        indices = args[1]
        if not any(one is not None and one.dtype in _MASKS for one in indices):
            return NotImplemented
        expanded: list[Any] = []
        for one in indices:
            if one is None or one.dtype not in _MASKS:
                expanded.append(one)
                continue
            rows = self._nonzero(torch.ops.aten.nonzero.default, (one,), {})
            self._operations.declare_scratch(op, rows)
            expanded.extend(rows.unbind(1))
        return self._operations.operate(op, (args[0], expanded), kwargs)

    def _put(self, op: Any, args: Any, kwargs: Any) -> Any:
        """Masks among the indices: their rows, and the sorting of them where values are added.

        One value put where a mask is true is filled in without either (`canDispatchToMaskedFill`).
        """
        masks = [one for one in args[1] if one is not None and one.dtype in _MASKS]
        accumulates = bool(args[3]) if len(args) > 3 else bool(kwargs.get("accumulate"))
        if not masks or (args[2].numel() == 1 and not accumulates):
            return NotImplemented
        count = sum(self._selected(self._own(one, "index_put"), "index_put") for one in masks)
        rows = count * sum(one.dim() for one in masks)
        sizes = [rows] if not accumulates else [max(rows, count * 6)]
        self._operations.declare_bytes(op, masks[0], [_INDEX * size for size in sizes])
        return NotImplemented

    def _unique(self, op: Any, args: Any, kwargs: Any) -> Any:
        """Storages of as many values as there are, whatever turns out to be different (`Unique.cu`)."""
        source = self._own(args[0], "unique")
        if value_of(source) is not None:
            return self._outputs(op, (source, *args[1:]), kwargs, source)
        given = _arguments(op, args, kwargs)
        dim = given.get("dim")
        whole = source.numel()
        most = whole if dim is None else source.shape[dim]
        claim = claim_of(source)
        bound = claim.bound if claim is not None and dim is None else None
        count = most if bound is None else min(bound, whole)
        self._assumptions.add(
            "torch.unique", text("{count} different values of {all}", count=count, all=most)
        )
        inverted, counted = bool(given.get("return_inverse")), bool(given.get("return_counts"))
        if "consecutive" not in op._schema.name:
            orders = 3 * _INDEX * most if inverted or dim is not None else 0
            self._operations.declare_bytes(op, source, [whole * source.element_size(), orders])
        shape = list(source.shape) if dim is not None else [count]
        shape[0 if dim is None else dim] = count
        values = self._new(tuple(source.shape), source.dtype, source).resize_(shape)
        inverse = tuple(source.shape) if dim is None else (most,)
        outputs = (
            values,
            self._new(inverse if inverted else (0,), torch.int64, source),
            self._new((most if counted else 0,), torch.int64, source),
        )
        if counted:
            outputs[2].resize_((count,))
        return outputs[: len(op._schema.returns)]

    def _repeat(self, op: Any, args: Any, kwargs: Any) -> Any:
        if op._overloadname != "Tensor":
            return NotImplemented
        repeats = self._own(args[0], "repeat_interleave")
        if value_of(repeats) is not None:
            return self._outputs(op, (repeats,), {}, repeats)
        size = kwargs.get("output_size")
        claim = claim_of(repeats)
        if size is None and claim is not None and claim.uniform is not None:
            size = int(claim.uniform) * repeats.numel()
        if size is None:
            raise refused("repeat_interleave", text("how often to repeat is not known"))
        return self._new((size,), torch.int64, repeats)

    def _bincount(self, op: Any, args: Any, kwargs: Any) -> Any:
        source = self._own(args[0], "bincount")
        if value_of(source) is not None:
            return self._outputs(op, (source, *args[1:]), kwargs, source)
        least = kwargs.get("minlength", args[2] if len(args) > 2 else 0)
        claim = claim_of(source)
        length = max(least, (claim.bound or 0) if claim is not None else 0)
        if length == 0:
            raise refused("torch.bincount", text("the values that decide its shape are not known"))
        self._assumptions.add("torch.bincount", text("equal shares"))
        output = self._new((length,), torch.int64, source)
        found = claim_of(output)
        assert found is not None
        share = source.numel() // length
        real = torch.full((length,), share)
        real[: source.numel() - share * length] += 1
        remember(output, found, real)
        return output

    def _selected(self, mask: torch.Tensor, operation: str) -> int:
        """Return how many elements of a mask are true: counted where they are known."""
        known = value_of(mask)
        return self._count(mask, operation) if known is None else int(known.count_nonzero())

    def _count(self, mask: torch.Tensor, operation: str) -> int:
        claim = claim_of(mask)
        if claim is not None and claim.uniform is not None:
            return mask.numel() if bool(claim.uniform) else 0
        if claim is not None and claim.density is not None:
            count = round(mask.numel() * claim.density)
            self._assumptions.add(
                operation, text("{count} of {all}, an equal share", count=count, all=mask.numel())
            )
            return count
        count = round(mask.numel() * UNKNOWN_SHARE)
        self._assumptions.add(
            operation, text("{count} of {all}, half", count=count, all=mask.numel())
        )
        return count

    def _own(self, tensor: torch.Tensor, operation: str) -> torch.Tensor:
        return self._operations.outside.taken_in(tensor, operation)

    def _new(self, shape: tuple[int, ...], dtype: torch.dtype, like: torch.Tensor) -> torch.Tensor:
        """Return a new tensor on the device of another."""
        source = claim_of(like)
        made = torch.empty(shape, dtype=dtype, device=META)
        set_claim(made, Claim(META if source is None else source.device))
        return made

    def _outputs(self, op: Any, args: Any, kwargs: Any, like: torch.Tensor) -> Any:
        """Compute an operation on known values and return outputs without data that know theirs."""
        real = compute(op, args, kwargs)
        if real is MISSING:
            raise refused(op._schema.name, text("the values that decide its shape are not known"))
        if isinstance(real, torch.Tensor):
            return self._known(real, like)
        return tuple(self._known(one, like) for one in real)

    def _known(self, real: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        source = claim_of(like)
        made = torch.empty_strided(real.size(), real.stride(), dtype=real.dtype, device=META)
        claim = Claim(META if source is None else source.device)
        set_claim(made, claim)
        remember(made, claim, real)
        return made


def _arguments(op: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Return all arguments by name, defaults included."""
    return {
        one.name: args[place] if place < len(args) else kwargs.get(one.name, one.default_value)
        for place, one in enumerate(op._schema.arguments)
    }
