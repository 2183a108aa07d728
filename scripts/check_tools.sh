#!/bin/sh
# Say in one line what is missing before anything starts: check_tools.sh [PYTHON].
python=${1:-python3}
missing=

need() {
  missing="${missing:+$missing; }$1"
}

if ! command -v "$python" >/dev/null 2>&1; then
  need "Python 3.10 or newer ($python is not there)"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  need "Python 3.10 or newer ($python is $("$python" -c 'import platform; print(platform.python_version())' 2>/dev/null || echo broken); name another with PYTHON=...)"
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  need "Python's venv module (on Debian: apt-get install python3-venv)"
fi

if ! command -v node >/dev/null 2>&1; then
  need "Node 20.19 or newer (node is not there)"
elif ! node -e '
  const [major, minor] = process.versions.node.split(".").map(Number);
  process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1);
' 2>/dev/null; then
  need "Node 20.19 or newer (node is $(node --version))"
elif ! command -v npm >/dev/null 2>&1; then
  need "npm, which comes with Node"
fi

if [ -n "$missing" ]; then
  echo "memtrack needs: $missing." >&2
  exit 1
fi
