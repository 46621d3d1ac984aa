# Two commands set everything up: `make paper` and `make test`.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help paper test lint clean
.NOTPARALLEL:
.DEFAULT_GOAL := help

help:
	@echo "make paper   reproduce the paper's experiments; says where the report is"
	@echo "make test    run the test suite"
	@echo "make lint    ruff and mypy"
	@echo "make clean   remove what the others made, but for results"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "ns-mab-gym needs Python 3.11 or later; name one: make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# One stamp per set of extras: reinstalled when the project file or the constraints change.
$(VENV)/.%: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable ".[$*]"
	@touch $@

paper: $(VENV)/.experiments
	$(BIN)/python scripts/paper.py

# The tests compile into a folder of their own, so that they neither use nor leave what users' runs have cached.
JOBS ?= 2
test: $(VENV)/.test
	NUMBA_CACHE_DIR=$(CURDIR)/.numba_cache $(BIN)/python -m pytest --numprocesses $(JOBS) --dist worksteal

lint: $(VENV)/.test $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .numba_cache .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
