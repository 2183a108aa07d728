"""What a report says of a prediction: what it needs of the GPU, whether that is there, on what assumptions."""

from __future__ import annotations

from memtrack.analysis.predicted import CLOSE, FITS, TOO_LARGE, Assumed, Predicted
from memtrack.i18n import ENGLISH, Text, text
from memtrack.planners.gpus import short_name
from memtrack.reports.words import PHASES
from memtrack.units import format_bytes

MOST_ASSUMPTIONS = 8
"""Sentences on assumptions; the rest is counted."""

MOST_KERNELS = 4
"""Names of kernels that are not modelled."""

_VERDICTS = {
    FITS: text("fits {gpu}"),
    TOO_LARGE: text("does not fit {gpu}"),
    CLOSE: text("too close to call for {gpu}"),
}


def predicted_headline(headline: Text, told: Predicted) -> Text:
    """Return the first line of a prediction: the peak, what is needed of the GPU, the verdict."""
    low, high = (format_bytes(size) for size in told.process)
    values = {"headline": headline, "low": low, "high": high}
    if told.verdict in _VERDICTS:
        gpu = text("{name} ({bytes})", name=short_name(told.gpu), bytes=format_bytes(told.capacity))
        if not told.named:
            gpu = text("a GPU of {bytes}", bytes=format_bytes(told.capacity))
        verdict = Text(_VERDICTS[told.verdict].template, {"gpu": gpu})
        return text(
            "Predicted: {headline}; needs {low} to {high} of the GPU: {verdict}",
            verdict=verdict,
            **values,
        )
    return text("Predicted: {headline}; needs {low} to {high} of the GPU", **values)


def predicted_details(told: Predicted) -> list[Text]:
    """Return the lines of evidence of a prediction, those that matter most first."""
    found = []
    short = told.shortage
    if short is not None:
        values = {
            "asked": format_bytes(short.requested),
            "phase": PHASES[short.phase],
            "step": short.step,
        }
        if short.layer and short.phase == "other":
            found.append(
                text(
                    "It would run out of memory in {layer}: {asked} asked",
                    layer=short.layer,
                    asked=values["asked"],
                )
            )
        elif short.layer:
            found.append(
                text(
                    "It would run out of memory in {phase} of {layer}, step {step}: {asked} asked",
                    layer=short.layer,
                    **values,
                )
            )
        else:
            found.append(
                text("It would run out of memory in {phase}, step {step}: {asked} asked", **values)
            )
    found.append(
        text(
            "The allocator reserves {reserved}; CUDA context and libraries take {low} to {high} besides",
            reserved=format_bytes(told.peak_reserved),
            low=format_bytes(told.context[0]),
            high=format_bytes(told.context[1]),
        )
    )
    if told.uncertain:
        names = told.unmodelled[:MOST_KERNELS]
        found.append(
            text(
                "Kernels that are not modelled may need up to {bytes} more or less: {names}",
                bytes=format_bytes(told.uncertain),
                names=", ".join([*names, *(["…"] if len(told.unmodelled) > len(names) else [])]),
            )
        )
    return found


def assumption_sentences(told: Predicted) -> list[Text]:
    """Return a sentence for what was assumed, each place once."""
    found = [
        text(
            "Assumed at {site}: {operation} gives {said}",
            site=one.site or text("a place outside of your code"),
            operation=one.operation,
            said=_Said(one),
        )
        for one in told.assumptions[:MOST_ASSUMPTIONS]
    ]
    more = len(told.assumptions) - len(found)
    if more > 0:
        found.append(text("Assumed at {count} more places", count=more))
    return found


def gpu_sentences(told: Predicted) -> list[Text]:
    """Return what to know of the GPU: that it was not used, or whose kernels were assumed."""
    if told.peak_allocated == 0:
        return [
            text(
                "Nothing was put on the GPU: build makes model and batch as on the GPU,"
                " with .cuda() or device='cuda'"
            )
        ]
    return _kernel_sentences(told)


def _kernel_sentences(told: Predicted) -> list[Text]:
    """Return whose kernels were assumed, where the GPU was not named or is not modelled."""
    kernels = short_name(told.kernels)
    if told.capacity < 0:
        return [
            text(
                "No GPU was named: the kernels of {gpu} are assumed, and nothing is fitted into."
                " --gpu 'RTX 4090' names one, --gpu here takes this machine's own (in Python gpu='here')",
                gpu=kernels,
            )
        ]
    if not told.named:
        return [
            text(
                "Only a size was given: the kernels of {gpu} are assumed."
                " The GPU's name makes the prediction surer: --gpu 'RTX 4090' (in Python gpu='RTX 4090')",
                gpu=kernels,
            )
        ]
    if told.kernels != told.gpu:
        return [
            text(
                "The kernels of {name} are not modelled: those of {gpu} are assumed",
                name=short_name(told.gpu),
                gpu=kernels,
            )
        ]
    return []


class _Said(Text):
    """An assumption's own words, which were rendered when it was made."""

    __slots__ = ("_one",)
    _one: Assumed

    def __init__(self, one: Assumed) -> None:
        super().__init__(one.english)
        object.__setattr__(self, "_one", one)

    def render(self, language: str = ENGLISH) -> str:
        """Return them in `language`."""
        one: Assumed = self._one
        return one.said(language)
