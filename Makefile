# Two commands set everything up: `make paper` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: paper test lint clean
.DEFAULT_GOAL := help

help:
	@echo "make paper   reproduce the paper's experiments; says where the report is"
	@echo "make test    run the test suite"
	@echo "make lint    ruff and mypy"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp a set of extras: reinstalled when the project file or the constraints change.
$(VENV)/.%: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable ".[$*]"
	@touch $@

paper: $(VENV)/.experiments
	$(BIN)/python scripts/plot_worlds.py

# Compiled loops of the tests live in a folder of their own, so that no stale cache can serve an old algorithm.
test: $(VENV)/.test
	NUMBA_CACHE_DIR=$(CURDIR)/.numba_cache $(BIN)/python -m pytest

lint: $(VENV)/.test $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .numba_cache .pytest_cache .mypy_cache .ruff_cache build dist *.egg-info
