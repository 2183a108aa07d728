"""`%memtrack plan`: its words to a plan, with configurations found among the names of the notebook."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.notebook.fitting import gpu_names
from memtrack.notebook.grammar import split_words, unquote
from memtrack.notebook.targets import evaluate
from memtrack.planners.inputs import MIXED, OPTIMIZERS
from memtrack.planners.request import parse_plan
from memtrack.planners.words import GPU, KINDS, OPTIONS_OF
from memtrack.planning import Plan, plan_of

_VALUES = {"--optimizer": OPTIMIZERS, "--mixed": MIXED}


def plan_for(argument: str, names: Mapping[str, Any], language: str) -> Plan:
    """Return the plan that the words after `%memtrack plan` ask for."""

    def config_of(word: str) -> object:
        first = re.split(r"[.\[(]", word, maxsplit=1)[0]
        if first in names:
            return evaluate(word, names)
        if Path(word).expanduser().exists():
            return Path(word).expanduser()
        raise UsageError(
            text("'{word}' is neither a name of this notebook nor a file.", word=word),
            text("A configuration is model.config, a dictionary, or the path of a config.json."),
        )

    words = [unquote_value(word) for word in split_words(argument)]
    return plan_of(parse_plan(words, config_of), language)


def unquote_value(word: str) -> str:
    """Return a word without its quotes, also those of the value in `--gpu="A100 80GB"`."""
    name, equals, value = word.partition("=")
    return f"{name}={unquote(value)}" if equals and name.startswith("--") else unquote(word)


def complete_plan(done: list[str], word: str) -> list[str]:
    """Return what may follow the words `done` after `plan` where `word` is being typed."""
    kind = done[0] if done and done[0] in KINDS else "ledger"
    last = done[-1] if done else ""
    if last == GPU:
        return gpu_names()
    if last in _VALUES and last in OPTIONS_OF[kind]:
        return list(_VALUES[last])
    if word.startswith("-"):
        return list(OPTIONS_OF[kind])
    if done:
        return list(OPTIONS_OF[kind]) if done != [kind] else []
    return list(KINDS)
