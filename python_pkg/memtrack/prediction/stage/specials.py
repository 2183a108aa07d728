"""Operations that no kernel row and no meta kernel answers: values asked for, layouts refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from memtrack.i18n import text
from memtrack.prediction.stage.assumptions import Assumptions, refused
from memtrack.prediction.stage.claims import (
    CPU,
    META,
    Claim,
    claim_of,
    is_meta,
    real_device,
    set_claim,
)
from memtrack.prediction.stage.facts import ACCUMULATING
from memtrack.prediction.stage.known import MAX_ELEMENTS, quiet, remember

if TYPE_CHECKING:
    from memtrack.prediction.stage.operations import Operations
    from memtrack.prediction.stage.shapes import Shapes

Tensor = torch.Tensor
Special = Callable[[Any, Any, Any], Any]
_OTHER_LAYOUTS = ("quantize_per", "_empty_affine_quantized", "_to_sparse", "_sparse")
"""Beginnings of the names of what makes or wants tensors without a plain layout."""
DENSE = text(
    "Of a table with far more rows than a batch looks up, sparse=False and a dense optimizer give the most."
)
_graph_task = torch._C._current_graph_task_id
_NO_GRAPH_TASK = -1


class Specials:
    """Handlers that return outputs, or NotImplemented for what goes the ordinary way."""

    def __init__(self, operations: Operations, shapes: Shapes, assumptions: Assumptions) -> None:
        self._operations = operations
        self._shapes = shapes
        self._assumptions = assumptions

    def handler(self, name: str) -> Special | None:
        """Return the handler of an operation by its name, None for the many that need none."""
        if name in ACCUMULATING:
            return self._accumulated
        if name.startswith(_OTHER_LAYOUTS):
            return self._other_layout
        own: dict[str, Special] = {
            "_local_scalar_dense": self._scalar,
            "equal": self._equal,
            "allclose": self._close,
            "lift_fresh": self._lift,
            "lift": self._lift,
            "record_stream": self._ignore,
            "_amp_foreach_non_finite_check_and_unscale_": self._unscale,
        }
        return own.get(name) or self._shapes.special(name)

    def lifted(self, real: Tensor) -> Tensor:
        """Return a tensor of the host's without data that knows the values of a real one."""
        twin = torch.empty_strided(real.size(), real.stride(), dtype=real.dtype, device=META)
        claim = Claim(CPU)
        set_claim(twin, claim)
        with quiet():
            remember(twin, claim, real.clone() if real.numel() <= MAX_ELEMENTS else real)
        return twin

    def _accumulated(self, op: Any, args: Any, kwargs: Any) -> Any:
        """In backward torch's formulas add to the zeros they have made (`FunctionsManual.cpp`).

        They do so out of place where `areAnyTensorSubclassLike`, that is under any dispatch mode.
        """
        name = op._schema.name.rpartition("::")[2]
        operations = self._operations
        if _graph_task() == _NO_GRAPH_TASK or operations.asked == name:
            masked = self._shapes.special(name)
            return NotImplemented if masked is None else masked(op, args, kwargs)
        packet = getattr(torch.ops.aten, f"{name}_")
        return operations.operate(getattr(packet, op._overloadname), args, kwargs)

    def _other_layout(self, op: Any, args: Any, kwargs: Any) -> Any:
        why = text("quantized and sparse tensors are not modelled")
        name = op._schema.name.replace("::", ".")
        raise refused(name, why, DENSE if "sparse" in name else "")

    def _scalar(self, op: Any, args: Any, kwargs: Any) -> Any:
        if not is_meta(args[0]):
            return op(*args)
        return self._operations.answers.scalar(args[0])

    def _equal(self, op: Any, args: Any, kwargs: Any) -> Any:
        if not any(is_meta(one) for one in args):
            return op(*args)
        return self._operations.answers.equal(*args)

    def _close(self, op: Any, args: Any, kwargs: Any) -> Any:
        if not any(is_meta(one) for one in args[:2]):
            return op(*args, **kwargs)
        taken = [self._operations.outside.taken_in(one, "allclose") for one in args[:2]]
        return self._operations.answers.close(*taken, *args[2:])

    def _lift(self, op: Any, args: Any, kwargs: Any) -> Any:
        """A real tensor made of the program's numbers becomes one without data."""
        given = args[0]
        if is_meta(given) or real_device(given).type != "cpu":
            return given
        return self.lifted(given)

    def _ignore(self, op: Any, args: Any, kwargs: Any) -> Any:
        return None

    def _unscale(self, op: Any, args: Any, kwargs: Any) -> Any:
        """Gradients are assumed to be finite, so that the optimizer steps."""
        claims = [claim_of(one) for one in args[0]]
        if all(claim is not None and claim.value is not None for claim in claims):
            return NotImplemented
        for claim in claims:
            if claim is not None:
                claim.forget()
        self._assumptions.add(
            "GradScaler",
            text(
                "finite gradients; in steps that it skips, as it may the first,"
                " an optimizer makes no state yet"
            ),
        )
        return None
