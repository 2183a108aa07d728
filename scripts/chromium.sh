#!/usr/bin/env bash
# Print the path of a Chromium for the browser tests; on Debian, install one where that is allowed.
set -euo pipefail

find_one() {
  if [ -n "${MEMTRACK_CHROMIUM:-}" ]; then
    command -v "$MEMTRACK_CHROMIUM" && return
    echo "MEMTRACK_CHROMIUM is $MEMTRACK_CHROMIUM, which is not there." >&2
    exit 1
  fi
  command -v chromium || command -v chromium-browser || command -v google-chrome
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_install() {
  command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }
}

find_one && exit
if may_install; then
  echo 'Installing Chromium for the browser tests …' >&2
  export DEBIAN_FRONTEND=noninteractive
  { as_root apt-get update && as_root apt-get install -y --no-install-recommends chromium; } >&2
  find_one && exit
fi
echo 'The browser tests need Chromium. Install it (Debian: sudo apt-get install chromium) or name it with MEMTRACK_CHROMIUM=<path>.' >&2
exit 1
