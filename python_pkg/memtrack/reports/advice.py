"""Advice that shows itself: a list of remedies that prints as a table, in a notebook with its report."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from memtrack.errors import UsageError
from memtrack.i18n import preferred_language, text
from memtrack.recording import RecordingData
from memtrack.remedies import Advised, Base, Combination, Remedy
from memtrack.remedies import advise as weigh
from memtrack.remedies.weigh import Rerun
from memtrack.reports.advicehtml import advice_html
from memtrack.reports.advicepayload import advice_json, with_advice
from memtrack.reports.advicetext import render_advice
from memtrack.reports.bounded import LIMIT_BYTES, notebook_payload
from memtrack.reports.build import build_report
from memtrack.reports.payload import MIME_TYPE
from memtrack.units import format_bytes


class Remedies(list[Remedy]):
    """What `memtrack.advise` returns: remedies ranked by what they save, and what they save together.

    `language` is that it is shown in, "" for the process's own.
    """

    def __init__(
        self,
        advised: Advised,
        data: RecordingData,
        language: str = "",
        payload_limit: int = LIMIT_BYTES,
    ) -> None:
        super().__init__(advised.remedies)
        self.advised = advised
        self.language = language
        self._data = data
        self._payload_limit = payload_limit

    @property
    def base(self) -> Base:
        """The run as it is."""
        return self.advised.base

    @property
    def budget(self) -> int | None:
        """What was to be fitted, in bytes."""
        return self.advised.budget

    @property
    def combinations(self) -> list[Combination]:
        """Sets of remedies, with a budget the mildest that fits first."""
        return list(self.advised.combinations)

    def to_json(self, language: str = "") -> dict[str, Any]:
        """Return all of it as plain JSON, its sentences in one language."""
        return advice_json(self.advised, language or self._spoken())

    def __str__(self) -> str:
        return render_advice(self.advised, self._spoken())

    def __repr__(self) -> str:
        helping = sum(1 for one in self if one.applies and one.peak is not None)
        return f"<memtrack.Remedies: {helping} help, peak {format_bytes(self.base.peak)}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # IPython has a printer for lists, which it prefers to the text of the bundle.
        printer.text("…" if cycle else str(self))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        spoken = self._spoken()
        packed = notebook_payload(build_report(self._data), self._payload_limit)
        return {
            "text/plain": render_advice(self.advised, spoken),
            "text/html": advice_html(self.advised, spoken),
            MIME_TYPE: with_advice(packed, self.advised),
        }

    def _spoken(self) -> str:
        return self.language or preferred_language()


def advice_of(
    recording: Any,
    budget: int | str | None = None,
    *,
    gpus: int = 8,
    progress: Callable[[int, int], None] | None = None,
) -> Advised:
    """Return advice on a recording: an object with `data`, and `build` where it can be predicted again.

    `budget` is in bytes or a size as people write it.
    """
    data = recording if isinstance(recording, RecordingData) else getattr(recording, "data", None)
    if not isinstance(data, RecordingData):
        kind = type(recording).__name__
        raise UsageError(text("advise takes a recording or a prediction, not {kind}.", kind=kind))
    rerun = _rerun_of(recording, data)
    return weigh(data, budget=budget, gpus=gpus, rerun=rerun, progress=progress)


def _rerun_of(recording: Any, data: RecordingData) -> Rerun | None:
    """Return what predicts again with some remedies, by their ids; None where that cannot be done."""
    build, predict = (getattr(recording, name, None) for name in ("build", "predict_again"))
    if build is None or predict is None:
        return None
    from memtrack.prediction.variants import again, enough_steps

    once = cache(partial(again, build, partial(predict, steps=enough_steps(data)), data))
    return lambda ids: once(tuple(ids))
