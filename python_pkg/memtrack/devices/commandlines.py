"""What a command line tells of a process: a kernel, a worker, a rank; and how it may be shown."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path

KERNEL, WORKER, RANK = "kernel", "worker", "rank"

_CONNECTION = re.compile(r"^(?:-+[\w-]+=)?(?P<file>.*kernel-(?P<id>[^/\\]+?)\.json)$")
_SPAWNED = ("--multiprocessing-fork", "multiprocessing.spawn", "multiprocessing.forkserver")
_LAUNCHERS = frozenset(
    {"torchrun", "accelerate", "deepspeed", "torch.distributed.run", "torch.distributed.launch"}
    | {"accelerate.commands.launch", "deepspeed.launcher.launch"}
)

_NAMES = r"(?:token|passw(?:or)?d|secret|credentials?|api[-_]?key|access[-_]?key)"
_SECRET_VALUE = re.compile(rf"(?i)^(-*[\w.-]*{_NAMES}=).+$")
_SECRET_FLAG = re.compile(rf"(?i)^-+[\w-]*{_NAMES}$")
_SECRET_WORD = re.compile(r"^(?:hf_|sk-|ghp_|github_pat_|glpat-|xox[a-z]-|AKIA)[\w-]{12,}$")
_WITH_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^/\s@]+@")
HIDDEN = "…"


def connection_file(arguments: Sequence[str]) -> Path | None:
    """Return the connection file of a Jupyter kernel, None where a command line names none."""
    match = _connection(arguments)
    return None if match is None else Path(match["file"])


def kernel_id(arguments: Sequence[str]) -> str:
    """Return the id of the Jupyter kernel that a command line starts, "" for any other."""
    match = _connection(arguments)
    return "" if match is None else match["id"]


def is_spawned(arguments: Sequence[str]) -> bool:
    """Tell whether Python's `multiprocessing` has started this as a process of its own."""
    return any(mark in argument for argument in arguments for mark in _SPAWNED)


def is_launcher(arguments: Sequence[str]) -> bool:
    """Tell whether a command line is that of `torchrun`, `accelerate launch` or `deepspeed`."""
    return bool(_LAUNCHERS.intersection(_programs(arguments)))


def shown(arguments: Sequence[str]) -> str:
    """Return a command line in one line, without what looks like a secret.

    Outputs of notebooks are saved and passed on; what follows `--token` stays out of them.
    """
    words: list[str] = []
    hides_next = False
    for argument in arguments:
        word = " ".join(argument.split())
        if hides_next and not word.startswith("-"):
            word = HIDDEN
        hides_next = bool(_SECRET_FLAG.match(word))
        word = HIDDEN if _SECRET_WORD.match(word) else _SECRET_VALUE.sub(rf"\1{HIDDEN}", word)
        words.append(_WITH_PASSWORD.sub(rf"\1{HIDDEN}@", word))
    return " ".join(filter(None, words))


def _connection(arguments: Sequence[str]) -> re.Match[str] | None:
    """Find `-f FILE`, `--f=FILE` or `--connection-file=FILE` of a kernel."""
    for argument in arguments:
        match = _CONNECTION.search(argument)
        if match is not None:
            return match
    return None


def _programs(arguments: Sequence[str]) -> list[str]:
    """Return what is run: the program, its script if it is an interpreter, the module of `-m`."""
    found = [Path(argument).name for argument in arguments[:2]]
    for flag, name in itertools.pairwise(arguments):
        if flag == "-m":
            found.append(name)
            break
        if not flag.startswith("-") and flag != arguments[0]:
            break
    return found
