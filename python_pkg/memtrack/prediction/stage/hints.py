"""What can be said of values that are not known: finite, uniform, how many are not zero.

Each rule here is a statement about expected values that the report shows where the program's flow
depends on it; none changes what an operation allocates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from memtrack.prediction.stage.claims import Claim, claim_of
from memtrack.prediction.stage.known import MISSING

Rule = Callable[[tuple[Any, ...], torch.Tensor, Claim], None]


def _uniform_inputs(args: tuple[Any, ...]) -> list[Any]:
    """Return arguments with uniform tensors as scalars, or [MISSING]."""
    inputs: list[Any] = []
    for one in args:
        if not isinstance(one, torch.Tensor):
            inputs.append(one)
            continue
        claim = claim_of(one)
        if claim is None or claim.uniform is None:
            return [MISSING]
        inputs.append(claim.uniform)
    return inputs


def _finite(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    claim.uniform = torch.zeros((), dtype=output.dtype)


def _all_finite(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    claim.uniform = torch.ones((), dtype=output.dtype)


def _passed(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    """Checks of arguments, as those of distributions: what is not known passes them."""
    _reduced(args, output, claim)
    if claim.uniform is None:
        _all_finite(args, output, claim)


def _elementwise(name: str) -> Rule:
    function = getattr(torch, name)

    def rule(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
        inputs = _uniform_inputs(args)
        if MISSING not in inputs:
            claim.uniform = function(*inputs)

    return rule


def _reduced(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    """`any`, `all`, `amax`, `amin`: of one value many times that value is left."""
    source = claim_of(args[0])
    if source is None:
        return
    if source.uniform is not None:
        claim.uniform = source.uniform.to(output.dtype)
    elif source.density is not None and output.numel():
        claim.density = min(1.0, source.density * args[0].numel() / output.numel())


def _summed(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    """Of a mask expected to hold so many ones, each sum is its share of them."""
    source = claim_of(args[0])
    if source is None or not output.numel() or args[0].dtype.is_floating_point:
        return
    each = args[0].numel() / output.numel()
    if source.uniform is not None:
        claim.uniform = source.uniform.to(output.dtype) * round(each)
    elif source.density is not None:
        expected = source.density * each
        claim.uniform = torch.tensor(max(1, round(expected)), dtype=output.dtype)


def _same(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    """What is copied, cast or picked keeps what was said of it."""
    source = claim_of(args[0])
    if source is None:
        return
    if source.uniform is not None:
        claim.uniform = source.uniform.to(output.dtype)
    claim.density, claim.bound = source.density, source.bound


def _asks_whether_finite(args: tuple[Any, ...]) -> bool:
    """Tell whether a comparison is with the tensor itself or with infinity: `isnan`, `isinf`."""
    if len(args) < 2:
        return False
    return args[0] is args[1] or (isinstance(args[1], float) and math.isinf(args[1]))


def _is_nonzero(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    if _asks_whether_finite(args):
        claim.uniform = torch.tensor(args[0] is not args[1])
        return
    source = claim_of(args[0])
    other = args[1] if len(args) > 1 else 0
    if source is not None and isinstance(other, (int, float)) and other == 0:
        claim.density = source.density
    _compared(args, output, claim, torch.ne)


def _is_equal(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    """An index below E is equal to a number, or to one of the numbers below E, once in E times."""
    if _asks_whether_finite(args):
        claim.uniform = torch.tensor(args[0] is args[1])
        return
    for one in args:
        source = claim_of(one) if isinstance(one, torch.Tensor) else None
        if source is not None and source.bound and source.bound > 0:
            claim.density = 1.0 / source.bound
    _compared(args, output, claim, torch.eq)


def _is_greater(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    _compared(args, output, claim, torch.gt)
    if claim.uniform is None:
        _is_nonzero(args, output, claim)


def _compared(args: tuple[Any, ...], output: torch.Tensor, claim: Claim, compare: Any) -> None:
    inputs = _uniform_inputs(args)
    if MISSING not in inputs:
        claim.uniform = compare(*inputs)


def _negated(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    source = claim_of(args[0])
    if output.dtype != torch.bool:
        return
    if source is not None and source.uniform is not None:
        claim.uniform = torch.logical_not(source.uniform).to(output.dtype)
    elif source is not None and source.density is not None:
        claim.density = 1.0 - source.density


def _index_of_last(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    """`argmax`, `multinomial`: an index into the last dimension, or the one given."""
    given = args[1] if len(args) > 1 and isinstance(args[1], int) else -1
    shape = args[0].shape
    if len(shape) and output.dtype == torch.int64:
        claim.bound = shape[given] if -len(shape) <= given < len(shape) else None


def _sorted_index(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    """`topk(self, k, dim)`, `sort(self, dim)`: the second output holds indices."""
    if output.dtype != torch.int64 or not len(args[0].shape):
        return
    shape = args[0].shape
    claim.bound = shape[-1]


def _one_hot(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    claim.density = 1.0 / max(output.shape[-1], 1)


def _counted(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
    """`bincount`, `histc`: everything counted, in equal shares."""
    share = round(args[0].numel() / max(output.numel(), 1))
    claim.uniform = torch.tensor(share, dtype=output.dtype)


def _uniform_of(value: Any) -> Any:
    """Return the one value of a tensor or number, None where there is none or it is not known."""
    if not isinstance(value, torch.Tensor):
        return value
    claim = claim_of(value)
    if claim is None:
        return None
    if claim.uniform is not None:
        return claim.uniform.item()
    known = claim.value
    if known is None or not known.numel() or bool((known != known[0]).any()):
        return None
    return known[0].item()


def _decided(decisive: bool) -> Rule:
    """`or` is true where one side is true, `and` false where one is false, whatever the other."""

    def rule(args: tuple[Any, ...], output: torch.Tensor, claim: Claim) -> None:
        if output.dtype != torch.bool and decisive:
            return
        values = [_uniform_of(one) for one in args[:2]]
        if any(one is not None and bool(one) is decisive for one in values):
            claim.uniform = torch.tensor(decisive).to(output.dtype)
        elif None not in values:
            combine = torch.logical_or if decisive else torch.logical_and
            claim.uniform = combine(*map(torch.tensor, values)).to(output.dtype)

    return rule


_UNARY = ["abs", "neg", "logical_not", "bitwise_not", "isnan", "isinf", "isfinite", "exp", "sqrt"]
_BINARY = [
    "add",
    "sub",
    "mul",
    "le",
    "lt",
    "ge",
    "maximum",
    "minimum",
]
RULES: dict[str, Rule] = {name: _elementwise(name) for name in (*_UNARY, *_BINARY)}
RULES.update(
    isnan=_finite,
    isinf=_finite,
    isfinite=_all_finite,
    logical_or=_decided(True),
    bitwise_or=_decided(True),
    logical_and=_decided(False),
    bitwise_and=_decided(False),
    logical_not=_negated,
    bitwise_not=_negated,
    any=_reduced,
    all=_reduced,
    _is_all_true=_passed,
    _is_any_true=_reduced,
    amax=_reduced,
    amin=_reduced,
    max=_reduced,
    min=_reduced,
    sum=_summed,
    count_nonzero=_summed,
    ne=_is_nonzero,
    gt=_is_greater,
    eq=_is_equal,
    clone=_same,
    _to_copy=_same,
    index=_same,
    index_select=_same,
    gather=_same,
    contiguous=_same,
    argmax=_index_of_last,
    argmin=_index_of_last,
    multinomial=_index_of_last,
    topk=_sorted_index,
    sort=_sorted_index,
    argsort=_index_of_last,
    one_hot=_one_hot,
    bincount=_counted,
    histc=_counted,
)
"""What an operation's outputs are said to hold, from what its inputs are said to hold."""
