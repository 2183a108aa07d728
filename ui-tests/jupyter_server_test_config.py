"""A server without any protection, for tests on this machine alone."""

import os
import sys
from pathlib import Path

from jupyterlab.galata import configure_jupyter_server

c = get_config()  # noqa: F821  (Jupyter gives it)

configure_jupyter_server(c)
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port = int(os.environ["MEMTRACK_TEST_PORT"])
c.ServerApp.root_dir = str(Path(os.environ["MEMTRACK_TEST_HOME"]) / "notebooks")
c.LabApp.workspaces_dir = str(Path(os.environ["MEMTRACK_TEST_HOME"]) / "workspaces")
c.ServerApp.allow_root = True
c.ContentsManager.allow_hidden = True
c.FileContentsManager.delete_to_trash = False

# GPUs from a tape, which a test may have fail: see the module.
sys.path.insert(0, str(Path(__file__).parents[1] / "python_pkg" / "tests"))
c.MemtrackServer.driver = "replayed_devices.ReplayedDevices"

Path(c.ServerApp.root_dir).mkdir(parents=True, exist_ok=True)
