"""Refuse files and functions that have grown past what a reader takes in at once.

In: the sources. Out: one line for each that is too long, and exit code 1. Functions of the front
end are measured by ESLint, with the same bound.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE = 500
MAX_FUNCTION = 80
SOURCES = (
    "python_pkg/memtrack/**/*.py",
    "scripts/*",
    "src/**/*.ts",
    "src/**/*.tsx",
    "style/*.css",
)
BUILT = ("python_pkg/memtrack/labextension/", "python_pkg/memtrack/nbextension/index.js")

# What may be longer, each with the reason: "file" or "file:function" -> reason.
EXCEPTIONS: dict[str, str] = {}


def main() -> int:
    """Print what is too long and is no exception; 1 if there is any."""
    found = {name: sentence for path in sources() for name, sentence in too_long(path)}
    for name, sentence in found.items():
        if name not in EXCEPTIONS:
            print(sentence)
    needless = [name for name in EXCEPTIONS if name not in found]
    for name in needless:
        print(f"{name} is short enough now: take it off the list in {Path(__file__).name}")
    return int(bool(needless) or any(name not in EXCEPTIONS for name in found))


def sources() -> Iterator[Path]:
    """Give the files under the rule: written by people, not tests, not data."""
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            skipped = name.startswith(BUILT) or "__tests__" in path.parts or ".spec." in path.name
            if path.is_file() and path.suffix != ".pyc" and not skipped:
                yield path


def too_long(path: Path) -> Iterator[tuple[str, str]]:
    """Give each thing in a file that is too long: its name and a sentence."""
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text()
    lines = text.count("\n")
    if lines > MAX_FILE:
        yield name, f"{name}: {lines} lines, at most {MAX_FILE} are allowed"
    if path.suffix != ".py":
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION:
                sentence = (
                    f"{name}:{node.lineno}: {node.name} has {length} lines, "
                    f"at most {MAX_FUNCTION} are allowed"
                )
                yield f"{name}:{node.name}", sentence


if __name__ == "__main__":
    sys.exit(main())
