"""Run a command once for each state of its inputs.

    step.py NAME [--on PATH ...] [--key TEXT ...] [--makes PATH ...] -- COMMAND ...

In: files and folders that the command reads, words that change what it does, paths that it makes.
Out: one line saying what was done. The command runs when the inputs differ from those of the last
success, or when something it makes is gone or was made by something else; what it prints goes to
build/logs/NAME.log and is shown when it fails.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAMPS = ROOT / "build" / "stamps"
LOGS = ROOT / "build" / "logs"
SHOWN_LINES = 40
# Made by tools while they run, never an input.
PASSED_OVER = ("__pycache__", "node_modules", "labextension", ".ipynb_checkpoints")


def main() -> int:
    """Run the command unless its stamp is current; give its exit code."""
    options = read_options()
    stamp = STAMPS / options.name
    inputs = digest(options.on, [*options.key, *options.command, sys.version])
    made = [ROOT / path for path in options.makes]
    if all(path.exists() for path in made) and is_current(stamp, inputs, made):
        print(f"· {options.name}: up to date")
        return 0
    print(f"▸ {options.name} …", flush=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{options.name}.log"
    start = time.monotonic()
    with log.open("wb") as output:
        done = subprocess.run(
            options.command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode != 0:
        lines = log.read_text(errors="replace").splitlines()
        print("\n".join(lines[-SHOWN_LINES:]), file=sys.stderr)
        print(f"✗ {options.name} failed; all of its output is in {log}", file=sys.stderr)
        return done.returncode
    missing = [path for path in made if not path.exists()]
    if missing:
        print(f"✗ {options.name} did not make {missing[0]}", file=sys.stderr)
        return 1
    STAMPS.mkdir(parents=True, exist_ok=True)
    stamp.write_text(f"{inputs}\n{digest(made, [])}\n")
    print(f"✓ {options.name}: {time.monotonic() - start:.0f} s")
    return 0


def read_options() -> argparse.Namespace:
    """Read the command line; what follows `--` is the command."""
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    ours, command = sys.argv[1:split], sys.argv[split + 1 :]
    parser = argparse.ArgumentParser(prog="step.py")
    parser.add_argument("name")
    parser.add_argument("--on", nargs="*", default=[])
    parser.add_argument("--key", nargs="*", default=[])
    parser.add_argument("--makes", nargs="*", default=[])
    options = parser.parse_args(ours)
    options.command = command
    if not command:
        parser.error("no command after --")
    return options


def is_current(stamp: Path, inputs: str, made: list[Path]) -> bool:
    """Tell whether the last success had these inputs and its results are still as it left them."""
    return stamp.exists() and stamp.read_text().split() == [inputs, digest(made, [])]


def digest(paths: Iterable[str | Path], words: list[str]) -> str:
    """Hash the words, and the names and contents of all files below the paths."""
    total = hashlib.sha256("\0".join(words).encode())
    for path in paths:
        for file in files_below(ROOT / path):
            total.update(str(file.relative_to(ROOT)).encode())
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def files_below(path: Path) -> Iterator[Path]:
    """Give the file, or the files in the folder, in order; nothing where there is neither."""
    if path.is_dir():
        for entry in sorted(path.iterdir()):
            if entry.name not in PASSED_OVER:
                yield from files_below(entry)
    elif path.is_file():
        yield path


if __name__ == "__main__":
    sys.exit(main())
