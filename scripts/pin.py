"""Write requirements/dev.txt: every package that dev.in leads to, pinned, for each Python.

In: requirements/dev.in. Out: requirements/dev.txt, where a version that only some Pythons take has
a marker. A Python that is not on the PATH is resolved by the nearest one that is.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "requirements" / "dev.in"
TARGET = ROOT / "requirements" / "dev.txt"
MINORS = (10, 11, 12, 13, 14)


def main() -> None:
    """Resolve for each Python, then write one file."""
    pins: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for minor in MINORS:
        for name, version in resolve(minor).items():
            pins[name][version].append(minor)
    lines = [
        f"{name}=={version}{marker(minors)}"
        for name, versions in sorted(pins.items())
        for version, minors in versions.items()
    ]
    heading = "# Written by `make pins` from dev.in; not to be edited.\n"
    TARGET.write_text(heading + "\n".join(lines) + "\n")


def resolve(minor: int) -> dict[str, str]:
    """Ask pip which versions it would install for Python 3.`minor`."""
    python = interpreter(minor)
    foreign = [] if python else [f"--python-version=3.{minor}"]
    command = [
        *(sys.executable, "-m", "pip", "--python", python or interpreter(13) or sys.executable),
        *("install", "--quiet", "--dry-run", "--ignore-installed", "--only-binary=:all:"),
        *("--report=-", f"--requirement={SOURCE}", *foreign),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"Python 3.{minor} has no solution: {done.stderr.strip().splitlines()[-1]}")
    installs = json.loads(done.stdout)["install"]
    return {
        item["metadata"]["name"].lower().replace("_", "-"): item["metadata"]["version"]
        for item in installs
    }


def interpreter(minor: int) -> str | None:
    """Find a Python 3.`minor` that runs."""
    path = shutil.which(f"python3.{minor}")
    if path is None:
        return None
    works = subprocess.run([path, "--version"], capture_output=True, check=False)
    return path if works.returncode == 0 else None


def marker(minors: list[int]) -> str:
    """Say for which Pythons a version is, in the words of requirement files."""
    if minors == list(MINORS):
        return ""
    first, last = minors[0], minors[-1]
    if minors != list(range(first, last + 1)):
        return " ; " + " or ".join(f'python_version == "3.{minor}"' for minor in minors)
    bounds = []
    if first != MINORS[0]:
        bounds.append(f'python_version >= "3.{first}"')
    if last != MINORS[-1]:
        bounds.append(f'python_version < "3.{last + 1}"')
    return " ; " + " and ".join(bounds)


if __name__ == "__main__":
    main()
