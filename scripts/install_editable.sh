#!/usr/bin/env bash
# Install this checkout into a virtual environment, so that what is built here is what Jupyter loads.
# install_editable.sh VENV
set -euo pipefail
venv=$(cd "$1" && pwd)
share=$venv/share/jupyter

# Through the links of an earlier run, pip would take away and write files of the build itself.
rm -rf "$share/labextensions/memtrack" "$share/nbextensions/memtrack"

# The labextension is built already; the build hook of the package need not do it again.
SKIP_JUPYTER_BUILDER=1 "$venv/bin/python" -m pip --quiet --disable-pip-version-check --no-input \
  install --no-deps --no-build-isolation --editable .

# pip copies the built files; a link follows every later build.
for kind in labextension nbextension; do
  rm -rf "$share/${kind}s/memtrack"
  ln -s "$PWD/python_pkg/memtrack/$kind" "$share/${kind}s/memtrack"
done
