"""Run the examples and open them in JupyterLab: demo.py run | open.

`run` executes examples/*.ipynb for real and writes them, outputs included, to build/demo. `open`
starts JupyterLab there; with MEMTRACK_DEMO_OPEN=0 it only checks that it starts, and ends it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.sign import NotebookNotary

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
DEMO = ROOT / "build" / "demo"
CELL_SECONDS = 600
START_SECONDS = 60


def run() -> None:
    """Execute every example into build/demo."""
    notebooks = sorted(EXAMPLES.glob("*.ipynb"))
    if not notebooks:
        sys.exit(f"There are no notebooks in {EXAMPLES}.")
    shutil.copytree(EXAMPLES, DEMO, dirs_exist_ok=True)
    for path in notebooks:
        execute(DEMO / path.name)


def execute(path: Path) -> None:
    """Run one notebook in a fresh kernel of this environment and save it in place."""
    start = time.monotonic()
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        timeout=CELL_SECONDS,
    )
    try:
        client.execute()
    except CellExecutionError as error:
        sys.exit(f"{path.name} failed: {error}")
    finally:
        nbformat.write(notebook, path)
    # It ran here, so its outputs are as trusted as if they had been run by hand.
    NotebookNotary().sign(notebook)
    print(f"{path.name}: {time.monotonic() - start:.0f} s")


def open_lab() -> None:
    """Become JupyterLab on build/demo, or check that it would start."""
    first = min(path.name for path in EXAMPLES.glob("*.ipynb"))
    command = [
        *(sys.executable, "-m", "jupyterlab", f"--notebook-dir={DEMO}"),
        f"--LabApp.default_url=/lab/tree/{first}",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    if os.environ.get("MEMTRACK_DEMO_OPEN") == "0":
        check_start([*command, "--no-browser", "--IdentityProvider.token=", "--port=0"])
        print(f"✓ JupyterLab starts on {DEMO.relative_to(ROOT)}")
    else:
        os.execv(command[0], command)


def check_start(command: list[str]) -> None:
    """Start the server, wait until memtrack's half answers, end it."""
    runtime = ROOT / "build" / "demo-runtime"
    shutil.rmtree(runtime, ignore_errors=True)
    environment = os.environ | {"JUPYTER_RUNTIME_DIR": str(runtime)}
    log = ROOT / "build" / "logs" / "demo.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            deadline = time.monotonic() + START_SECONDS
            while not answers(runtime):
                if time.monotonic() > deadline or server.poll() is not None:
                    sys.exit(f"JupyterLab did not start; what it said is in {log}")
                time.sleep(0.2)
        finally:
            server.terminate()
            server.wait(timeout=20)


def answers(runtime: Path) -> bool:
    """Tell whether the server that keeps its address in `runtime` serves memtrack."""
    for file in runtime.glob("jpserver-*.json"):
        url = json.loads(file.read_text())["url"]
        try:
            with urllib.request.urlopen(f"{url}memtrack/api/info", timeout=5) as response:  # noqa: S310
                return "version" in json.load(response)
        except (urllib.error.URLError, ConnectionError):
            return False
    return False


if __name__ == "__main__":
    {"run": run, "open": open_lab}[sys.argv[1]]()
