"""What a recorder is given, checked: modules, optimizers, a number of steps, labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import torch

from memtrack.errors import UsageError
from memtrack.i18n import text

Models: TypeAlias = torch.nn.Module | Sequence[torch.nn.Module] | None
Optimizers: TypeAlias = torch.optim.Optimizer | Sequence[torch.optim.Optimizer] | None


def checked_models(model: Models) -> list[torch.nn.Module]:
    """Return the models as a list, empty for None; UsageError for what is not a module."""
    if model is None:
        return []
    models = [model] if isinstance(model, torch.nn.Module) else model
    if not isinstance(models, (list, tuple)) or not models:
        raise _not_a_module(model)
    for one in models:
        if not isinstance(one, torch.nn.Module):
            raise _not_a_module(one)
    return list(models)


def checked_optimizers(optimizer: Optimizers) -> list[torch.optim.Optimizer]:
    """Return the optimizers as a list, empty for None; UsageError for what is not one."""
    if optimizer is None:
        return []
    many = [optimizer] if isinstance(optimizer, torch.optim.Optimizer) else optimizer
    if not isinstance(many, (list, tuple)):
        raise _not_an_optimizer(optimizer)
    for one in many:
        if not isinstance(one, torch.optim.Optimizer):
            raise _not_an_optimizer(one)
    return list(many)


def checked_steps(steps: int | None) -> int | None:
    """Return the number of steps; UsageError for anything but a whole number from 1 or None."""
    if steps is not None and (type(steps) is not int or steps < 1):
        raise UsageError(
            text("steps must be a whole number from 1, not {given}.", given=repr(steps))
        )
    return steps


def labels_of(models: Sequence[torch.nn.Module], label: str | Sequence[str]) -> list[str]:
    """Return a label for each model, without dots; UsageError when there are more or fewer."""
    if not isinstance(label, str):
        if len(label) != len(models):
            counts = {"models": len(models), "labels": len(label)}
            raise UsageError(text("{models} models need as many labels, not {labels}.", **counts))
        return [one.replace(".", "_") for one in label]
    if len(models) == 1:
        return [label.replace(".", "_")]
    labels: list[str] = []
    for model in models:
        labels.append(unique(type(model).__name__, set(labels)))
    return labels


def unique(name: str, taken: set[str]) -> str:
    """Return `name`, numbered from 2 where it is taken."""
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name} {number}"
    return candidate


def _not_a_module(given: object) -> UsageError:
    return UsageError(text("A {type} is not a torch.nn.Module.", type=type(given).__name__))


def _not_an_optimizer(given: object) -> UsageError:
    return UsageError(text("A {type} is not a torch.optim.Optimizer.", type=type(given).__name__))
