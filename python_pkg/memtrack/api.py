"""The Python door: `memtrack.open`, the `Recording` it and `memtrack.track` give.

Nothing here keeps the user's model, tensors, exceptions or frames once a recording has ended.
"""

from __future__ import annotations

import os
import re
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memtrack.analysis import LayerTable, layer_table
from memtrack.analysis.device import devices_in_order
from memtrack.errors import RecordingStateError, UnavailableError, UsageError, in_one_line
from memtrack.exports import export, spare_source, write_snapshot
from memtrack.exports.tables import table_of
from memtrack.exports.torch_snapshot import SUFFIX as SNAPSHOT_SUFFIX
from memtrack.i18n import Text, preferred_language, text
from memtrack.readers import open_recording
from memtrack.recording import RecordingData, save_recording
from memtrack.recording.store import SUFFIX
from memtrack.reports import Report, build_report, bundle, render_text
from memtrack.reports.bounded import LIMIT_BYTES
from memtrack.reports.report import LedgerReport, PeakPoint, TimelineReport, View
from memtrack.reports.summary import Summary, summarise
from memtrack.units import format_bytes

if TYPE_CHECKING:
    import pandas as pd

    from memtrack.capture import Recorder


@dataclass(frozen=True, slots=True)
class Presentation:
    """How a recording is shown in a notebook; `payload_limit` in bytes of the notebook file."""

    language: str
    payload_limit: int = LIMIT_BYTES
    live: bool = True


