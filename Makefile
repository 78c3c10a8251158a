# Everything a developer types. `make help` lists it; `make setup` is done by whatever needs it.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.setup-done
OLDEST_STAMP = $(VENV)/oldest/.setup-done
# Which versions are installed, of what a range would allow: the same everywhere, until `upgrade`.
CONSTRAINTS ?= constraints.txt
# Tests wait for bots and clocks about half of their time. Each job has servers and bots to feed.
MOST_JOBS = 8
JOBS ?= $(shell cores=$$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN); \
    if [ "$$cores" -lt $(MOST_JOBS) ]; then expr "$$cores" + 1; else echo $(MOST_JOBS); fi)
ARGS ?=
FUZZ_SECONDS ?= 3600
# How pytest ends where ARGS choose none of the tests.
NONE_CHOSEN = 5
# The first of each that the client of the engine allows and Python runs without warnings.
OLDEST = docker==7.1.0 requests==2.26.0 urllib3==1.26.18

# Hundreds of programs start during the tests, each sooner from what is compiled.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL = help
.NOTPARALLEL:
.PHONY: help setup setup-oldest upgrade check test test-long test-beside test-alone test-oldest fuzz demo images bench proto format clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
	    while IFS='|' read -r name text; do printf '%-12s %s\n' "$$name" "$$text"; done

setup: $(STAMP) ## make the virtual environment and install the project into it

$(STAMP): pyproject.toml $(CONSTRAINTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "$(PYTHON) is older than Python 3.11; name another: make setup PYTHON=..." >&2; exit 3; }
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS) --editable . --group dev
	@touch $@

upgrade: ## install the newest of everything, and note which that is in constraints.txt
	rm -rf $(VENV)
	$(MAKE) setup CONSTRAINTS=/dev/null
	$(BIN)/python -m pip freeze --exclude-editable --exclude setuptools >constraints.txt
	@touch $(STAMP)

check: $(STAMP) ## format, lint, types and import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(STAMP) ## all tests but the long ones; what needs an engine, Node.js or PostgreSQL is skipped without it
	$(BIN)/pytest -n $(JOBS) -m 'not long' $(ARGS)

test-long: test-beside test-alone ## the long tests: thousands of deals, engines that die; skipped as those of test

test-beside: $(STAMP)
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m 'long and not alone' --timeout 900 $(ARGS) || \
	    test $$? -eq $(NONE_CHOSEN)

test-alone: $(STAMP)
	$(BIN)/pytest -m 'long and alone' --timeout 900 $(ARGS) || test $$? -eq $(NONE_CHOSEN)

setup-oldest: $(OLDEST_STAMP) ## install the oldest client of the engine beside the virtual environment's

$(OLDEST_STAMP): $(STAMP) Makefile
	rm -rf $(VENV)/oldest
	$(BIN)/python -m pip install --quiet --target $(VENV)/oldest $(OLDEST)
	@touch $@

test-oldest: $(OLDEST_STAMP) ## the tests of containers with the oldest client of the engine that may be used
	PYTHONPATH=$(VENV)/oldest $(BIN)/pytest -n $(JOBS) -m 'docker and not long' $(ARGS) \
	    tests/test_container.py tests/test_engine_faults.py tests/test_images.py tests/test_doctor.py

fuzz: $(STAMP) ## random input for FUZZ_SECONDS (3600) against what reads bots, records and rules
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/pytest --timeout 0 $(ARGS) tests/test_fuzz.py

demo: $(STAMP) ## play a small tournament of the sample bots and show the rankings
	ARENA=$(BIN)/arena sh tools/demo.sh

images: $(STAMP) ## make the base image of Python bots
	$(BIN)/python -m arena.sandbox.images

bench: $(STAMP) ## run the benchmarks
	@for one in benchmarks/*.py; do \
	    echo "== $$one"; $(BIN)/python "$$one" || exit 1; \
	done

proto: $(STAMP) ## generate the stubs of bot.proto anew
	$(BIN)/python tools/gen_proto.py

format: $(STAMP) ## put the code into its form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove what was made here; images and tournaments stay
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	    .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
