"""What is known of the outputs of an operation, and of what it changes in place."""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.stage.arguments import NOTHING, tensors_in
from memtrack.prediction.stage.claims import META, Claim, claim_of, set_claim
from memtrack.prediction.stage.facts import OperationFacts
from memtrack.prediction.stage.hints import RULES
from memtrack.prediction.stage.known import MAX_ELEMENTS, MISSING, begin_value, compute, remember

Tensor = torch.Tensor


def claim_outputs(
    facts: OperationFacts,
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    claims: list[Claim],
    outputs: Any,
    device: torch.device,
) -> None:
    """Give new storages their claim, and their values where all inputs are known."""
    new = claim_new(outputs, device)
    is_known = True
    for claim in claims:
        if claim.value is None:
            is_known = False
            break
    if facts.writes or facts.hidden_writes:
        update(facts, op, args, kwargs, claims, only_forget=True)
        is_known = is_known and not facts.writes
    if not new or device is META:
        return
    if facts.uninitialised:
        for one, claim in new:
            begin_value(one, claim)
        return
    if is_known and all(one.numel() <= MAX_ELEMENTS for one, _ in new):
        real = compute(op, args, kwargs)
        if real is not MISSING:
            _remember_all(outputs, real)
            return
    rule = RULES.get(facts.name)
    if rule is not None and args and isinstance(args[0], Tensor):
        for one, claim in new:
            rule(args, one, claim)
    elif facts.likes:
        _fill_like(facts.name, args, new)


def claim_new(outputs: Any, device: torch.device) -> list[tuple[Tensor, Claim]]:
    """Let each storage among the outputs that claims nothing yet claim `device`."""
    new = []
    for one in (outputs,) if isinstance(outputs, Tensor) else tensors_in((outputs,), NOTHING):
        if claim_of(one) is None and one.layout == torch.strided:
            claim = Claim(device)
            set_claim(one, claim)
            new.append((one, claim))
    return new


def _fill_like(name: str, args: Any, new: list[tuple[Tensor, Claim]]) -> None:
    """`zeros_like` and such do not depend on the values they are given."""
    number = {"zeros_like": 0, "new_zeros": 0, "ones_like": 1, "new_ones": 1}.get(name)
    if name in ("full_like", "new_full"):
        number = args[1] if name == "full_like" else args[2]
    if not isinstance(number, (int, float, bool)):
        return
    for one, claim in new:
        begin_value(one, claim)
        if claim.value is not None:
            claim.value.fill_(number)
        else:
            claim.uniform = torch.tensor(number, dtype=one.dtype)


def update(
    facts: OperationFacts,
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    claims: list[Claim],
    only_forget: bool = False,
) -> None:
    """Follow what an operation in place does to known values."""
    places = facts.writes + facts.hidden_writes
    written = tensors_in([args[place] for place in places if place < len(args)], kwargs)
    first = written[0] if written else None
    if first is None:
        return
    if not only_forget:
        if facts.overwrites and len(written) == 1:
            claim = claim_of(first)
            if claim is not None:
                if claim.value is None:
                    begin_value(first, claim)
                claim.uniform = claim.density = claim.bound = None
        is_known = all(one.value is not None for one in claims)
        if is_known and compute(op, args, kwargs) is not MISSING:
            return
    for one in written:
        claim = claim_of(one)
        if claim is not None:
            claim.forget()
    if facts.name in ("zero_", "fill_") and claims and claims[0].value is None:
        _note_uniform(first, claims[0], 0 if facts.name == "zero_" else args[1])


def _note_uniform(tensor: Tensor, claim: Claim, number: Any) -> None:
    """Note that a whole storage holds one number."""
    is_whole = tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes()
    if is_whole and isinstance(number, (int, float, bool)):
        claim.uniform = torch.tensor(number, dtype=tensor.dtype)


def _remember_all(outputs: Any, real: Any) -> None:
    if isinstance(outputs, Tensor):
        claim = claim_of(outputs)
        if claim is not None and isinstance(real, Tensor) and real.shape == outputs.shape:
            remember(outputs, claim, real)
        return
    if isinstance(outputs, (tuple, list)):
        for one, other in zip(outputs, real, strict=False):
            _remember_all(one, other)