class Recording:
    """What one run did to memory. While it is running, every answer is as things stand now.

    `peak`, `ledger`, `layers` and `timeline` are of the device with the most at stake; `report()`
    has all of them.
    """

    def __init__(
        self, data: RecordingData | None, presentation: Presentation | None = None
    ) -> None:
        self._data = data
        self._recorder: Recorder | None = None
        self._report: Report | None = None
        self._presentation = presentation
        self._source: Path | None = None

    @classmethod
    def of(cls, recorder: Recorder, presentation: Presentation | None = None) -> Recording:
        """Return the recording that `recorder` is making."""
        recording = cls(None, presentation)
        recording._recorder = recorder
        _recordings[recorder.identifier] = recording
        return recording

    def end(self, state: str = "complete") -> None:
        """End a running recording as `complete`, `interrupted` or `failed`; harmless on an ended one."""
        recorder = self._recorder
        if recorder is None:
            return
        try:
            try:
                self._data = recorder.finish(state)
            except KeyboardInterrupt:
                # An impatient reader still gets the recording; the interrupt goes on after it.
                self._data = recorder.finish(state)
                raise
        finally:
            self._recorder = None
            recorder.detach()
            if self._data is not None:
                _note_finished(self)

    def shown_as(self, presentation: Presentation) -> Recording:
        """Return this ended recording to be shown another way, itself where it is shown so already."""
        if self._presentation == presentation:
            return self
        shown = Recording(self.data, presentation)
        shown._report, shown._source = self._report, self._source
        return shown

    @property
    def source(self) -> Path | None:
        """The file this was opened from, with links followed; None for what was recorded here."""
        return self._source

    def opened_from(self, source: str | os.PathLike[str]) -> Recording:
        """Return this recording, which keeps the file it was read from from being written over."""
        self._source = Path(os.path.realpath(source))
        return self

    @property
    def running(self) -> bool:
        """Whether it still grows."""
        return self._recorder is not None

    @property
    def data(self) -> RecordingData:
        """The columns, immutable; a running recording gives new ones each time."""
        if self._recorder is not None:
            return self._recorder.data()
        if self._data is None:
            raise RecordingStateError(text("This recording failed and has no data."))
        return self._data

    def report(self) -> Report:
        """Return everything a reader is shown, as data."""
        if self._recorder is not None:
            return build_report(self.data)
        if self._report is None:
            self._report = build_report(self.data)
        return self._report

    @property
    def peak(self) -> PeakPoint:
        """The moment of the most allocated bytes; `peak.bytes` says how many."""
        return self._view().peak

    @property
    def ledger(self) -> LedgerReport:
        """Where the bytes are at the peak, in parts that sum to the whole."""
        return self._view().ledger

    @property
    def layers(self) -> LayerTable:
        """The layer table; `layers.to_pandas()` where pandas is installed."""
        data = self.data
        self._view()
        return layer_table(data, devices_in_order(data)[0])

    @property
    def timeline(self) -> TimelineReport:
        """Memory over the events of the run."""
        return self._view().timeline

    def mark(self, label: str) -> None:
        """Name this moment in the timeline of a running recording."""
        if self._recorder is None:
            raise RecordingStateError(
                text("This recording has ended: nothing can be marked in it.")
            )
        self._recorder.mark(label)

    def summary(self, *moments: str) -> Summary:
        """Return what `torch.cuda.memory_summary` says at a moment, or at two with their differences.

        A moment is `step 3`, `step 3 forward` (or `backward`, `optimizer`), the label of a mark,
        `start`, `end` or `peak`; none: the latest reading. Raises UsageError for any other,
        UnavailableError where there are no such statistics, as on the CPU.
        """
        shown = self._presentation
        return summarise(self.data, moments, shown.language if shown else preferred_language())

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a `.memtrack` file and return its path; the ending is added when it is missing.

        Raises UsageError for a path without a name, OSError as the system gives it.
        """
        if Path(path).name in ("", ".."):
            raise UsageError(text("A recording needs the name of a file to be saved to."))
        if self._source is not None and self._source.suffix != SUFFIX:  # else nothing is lost
            spare_source(self._source, path, SUFFIX)
        return save_recording(self.data, path)

    def export_snapshot(self, path: str | os.PathLike[str]) -> Path:
        """Write a snapshot that pytorch.org/memory_viz opens and return its path.

        `.pickle` is added where there is no ending. What was recorded on the CPU can be looked at too:
        there each block is a segment of its own. Raises UsageError for a path without a name,
        OSError as the system gives it.
        """
        if Path(path).name in ("", ".."):
            raise UsageError(text("A snapshot needs the name of a file to be written to."))
        spare_source(self._source, path, SNAPSHOT_SUFFIX)
        return write_snapshot(self.data, path)

    def export(self, path: str | os.PathLike[str], *, table: str = "", force: bool = False) -> Path:
        """Write the run in the format of the ending of `path` and return the path.

        `.html` is the interactive report in one file, `.csv` and `.parquet` the table called `table`
        (`layers`, `ledger`, `timeline` or `events`), `.json` everything. A file that is there is only
        written over with `force`. Raises UsageError and UnavailableError, in one line each.
        """
        return export(self, path, table=table, force=force)

    def to_pandas(self, table: str = "layers") -> pd.DataFrame:
        """Return `layers`, `ledger`, `timeline` or `events` as a DataFrame, of all devices.

        Raises UnavailableError where pandas is not installed.
        """
        return table_of(self.data, table).to_pandas()

    def _view(self) -> View:
        views = self.report().views
        if not views:
            raise RecordingStateError(text("This recording saw no memory on any device."))
        return views[0]

    def __str__(self) -> str:
        """Return the report as text, as `memtrack open` prints it."""
        if self._recorder is None and self._data is None:
            return repr(self)
        shown = self._presentation
        return render_text(self.report(), shown.language if shown else preferred_language())

    def __repr__(self) -> str:
        if self._recorder is None and self._data is None:
            return "<memtrack.Recording: failed>"
        report = self.report()
        label = f"{report.label}, running" if self.running else report.label
        steps = f"{report.steps} step{'' if report.steps == 1 else 's'}"
        peak = f", peak {format_bytes(report.views[0].peak.bytes)}" if report.views else ""
        return f"<memtrack.Recording of {label}: {steps}{peak}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from memtrack.widgets import with_live_view

        shown = self._presentation or Presentation(preferred_language())
        data, report = self.data, self.report()
        plain = bundle(
            report,
            language=shown.language,
            limit_bytes=shown.payload_limit,
            is_latest=self._presentation is not None,  # by a magic, which keeps it
        )
        return with_live_view(plain, data, report) if shown.live else plain


_recordings: weakref.WeakValueDictionary[str, Recording] = weakref.WeakValueDictionary()
"""Those made in this process and not dropped yet, by identifier."""


def _nothing() -> None:
    """Stands for the last recording where there is none."""


_finished: Callable[[], Recording | None] = _nothing
_holds_finished: bool | None = None
"""What `hold_finished` said last. Until then a notebook holds it: memtrack may be loaded there later."""


def last_finished() -> Recording | None:
    """Return the recording of this process that ended last, whichever door made it.

    In a notebook it is held, elsewhere it is known as long as the user holds it.
    """
    return _finished()


def hold_finished(on: bool) -> None:
    """Hold the recording that ended last from now on, as a notebook does that can show it, or no more."""
    global _holds_finished, _finished
    _holds_finished = on
    last = _finished()
    if last is not None:
        _finished = (lambda: last) if on else weakref.ref(last)


def _note_finished(recording: Recording) -> None:
    global _finished
    holds = running_shell() is not None if _holds_finished is None else _holds_finished
    _finished = (lambda: recording) if holds else weakref.ref(recording)


def running_shell() -> Any:
    """Return IPython's shell of this process, None outside of one."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return None if get is None else get()


