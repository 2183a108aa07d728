"""Build the wheel and the npm package and check that what people install is complete.

In: a production build. Out: one line for each thing that is missing or too much, and exit code 1.
The wheel is also installed, into an environment that borrows the dependencies of this one, and
Jupyter is asked whether it finds both halves of the extension.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "build" / "packages"
DATA = r"memtrack-[\d.]+\.data/data"
MAX_WHEEL = 4_000_000

WHEEL_HAS = (
    r"memtrack/__init__\.py",
    r"memtrack/py\.typed",
    r"memtrack/server/app\.py",
    # JupyterLab logs an error at every start when the folder of an announced locale is missing.
    r"memtrack/locale/zh_CN/LC_MESSAGES/memtrack\.json",
    r"memtrack-[\d.]+\.dist-info/entry_points\.txt",
    r"memtrack-[\d.]+\.dist-info/licenses/LICENSE",
    r"memtrack-[\d.]+\.dist-info/licenses/THIRD_PARTY_LICENSES",
    rf"{DATA}/etc/jupyter/jupyter_server_config\.d/memtrack\.json",
    rf"{DATA}/etc/jupyter/nbconfig/notebook\.d/memtrack\.json",
    rf"{DATA}/share/jupyter/labextensions/memtrack/install\.json",
    rf"{DATA}/share/jupyter/labextensions/memtrack/package\.json",
    rf"{DATA}/share/jupyter/labextensions/memtrack/schemas/memtrack/plugin\.json",
    rf"{DATA}/share/jupyter/labextensions/memtrack/static/remoteEntry\.[0-9a-f]+\.js",
    rf"{DATA}/share/jupyter/labextensions/memtrack/static/style\.js",
    rf"{DATA}/share/jupyter/nbextensions/memtrack/extension\.js",
    rf"{DATA}/share/jupyter/nbextensions/memtrack/index\.js",
)
WHEEL_HAS_NOT = (
    r"memtrack/(labextension|nbextension)/.*",
    r".*\.map",
    r".*(node_modules|__pycache__|\.ipynb_checkpoints|/tests/).*",
)
SDIST_HAS = (
    r"[^/]+/pyproject\.toml",
    r"[^/]+/package\.json",
    r"[^/]+/package-lock\.json",
    r"[^/]+/src/index\.ts",
    r"[^/]+/python_pkg/memtrack/labextension/package\.json",
    r"[^/]+/python_pkg/memtrack/nbextension/index\.js",
)
SDIST_HAS_NOT = (r".*/node_modules/.*", r".*\.ipynb_checkpoints.*")
NPM_HAS = (
    r"LICENSE",
    r"THIRD_PARTY_LICENSES",
    r"dist/index\.js",
    r"lib/embed\.js",
    r"lib/index\.d\.ts",
    r"schema/plugin\.json",
    r"style/base\.css",
)
NPM_HAS_NOT = (r"python_pkg/.*", r".*__tests__.*", r".*\.py")


def main() -> int:
    """Build, look, install; print what is wrong."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    build = ("-m", "build", "--no-isolation", "--outdir", str(OUTPUT))
    run([sys.executable, *build, str(ROOT)])
    wheel = next(OUTPUT.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        problems = compare("the wheel", archive.namelist(), WHEEL_HAS, WHEEL_HAS_NOT)
    if wheel.stat().st_size > MAX_WHEEL:
        problems.append(f"the wheel has {wheel.stat().st_size} bytes, at most {MAX_WHEEL}")
    with tarfile.open(next(OUTPUT.glob("*.tar.gz"))) as archive:
        problems += compare("the sdist", archive.getnames(), SDIST_HAS, SDIST_HAS_NOT)
    packed = json.loads(run(["npm", "pack", "--dry-run", "--json", "--ignore-scripts"]))
    names = [file["path"] for file in next(iter(packed))["files"]]
    problems += compare("the npm package", names, NPM_HAS, NPM_HAS_NOT)
    problems += check_installed(wheel)
    for problem in problems:
        print(problem)
    return int(bool(problems))


def compare(what: str, names: list[str], has: Iterable[str], has_not: Iterable[str]) -> list[str]:
    """Say which names are missing and which should not be there."""
    missing = [
        f"{what} has no {pattern}"
        for pattern in has
        if not any(re.fullmatch(pattern, name) for name in names)
    ]
    extra = [
        f"{what} has {name}"
        for name in names
        if any(re.fullmatch(pattern, name) for pattern in has_not)
    ]
    return missing + extra


def check_installed(wheel: Path) -> list[str]:
    """Install the wheel alone and ask Jupyter and the command line about it."""
    folder = OUTPUT / "venv"
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    site = run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    # A borrowed folder gives its packages but not its .pth files, so not the editable memtrack.
    Path(site, "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)])
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(OUTPUT / "config"),
        "JUPYTER_DATA_DIR": str(OUTPUT / "data"),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    questions = {
        r"memtrack v[\d.]+ .*enabled.*OK.*\(python, memtrack\)": "jupyterlab.labextensions",
        r"memtrack [\d.]+ .*OK": "jupyter_server.extension.serverextension",
    }
    problems = []
    for pattern, module in questions.items():
        program = f"import sys; sys.argv = ['jupyter', 'list']; from {module} import main; main()"
        answer = run([python, "-c", program], environment)
        if not re.search(pattern, answer):
            problems.append(f"{module} does not list the installed wheel:\n{answer}")
    where = run([python, "-c", "import memtrack; print(memtrack.__file__)"]).strip()
    if not where.startswith(str(folder)):
        problems.append(f"the installed memtrack was imported from {where}")
    # The interactive page finds the front end where the wheel has put it, pytest its plugin.
    recording = ROOT / "python_pkg" / "tests" / "fixtures" / "report" / "recording.memtrack"
    run([python, "-m", "memtrack", "export", "--force", str(recording), str(OUTPUT / "page.html")])
    found = run([python, "-m", "pytest", "--markers"], environment)
    if "@pytest.mark.memtrack(" not in found:
        problems.append("pytest does not find the plugin of the installed wheel")
    return problems


def run(command: list[str], environment: dict[str, str] | None = None) -> str:
    """Run a command at the root; give what it printed, or stop with it."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout if environment is None else done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
