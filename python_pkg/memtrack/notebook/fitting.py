"""What of a notebook fits after a word of `%memtrack`: names by what they stand for, files, GPUs.

Types are looked at without asking the objects, and nothing here imports torch.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memtrack.api import Recording
from memtrack.notebook.targets import is_or_holds_only
from memtrack.planners.gpus import GPUS, short_name

_OPENED = (".memtrack", ".ranks", ".pickle", ".pickle.gz", ".pickle.xz")


def models(names: Mapping[str, Any], word: str) -> list[str]:
    """Return the names of models and lists of them; where none begins so, of any object.

    A model may be inside of another object, as in `trainer.model`.
    """
    found = [name for name, value in names.items() if is_or_holds_only(value, "nn", "Module")]
    if word and not any(name.startswith(word) for name in found):
        return [name for name, value in names.items() if not isinstance(value, type)]
    return found


def optimizers(names: Mapping[str, Any]) -> list[str]:
    """Return the names of optimizers and lists of them."""
    return [name for name, value in names.items() if is_or_holds_only(value, "optim", "Optimizer")]


def builders(names: Mapping[str, Any]) -> list[str]:
    """Return the names of the notebook's functions, one of which builds a training step."""
    return [name for name, value in names.items() if inspect.isroutine(value)]


def recordings(names: Mapping[str, Any]) -> list[str]:
    """Return the names of recordings and predictions."""
    return [name for name, value in names.items() if issubclass(type(value), Recording)]


def errors_and_texts(names: Mapping[str, Any]) -> list[str]:
    """Return the names of exceptions and texts."""
    return [name for name, value in names.items() if issubclass(type(value), (BaseException, str))]


def gpu_names() -> list[str]:
    """Return the short names of known GPUs, in quotes where they have blanks, and `here`."""
    found = dict.fromkeys(short_name(gpu.name) for gpu in GPUS)
    return ["here", *(f'"{name}"' if " " in name else name for name in found)]


def files(word: str) -> list[str]:
    """Return the folders and the files that can be opened, at the path that `word` begins."""
    quote = word[:1] if word[:1] in ("'", '"') else ""
    begun, _ = os.path.split(word[len(quote) :])
    folder = Path(begun).expanduser() if begun else Path()
    try:
        there = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError:
        return []
    opened = [name for name in there if name.endswith(_OPENED)]
    folders = [f"{name}/" for name in there if name not in opened and (folder / name).is_dir()]
    paths = [os.path.join(begun, name) for name in (*opened, *folders)]
    return [
        f"{mark}{path}{'' if path.endswith('/') else mark}"
        for path in paths
        for mark in [quote or ('"' if " " in path else "")]
    ]
