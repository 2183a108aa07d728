"""Which variables of a shell are the user's. No torch, and nothing is asked of the values.

`shell` is an IPython shell or anything with some of its attributes; None outside of one.
"""

from __future__ import annotations

import sys
from typing import Any

UNDERSCORES = ("_", "__", "___")


def namespace(shell: Any) -> dict[str, Any]:
    """Return the user's variables, those of `__main__` without a shell."""
    found = getattr(shell, "user_ns", None)
    return found if isinstance(found, dict) else vars(sys.modules["__main__"])


def user_variables(shell: Any) -> dict[str, Any]:
    """Return the variables that the user has made: without those of IPython and of modules.

    What IPython has put there is the user's from when the user gave the name to something else.
    """
    hidden = getattr(shell, "user_ns_hidden", None) or {}
    hook = getattr(shell, "displayhook", None)

    def is_shells(name: str, value: Any) -> bool:
        if name.startswith("__") and name.endswith("__") and name not in UNDERSCORES:
            return True
        if name in UNDERSCORES and getattr(hook, name, None) is value:
            return True
        return name in hidden and hidden[name] is value

    names = namespace(shell)
    return {name: value for name, value in list(names.items()) if not is_shells(name, value)}
