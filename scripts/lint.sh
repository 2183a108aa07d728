#!/usr/bin/env bash
# Run every check of the sources, all of them even if one fails. lint.sh PYTHON
python=$1
failed=0

check() {
  scripts/check.sh "$@" || failed=1
}

check 'ruff' "$python" -m ruff check .
check 'ruff format' "$python" -m ruff format --check .
check 'mypy' "$python" -m mypy
check 'eslint' npm run --silent eslint:check
check 'prettier' npm run --silent prettier:check
check 'stylelint' npm run --silent stylelint:check
check 'tsc' npm run --silent types
check 'tsc of the browser tests' npm run --silent --prefix ui-tests types
check 'imports between rooms' "$python" scripts/check_imports.py
check 'sizes of files and functions' "$python" scripts/check_sizes.py
check 'translations' "$python" scripts/check_locale.py
check 'lock files without hosts' scripts/check_locks.sh

exit "$failed"
