"""Programs run by Python and by `memtrack run`, in processes of their own, and what came of it."""

import os
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def python(folder, *arguments, **environment):
    """Run Python with `arguments` in `folder`."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env={**clean_environment(), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def memtrack_run(folder, *arguments, **environment):
    """Run `python -m memtrack run` with `arguments` in `folder`."""
    return python(folder, "-m", "memtrack", "run", *arguments, **environment)


def clean_environment():
    """Return this process's environment in English, its Python path good in any folder."""
    dropped = ("RANK", "LOCAL_RANK", "PYTHONSAFEPATH", "LANG", "LC_ALL")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    found = os.pathsep.join(
        map(os.path.abspath, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    )
    path = {"PYTHONPATH": found} if found else {}
    return {**kept, **path, "MEMTRACK_LANG": "en", "PYTHONUTF8": "1", "COLUMNS": "80"}