def cell_namer(shell: Any) -> Callable[[str], str]:
    """Return a function from a frame's file to how its reader knows it: `In [12]` for a cell."""
    compiler = shell.compile

    def name(file: str) -> str:
        formatted = getattr(compiler, "format_code_name", lambda _: None)(file)
        number = re.search(r"\d+", formatted[1]) if formatted else None
        return f"In [{number[0]}]" if number else file

    return name


def load_recorder() -> type[Recorder]:
    """Return the class that records; UnavailableError where PyTorch is not installed."""
    try:
        from memtrack.capture import Recorder
    except ModuleNotFoundError as missing:
        if missing.name != "torch":
            raise
    else:
        return Recorder
    raise UnavailableError(
        text("Recording needs PyTorch, which is not installed in this environment."),
        text("See https://pytorch.org/get-started, or run: pip install torch"),
    )


def end_state(kind: type[BaseException] | None) -> str:
    """Return the state of a recording that ended with an exception of type `kind`, or without."""
    if kind is None:
        return "complete"
    return "interrupted" if issubclass(kind, KeyboardInterrupt) else "failed"


def say_failed(doing: Text, error: BaseException, language: str = "") -> None:
    """Tell in one line on stderr that memtrack itself failed and that the run goes on."""
    problem = in_one_line(error)
    sentence = text(
        "memtrack could not {doing} ({problem}); your run goes on untracked.",
        doing=doing,
        problem=problem,
    )
    sys.stderr.write(sentence.render(language or preferred_language()) + "\n")


def open(  # noqa: A001 - users read memtrack.open
    path: str | os.PathLike[str], presentation: Presentation | None = None
) -> Recording:
    """Open a `.memtrack` file, or a snapshot of torch's allocator (`.pickle`, also `.gz` and `.xz`).

    Of a folder, which `torchrun … -m memtrack run` has left, it opens all ranks: `memtrack.Ranks`.

    A snapshot is what `torch.cuda.memory._dump_snapshot()` writes, of torch 2.0 and later. Neither
    torch nor a GPU is needed, and nothing in the file is run. Raises UnreadableFile in one sentence
    for what cannot be opened.
    """
    folder = os.path.expanduser(path)
    if not os.fspath(path):
        raise UsageError(text("The name of a file is missing: it is empty."))
    if os.path.isdir(folder):
        from memtrack.ranks import open_ranks

        # Its answers about one rank refuse in one line, so that who opens files needs no second type.
        return cast(Recording, open_ranks(Path(folder), presentation))
    data = open_recording(path)
    if data.facts.evidence == "predicted":
        from memtrack.predicting import opened

        return opened(data, presentation).opened_from(folder)
    return Recording(data, presentation).opened_from(folder)


def recording_called(identifier: str) -> Recording | None:
    """Return a recording made in this process by its identifier; None once nobody holds it."""
    return _recordings.get(identifier)
