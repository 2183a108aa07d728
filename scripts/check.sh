#!/usr/bin/env bash
# Run a check: one line when it passes, all of its output when it does not. check.sh NAME COMMAND...
name=$1
shift
if output=$("$@" 2>&1); then
  echo "✓ $name"
else
  printf '%s\n✗ %s\n' "$output" "$name" >&2
  exit 1
fi
