"""`memtrack predict MODULE:FUNCTION`: what a training step needs of a GPU, as text or JSON."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.predicting import Prediction, predict
from memtrack.reports import render_text

DOES_NOT_FIT = 1


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("whether a training step fits a GPU, without a GPU").render(language)
    parser = commands.add_parser("predict", help=purpose, description=purpose)
    build = text("a function that makes the program and returns a function for one step")
    parser.add_argument("build", metavar="MODULE:FUNCTION", help=build.render(language))
    gpu = text("the GPU to fit into: a name such as 'RTX 4090', or a size such as 24GiB")
    parser.add_argument("--gpu", metavar="NAME|SIZE", help=gpu.render(language))
    steps = text("how many steps are run (default: 3)")
    parser.add_argument("--steps", metavar="N", default="3", help=steps.render(language))
    conf = text("the allocator's settings, as in PYTORCH_CUDA_ALLOC_CONF")
    parser.add_argument("--alloc-conf", metavar="CONF", help=conf.render(language))
    save = text("write the prediction to a .memtrack file too")
    parser.add_argument("--save", metavar="FILE", help=save.render(language))
    as_json = text("print the prediction as one JSON object")
    parser.add_argument("--json", action="store_true", help=as_json.render(language))


def run(options: argparse.Namespace, language: str) -> int:
    """Print the prediction; 1 when it does not fit the GPU that was named."""
    if not (options.steps.isascii() and options.steps.isdigit()):
        raise UsageError(text("--steps takes a whole number, not '{value}'.", value=options.steps))
    build = function_at(options.build)
    found = predict(
        build, steps=int(options.steps), gpu=options.gpu, allocator_conf=options.alloc_conf
    )
    if options.save is not None:
        found.save(options.save)
    if options.json:
        print(json.dumps(as_json(found), ensure_ascii=False, indent=2))
    else:
        columns = min(max(shutil.get_terminal_size((80, 24)).columns, 60), 120)
        print(render_text(found.report(), width=columns, language=language))
    return DOES_NOT_FIT if found.fits is False else 0


def as_json(found: Prediction) -> dict[str, Any]:
    """Return what a prediction says as plain JSON; bytes as integers."""
    phase, layer = found.limiting
    told = found.told.to_json()
    return {
        "schema": "memtrack.prediction/1",
        **told,
        "fits": found.fits,
        "limiting": {"phase": phase, "layer": layer},
        "by_phase": found.by_phase,
    }


def function_at(name: str) -> Callable[[], Callable[[], Any]]:
    """Import `MODULE:FUNCTION` from the current folder, or else from where Python looks."""
    module_name, colon, attribute = name.partition(":")
    if not (colon and module_name and attribute):
        raise UsageError(
            text("'{name}' is not MODULE:FUNCTION.", name=name),
            text("For a function build in train.py write train:build."),
        )
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as missing:
        if missing.name != module_name.partition(".")[0]:
            raise
        raise UsageError(text("There is no module '{name}' here.", name=module_name)) from None
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise UsageError(
            text("Module {module} has no function '{name}'.", module=module_name, name=attribute)
        )
    function: Callable[[], Callable[[], Any]] = found
    return function
