#!/usr/bin/env bash
# Install this checkout into a virtual environment, so that what is built here is what Jupyter loads.
# install_editable.sh VENV
set -euo pipefail
venv=$(cd "$1" && pwd)

# The labextension is built already; the build hook of the package need not do it again.
SKIP_JUPYTER_BUILDER=1 "$venv/bin/python" -m pip --disable-pip-version-check --no-input \
  install --no-deps --no-build-isolation --editable .

# pip copies the built files; a link follows every later build.
for kind in labextension nbextension; do
  target=$venv/share/jupyter/${kind}s/memtrack
  rm -rf "$target"
  ln -s "$PWD/python_pkg/memtrack/$kind" "$target"
done
