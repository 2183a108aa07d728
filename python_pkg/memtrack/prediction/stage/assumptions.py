"""What a prediction takes for granted where the program asks for values that are not there."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from memtrack.capture.stacks import is_machinery
from memtrack.errors import PredictionError
from memtrack.i18n import Text, text

_INIT = str(Path("torch", "nn", "init.py"))
_WRAPPERS = ("typing_extensions.py", "contextlib.py", "functools.py")
"""Files whose functions only call the one they wrap."""
MAX_ASKED = 20_000
"""A line that asks more often waits for a value that never comes: no prediction goes on for ever."""
MAX_ASSUMPTIONS = 1000
"""A loop that asks a million times is told of once; so many different places are enough."""


@dataclass(frozen=True)
class Assumption:
    """One thing taken for granted: `operation` asked at `site` (`model.py:12`), `assumed` said."""

    operation: str
    site: str
    assumed: str | Text


class Assumptions:
    """The assumptions of one prediction, each place once, in order."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, str], Assumption] = {}
        self._asked: Counter[str] = Counter()

    def add(self, operation: str, assumed: str | Text) -> None:
        """Note an assumption made at the user's line that runs now."""
        if _in_initialisation():
            return
        site = user_site()
        self._asked[site] += 1
        if self._asked[site] > MAX_ASKED:
            why = text("its value is asked for again and again, as by a loop that waits for it")
            raise PredictionError.refused(operation, site, why)
        key = (operation, site, str(assumed))
        if key not in self._seen and len(self._seen) < MAX_ASSUMPTIONS:
            self._seen[key] = Assumption(operation, site, assumed)

    def all(self) -> tuple[Assumption, ...]:
        """Return all of them."""
        return tuple(self._seen.values())


def _in_initialisation() -> bool:
    """Tell whether weights are being drawn: how that ends decides nothing."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.endswith(_INIT):
            return True
        frame = frame.f_back
    return False


def refused(operation: str, why: str | Text, hint: str | Text = "") -> PredictionError:
    """Return the error for an operation at the user's line that runs now."""
    return PredictionError.refused(operation, user_site(), why, hint)


_names: Callable[[str], str] | None = None
"""How files are called while a program is predicted: of all threads, as autograd has its own."""


@contextmanager
def calling_files(names: Callable[[str], str] | None) -> Iterator[None]:
    """Call files as `names` does within it: `In [3]` for the file that stands for a notebook's cell."""
    global _names
    before, _names = _names, names
    try:
        yield
    finally:
        _names = before


def _file_name(file: str) -> str:
    called = file if _names is None else _names(file)
    return Path(file).name if called == file else called


def user_site() -> str:
    """Return the innermost line outside torch and memtrack: `train.py:12`, "" when there is none.

    Where that is a library's, the line of the user's that called it comes besides.
    """
    inner = outer = ""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_machinery(file) and not file.endswith(_WRAPPERS):
            here = f"{_file_name(file)}:{frame.f_lineno}"
            inner = inner or here
            if "site-packages" not in file:
                outer = here
                break
        frame = frame.f_back
    if outer and inner != outer:
        return f"{inner}, {outer}"
    return inner
