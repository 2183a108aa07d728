"""The border between the user's run and ours: a failure of ours never crosses it.

A callback that raises ends the recording with a notice and a line on stderr; the run goes on
untracked. Interrupts are the user's and pass. While `torch.jit.trace` or `torch.compile` write down
what the thread does, and in a forked child, nothing is watched. Modes and tensor classes of the
user's are not told of what we read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from memtrack.capture import torch_api
from memtrack.errors import in_one_line
from memtrack.i18n import preferred_language, text


class Guard:
    """Wraps callbacks; `on_failure` is called once, when the first of them raises."""

    def __init__(self, on_failure: Callable[[], None]) -> None:
        self._on_failure = on_failure
        self.is_shut = False

    def shut(self) -> None:
        """Let no callback run any more."""
        self.is_shut = True

    def around(self, callback: Callable[..., Any], otherwise: Any = None) -> Callable[..., Any]:
        """Return `callback` as it may be called from the user's run; `otherwise` when it does not."""
        tracing_state, is_compiling = torch_api.tracing_state, torch_api.is_compiling
        unseen = torch_api.unseen

        def guarded(*args: Any) -> Any:
            # To torch.compile the first is a constant: it leaves the rest out of what it compiles.
            if is_compiling() or self.is_shut or tracing_state() is not None:
                return otherwise
            try:
                with unseen():
                    return callback(*args)
            except Exception as error:  # noqa: BLE001 - the user's run must go on
                self.give_up(error)
                return otherwise

        return guarded

    def give_up(self, error: Exception) -> None:
        """Shut, say in one line on stderr what has failed, and call `on_failure`."""
        self.shut()
        reason = in_one_line(error)[:200]
        line = text("memtrack has stopped recording ({reason}). Your run goes on.", reason=reason)
        sys.stderr.write(line.render(preferred_language()) + "\n")
        try:
            self._on_failure()
        except Exception as second:  # noqa: BLE001 - as above
            sys.stderr.write(f"{in_one_line(second)[:200]}\n")
