"""Where this process runs, as far as it matters to a driver: WSL, a container, a card without driver."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_CONTAINER_FILES = (".dockerenv", "run/.containerenv")
_CONTAINER_WORDS = ("docker", "kubepods", "containerd", "libpod", "lxc")
_NVIDIA = "0x10de"
_DISPLAY = "0x03"
"""First byte of the PCI class of what draws or computes."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What surrounds this process. `has_card` is None where the system does not tell."""

    system: str = "linux"
    is_wsl: bool = False
    is_container: bool = False
    has_card: bool | None = None


def look_around(root: Path = Path("/"), environ: Mapping[str, str] | None = None) -> Environment:
    """Return what files of the system tell; nothing is started for it."""
    known = os.environ if environ is None else environ
    return Environment(
        system=sys.platform,
        is_wsl="microsoft" in _text(root / "proc/version").lower(),
        is_container=_is_container(root, known),
        has_card=_has_card(root / "sys/bus/pci/devices"),
    )


def _is_container(root: Path, environ: Mapping[str, str]) -> bool:
    if any((root / name).exists() for name in _CONTAINER_FILES):
        return True
    if "KUBERNETES_SERVICE_HOST" in environ or environ.get("container"):
        return True
    groups = _text(root / "proc/1/cgroup")
    return any(word in groups for word in _CONTAINER_WORDS)


def _has_card(devices: Path) -> bool | None:
    """Tell whether a card of NVIDIA is in this computer: PCI tells it without a driver."""
    if not devices.is_dir():
        return None
    with suppress(OSError):
        return any(
            _text(one / "vendor").strip() == _NVIDIA
            and _text(one / "class").strip().startswith(_DISPLAY)
            for one in devices.iterdir()
        )
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
