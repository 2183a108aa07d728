"""What IPython remembers of displayed values, and the forgetting of those that hold device memory."""

from __future__ import annotations

from typing import Any

from memtrack.capture.holders.sharing import Sharing
from memtrack.capture.holders.walk import Walk
from memtrack.diagnosis.holdings import OUTPUT
from memtrack.diagnosis.usernames import UNDERSCORES, namespace


def outputs_with_memory(walk: Walk, sharing: Sharing) -> list[Any]:
    """Return the displayed values that keep a storage of the device alive, each once."""
    leading = sharing.roots_of(held.at for held in walk.held)
    values = [walk.roots[root].value for root in leading if walk.roots[root].kind == OUTPUT]
    return list({id(value): value for value in values}.values())


def forget_outputs(shell: Any, values: list[Any]) -> int:
    """Forget `values` as outputs, under every name IPython gave them; return how many entries.

    The list is emptied, so that it does not keep them itself.
    A name such as `_` that the user gave to something else stays: it is not what IPython put there.
    """
    wanted = {id(value) for value in values}
    names, hidden = namespace(shell), getattr(shell, "user_ns_hidden", None) or {}
    history = names.get("_oh")
    entries = _forget_history(history, wanted) if isinstance(history, dict) else 0
    hook = getattr(shell, "displayhook", None)
    for name in UNDERSCORES:
        own = getattr(hook, name, None)
        if id(own) in wanted:
            if names.get(name) is own:
                names[name] = ""
            if hidden.get(name) is own:
                hidden[name] = ""
            setattr(hook, name, "")
    for name, value in list(names.items()):
        if id(value) in wanted and name.startswith("_") and hidden.get(name) is value:
            del names[name]
    for name, value in list(hidden.items()):
        if id(value) in wanted:
            del hidden[name]
    result: Any = getattr(shell, "last_execution_result", None)
    if id(getattr(result, "result", None)) in wanted:
        result.result = None
    values.clear()
    return entries


def _forget_history(history: dict[Any, Any], wanted: set[int]) -> int:
    numbers = [number for number, value in history.items() if id(value) in wanted]
    for number in numbers:
        del history[number]
    return len(numbers)
