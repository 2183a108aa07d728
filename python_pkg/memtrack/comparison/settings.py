"""What is different around two runs: versions, device, allocator settings, batch, code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtrack.recording import RecordingData


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One setting that differs; `name` such as `torch` or `git.commit`, "" where one has it not."""

    name: str
    before: str
    after: str


def settings_of(data: RecordingData, device: int) -> Mapping[str, str]:
    """Return all that is known of the surroundings of a run, flat and as text."""
    kind, name = (data.string(int(data.devices[column][device])) for column in ("kind", "name"))
    facts = data.facts
    run = facts.extra.get("run")
    around = {**facts.extra, "run": _lasting(run) if isinstance(run, Mapping) else None}
    known: dict[str, str] = {"device": name or kind, "evidence": facts.evidence, **facts.versions}
    for part in ("allocator_settings", "run", "prediction"):
        known |= dict(_flat(part, around.get(part)))
    return {key: value for key, value in known.items() if value}


def setting_changes(a: Mapping[str, str], b: Mapping[str, str]) -> Sequence[SettingChange]:
    """Return what differs, in the order of `a` with what only `b` has behind it."""
    names = [*a, *(name for name in b if name not in a)]
    return [
        SettingChange(name, a.get(name, ""), b.get(name, ""))
        for name in names
        if a.get(name, "") != b.get(name, "")
    ]


def _lasting(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out what differs between any two runs of the same code."""
    return {name: value for name, value in run.items() if name not in ("cell", "path")}


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}", inner)
    elif isinstance(value, list):
        yield name, "; ".join(map(str, value))
    elif value is not None:
        yield name, str(value)
