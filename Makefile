# `make tournament` and `make test` install what they need. `make help` lists all targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
CONFIG ?= examples/local.toml

.DEFAULT_GOAL := help
.PHONY: help install tournament test check format lint types unit coverage soak simulate bench figures docs clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "insertion-arena needs Python 3.11 or newer; found `$(PYTHON) --version 2>&1`. Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[all,test]"
	@touch $@

install: $(INSTALLED)  ## install everything into .venv; the command is .venv/bin/arena

tournament: install  ## play a contest of built-in bots and print the standings; CONFIG=FILE
	@$(BIN)/arena tournament $(CONFIG)

test: install lint types  ## run linter, type checker and all tests except the soak runs
	@# Tests with real clocks may miss a limit beside others: what failed runs once more, one at a time.
	$(BIN)/pytest -m "not soak" --numprocesses 2 --dist worksteal tests || \
		$(BIN)/pytest -m "not soak" --last-failed --last-failed-no-failures none tests

check: install lint types unit  ## run the fast checks before a commit

format: install  ## format the sources
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python tools/wordlist.py README.md CHANGELOG.md Makefile protocol client engines server docs benchmarks examples tests

types: install
	$(BIN)/mypy

unit: install
	$(BIN)/pytest -m "not soak and not slow" tests/protocol tests/server/core

coverage: install  ## measure branch coverage of protocol and core; fail below 100 %
	$(BIN)/pytest -m "not soak" --numprocesses 2 --cov --cov-branch --cov-fail-under=100 tests/protocol tests/server/core

soak: install  ## run the long simulation, fuzz and kill tests, and new examples of all properties; SEED=1
	@seed=$(or $(SEED),$$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')); \
	run="$(BIN)/pytest --timeout 0 --hypothesis-profile soak --hypothesis-seed $$seed"; \
	echo "seed $$seed; the same test again: $$run TEST"; \
	$$run -m "soak or hypothesis" tests || { echo "a failed test again: $$run TEST" >&2; exit 1; }

simulate: install  ## simulate contests with every kind of fault; SEED=1 GAMES=10000
	$(BIN)/python -m tests.simulation --seed $(or $(SEED),1) --games $(or $(GAMES),10000)

bench: install  ## measure the referee and the search
	$(BIN)/python -m benchmarks.referee referee
	$(BIN)/python -m benchmarks.referee hostile
	$(BIN)/python -m benchmarks.referee viewers
	$(BIN)/arena bench search

figures: install  ## measure the engines (25 minutes, resumable) and draw the figures
	$(BIN)/python benchmarks/figures/plot.py

docs: install  ## build the documentation in build/docs; needs no network after its packages are installed
	@$(BIN)/python -c 'import furo, myst_parser, sphinx' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs]"
	$(BIN)/python tools/bot_author.py
	$(BIN)/python -m sphinx -q -W --keep-going -c docs -d build/doctrees . build/docs
	@echo "built: build/docs/index.html"

clean:  ## remove the environment and all caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
