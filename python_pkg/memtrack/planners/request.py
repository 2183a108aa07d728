"""The words after `plan` to the inputs of a planner. Pure: a configuration is found by `config_of`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.planners.config import kv_inputs_of
from memtrack.planners.inputs import OPTIMIZERS, Inputs, LedgerInputs, LoadingInputs
from memtrack.planners.quantities import parse_count, parse_dtype
from memtrack.planners.words import GPU, KINDS, OPTIONS_OF, USAGE, PlanOption

DEFAULT_COUNT = "7B"
"""What `plan` alone begins with."""
_COUNTS = ("parameters", "largest")
_DTYPES = ("dtype", "cache_dtype", "stored", "built")
_OPTIMIZER_NAMES = {"8bit-adam": "adam8bit", "adamw8bit": "adam8bit", "none": "none"}


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What is planned, and for which GPU ("" for none), as it was written."""

    kind: str
    inputs: Inputs
    gpu: str = ""


def parse_plan(words: Sequence[str], config_of: Callable[[str], object]) -> PlanRequest:
    """Return what the words ask for; raise UsageError in one sentence."""
    kind = words[0] if words and words[0] in KINDS else "ledger"
    rest = words[1:] if words and words[0] in KINDS else words
    subjects, values = _read(rest, kind)
    gpu = str(values.pop("gpu", ""))
    if len(subjects) > 1:
        quoted = text("In quotes: {usage}", usage=f'{GPU} "{gpu} {subjects[1]}"') if gpu else ""
        raise UsageError(text("'{word}' is one word too many.", word=subjects[1]), quoted)
    if kind == "kv":
        if not subjects:
            raise UsageError(text("Something is missing: {usage}", usage=USAGE[kind]))
        return PlanRequest(kind, kv_inputs_of(config_of(subjects[0]), **values), gpu)
    count = _count(subjects[0] if subjects else DEFAULT_COUNT)
    inputs = LedgerInputs if kind == "ledger" else LoadingInputs
    return PlanRequest(kind, inputs(count, **values), gpu)


def optimizer_name(word: object) -> str:
    """Return our name of an optimizer: `AdamW`, `8bit-Adam`."""
    name = str(word).lower().replace("_", "-")
    name = _OPTIMIZER_NAMES.get(name, name)
    if name not in OPTIMIZERS:
        raise UsageError.unknown_word(text("optimizer"), str(word), OPTIMIZERS)
    return name


def _count(word: str) -> int:
    if word[:1].isdigit() or word[:1] == ".":
        return parse_count(word)
    raise UsageError.unknown_word(text("plan"), word, (*KINDS, DEFAULT_COUNT))


def _read(words: Iterable[str], kind: str) -> tuple[list[str], dict[str, Any]]:
    """Return the words that are no options, and the values of the options by field."""
    options, subjects, values = OPTIONS_OF[kind], [], {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("--"):
            subjects.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in options:
            raise UsageError.unknown_word(text("option"), name, options)
        option = options[name]
        if option.field in values:
            raise UsageError(text("{option} is given twice.", option=name))
        if option.value:
            value = value if equals else next(rest, "")
            if not value or value.startswith("--"):
                usage = f"{name} {option.value}"
                raise UsageError(text("Something is missing: {usage}", usage=usage))
        values[option.field] = _value(option, value)
    return subjects, values


def _value(option: PlanOption, word: str) -> Any:
    if not option.value:
        return 3 if option.field == "zero" else option.field != "flash"
    if option.field in _COUNTS:
        return parse_count(word)
    if option.field in _DTYPES:
        return parse_dtype(word)
    if option.field == "optimizer":
        return optimizer_name(word)
    if option.field in ("gpu", "mixed"):
        return word
    return _number(option, word)


def _number(option: PlanOption, word: str) -> int | float:
    is_share = option.field == "lora"
    try:
        return float(word) if is_share else int(word.replace("_", ""))
    except ValueError:
        raise UsageError(
            text("{option} takes a number, not '{value}'.", option=option.name, value=word)
        ) from None
