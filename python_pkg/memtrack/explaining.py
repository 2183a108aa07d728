"""Errors of memory explained: `memtrack.explain`, and what the other doors ask of a failure.

Nothing here keeps an exception, its frames or its tensors.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from memtrack.analysis.device import devices_in_order
from memtrack.api import Recording, cell_namer, recording_called, running_shell
from memtrack.diagnosis.diagnosis import Diagnosis
from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.recording import RecordingData
from memtrack.reports.explanation import Explanation, explanation_of

if TYPE_CHECKING:
    from memtrack.diagnosis.case import Case


def explain(
    error_or_text: BaseException | str | Iterable[str], recording: Recording | None = None
) -> Explanation:
    """Explain an error of memory: what it says, why it came about, what helps.

    `error_or_text` is an exception, or a message or log that holds one, whatever stands around it; a
    long log is better given as a file that was opened, which is read line by line. Of an exception of
    this process the device, the other processes on it and the layer that ran are looked at too, and
    nothing of it is kept. `recording` is of the run that failed; one that `memtrack.track` or
    `%memtrack` made of it is found by itself.

        try:
            train(model)
        except torch.OutOfMemoryError as error:
            print(memtrack.explain(error))
    """
    given: Any = error_or_text
    if recording is not None and not isinstance(getattr(recording, "data", None), RecordingData):
        kind = type(recording).__name__
        raise UsageError(text("recording must be a recording, not {kind}.", kind=kind))
    if isinstance(given, BaseException):
        return explanation_of(_of_exception(given, recording))
    if not isinstance(given, Iterable) or isinstance(given, bytes | bytearray):
        kind = type(given).__name__
        raise UsageError(text("explain takes an exception or a text, not {kind}.", kind=kind))
    from memtrack.diagnosis.explain import explain_text

    told = explain_text(given if isinstance(given, str) else _checked_lines(given))
    return explanation_of(told if recording is None else _with_evidence(told, recording.data))


def _checked_lines(lines: Iterable[Any]) -> Iterator[str]:
    """Give lines that are text; bytes, as of a file opened without its encoding, become text."""
    for line in lines:
        if isinstance(line, bytes | bytearray):
            yield line.decode("utf-8", errors="replace")
        elif isinstance(line, str):
            yield line
        else:
            kind = type(line).__name__
            raise UsageError(text("explain takes an exception or a text, not {kind}.", kind=kind))


def _of_exception(error: BaseException, recording: Recording | None) -> Diagnosis:
    case = case_of(error, running_shell())
    if recording is not None and case.facts is None:
        return _with_evidence(case.diagnosis(), recording.data)
    known = recording or recording_called(case.recording)
    return diagnosis_of(case, known)


def diagnosis_of(case: Case, recording: Recording | None) -> Diagnosis:
    """Return the explanation of a failure, with the figures of a recording of its run if there is one."""
    if recording is None:
        return case.diagnosis()
    from memtrack.diagnosis.case import row_of
    from memtrack.reports.withsavings import with_savings

    found, data = case.diagnosis(recording.data), recording.data
    return found if row_of(data, case.device) < 0 else with_savings(found, data)


def case_of(error: BaseException, shell: Any = None) -> Case:
    """Return what is known of the failure behind an exception, as plain data; `shell` is IPython's."""
    names = None if shell is None else cell_namer(shell)
    if "torch" not in sys.modules:
        from memtrack.diagnosis.case import case_of_words

        return case_of_words(error, names)
    from memtrack.capture.case import case_of as case_in_process

    return case_in_process(error, names, shell)


def _with_evidence(told: Diagnosis, data: RecordingData) -> Diagnosis:
    from memtrack.diagnosis.case import device_in, row_of
    from memtrack.diagnosis.combined import combine
    from memtrack.diagnosis.evidence import explain_recording
    from memtrack.reports.withsavings import with_savings

    kinds = data.devices["kind"]
    others = [row for row in devices_in_order(data) if data.string(int(kinds[row])) != "cpu"]
    if not told.device_memory or not others:
        return told  # what was recorded of the CPU tells nothing of another device's memory
    named = device_in(told.message)
    row = -1 if named is None else row_of(data, named)
    found = combine(told, explain_recording(told, data, row if row >= 0 else others[0]))
    return with_savings(found, data)
