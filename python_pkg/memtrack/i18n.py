"""Sentences that can be read in every language memtrack ships.

A `Text` is an English template with named values. The catalogues are the ones JupyterLab reads
for the browser side (`locale/<language>/LC_MESSAGES/memtrack.json`), so a sentence is translated
once. Values may be texts themselves; byte counts and names are passed already formatted.
"""

from __future__ import annotations

import json
import locale
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ENGLISH = "en"
LOCALE_FOLDER = Path(__file__).parent / "locale"


@dataclass(frozen=True, slots=True)
class Text:
    """A translatable sentence: `template` in English, `values` for its `{names}`."""

    template: str
    values: Mapping[str, object] = field(default_factory=dict)

    def render(self, language: str = ENGLISH) -> str:
        """Return the sentence in `language`; English where the catalogue lacks it."""
        template = catalogue(language).get(self.template, self.template)
        values = {
            name: value.render(language) if isinstance(value, Text) else value
            for name, value in self.values.items()
        }
        return template.format(**values) if values else template

    def __str__(self) -> str:
        return self.render()


def text(template: str, **values: object) -> Text:
    """Return a `Text`; the template must be a literal so that `scripts/check_locale.py` finds it."""
    return Text(template, values)


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that have a catalogue, English first, as in `zh_CN`."""
    found = sorted(
        path.parent.parent.name for path in LOCALE_FOLDER.glob("*/LC_MESSAGES/memtrack.json")
    )
    return (ENGLISH, *found)


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Return English template → translation for `language`; empty for English and the unknown."""
    path = LOCALE_FOLDER / language / "LC_MESSAGES" / "memtrack.json"
    if language == ENGLISH or not path.is_file():
        return {}
    entries = json.loads(path.read_text(encoding="utf-8"))
    return {template: forms[0] for template, forms in entries.items() if template and forms[0]}


def in_every_language(sentence: Text) -> dict[str, str]:
    """Return `sentence` in each shipped language, for a reader whose language is not known yet."""
    return {language: sentence.render(language) for language in languages()}


def preferred_language() -> str:
    """Return the language of this process: `MEMTRACK_LANG`, else the locale, else English."""
    asked = os.environ.get("MEMTRACK_LANG") or os.environ.get("LC_ALL") or os.environ.get("LANG")
    name = (asked or locale.getlocale()[0] or ENGLISH).split(".")[0].replace("-", "_")
    for language in languages():
        if name == language or name.split("_")[0] == language.split("_")[0]:
            return language
    return ENGLISH
