"""A report with shorter names, for where a name or their sum has no room."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from memtrack.i18n import Text
from memtrack.recording.tables import Array
from memtrack.reports.cells import ELLIPSIS
from memtrack.reports.feweranswers import clipped_answers
from memtrack.reports.report import Report, View


def with_shorter_names(report: Report, longest: int) -> Report:
    """Return the report with no string, also inside of its sentences, above `longest` characters.

    Of a path the end stays, which tells one layer from the next; of everything else the beginning.
    """
    tree = report.layers
    return dataclasses.replace(
        report,
        identifier=_clipped(report.identifier, longest),
        label=_clipped(report.label, longest),
        started=_clipped(report.started, longest),
        versions={
            _clipped(name, longest): _clipped(version, longest)
            for name, version in report.versions.items()
        },
        notices=_sentences(report.notices, longest),
        layers=dataclasses.replace(
            tree,
            name=_all_clipped(tree.name, longest),
            path=[_clipped_path(path, longest) for path in tree.path],
            type=_all_clipped(tree.type, longest),
            aliases=_all_clipped(tree.aliases, longest),
        ),
        marks=dataclasses.replace(report.marks, label=_all_clipped(report.marks.label, longest)),
        views=[_view(view, longest) for view in report.views],
    )


def _view(view: View, longest: int) -> View:
    view = clipped_answers(view, lambda name: _clipped(name, longest))
    columns = {name: _column(column, longest) for name, column in view.layers.columns.items()}
    return dataclasses.replace(
        view,
        device=dataclasses.replace(
            view.device,
            kind=_clipped(view.device.kind, longest),
            name=_clipped(view.device.name, longest),
        ),
        headline=_sentence(view.headline, longest),
        details=_sentences(view.details, longest),
        growth=[
            dataclasses.replace(found, sentence=_sentence(found.sentence, longest))
            for found in view.growth
        ],
        layers=dataclasses.replace(view.layers, columns=columns),
        timeline=dataclasses.replace(
            view.timeline,
            sites=_all_clipped(view.timeline.sites, longest),
            names=_all_clipped(view.timeline.names, longest),
        ),
    )


def _column(column: Array | Sequence[str], longest: int) -> Array | Sequence[str]:
    return _all_clipped(column, longest) if isinstance(column, list) else column


def _all_clipped(values: Sequence[str], longest: int) -> list[str]:
    return [_clipped(value, longest) for value in values]


def _clipped(value: str, longest: int) -> str:
    return value if len(value) <= longest else value[: longest - 1] + ELLIPSIS


def _clipped_path(path: str, longest: int) -> str:
    return path if len(path) <= longest else ELLIPSIS + path[len(path) - longest + 1 :]


def _sentences(sentences: Sequence[Text], longest: int) -> list[Text]:
    return [_sentence(sentence, longest) for sentence in sentences]


def _sentence(sentence: Text, longest: int) -> Text:
    return Text(sentence.template, _values(sentence.values, longest))


def _values(values: Mapping[str, object], longest: int) -> dict[str, object]:
    return {name: _value(value, longest) for name, value in values.items()}


def _value(value: object, longest: int) -> object:
    if isinstance(value, Text):
        return _sentence(value, longest)
    return _clipped(value, longest) if isinstance(value, str) else value
