"""A pickled torch allocator snapshot becomes a recording: `torch.cuda.memory._dump_snapshot` files.

Also what `torch.cuda.memory_snapshot()` returns, the segments alone. A recording made of a file has
the evidence `opened`; whose its bytes are is not known, where they were allocated is.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from memtrack.errors import UnreadableFile
from memtrack.i18n import text
from memtrack.readers.annotations import read_marks, read_phases
from memtrack.readers.bulk import MixedTrace
from memtrack.readers.devicehistory import DeviceHistory, device_history
from memtrack.readers.failures import last_failure
from memtrack.readers.onetimeline import tables_of
from memtrack.readers.optimizers import with_optimizer_state
from memtrack.readers.stacks import FrameReader
from memtrack.readers.trace import NotASnapshot
from memtrack.readers.unpickle import collector_off, load_plain
from memtrack.recording import Facts, Notice, RecordingBuilder, RecordingData, Table
from memtrack.recording.data import LARGEST_TOTAL, total_bytes

__all__ = ["DeviceHistory", "FrameReader", "device_history", "read_snapshot", "recording_of"]

MOST_DEVICES = 128
"""Indices of devices: torch itself is built for 120 (`C10_COMPILE_TIME_MAX_GPUS`)."""
_ENDINGS = (".gz", ".xz", ".pickle", ".pkl", ".pt")
_NATIVE = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".inl", ".so", "??")


def read_snapshot(path: Path) -> RecordingData:
    """Read the pickle of a snapshot, which may be packed by gzip or xz.

    Raises UnreadableFile in one sentence for one that is damaged, of something else, or empty.
    """
    with collector_off():
        try:
            snapshot = _checked(load_plain(path))
            data = _recording(snapshot, path)
        except (NotASnapshot, RecursionError) as error:
            raise UnreadableFile(
                text("{path} is a pickle, but not of a torch allocator snapshot.", path=path)
            ) from error
        except MemoryError as error:
            raise UnreadableFile(text("{path} does not fit into memory.", path=path)) from error
    if not len(data.events) and not len(data.segments) and not len(data.allocations):
        raise UnreadableFile(
            text("{path} is a snapshot without any event or segment.", path=path),
            text("Record first: torch.cuda.memory._record_memory_history()."),
        )
    return data


def recording_of(snapshot: Mapping[str, Any], name: str = "snapshot") -> RecordingData:
    """Return what `torch.cuda.memory._snapshot()` gave in this process as a recording called `name`.

    The traces of `snapshot` are read off its list, which is empty afterwards.
    """
    with collector_off():
        return _recording(_checked(dict(snapshot)), Path(name))


def _checked(loaded: Any) -> dict[str, Any]:
    """Return the snapshot with every list that is read later known to be one, of dictionaries."""
    snapshot = {"segments": loaded} if isinstance(loaded, list) else loaded
    if not isinstance(snapshot, dict) or not {"segments", "device_traces"} & snapshot.keys():
        raise NotASnapshot
    segments = snapshot["segments"] = _dictionaries(snapshot.get("segments"))
    if any("total_size" not in segment for segment in segments):
        raise NotASnapshot
    for segment in segments:
        segment["blocks"] = _dictionaries(segment.get("blocks"))
        if segment.setdefault("device", 0) not in range(MOST_DEVICES):
            raise NotASnapshot
    traces = snapshot["device_traces"] = snapshot.get("device_traces") or []
    if not isinstance(traces, list) or len(traces) > MOST_DEVICES:
        raise NotASnapshot
    if not all(isinstance(trace, list | MixedTrace) for trace in traces):
        raise NotASnapshot
    if len({id(trace) for trace in traces if len(trace)}) < sum(map(bool, map(len, traces))):
        raise NotASnapshot  # a pickle can say the same trace a thousand times in few bytes
    if not isinstance(snapshot.get("allocator_settings"), dict):
        snapshot["allocator_settings"] = None
    return snapshot


def _dictionaries(entries: Any) -> list[dict[str, Any]]:
    if not isinstance(entries, list | tuple | None) or not all(
        isinstance(entry, dict) for entry in entries or ()
    ):
        raise NotASnapshot
    return list(entries or ())


def _recording(snapshot: dict[str, Any], path: Path) -> RecordingData:
    builder = RecordingBuilder()
    frames = FrameReader(builder.stacks, _is_native, str)
    traces = snapshot["device_traces"]
    used = {index for index, trace in enumerate(traces) if trace}
    used |= {int(segment["device"]) for segment in snapshot["segments"]}
    histories, failures = [], {}
    for index in sorted(used):
        histories.append(device_history(snapshot, index, frames))
        if index < len(traces):
            failures[str(len(histories) - 1)] = last_failure(traces[index], frames)
            traces[index] = []  # a million dictionaries, no longer needed
        kind = builder.strings.add("cuda")
        name = builder.strings.add(f"CUDA device {index}")
        builder["devices"].add(kind=kind, index=index, name=name)
    if not histories:
        return builder.build(_facts(path, snapshot, 0, []))
    tables, begin_ns = tables_of(histories, builder.strings)
    _refuse_impossible(tables, path)
    times = tables["events"]["time_ns"]
    annotations = snapshot.get("external_annotations")
    tables["marks"] = read_marks(annotations, begin_ns, times, builder.strings)
    tables["phases"] = read_phases(annotations, begin_ns, times)
    tables["allocations"] = with_optimizer_state(tables["allocations"], tables["phases"])
    facts = _facts(path, snapshot, begin_ns, histories)
    told = {device: failure for device, failure in failures.items() if failure is not None}
    if told:
        facts = replace(facts, extra={**facts.extra, "failures": told})
    return builder.build(facts, tables)


def _refuse_impossible(tables: dict[str, Table], path: Path) -> None:
    for table in tables.values():
        if total_bytes(table) >= LARGEST_TOTAL:
            raise UnreadableFile(text("{path} has sizes beyond all memory.", path=path))


def _is_native(file: str) -> bool:
    """Tell whether a frame is of C++, whose lines say nothing to whoever wrote the model."""
    return not file or file.endswith(_NATIVE)


def _facts(
    path: Path, snapshot: dict[str, Any], begin_ns: int, histories: list[DeviceHistory]
) -> Facts:
    settings = snapshot["allocator_settings"]
    return Facts(
        label=_stem(path.name),
        evidence="opened",
        source="allocator",
        started=_iso(begin_ns),
        identifier=uuid.uuid4().hex,
        notices=_notices(histories),
        extra={} if settings is None else {"allocator_settings": _plain(settings)},
    )


def _notices(histories: list[DeviceHistory]) -> list[Notice]:
    found = []
    if not any(len(history.events["kind"]) for history in histories):
        found.append(Notice("trace_missing"))
    elif any((history.allocations["start"] < 0).any() for history in histories):
        found.append(Notice("trace_late"))
    if any(history.torn for history in histories):
        found.append(Notice("trace_torn"))
    return found


def _stem(name: str) -> str:
    while name.endswith(_ENDINGS):
        name = name[: name.rindex(".")]
    return name or "snapshot"


def _iso(nanoseconds: int) -> str:
    if nanoseconds <= 0:
        return ""
    moment = datetime.datetime.fromtimestamp(nanoseconds // 10**9, datetime.timezone.utc)
    return moment.isoformat(timespec="seconds")


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings as plain JSON: names, and numbers or words, one level of them inside."""
    kept: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(name, str):
            if isinstance(value, dict):
                value = {k: v for k, v in value.items() if isinstance(k, str) and _is_scalar(v)}
            if isinstance(value, dict) or _is_scalar(value):
                kept[name] = value
    return kept


def _is_scalar(value: Any) -> bool:
    if isinstance(value, float):
        return value - value == 0  # JSON has no infinities
    return value is None or isinstance(value, bool | int | str)
