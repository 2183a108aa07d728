"""`%memtrack predict`: its words to a prediction or the largest batch, with a line of progress."""

from __future__ import annotations

import ast
import builtins
import difflib
import functools
import inspect
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from memtrack.api import Presentation
from memtrack.errors import UsageError
from memtrack.i18n import Text, text
from memtrack.notebook.grammar import split_words, unquote
from memtrack.notebook.output import say, takes_updates
from memtrack.notebook.targets import evaluate
from memtrack.predicting import Prediction, largest_batch, predict
from memtrack.reports.searching import Searching, bar, largest_sentence

_WITH_VALUE = ("--gpu", "--steps")
_ALONE = ("--largest-batch",)
PREDICT_OPTIONS = (*_WITH_VALUE, *_ALONE)
_USAGE = {"--gpu": "--gpu NAME|SIZE", "--steps": "--steps N"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be predicted: an expression, for which GPU, over how many steps, or how large."""

    build: str
    gpu: str | None = None
    steps: int | None = None
    largest: bool = False


def parse_predict(argument: str) -> Asked:
    """Return what the words after `%memtrack predict` ask for; raise UsageError in one sentence."""
    values: dict[str, str] = {}
    builds: list[str] = []
    flags: set[str] = set()
    rest, last = iter(split_words(argument)), ""
    for word in rest:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            _refuse_halves(builds, last, values, word)
            builds.append(word)
            continue
        last = name
        if name not in PREDICT_OPTIONS:
            raise UsageError.unknown_word(text("option"), name, PREDICT_OPTIONS)
        if name in _ALONE:
            flags.add(name)
            continue
        values[name] = unquote(value if equals else next(rest, ""))
        if not values[name] or values[name].startswith("--"):
            raise UsageError(text("Something is missing: {usage}", usage=_USAGE[name]))
    if not builds:
        raise UsageError(text("Something is missing: {usage}", usage="%memtrack predict BUILD"))
    steps = values.get("--steps")
    if steps is not None and not (steps.isascii() and steps.isdigit()):
        raise UsageError(text("--steps takes a whole number, not '{value}'.", value=steps))
    if flags and "--gpu" not in values:
        raise UsageError(text("Something is missing: {usage}", usage=_USAGE["--gpu"]))
    return Asked(
        " ".join(builds), values.get("--gpu"), None if steps is None else int(steps), bool(flags)
    )


def _refuse_halves(builds: list[str], last: str, values: Mapping[str, str], word: str) -> None:
    """Refuse the second word of a GPU's name that has no quotes: what is to be predicted came before."""
    if builds and last == "--gpu":
        raise UsageError(
            text("'{word}' is one word too many.", word=word),
            text("In quotes: {usage}", usage=f'--gpu "{values[last]} {word}"'),
        )


def predicted(
    argument: str, names: Mapping[str, Any], shell: Any, shown: Presentation
) -> Prediction | None:
    """Predict what the words ask for; None where even the smallest batch does not fit."""
    asked = parse_predict(argument)
    _refuse_calls(asked, names)
    build = _build_of(asked.build, names)
    line = ProgressLine(shell, shown.language)
    try:
        if asked.largest:
            return _largest(asked, build, line, shell, shown)
        return predict(
            build,
            steps=3 if asked.steps is None else asked.steps,
            gpu=asked.gpu,
            progress=lambda done, count: line.tell(
                done / count, text("Predicting: {done} of {count}", done=done, count=count)
            ),
            presentation=shown,
        )
    finally:
        line.end()


def _refuse_calls(asked: Asked, names: Mapping[str, Any]) -> None:
    """Refuse what would run for real to be evaluated, as `build()` would: a training, on a GPU."""
    try:
        tree = ast.parse(asked.build, mode="eval").body
    except (SyntaxError, ValueError):  # told when it is evaluated
        return
    call = next(_calls(tree, names), None)
    if call is None:
        return
    usage = f"%memtrack predict lambda: {asked.build}"
    if asked.largest:
        usage = f"%memtrack predict {ast.unparse(call.func)} --largest-batch"
    elif call is tree and not (call.args or call.keywords):
        usage = f"%memtrack predict {ast.unparse(call.func)}"
    raise UsageError(
        text("`{call}` would run for real, before it is predicted.", call=ast.unparse(call)),
        text("Pass the function: {usage}", usage=usage),
    )


def _calls(node: ast.AST, names: Mapping[str, Any]) -> Iterator[ast.Call]:
    """Go through the calls that evaluating an expression makes, but for those of `functools.partial`."""
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.Call) and not _is_partial(node.func, names):
        yield node
    for inner in ast.iter_child_nodes(node):
        yield from _calls(inner, names)


def _is_partial(function: ast.expr, names: Mapping[str, Any]) -> bool:
    path = ast.unparse(function).split(".")
    found = names.get(path[0])
    for part in path[1:]:
        found = getattr(found, part, None) if inspect.ismodule(found) else None
    return found is functools.partial


def _build_of(expression: str, names: Mapping[str, Any]) -> Any:
    """Evaluate what is to be predicted; for a name that is not there the closest function is told."""
    if expression.isidentifier() and expression not in names and not hasattr(builtins, expression):
        functions = [one for one, value in names.items() if inspect.isroutine(value)]
        close = difflib.get_close_matches(expression, functions, 1, 0.6)
        raise UsageError(
            text("There is no name '{name}' in this notebook.", name=expression),
            text("Did you mean '{word}'?", word=close[0]) if close else "",
        )
    return evaluate(expression, names)


def _largest(
    asked: Asked, build: Any, line: ProgressLine, shell: Any, shown: Presentation
) -> Prediction | None:
    search = Searching()

    def tried(size: int, fits: bool) -> None:
        sentence = search.tried(size, fits)
        line.tell(search.share, sentence)

    steps = 2 if asked.steps is None else asked.steps
    found = largest_batch(build, gpu=asked.gpu or "", steps=steps, progress=tried)
    line.end()
    phase, layer = found.limiting
    say(shell, largest_sentence(found.size, phase, layer, found.tried), shown.language)
    if found.best is None:
        return None
    return Prediction(found.best.data, shown, found.best.build)


class ProgressLine:
    """A progress bar with a sentence that is replaced as the work goes on, and gone at the end."""

    def __init__(self, shell: Any, language: str) -> None:
        self._shell = shell
        self._language = language
        self._display_id = uuid.uuid4().hex
        self._shown = False

    def tell(self, share: float, sentence: Text) -> None:
        """Show how much of 1 is done, and a sentence, in the place of those before."""
        if not takes_updates(self._shell):
            return
        words = sentence.render(self._language)
        element = f'<progress max="1" value="{share:.2f}"></progress> {escape(words)}'
        self._publish({"text/plain": f"{bar(share)} {words}", "text/html": element})

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            self._publish({"text/plain": "", "text/html": ""})
            self._shown = False

    def _publish(self, bundle: dict[str, str]) -> None:
        transient = {"display_id": self._display_id}
        self._shell.display_pub.publish(bundle, {}, transient=transient, update=self._shown)
        self._shown = True
