"""An error known by the name of its class alone: raised without words, or with words of one's own."""

from __future__ import annotations

import re

from memtrack.diagnosis.reading.failure import Failure

_OF_DEVICE = re.compile(r"^(?:torch(?:\.\w+)*\.)?OutOfMemoryError\b(?=\s*(?::|$))")
_OF_HOST = re.compile(r"^(?:builtins\.)?MemoryError\b(?=\s*(?::|$))")


def by_class(error: str) -> Failure | None:
    """Return the failure that the last line of an error tells by its class, None for any other class.

    Of classes called `OutOfMemoryError` only PyTorch's (by its module, or by no module) are of a device.
    """
    if _OF_DEVICE.match(error):
        return Failure("cuda_oom", "cuda_oom.class", device_memory=True, message=error)
    if _OF_HOST.match(error):
        return Failure("cpu_oom", "cpu_oom.class", device_memory=False, message=error)
    return None
