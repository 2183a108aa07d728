#!/usr/bin/env bash
# Make a virtual environment: make_venv.sh FOLDER PYTHON REQUIREMENTS [TORCH]
# TORCH is a requirement ("torch==2.11.0"), a site-packages folder that has torch, "system" for the
# torch of PYTHON, or nothing for the pinned one.
set -euo pipefail
folder=$1 python=$2 requirements=$3 torch=${4:-}

version='import sys; print(sys.version_info[:2])'
if [ "$("$folder/bin/python" -c "$version" 2>&1)" != "$("$python" -c "$version")" ]; then
  "$python" -m venv --clear "$folder"
fi
inner=$folder/bin/python
pip=("$inner" -m pip --disable-pip-version-check --no-input)
site=$("$inner" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

"${pip[@]}" install --requirement "$requirements"

borrowed=
if [ "$torch" = system ]; then
  borrowed=$("$python" -c 'import importlib.util as u, pathlib as p; print(p.Path(u.find_spec("torch").origin).parents[1])') || {
    echo "MEMTRACK_TORCH=system, but $python has no torch." >&2
    exit 1
  }
elif [ -d "$torch" ]; then
  borrowed=$(cd "$torch" && pwd)
fi

if [ -n "$borrowed" ]; then
  "${pip[@]}" uninstall --yes torch
  echo "$borrowed" >"$site/borrowed-torch.pth"
else
  rm -f "$site/borrowed-torch.pth"
  if [ -n "$torch" ]; then wanted=("$torch"); else wanted=(--requirement requirements/torch.txt); fi
  "${pip[@]}" install --constraint "$requirements" "${wanted[@]}" || {
    echo "torch could not be installed. Name another with MEMTRACK_TORCH: a requirement, a site-packages folder, or 'system'." >&2
    exit 1
  }
fi
"$inner" -c 'import torch; print("torch", torch.__version__, torch.__file__)'
