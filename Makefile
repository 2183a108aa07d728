# Everything one does here, as verbs. `make help` lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:

# From anywhere: `make -f path/to/Makefile test` works like `make -C path/to test`.
ROOT := $(shell cd "$$(dirname "$(strip $(MAKEFILE_LIST))")" && pwd -P)
ifneq ($(ROOT),$(shell pwd -P))
.PHONY: $(MAKECMDGOALS)
help $(filter-out help,$(MAKECMDGOALS)):
	@$(MAKE) -C "$(ROOT)" $@
else

# The Python that makes the environments: make PYTHON=python3.12 ...
PYTHON ?= python3
# The torch to use: a requirement, a site-packages folder, or "system" for that of PYTHON.
MEMTRACK_TORCH ?=
# More words for pytest: make unit PYTEST_ARGS="-k peak"
PYTEST_ARGS ?=
# More words for Playwright: make browser PLAYWRIGHT_ARGS="-g smoke"
PLAYWRIGHT_ARGS ?=

VENV := .venv
VENV_PYTHON := $(VENV)/bin/python
OLDEST := .venv-oldest
STEP = $(PYTHON) scripts/step.py
CHECK = scripts/check.sh
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD := 1
FRONT := src style schema package.json package-lock.json tsconfig.json rspack.amd.config.cjs rspack.style.config.cjs

##@ Help

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^##@ /{ printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## /{ printf "  make %-20s %s\n", $$1, $$2 }' Makefile

##@ Use

.PHONY: demo
demo: install ## Set everything up, run the examples and open them in JupyterLab
	@$(STEP) examples --on examples python_pkg/memtrack scripts/demo.py -- $(VENV_PYTHON) scripts/demo.py run
	@$(VENV_PYTHON) scripts/demo.py open

##@ Check

.PHONY: test
test: install node-ui ## Set everything up and run every check
	@$(MAKE) --keep-going lint unit bundle wheel browser
	@echo '✓ everything passed'

.PHONY: lint
lint: venv node node-ui ## Check style, types, arrows between rooms, sizes
	@scripts/lint.sh $(VENV_PYTHON)

.PHONY: unit
unit: install ## Run the tests of Python and TypeScript
	@$(VENV_PYTHON) -m pytest $(PYTEST_ARGS)
	@npx --no-install jest

.PHONY: browser
browser: install node-ui ## Run the tests in a real browser on a real JupyterLab
	@chromium="$$(scripts/chromium.sh)" && cd ui-tests && \
	  MEMTRACK_CHROMIUM="$$chromium" MEMTRACK_PYTHON="$(ROOT)/$(VENV_PYTHON)" \
	  npx --no-install playwright test $(PLAYWRIGHT_ARGS)

.PHONY: bundle
bundle: build ## Check what a browser has to load, and the licences of what we ship
	@$(CHECK) 'sizes of the bundles' node scripts/check_bundle.mjs
	@$(CHECK) 'third-party licences' node scripts/third_party.mjs --check

.PHONY: wheel
wheel: install ## Build the wheel and the npm package, install the wheel, check both
	@$(CHECK) 'wheel and npm package' $(VENV_PYTHON) scripts/check_packages.py

.PHONY: test-oldest-torch
test-oldest-torch: build ## Run the Python tests with the oldest torch, numpy and Jupyter allowed (3 GB)
	@$(STEP) oldest-environment --on requirements/oldest.txt scripts/make_venv.sh --makes $(OLDEST)/bin/python -- \
	  scripts/make_venv.sh $(OLDEST) $(PYTHON) requirements/oldest.txt torch
	@$(STEP) oldest-install --on pyproject.toml install.json package.json python_pkg/jupyter-config -- \
	  scripts/install_editable.sh $(OLDEST)
	@$(OLDEST)/bin/python -m pytest $(PYTEST_ARGS)

.PHONY: bench
bench: install node-ui ## Measure what memtrack costs
	@for file in bench/*.py; do echo "▸ $$file"; $(VENV_PYTHON) "$$file"; done
	@for file in bench/*.mjs; do echo "▸ $$file"; MEMTRACK_CHROMIUM="$$(scripts/chromium.sh)" node "$$file"; done

##@ Change

.PHONY: build
build: node ## Build the extension and the bundle for other front ends
	@$(STEP) build --on $(FRONT) --makes python_pkg/memtrack/labextension/package.json \
	  python_pkg/memtrack/nbextension/index.js dist/index.js lib -- npm run build:prod

.PHONY: install
install: venv build ## Install this checkout into .venv, with both halves of the extension
	@$(STEP) install --on pyproject.toml install.json package.json python_pkg/jupyter-config scripts/install_editable.sh \
	  --makes $(VENV)/share/jupyter/labextensions/memtrack/package.json $(VENV)/bin/memtrack -- \
	  scripts/install_editable.sh $(VENV)

.PHONY: format
format: venv node ## Put all sources into shape
	@$(VENV_PYTHON) -m ruff check --fix-only --quiet . && $(VENV_PYTHON) -m ruff format --quiet .
	@npm run --silent format

.PHONY: locale
locale: venv ## Bring the translations up to the sentences in use
	@$(VENV_PYTHON) scripts/check_locale.py --write || true

.PHONY: pins
pins: venv ## Resolve requirements/dev.in into dev.txt again
	@$(VENV_PYTHON) scripts/pin.py

.PHONY: screenshots
screenshots: install node-ui ## Take the pictures of the README again
	@chromium="$$(scripts/chromium.sh)" && cd ui-tests && \
	  MEMTRACK_CHROMIUM="$$chromium" MEMTRACK_PYTHON="$(ROOT)/$(VENV_PYTHON)" \
	  npx --no-install playwright test --config screenshots.config.js

.PHONY: third-party
third-party: build ## Write THIRD_PARTY_LICENSES again
	@node scripts/third_party.mjs

.PHONY: clean
clean: ## Remove what was built and installed here
	@rm -rf build dist lib tsconfig.tsbuildinfo $(VENV) $(OLDEST) node_modules ui-tests/node_modules \
	  ui-tests/test-results ui-tests/playwright-report python_pkg/memtrack/labextension \
	  python_pkg/memtrack/nbextension/index.js

# What the verbs stand on.

.PHONY: tools venv node node-ui
tools:
	@scripts/check_tools.sh "$(PYTHON)"

venv: tools
	@$(STEP) environment --key "torch=$(MEMTRACK_TORCH)" \
	  --on requirements/dev.txt requirements/torch.txt requirements/dev-torch.txt scripts/make_venv.sh --makes $(VENV_PYTHON) -- \
	  scripts/make_venv.sh $(VENV) "$(PYTHON)" requirements/dev.txt "$(MEMTRACK_TORCH)"

node: tools
	@$(STEP) node --on package.json package-lock.json .npmrc --makes node_modules/.package-lock.json -- npm ci

node-ui: tools
	@$(STEP) node-ui --on ui-tests/package.json ui-tests/package-lock.json ui-tests/.npmrc \
	  --makes ui-tests/node_modules/.package-lock.json -- npm ci --prefix ui-tests

endif
