# The two commands are `make demo` and `make test`; `make help` lists the rest.
# All that is needed is make and Python 3.11 or newer: everything else goes into .venv, pinned by hash.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: docs help demo test test-slow test-all bench cover lock web chromium screenshots clean

# `make test PYTHON=python3.13` chooses the interpreter; otherwise the first one that is new enough.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

BIN := .venv/bin
MODELS := $(CURDIR)/.venv/share/pieria/models
NODE := .venv/share/pieria/web
UV := uv==0.13.8
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input
COMPILE := --universal --python-version 3.11 --generate-hashes --no-config --quiet --custom-compile-command "make lock"

# Nothing that happens to be set in the caller's shell may change what is shown or tested.
unexport $(filter PIERIA_%,$(.VARIABLES)) PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

help: ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1 | \2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-18s%s\n", $$1, $$2}'

# `make demo SCENES=all` shows all scenes.
SCENES ?= short

demo: .venv/runtime.stamp .venv/share/pieria/models.stamp ## set everything up, then show what Pieria does, on a bank of its own
	@$(BIN)/pieria demo --scenes $(SCENES)

# The types are checked beside the tests, and three tests run at once also on two cores: many wait for the disk.
test: .venv/dev.stamp .venv/share/pieria/models.stamp ## lint, types, layers, and the fast tests
	@echo "· ruff" && $(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .
	@echo "· layers" && $(BIN)/lint-imports --no-logo >.venv/layers.txt 2>&1 || { cat .venv/layers.txt; exit 1; }
	@echo "· mypy --strict, pytest" && { $(BIN)/mypy --strict --no-error-summary & types=$$!; \
		$(BIN)/pytest -q -m "not slow" -n 3 --dist worksteal --hypothesis-profile=ci; tests=$$?; \
		wait $$types && exit $$tests; }

# `EXAMPLES=gate` repeats the same random examples; otherwise each run looks for what nobody has met yet.
EXAMPLES ?= nightly

test-slow: .venv/dev.stamp .venv/share/pieria/models.stamp web chromium ## the slow tests: kill -9, many processes, long histories, the page in Chromium, verbs over HTTP
	@echo "· pytest -m slow" && $(BIN)/pytest -q -m slow -n 2 --dist worksteal --timeout=1800 --hypothesis-profile=$(EXAMPLES)
	@echo "· pytest --over http" && $(BIN)/pytest -q --over http tests/bank -m "not slow" -n 2 --dist worksteal --hypothesis-profile=ci

test-all: test test-slow ## the fast and the slow tests

bench: .venv/runtime.stamp .venv/share/pieria/models.stamp ## measure speed against the budgets; prints JSON
	@$(BIN)/python -m benchmarks speed --json

cover: .venv/dev.stamp .venv/share/pieria/models.stamp ## which lines and branches the tests reach
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -q -m "not slow" --hypothesis-profile=ci
	@$(BIN)/coverage combine --quiet && $(BIN)/coverage report

# Keeps every pin that still fits pyproject.toml; `make lock UPGRADE=--upgrade` takes the newest instead.
lock: .venv/bin/python ## pin the dependencies of pyproject.toml anew in requirements/
	@$(BIN)/python -m venv --clear build/lock && build/lock/bin/python -m pip install --quiet $(UV)
	@build/lock/bin/uv pip compile pyproject.toml --group build --constraints requirements/bounds.in \
		$(COMPILE) $(UPGRADE) --output-file requirements/runtime.txt
	@build/lock/bin/uv pip compile pyproject.toml --group build --group dev --constraints requirements/runtime.txt \
		$(COMPILE) $(UPGRADE) --output-file requirements/dev.txt
	@build/lock/bin/uv pip compile pyproject.toml --group build --extra otel --extra postgres --constraints requirements/runtime.txt \
		$(COMPILE) $(UPGRADE) --output-file requirements/image.txt
	@build/lock/bin/uv pip compile --group docs $(COMPILE) $(UPGRADE) --output-file requirements/docs.txt
	@! grep -nE '^ *--(index|extra|find|trusted)|://' requirements/*.txt \
		|| { echo "requirements/ must not say where packages come from: remove the lines above." >&2; exit 1; }
	@rm -rf build/lock && echo "Pinned in requirements: runtime.txt, image.txt, dev.txt and docs.txt."

# npm checks what it fetches by the hashes in requirements/web, and what is copied from it is checked by those in vendor.json.
web: $(NODE)/web.stamp ## fetch the scripts of the web page (needs npm); without them it works as plain HTML
	@PYTHONPATH=src $(BIN)/python -m pieria.doors.web.vendor $(NODE)/node_modules

$(NODE)/web.stamp: requirements/web/package.json requirements/web/package-lock.json | .venv/bin/python
	@command -v npm >/dev/null || { echo "make web needs npm, which comes with Node.js: install that, and try again." >&2; exit 1; }
	@mkdir -p $(NODE) && cp requirements/web/package.json requirements/web/package-lock.json $(NODE)/
	@cd $(NODE) && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error >/dev/null
	@touch $@

chromium:
	@command -v $${CHROMIUM:-chromium} >/dev/null || { echo "Chromium was not found. On Debian: apt-get install chromium;" \
		"elsewhere name it: CHROMIUM=/path/to/chromium." >&2; exit 1; }

# mkdocs-material announces its successor on each run; the variable keeps that out of the log.
docs: build/docs.stamp ## build the site of the documentation in build/site; fails on a broken link
	@NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build --strict >build/docs.log 2>&1 || { cat build/docs.log >&2; exit 1; }
	@echo "The site is in build/site."

build/docs.stamp: requirements/docs.txt | .venv/bin/python
	@$(BIN)/python -m venv --clear build/docs
	@build/docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/docs.txt
	@touch $@

screenshots: .venv/dev.stamp web chromium ## show every page, light and dark, in docs/pages (needs npm and Chromium)
	@PYTHONPATH=src:. $(BIN)/python -m tests.doors.web.screenshots

clean: ## remove .venv and everything a run or a build left behind
	@rm -rf .venv build dist htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .*_cache
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Set-up runs again only when what it was made from has changed. requirements/dev.txt holds all of runtime.txt,
# so that both stamps can share one environment.
.venv/bin/python:
	@[ -n "$(PYTHON)" ] || { echo "Pieria needs Python 3.11 or newer; none was found. Name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Pieria needs Python 3.11 or newer; $(PYTHON) is not." >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "$(PYTHON) cannot make an environment; is its venv module installed?" >&2; exit 1; }

.venv/runtime.stamp: requirements/runtime.txt pyproject.toml | .venv/bin/python
	@echo "· setting up .venv (once)"
	@$(INSTALL) --require-hashes --requirement requirements/runtime.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/dev.stamp: requirements/dev.txt pyproject.toml | .venv/bin/python
	@echo "· setting up .venv for tests (once, about half a minute)"
	@$(INSTALL) --require-hashes --requirement requirements/dev.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ .venv/runtime.stamp

# Where the model cannot be fetched, everything works without it; it is tried again the next time.
.venv/share/pieria/models.stamp: src/pieria/models/catalogue.py | .venv/runtime.stamp
	@echo "· installing the model that finds by meaning (once, 84 MB)"
	@if PIERIA_MODELS="$(MODELS)" $(BIN)/pieria models install --quiet >/dev/null; then touch $@; else \
		echo "· going on without it: recall compares words, not meaning" >&2; fi
