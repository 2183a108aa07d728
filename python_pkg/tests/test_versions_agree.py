"""One version for both halves: package.json has it, everything else follows."""

import json
import re
from importlib import metadata
from pathlib import Path

import memtrack
from memtrack import _frontend

ROOT = Path(__file__).parents[2]


def manifest():
    return json.loads((ROOT / "package.json").read_text())


def test_python_has_the_version_of_package_json():
    assert memtrack.__version__ == manifest()["version"]


def test_widgets_ask_for_the_package_that_package_json_names():
    assert _frontend.MODULE_NAME == manifest()["name"]
    assert _frontend.MODULE_VERSION == f"^{manifest()['version']}"


def test_typescript_has_the_same_name_and_version():
    source = (ROOT / "src/base/version.ts").read_text()
    constants = dict(re.findall(r"export const (\w+) = '([^']*)'", source))
    assert constants == {
        "PACKAGE_NAME": manifest()["name"],
        "PACKAGE_VERSION": manifest()["version"],
    }


def test_lock_file_has_the_same_version():
    lock = json.loads((ROOT / "package-lock.json").read_text())
    assert lock["version"] == manifest()["version"]


def test_installed_distribution_has_the_same_version():
    assert metadata.version("memtrack") == manifest()["version"]
