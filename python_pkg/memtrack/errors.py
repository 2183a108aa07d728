"""Every error memtrack raises on purpose, as one tree.

```
MemtrackError                 something the reader can act on; one sentence, one hint
├── UsageError                wrong arguments to the magic, the API or the command line
├── UnreadableFile            a file that is not what it says, is cut short or is corrupt
│   └── NewerFormat           a file written by a newer major version
├── UnavailableError          what was asked needs something this machine or process lacks
├── PredictionError           a program that cannot be predicted, by operation and line
└── RecordingStateError       the recording is not in the state the call needs
```

A bug of ours is never one of these: it is an assertion and crashes with its context.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from memtrack.i18n import ENGLISH, Text, text

_WIDE_STOPS = ("。", "！", "？")


def in_one_line(error: BaseException) -> str:
    r"""Return the class of any error and the first line it says, also where it cannot be made a text.

    >>> in_one_line(ValueError("no such shape\nat line 3"))
    'ValueError: no such shape'
    """
    try:
        words = str(error)
    except Exception:  # noqa: BLE001 - the user's own class; we tell of it while handling it
        return type(error).__name__
    return f"{type(error).__name__}: {words}".splitlines()[0]


class MemtrackError(Exception):
    """An expected failure: what happened in one sentence and, where there is one, what to do.

    `hint` is shown after the sentence; doors print both on one line and never a traceback.
    A `Text` can be read in every language; a plain string stays as it is.
    """

    def __init__(self, sentence: str | Text, hint: str | Text = "") -> None:
        super().__init__(str(sentence))
        self.sentence = str(sentence)
        self.hint = str(hint)
        self._texts = (sentence, hint)

    def __str__(self) -> str:
        return self.in_language(ENGLISH)

    def in_language(self, language: str) -> str:
        """Return sentence and hint as one line in `language`."""
        parts = [part.render(language) if isinstance(part, Text) else part for part in self._texts]
        sentence, hint = parts
        # A full stop of Chinese brings its own space.
        space = " " if sentence and hint and not sentence.endswith(_WIDE_STOPS) else ""
        return f"{sentence}{space}{hint}"


class UsageError(MemtrackError):
    """Wrong use of the magic, the API or the command line."""

    @classmethod
    def unknown_word(cls, kind: str | Text, word: str, known: Iterable[str]) -> UsageError:
        """Build the error for a word that is none of `known`, with the closest match."""
        options = sorted(known)
        close = difflib.get_close_matches(word, options, n=1, cutoff=0.5)
        if close:
            hint = text("Did you mean '{word}'?", word=close[0])
        else:
            hint = text("Known: {words}.", words=", ".join(options))
        return cls(text("There is no {kind} '{word}'.", kind=kind, word=word), hint)


class UnreadableFile(MemtrackError):
    """A file that cannot be read as what it claims to be."""


class NewerFormat(UnreadableFile):
    """A file whose major version is newer than this memtrack understands."""


class UnavailableError(MemtrackError):
    """What was asked needs a package, a device or a feature that is not here."""


class PredictionError(MemtrackError):
    """A program whose memory cannot be predicted; names the operation and the user's line."""

    @classmethod
    def refused(
        cls, operation: str, site: str, why: str | Text, hint: str | Text = ""
    ) -> PredictionError:
        """Build the error for `operation` at `site` (`train.py:12`, "" when unknown)."""
        if site:
            values = {"operation": operation, "site": site, "why": why}
            return cls(text("Cannot predict {operation} at {site}: {why}.", **values), hint)
        return cls(text("Cannot predict {operation}: {why}.", operation=operation, why=why), hint)


class RecordingStateError(MemtrackError):
    """The call does not fit the recording's state, such as a report of a run with no event."""
