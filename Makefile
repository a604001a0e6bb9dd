# A fresh clone needs python3 (3.11 or newer), make and a package index.

PYTHON ?= python3
OLDEST_PYTHON ?= python3.11
MINUTES ?= 10
BIN := .venv/bin

.PHONY: help setup browser test test-slow test-oldest fuzz lint format docs demo oracles screenshots notebooks clean

help:
	@echo "make setup     the virtual environment .venv, with Ludus in it"
	@echo "make test      format, lint, types and tests"
	@echo "make test-slow the same with the few tests that take longest"
	@echo "make test-oldest  the tests on the lowest versions that pyproject.toml declares, in .venv-oldest"
	@echo "make fuzz      mutated command lines and inputs for ten minutes, or MINUTES=60; failures print how to repeat them"
	@echo "make demo      Connect-4 learned from nothing in five minutes, then two matches and the learning curve"
	@echo "make screenshots  pictures of the page in build/screenshots: each game, light and dark, desktop and phone"
	@echo "make notebooks  execute the notebooks again and keep their output, in about twelve minutes"
	@echo "make docs      the documentation site in build/site; broken links fail"
	@echo "make oracles   install OpenSpiel, BitBully, sb3-contrib and Ray: what some tests need, skipped without them"
	@echo "make browser   install Chromium for the tests of the page, if it is missing (as root)"
	@echo "make lint      format, lint and types only"
	@echo "make format    put the code into its format"
	@echo "make clean     remove the virtual environments; the cache of machine code stays (see docs/architecture.md)"

.venv/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Ludus needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@

.venv/.oracles: .venv/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt open_spiel bitbully sb3-contrib ray
	@touch $@

setup: .venv/.ready

oracles: .venv/.oracles

browser:
	@if command -v chromium chromium-browser google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; \
	else echo "Chromium is missing: install it, or run make browser as root. Tests of the page are skipped." >&2; fi

lint: .venv/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/.ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: lint
	$(BIN)/python -m pytest

test-slow: lint
	LUDUS_SLOW_TESTS=1 $(BIN)/python -m pytest

.venv-oldest/.ready: pyproject.toml constraints-oldest.txt
	$(OLDEST_PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-oldest.txt -e '.[test]'
	@touch $@

test-oldest: .venv-oldest/.ready
	.venv-oldest/bin/python -m pytest

fuzz: .venv/.ready
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

docs: .venv/.ready
	$(BIN)/python -m mkdocs build --strict
	@echo "build/site/index.html"

demo: .venv/.ready
	$(BIN)/ludus demo

screenshots: .venv/.ready
	$(BIN)/python tools/screenshots.py

notebooks: .venv/.ready
	$(BIN)/python -m tools.notebooks notebooks/*.ipynb

clean:
	rm -rf .venv .venv-oldest build dist src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
