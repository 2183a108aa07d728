"""The IPython door: `%memtrack` and `%%memtrack`. Loading prints nothing; unloading leaves nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from IPython.core.error import UsageError
from traitlets import TraitError

from memtrack.notebook.cells import line_for_cell
from memtrack.notebook.completion import add_completion, remove_completion
from memtrack.notebook.magics import MemtrackMagics
from memtrack.widgets import forget_recordings

_NAME = "memtrack"


def load(shell: Any) -> None:
    """Add the magics, their completion and the transform of `%%memtrack` cells to a shell."""
    unload(shell)
    magics = _magics_of(shell)
    shell.register_magics(magics)
    magics.begin()
    shell.input_transformer_manager.line_transforms.insert(0, line_for_cell)
    add_completion(shell)


def _magics_of(shell: Any) -> MemtrackMagics:
    """Return the magics with the settings of the shell; one line where a setting is none."""
    known = list(shell.configurables)
    try:
        return MemtrackMagics(shell)
    except TraitError as error:
        shell.configurables[:] = known  # they are listed before their settings are read
        problem = str(error)
    raise UsageError(problem)


def unload(shell: Any) -> None:
    """End what is being recorded and take everything back; harmless when nothing was loaded."""
    manager = shell.magics_manager
    # By name: after a reload the class is another one than the class of what was registered.
    magics = manager.registry.pop(MemtrackMagics.__name__, None)
    if magics is not None:
        magics.stop()
        forget_recordings()
        with suppress(ValueError):
            shell.configurables.remove(magics)
    for kind in ("line", "cell"):
        manager.magics[kind].pop(_NAME, None)
    transforms = shell.input_transformer_manager.line_transforms
    transforms[:] = [one for one in transforms if one is not line_for_cell]
    remove_completion(shell)
