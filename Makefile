# A fresh clone needs python3 (3.11 or newer), make and a package index.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup test lint format demo oracles clean

help:
	@echo "make setup     the virtual environment .venv, with Ludus in it"
	@echo "make test      format, lint, types and tests"
	@echo "make demo      Connect-4 learned from nothing in five minutes, then two matches and the learning curve"
	@echo "make oracles   install OpenSpiel and BitBully: what some tests compare with, skipped without them"
	@echo "make lint      format, lint and types only"
	@echo "make format    put the code into its format"
	@echo "make clean     remove .venv and what was compiled"

.venv/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Ludus needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@

.venv/.oracles: .venv/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt open_spiel bitbully
	@touch $@

setup: .venv/.ready

oracles: .venv/.oracles

lint: .venv/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/.ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: lint
	$(BIN)/python -m pytest

demo: .venv/.ready
	$(BIN)/ludus demo

clean:
	rm -rf .venv build dist src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
