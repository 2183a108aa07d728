#!/usr/bin/env bash
# Make a virtual environment: make_venv.sh FOLDER PYTHON REQUIREMENTS [TORCH]
# TORCH is a requirement ("torch==2.11.0"), a site-packages folder that has torch, "system" for the
# torch of PYTHON, or nothing for the pinned one.
set -euo pipefail
folder=$1 python=$2 requirements=$3 torch=${4:-}

stop() {
  echo "$1 MEMTRACK_TORCH is a requirement, a site-packages folder, or 'system'." >&2
  exit 1
}

borrowed=
if [ "$torch" = system ]; then
  find='import importlib.util as u, pathlib as p; print(p.Path(u.find_spec("torch").origin).parents[1])'
  borrowed=$("$python" -c "$find" 2>/dev/null) || stop "$python has no torch."
elif [ -d "$torch" ]; then
  [ -d "$torch/torch" ] || stop "There is no torch in $torch."
  borrowed=$(cd "$torch" && pwd)
fi

version='import sys; print(sys.version_info[:2])'
if [ "$("$folder/bin/python" -c "$version" 2>&1)" != "$("$python" -c "$version")" ]; then
  "$python" -m venv --clear "$folder"
fi
inner=$folder/bin/python
pip=("$inner" -m pip --quiet --disable-pip-version-check --no-input)
link=$("$inner" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/borrowed-torch.pth

"${pip[@]}" install --requirement "$requirements"
if [ -n "$borrowed" ]; then
  "${pip[@]}" uninstall --yes torch
  echo "$borrowed" >"$link"
else
  rm -f "$link"
  if [ -n "$torch" ]; then wanted=("$torch"); else wanted=(--requirement requirements/torch.txt); fi
  "${pip[@]}" install --constraint "$requirements" "${wanted[@]}" || stop "${wanted[*]} could not be installed."
fi
users=${requirements%.txt}-torch.txt
if [ -f "$users" ]; then "${pip[@]}" install --no-deps --requirement "$users"; fi
"$inner" -c 'import torch; print("torch", torch.__version__, torch.__file__)'
