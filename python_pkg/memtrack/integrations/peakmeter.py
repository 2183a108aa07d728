"""The peak of one test: what the fixture `memtrack_peak` gives."""

from __future__ import annotations

import gc
import sys
from types import TracebackType
from typing import TYPE_CHECKING

from memtrack.errors import UnavailableError, UsageError
from memtrack.i18n import Text, preferred_language, text
from memtrack.sizes import parse_size
from memtrack.units import KIB, format_bytes

if TYPE_CHECKING:
    from memtrack.api import Recording
    from memtrack.tracking import Tracking

DEVICES = ("auto", "cuda", "cpu")


class PeakMeter:
    """Measures the most bytes allocated on a device while a test ran, and holds it to a limit.

    `limit` is in bytes, or as in `"2 GiB"` (units are binary); None for no limit. `device` is `cuda` (of several the one
    with the highest peak), `cpu` (the tensors that were made in Python; not the scratch memory inside
    of an operation) or `auto`: CUDA where there is a GPU, else the CPU. What was alive before counts
    too, since it takes room; `before_bytes` says how much that is. To measure CUDA makes its context.
    """

    def __init__(self, limit: int | str | None = None, device: str = "auto") -> None:
        if device not in DEVICES:
            raise UsageError.unknown_word(text("device"), device, DEVICES)
        self.limit = limit
        limit_bytes(limit)
        self._wanted = device
        self._tracking: Tracking | None = None
        self._recording: Recording | None = None

    @property
    def recording(self) -> Recording:
        """The recording of the test, while it runs and after it."""
        if self._recording is None:
            raise UsageError(text("The test has not begun: nothing is measured yet."))
        return self._recording

    @property
    def bytes(self) -> int:
        """The peak until now."""
        found = self._peak()
        return 0 if found is None else found[1]

    @property
    def before_bytes(self) -> int:
        """What was allocated on that device when the test began."""
        from memtrack.analysis.totals import allocated

        found = self._peak()
        return 0 if found is None else int(allocated(self.recording.data, found[0])[0])

    def why_not_here(self) -> Text | None:
        """Return why this cannot be measured on this machine, None where it can."""
        from memtrack.api import load_recorder

        try:
            load_recorder()
        except UnavailableError:
            return text("memtrack_peak needs PyTorch, which is not installed")
        if self._wanted == "cuda" and not _has_cuda():
            return text("memtrack_peak is for a CUDA device here, and there is none")
        return None

    def problem(self) -> str:
        """Return what is wrong with the peak as a few lines, "" where it keeps to its limit."""
        limit = limit_bytes(self.limit)
        found = self._peak()
        if limit is None or found is None or found[1] <= limit:
            return ""
        from memtrack.integrations.holding import holdings, table_of_holdings

        device, peak, cut = found
        language = preferred_language()
        data = self.recording.data
        first = text(
            "Peak {peak} on {device}, {over} over the limit of {limit}. It was held by:",
            peak=format_bytes(peak),
            device=self._device_name(device),
            over=format_bytes(peak - limit),
            limit=format_bytes(limit),
        )
        lines = table_of_holdings(holdings(data, device, cut), language)
        return f"{first.render(language)}\n{lines}"

    def __enter__(self) -> PeakMeter:
        from memtrack.tracking import track

        gc.collect()  # what an earlier test left in cycles is not this one's
        if self._kind() == "cuda" and _has_cuda():
            # The allocator's history can only be kept from the moment on when there is a context.
            sys.modules["torch"].cuda.init()
        self._tracking = track(label="test", history=False)
        self._recording = self._tracking.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        tracking, self._tracking = self._tracking, None
        if tracking is not None:
            tracking.__exit__(kind, error, traceback)

    def _peak(self) -> tuple[int, int, int] | None:
        """Return the row of the device, its peak in bytes and the cut of it; None without one."""
        from memtrack.analysis.peak import peak

        data = self.recording.data
        kinds = [data.string(int(kind)) for kind in data.devices["kind"]]
        wanted = self._kind()
        peaks = [(row, peak(data, row)) for row, kind in enumerate(kinds) if kind == wanted]
        row, found = max(peaks, key=lambda one: one[1].bytes, default=(-1, None))
        return None if found is None else (row, found.bytes, found.cut)

    def _kind(self) -> str:
        if self._wanted != "auto":
            return self._wanted
        return "cuda" if _has_cuda() else "cpu"

    def _device_name(self, row: int) -> str:
        from memtrack.exports.tables import device_name

        return device_name(self.recording.data, row)

    def __repr__(self) -> str:
        measured = "" if self._recording is None else f": {format_bytes(self.bytes)}"
        return f"<memtrack_peak{measured}>"


def limit_bytes(limit: int | str | None) -> int | None:
    """Return a limit in bytes; UsageError for what is no size, and for so few bytes as nobody means."""
    if limit is None or (type(limit) is int and limit >= KIB):
        return limit
    return parse_size(str(limit))


def _has_cuda() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.cuda.is_available())
