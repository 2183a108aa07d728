"""Expressions of the user to the models and optimizers they name, checked, with close matches.

Nothing here imports torch: where it was never imported there can be no model. Types are looked at
without asking the object, since lazy proxies answer questions by loading themselves.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from memtrack.errors import UsageError, in_one_line
from memtrack.i18n import Text, text
from memtrack.notebook.words import OTHER_WORDS, SUB_COMMANDS

_MODEL_ATTRIBUTES = ("model", "module", "net", "network")
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class Target:
    """What to record, and its names: `labels` for the report, `subject` for sentences."""

    models: Any
    optimizers: Any
    labels: str | list[str]
    subject: str | Text


def find_target(model: str, optimizer: str, label: str, names: Mapping[str, Any]) -> Target:
    """Return what the expressions `model` and `optimizer` name ("" for none) in `names`.

    Raises UsageError in one sentence, with what was probably meant.
    """
    models = _find_models(model, names) if model else None
    optimizers = _find_optimizers(optimizer, names) if optimizer else None
    many = isinstance(models, (list, tuple))
    labels = _labels_of(label, model, many)
    subject = label or (f"`{model}`" if model else text("this cell"))
    return Target(models, optimizers, labels, subject)


def _labels_of(label: str, model: str, many: bool) -> str | list[str]:
    if not many:
        return label or _last_name(model)
    if label:
        return [part.strip() for part in label.split(",")]
    tree = ast.parse(model, mode="eval").body
    items = tree.elts if isinstance(tree, (ast.List, ast.Tuple)) else []
    names = [_last_name(ast.unparse(item)) for item in items]
    return names if len(set(names)) == len(names) and names else "model"


def _last_name(expression: str) -> str:
    """Return `model` for `trainer.model`; other expressions as they are."""
    return expression.rpartition(".")[2] if _DOTTED.fullmatch(expression) else expression or "model"


def _find_models(expression: str, names: Mapping[str, Any]) -> Any:
    value = evaluate(expression, names)
    if is_or_holds_only(value, "nn", "Module"):
        return value
    sentence = text(
        "`{expression}` is {what}; %memtrack takes a torch.nn.Module or a list of them.",
        expression=expression,
        what=described(value),
    )
    raise UsageError(sentence, _hint_for_model(expression, value, names))


def _find_optimizers(expression: str, names: Mapping[str, Any]) -> Any:
    value = evaluate(expression, names)
    if is_or_holds_only(value, "optim", "Optimizer"):
        return value
    sentence = text(
        "`{expression}` is {what}; --optimizer takes a torch.optim.Optimizer or a list of them.",
        expression=expression,
        what=described(value),
    )
    raise UsageError(sentence, _known(_names_of("optim", "Optimizer", names)))


def evaluate(expression: str, names: Mapping[str, Any]) -> Any:
    """Evaluate the user's expression; whatever it raises is told in one sentence."""
    try:
        return eval(expression, dict(names))  # noqa: S307 - the user's own expression
    except NameError as error:
        missing = getattr(error, "name", None) or expression
        sentence = text("There is no name '{name}' in this notebook.", name=missing)
        raise UsageError(sentence, _close_name(missing, names)) from None
    except SyntaxError:
        sentence = text("`{expression}` is not an expression.", expression=expression)
        raise UsageError(sentence) from None
    except Exception as error:  # noqa: BLE001 - the user's code may raise anything
        problem = in_one_line(error)
        sentence = text("`{expression}` fails: {problem}", expression=expression, problem=problem)
        raise UsageError(sentence) from None


def is_or_holds_only(value: Any, module: str, base: str) -> bool:
    """Tell whether a value is of torch's class `module.base`, or a list of such objects alone."""
    if _is_a(value, module, base):
        return True
    held = type(value) in (list, tuple) and len(value) > 0
    return held and all(_is_a(item, module, base) for item in value)


def _is_a(value: Any, module: str, base: str) -> bool:
    torch: ModuleType | None = sys.modules.get("torch")
    family = getattr(getattr(torch, module, None), base, None)
    return family is not None and issubclass(type(value), family)


def _names_of(module: str, base: str, names: Mapping[str, Any]) -> list[str]:
    """Return the user's names for objects of one family, in the order they were made."""
    return [
        name
        for name, value in list(names.items())
        if not name.startswith("_") and _is_a(value, module, base)
    ]


def described(value: Any) -> Text:
    """Return what a value is, for a sentence that says what it is not."""
    if value is None:
        return text("None")
    if isinstance(value, type):
        return text("the class {name}, not an object made from it", name=value.__name__)
    if type(value) in (list, tuple, dict) and not value:
        return text("an empty {type}", type=type(value).__name__)
    if type(value) in (list, tuple):
        kinds = dict.fromkeys(type(item).__name__ for item in value)
        kind, count = type(value).__name__, len(value)
        return text("a {type} of {count} {kinds}", type=kind, count=count, kinds=", ".join(kinds))
    return text("of type {type}", type=type(value).__name__)


def _hint_for_model(expression: str, value: Any, names: Mapping[str, Any]) -> str | Text:
    for attribute in _MODEL_ATTRIBUTES:
        if _is_a(getattr(value, "__dict__", {}).get(attribute), "nn", "Module"):
            return text("Did you mean '{word}'?", word=f"{expression}.{attribute}")
    return _known(_names_of("nn", "Module", names))


def _close_name(missing: str, names: Mapping[str, Any]) -> str | Text:
    models = _names_of("nn", "Module", names)
    words = [*models, *SUB_COMMANDS]
    if missing in OTHER_WORDS:
        return text("Did you mean '{word}'?", word=f"%memtrack {OTHER_WORDS[missing]}")
    close = difflib.get_close_matches(missing, words, n=1, cutoff=0.6)
    if not close:
        return _known(models)
    word = close[0] if close[0] in models else f"%memtrack {close[0]}"
    return text("Did you mean '{word}'?", word=word)


def _known(found: Sequence[str]) -> str | Text:
    shown = found[:5]
    return text("Known here: {names}.", names=", ".join(shown)) if shown else ""
