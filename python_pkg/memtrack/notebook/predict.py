"""`%memtrack predict`: its words to a prediction or the largest batch, with a line of progress."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memtrack.api import Presentation
from memtrack.errors import UsageError
from memtrack.i18n import Text, text
from memtrack.notebook.grammar import split_words, unquote
from memtrack.notebook.output import say, takes_updates
from memtrack.notebook.targets import evaluate
from memtrack.predicting import Prediction, largest_batch, predict
from memtrack.reports.words import PHASES

_WITH_VALUE = ("--gpu", "--steps")
_ALONE = ("--largest-batch",)
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
    rest = iter(split_words(argument))
    for word in rest:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            builds.append(word)
        elif name in _ALONE:
            flags.add(name)
        elif name in _WITH_VALUE:
            values[name] = unquote(value if equals else next(rest, ""))
            if not values[name] or values[name].startswith("--"):
                raise UsageError(text("Something is missing: {usage}", usage=_USAGE[name]))
        else:
            raise UsageError.unknown_word(text("option"), name, (*_WITH_VALUE, *_ALONE))
    if not builds:
        raise UsageError(text("Something is missing: {usage}", usage="%memtrack predict BUILD"))
    steps = values.get("--steps")
    if steps is not None and not (steps.isascii() and steps.isdigit()):
        raise UsageError(text("--steps takes a whole number, not '{value}'.", value=steps))
    if flags and "--gpu" not in values:
        raise UsageError(text("Something is missing: {usage}", usage=_USAGE["--gpu"]))
    return Asked(
        "".join(builds), values.get("--gpu"), None if steps is None else int(steps), bool(flags)
    )


def predicted(
    argument: str, names: Mapping[str, Any], shell: Any, shown: Presentation
) -> Prediction | None:
    """Predict what the words ask for; None where even the smallest batch does not fit."""
    asked = parse_predict(argument)
    build = evaluate(asked.build, names)
    line = ProgressLine(shell, shown.language)
    try:
        if not asked.largest:
            return predict(
                build,
                steps=asked.steps or 3,
                gpu=asked.gpu,
                progress=lambda done, count: line.tell(
                    text("Predicting: {done} of {count}", done=done, count=count)
                ),
                presentation=shown,
            )
        return _largest(asked, build, line, shell, shown)
    finally:
        line.end()


def _largest(
    asked: Asked, build: Any, line: ProgressLine, shell: Any, shown: Presentation
) -> Prediction | None:
    def tried(size: int, fits: bool) -> None:
        line.tell(
            text("Batch {size} fits, searching on", size=size)
            if fits
            else text("Batch {size} does not fit, searching on", size=size)
        )

    found = largest_batch(build, gpu=asked.gpu or "", steps=asked.steps or 2, progress=tried)
    line.end()
    phase, layer = found.limiting
    where: Text | str = PHASES.get(phase, phase)
    if layer:
        where = text("{phase} of {layer}", phase=where, layer=layer)
    sentence = text(
        "Largest batch that fits: {size}. What limits it: {where}", size=found.size, where=where
    )
    if not found.size:
        sentence = text("Not even a batch of 1 fits. What limits it: {where}", where=where)
    say(shell, sentence, shown.language)
    if found.best is None:
        return None
    return Prediction(found.best.data, shown, found.best.build)


class ProgressLine:
    """One line that is replaced as the work goes on, and gone at the end."""

    def __init__(self, shell: Any, language: str) -> None:
        self._shell = shell
        self._language = language
        self._display_id = uuid.uuid4().hex
        self._shown = False

    def tell(self, sentence: Text) -> None:
        """Show a sentence in the place of the one before."""
        if takes_updates(self._shell):
            self._publish(sentence.render(self._language))

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            self._publish("")

    def _publish(self, words: str) -> None:
        transient = {"display_id": self._display_id}
        self._shell.display_pub.publish(
            {"text/plain": words}, {}, transient=transient, update=self._shown
        )
        self._shown = True
