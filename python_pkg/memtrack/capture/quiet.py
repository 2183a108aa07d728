"""torch's warning of hooks on all modules, which a compiled module gives when it is called.

While we record, the hooks are ours: the warning would tell people of what they have not done, and
where they turn warnings into errors it would end their run.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

from torch.nn.modules import module as module_hooks

_ABOUT_HOOKS = re.compile(r"Using `torch\.compile\(module\)` when there are global hooks")


class HookWarning:
    """Leaves that warning out from `start` to `stop`, unless hooks of the user's are there already.

    The list of filters is changed itself: `warnings.filterwarnings` would also make Python forget
    which warnings it has shown, and show those of the user's again.
    """

    def __init__(self) -> None:
        self._filter: Any = ("ignore", _ABOUT_HOOKS, UserWarning, None, 0)
        self._changed: list[Any] | None = None

    def start(self) -> None:
        """Leave it out from now on; to be called before our hooks are there."""
        has_hooks = getattr(module_hooks, "_has_any_global_hook", lambda: True)
        if self._changed is None and not has_hooks():
            self._changed = filters = _filters()
            filters.insert(0, self._filter)

    def stop(self) -> None:
        """Take the filter off. Safe at any time and any number of times."""
        changed, self._changed = self._changed, None
        if changed is None:
            return
        # A `catch_warnings` of the user's that began or ended meanwhile has exchanged the list.
        for filters in (changed, _filters()):
            filters[:] = [one for one in filters if one is not self._filter]


def _filters() -> list[Any]:
    filters: list[Any] = warnings.filters  # type: ignore[assignment]
    return filters
