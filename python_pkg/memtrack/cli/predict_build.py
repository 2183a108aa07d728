"""`memtrack predict MODULE:FUNCTION`: what a training step needs of a GPU, as text or JSON."""

from __future__ import annotations

import argparse
import shlex
import sys
import traceback
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from typing import Any

from memtrack.cli.buildat import as_program, build_at, without_our_frames
from memtrack.cli.terminal import columns, print_json
from memtrack.errors import MemtrackError, UsageError
from memtrack.exports.write import told_in_one_line
from memtrack.folders import working_folder
from memtrack.i18n import Text, text
from memtrack.predicting import Prediction, largest_batch, predict
from memtrack.reports import render_text
from memtrack.reports.cells import display_width
from memtrack.reports.searching import Searching, bar, largest_sentence
from memtrack.sizes import UNITS_HELP

FINE, DOES_NOT_FIT, WRONG = 0, 1, 2
SCHEMA = "memtrack.prediction/1"


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("whether a training step fits a GPU, without a GPU").render(language)
    units = UNITS_HELP.render(language)
    parser = commands.add_parser("predict", help=purpose, description=purpose, epilog=units)
    build = text("a function that makes the program and returns a function for one step")
    parser.add_argument("build", metavar="MODULE:FUNCTION", help=build.render(language))
    gpu = text("the GPU to fit into: a name such as 'RTX 4090', a size such as 24GiB, or here")
    parser.add_argument("--gpu", metavar="NAME|SIZE", help=gpu.render(language))
    steps = text("how many steps are run (default: 3)")
    parser.add_argument("--steps", metavar="N", help=steps.render(language))
    largest = text("search the largest batch: the function takes it as its argument")
    parser.add_argument("--largest-batch", action="store_true", help=largest.render(language))
    conf = text("the allocator's settings, as in PYTORCH_CUDA_ALLOC_CONF")
    parser.add_argument("--alloc-conf", metavar="CONF", help=conf.render(language))
    words = text("what the module finds in sys.argv, as one word in quotes")
    parser.add_argument("--args", metavar="WORDS", default="", help=words.render(language))
    save = text("write the prediction to a .memtrack file too")
    parser.add_argument("--save", metavar="FILE", help=save.render(language))
    as_json = text("print the prediction as one JSON object")
    parser.add_argument("--json", action="store_true", help=as_json.render(language))


def run(options: argparse.Namespace, language: str) -> int:
    """Print the prediction; 1 when it does not fit the GPU that was named, 2 when there is none."""
    _check(options)
    progress = _Progress(language)
    # What the program prints is no part of our answer to another program.
    quiet = redirect_stdout(sys.stderr) if options.json else nullcontext()
    try:
        with as_program(options.build, _split(options.args)), quiet:
            build = build_at(options.build)
            asked = _largest if options.largest_batch else _predicted
            found, answer = asked(build, options, progress)
    except MemtrackError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's program may raise anything
        return _failed(error, language)
    finally:
        progress.end()
    if found is not None and options.save is not None:
        with told_in_one_line(options.save):
            found.save(options.save)
    if options.json:
        told = {"schema": SCHEMA} if found is None else as_json(found)
        print_json({**told, **answer})
    else:
        _print(found, answer, language)
    return DOES_NOT_FIT if found is None or found.fits is False else FINE


def as_json(found: Prediction) -> dict[str, Any]:
    """Return what a prediction says as plain JSON; bytes as integers.

    `gpu` is the one that was named, else null; `gpu_given` says whether that was `name`, `size` or
    `nothing`, and `kernels_assumed` whether `kernels` are of another GPU than the one asked about.
    """
    phase, layer = found.limiting
    told = found.told
    sized = "size" if told.capacity >= 0 else "nothing"
    return {
        "schema": SCHEMA,
        **told.to_json(),
        "gpu": told.gpu if told.named else None,
        "gpu_given": "name" if told.named else sized,
        "kernels_assumed": not told.named or told.kernels != told.gpu,
        "fits": found.fits,
        "limiting": {"phase": phase, "layer": layer},
        "by_phase": found.by_phase,
    }


def _check(options: argparse.Namespace) -> None:
    """Refuse, before the program runs, what could not be done after it."""
    steps = options.steps
    if steps is not None and not (steps.isascii() and steps.isdigit()):
        raise UsageError(text("--steps takes a whole number, not '{value}'.", value=steps))
    if options.largest_batch and options.gpu is None:
        raise UsageError(text("Something is missing: {usage}", usage="--gpu NAME|SIZE"))
    folder = None if options.save is None else (working_folder() / options.save).parent
    if folder is not None and not folder.is_dir():
        raise UsageError(text("There is no folder {path}.", path=folder))


def _predicted(
    build: Callable[..., Any], options: argparse.Namespace, progress: _Progress
) -> tuple[Prediction | None, dict[str, Any]]:
    found = predict(
        build,
        steps=int(options.steps or 3),
        gpu=options.gpu,
        allocator_conf=options.alloc_conf,
        progress=progress.predicted,
    )
    return found, {}


def _largest(
    build: Callable[..., Any], options: argparse.Namespace, progress: _Progress
) -> tuple[Prediction | None, dict[str, Any]]:
    found = largest_batch(
        build,
        gpu=options.gpu,
        steps=int(options.steps or 2),
        allocator_conf=options.alloc_conf,
        progress=progress.tried,
    )
    phase, layer = found.limiting
    limiting = {"phase": phase, "layer": layer}
    answer = {"largest_batch": found.size, "limiting_next": limiting, "tried": list(found.tried)}
    return found.best, answer


def _print(found: Prediction | None, answer: dict[str, Any], language: str) -> None:
    if answer:
        limiting = answer["limiting_next"]
        sentence = largest_sentence(
            answer["largest_batch"], limiting["phase"], limiting["layer"], answer["tried"]
        )
        print(sentence.render(language))
    if found is not None:
        print(render_text(found.report(), width=columns(), language=language))


def _failed(error: BaseException, language: str) -> int:
    """Show the program's own traceback, then what that means for the prediction."""
    sys.stdout.flush()
    if isinstance(error, SystemExit):
        sentence = text("The program left with {code} before it was predicted.", code=error.code)
    else:
        traceback.print_exception(error.with_traceback(without_our_frames(error.__traceback__)))
        name = type(error).__name__
        sentence = text("Not predicted: the program raised {name}, as shown above.", name=name)
    print(sentence.render(language), file=sys.stderr)
    return WRONG


def _split(words: str) -> list[str]:
    try:
        return shlex.split(words)
    except ValueError as error:
        raise UsageError(text("--args cannot be read: {problem}.", problem=str(error))) from None


class _Progress:
    """A line on a terminal's stderr that is replaced as the work goes on, and gone at the end."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._width = 0
        self._search = Searching()

    def predicted(self, done: int, count: int) -> None:
        """One more of the parts of a prediction is done."""
        self._tell(done / count, text("Predicting: {done} of {count}", done=done, count=count))

    def tried(self, size: int, fits: bool) -> None:
        """One more size of a search was tried."""
        sentence = self._search.tried(size, fits)
        self._tell(self._search.share, sentence)

    def _tell(self, share: float, sentence: Text) -> None:
        if sys.stderr.isatty():
            self._put(f"{bar(share)} {sentence.render(self._language)}")

    def end(self) -> None:
        """Take the line away."""
        if self._width:
            self._put("")

    def _put(self, words: str) -> None:
        sys.stderr.write(f"\r{' ' * self._width}\r{words}")
        sys.stderr.flush()
        self._width = display_width(words)
