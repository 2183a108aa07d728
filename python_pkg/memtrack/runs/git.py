"""Which commit the user's code is of, read from the files of git; whether it was changed, asked of git.

Nothing is fetched, no hook is run, no lock is taken, and git gets two seconds at most.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

MOST_PARENTS = 64
MOST_BYTES = 32 << 20
"""Of a file of references; longer ones are not read."""
PATIENCE_S = 2.0
_COMMIT_LENGTHS = (40, 64)


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree: its `root`, the whole hash of its `commit`, and its branch, "" for none."""

    root: Path
    commit: str
    branch: str


def checkout_of(folder: Path) -> Checkout | None:
    """Return the working tree that a folder lies in; None outside of one, or without a commit yet."""
    try:
        places = [folder, *folder.parents][:MOST_PARENTS]
        root = next((one for one in places if (one / ".git").exists()), None)
        return None if root is None else _read(root)
    except (OSError, UnicodeDecodeError):
        return None


def is_dirty(root: Path, seconds: float = PATIENCE_S) -> bool | None:
    """Return whether tracked files differ from the commit; None where git does not tell in time."""
    words = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain"]
    words += ["--untracked-files=no", "--ignore-submodules=all"]
    try:
        told = subprocess.run(  # noqa: S603 - our own words
            words,
            cwd=root,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=True,
        )
    except (OSError, RuntimeError, subprocess.SubprocessError):  # RuntimeError: Python is ending
        return None
    return bool(told.stdout.strip())


def _read(root: Path) -> Checkout | None:
    git = root / ".git"
    if git.is_file():  # a worktree or a submodule
        git = root / _text(git).removeprefix("gitdir:").strip()
    common = git / "commondir"
    shared = git / _text(common) if common.is_file() else git
    head = _text(git / "HEAD")
    name = head.removeprefix("ref:").strip()
    if name == head:
        return Checkout(root, head, "") if _is_commit(head) else None
    commit = next((found for one in (git, shared) if (found := _loose(one / name))), "")
    commit = commit or _packed(shared / "packed-refs", name)
    branch = name.removeprefix("refs/heads/")
    return Checkout(root, commit, branch) if _is_commit(commit) else None


def _loose(path: Path) -> str:
    return _text(path) if path.is_file() else ""


def _packed(path: Path, name: str) -> str:
    if not path.is_file():
        return ""
    lines = _text(path).splitlines()
    return next((line.split(" ", 1)[0] for line in lines if line.endswith(f" {name}")), "")


def _is_commit(word: str) -> bool:
    return len(word) in _COMMIT_LENGTHS and all(one in "0123456789abcdef" for one in word)


def _text(path: Path) -> str:
    if path.stat().st_size > MOST_BYTES:
        return ""
    return path.read_text(encoding="utf-8").strip()
