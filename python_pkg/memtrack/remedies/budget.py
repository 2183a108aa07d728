"""A budget as people give it, to bytes."""

from __future__ import annotations

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.sizes import MOST_BYTES, parse_size


def checked_budget(budget: int | str | None) -> int | None:
    """Return a budget in bytes, given so or as people write it; None is none."""
    if budget is None or isinstance(budget, str):
        return None if budget is None else parse_size(budget)
    if type(budget) is not int or not 1 <= budget <= MOST_BYTES:
        raise UsageError(text("A budget is a size above 0, such as 24GiB."))
    return budget
