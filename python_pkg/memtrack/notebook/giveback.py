"""`%memtrack who` and `%memtrack free`: who keeps device memory alive, and giving it back.

torch is not imported here for it: where nobody has, no tensor holds anything.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from memtrack.devices import DriverError, nvidia_driver
from memtrack.devices.leftovers import DeviceProcess, processes_on
from memtrack.diagnosis.holdings import Level, Release
from memtrack.diagnosis.usernames import user_variables
from memtrack.errors import UsageError
from memtrack.i18n import Text, text
from memtrack.notebook.grammar import split_words
from memtrack.reports.holderslines import Page
from memtrack.reports.holderspages import free_page, who_page

CACHE = "--cache"
FREE_OPTIONS = (CACHE,)


def show_who(shell: Any, language: str) -> None:
    """Show who holds the memory of each device in use, and the other processes there."""
    if "torch" not in sys.modules:
        _say(shell, _NO_TORCH, language)
        return
    from memtrack.capture.holders import CPU, devices_in_use, holdings_on

    devices = devices_in_use()
    found = holdings_on(shell, devices or [CPU])
    processes = {str(device): _processes(device) for device in devices}
    _show(shell, who_page(found, processes, language))


def free(shell: Any, argument: str, language: str) -> None:
    """Give back what is safe on each device in use, and the variables that `argument` names."""
    names, return_cache = _parse(argument, shell)
    if "torch" not in sys.modules:
        _say(shell, _NO_TORCH, language)
        return
    _show(shell, free_page(_released(shell, names, return_cache), language))


def free_now(shell: Any, language: str) -> Mapping[str, Any]:
    """Give back what is safe, as `%memtrack free` does, and return what went: bytes, and the text."""
    if "torch" not in sys.modules:
        return {"devices": [], "text": _NO_TORCH.render(language)}
    released = _released(shell, (), False)
    return {
        "devices": [
            {
                "device": one.after.device,
                "released": one.bytes,
                "before": _figures(one.before),
                "after": _figures(one.after.level),
            }
            for one in released
        ],
        "text": free_page(released, language).text,
    }


def _figures(level: Level) -> Mapping[str, int | None]:
    figures = {"allocated": level.allocated, "reserved": level.reserved, "free": level.free}
    return {name: size if size >= 0 else None for name, size in figures.items()}


def _released(shell: Any, names: Sequence[str], return_cache: bool) -> Sequence[Release]:
    from memtrack.capture.holders import CPU, devices_in_use
    from memtrack.capture.release import release_all

    return release_all(shell, devices_in_use() or [CPU], names, return_cache)


_NO_TORCH = text("PyTorch is not imported in this notebook, so no tensor of it holds memory.")


def _parse(argument: str, shell: Any) -> tuple[Sequence[str], bool]:
    if ";" in argument:
        raise UsageError(
            text("%memtrack free takes names of variables, and no code after a semicolon."),
            text("Write the code on a line of its own."),
        )
    words = [part for word in split_words(argument) for part in _parts(word)]
    options = [word for word in words if word.startswith("-")]
    for option in options:
        if option not in FREE_OPTIONS:
            raise UsageError.unknown_word(text("option"), option, FREE_OPTIONS)
    names = list(dict.fromkeys(word for word in words if word and word not in options))
    known = user_variables(shell)
    for name in names:
        if name not in known:
            # By type: `isinstance` asks an object for its class, which is the user's code.
            others = [one for one in known if not issubclass(type(known[one]), ModuleType)]
            raise _no_variable(name, others)
    return names, bool(options)


def _parts(word: str) -> list[str]:
    """Return the names that commas part; a word such as `a[0,1]` is one, which is no name."""
    parts = word.strip(",").split(",")
    return parts if all(part.isidentifier() for part in parts) else [word.strip(",")]


def _no_variable(name: str, known: Sequence[str]) -> UsageError:
    """Return the error for a word that is no variable of the user's, with what may be meant."""
    if not name.isidentifier():
        hint: Text | str = text("In Python: {usage}", usage=f"{name} = None")
        return UsageError(text("'{word}' is not the name of a variable.", word=name), hint)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = text("Did you mean '{word}'?", word=close[0]) if close else ""
    return UsageError(text("There is no variable '{name}' in this notebook.", name=name), hint)


def _processes(device: Any) -> Sequence[DeviceProcess]:
    """Return the processes on a CUDA device, none where the driver lists none."""
    from memtrack.capture.ownmemory import identity

    driver = nvidia_driver()
    if device.type != "cuda" or driver is None:
        return ()
    try:
        return processes_on(driver, *identity(device))
    except DriverError:
        return ()


def _show(shell: Any, page: Page) -> None:
    shell.display_pub.publish({"text/plain": page.text, "text/html": page.html}, {})


def _say(shell: Any, sentence: Text, language: str) -> None:
    shell.display_pub.publish({"text/plain": sentence.render(language)}, {})
