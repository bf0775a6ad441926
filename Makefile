# Each target installs what it needs. `make help` lists all targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COMMA := ,
# What is installed so far: for a tournament, for all commands, for the tests too.
TOURNAMENT := $(VENV)/.tournament
COMMANDS := $(VENV)/.commands
INSTALLED := $(VENV)/.installed
# The linter of the page's JavaScript, from the npm registry; 97 MB.
BIOME_VERSION := 2.6.8
BIOME := $(VENV)/biome-$(BIOME_VERSION)/node_modules/.bin/biome
CONFIG ?= examples/local.toml

.DEFAULT_GOAL := help
.PHONY: help install tournament test check format lint lint-js types pytest unit coverage soak simulate bench figures docs dist clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# An editable install of these extras, with these options, and of the plug-ins in museum/, in the versions of constraints.txt.
define pip
	@echo "installing into $(VENV): $(1) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(2) --constraint constraints.txt --editable ".[$(1)]" --editable ./museum
	@$(BIN)/python tools/plain_paths.py
endef

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "insertion-arena needs Python 3.11 or newer; found `$(PYTHON) --version 2>&1`. Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(TOURNAMENT): pyproject.toml museum/pyproject.toml constraints.txt | $(BIN)/python
	$(call pip,server$(COMMA)engines)
	@touch $@

$(COMMANDS): pyproject.toml museum/pyproject.toml constraints.txt | $(BIN)/python
	$(call pip,all)
	@touch $(TOURNAMENT) $@

$(INSTALLED): pyproject.toml museum/pyproject.toml constraints.txt | $(BIN)/python
	@# The tests import a fifth of the 9,000 modules: each is compiled when it is, not all while nothing else runs.
	$(call pip,all$(COMMA)test,--no-compile)
	@touch $(TOURNAMENT) $(COMMANDS) $@

install: $(COMMANDS)  ## install all commands into .venv, and compile the engines; the command is .venv/bin/arena
	@echo "compiling the engines, once for this code and processor (a minute) ..."
	@$(BIN)/arena engines --compile all > $(VENV)/.compiled || { cat $(VENV)/.compiled; exit 1; }

tournament: $(TOURNAMENT)  ## play a contest of built-in bots and print the standings; CONFIG=FILE
	@$(BIN)/arena tournament $(CONFIG)

# Each of a thousand processes would compile all modules again.
test check pytest unit coverage soak: export PYTHONDONTWRITEBYTECODE =

test: | $(BIN)/python  ## run linter, type checker and all tests except the soak runs
	@# Pip has one thread: npm loads its linter meanwhile.
	@$(MAKE) --no-print-directory --silent --jobs 2 $(INSTALLED) $(if $(shell command -v npm),$(BIOME))
	@$(MAKE) --no-print-directory lint
	@# The type checker has one thread, 40 s long the first time: the tests run beside it.
	@$(MAKE) --no-print-directory --jobs 2 types pytest

pytest: $(INSTALLED)
	@# At most three of the tests with a real clock or a process run at once; the fourth worker fills their waits.
	$(BIN)/pytest -m "not soak" --numprocesses 4 --dist loadgroup --no-loadscope-reorder tests

check: $(INSTALLED) lint types unit  ## run the fast checks before a commit

format: $(INSTALLED)  ## format the sources
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python tools/wordlist.py README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md Makefile protocol client conformance engines server cli learning museum docs deploy benchmarks examples tests
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory lint-js; \
		else echo "NO NPM: THE JAVASCRIPT IS NOT LINTED" >&2; fi

lint-js: $(BIOME)
	$(BIOME) lint --error-on-warnings

$(BIOME):
	@echo "installing into $(VENV): biome ..."
	@npm install --prefix $(VENV)/biome-$(BIOME_VERSION) --no-save --no-audit --no-fund --loglevel=error @biomejs/biome@$(BIOME_VERSION)

types: $(INSTALLED)
	$(BIN)/mypy

unit: $(INSTALLED)
	$(BIN)/pytest -m "not soak and not slow and not real" tests/protocol tests/server/core

coverage: $(INSTALLED)  ## measure branch coverage of protocol and core; fail below 100 %
	$(BIN)/pytest -m "not soak" --numprocesses 2 --cov --cov-branch --cov-fail-under=100 tests/protocol tests/server/core

soak: export SOAK_MINUTES = $(or $(MINUTES),3)
soak: $(INSTALLED)  ## run the long simulation, fuzz and kill tests, and new examples of all properties; SEED=1 MINUTES=3
	@seed=$(or $(SEED),$$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')); \
	run="$(BIN)/pytest --timeout 0 --hypothesis-profile soak --hypothesis-seed $$seed"; \
	echo "seed $$seed; the same test again: $$run TEST"; \
	$$run -m "soak or hypothesis" tests || { echo "a failed test again: $$run TEST" >&2; exit 1; }

simulate: $(INSTALLED)  ## simulate contests with every kind of fault; SEED=1 GAMES=10000
	$(BIN)/python -m tests.simulation --seed $(or $(SEED),1) --games $(or $(GAMES),10000)

bench: $(COMMANDS)  ## measure the referee and the search
	$(BIN)/python -m benchmarks.referee referee
	$(BIN)/python -m benchmarks.referee hostile
	$(BIN)/python -m benchmarks.referee viewers
	$(BIN)/arena bench search

figures: $(COMMANDS)  ## measure the engines (25 minutes, resumable) and draw the figures
	$(BIN)/python benchmarks/figures/plot.py

docs: $(COMMANDS)  ## build the documentation in build/docs; needs no network after its packages are installed
	@$(BIN)/python -c 'import furo, myst_parser, sphinx' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs]"
	$(BIN)/python tools/bot_author.py
	$(BIN)/python -m sphinx -q -W --keep-going -c docs -d build/doctrees . build/docs
	@echo "built: build/docs/index.html"

dist: $(BIN)/python  ## build the distributions in dist/, install each extra alone and run a command of it
	$(BIN)/python tools/dist.py

clean:  ## remove the environment and all caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info museum/*.egg-info
