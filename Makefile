# Everything installs into .venv by itself: a machine needs Python 3.11 or newer, and make.

VENV ?= .venv
BENCH_VENV ?= .venv-bench
PARTNERS_VENV ?= .venv-partners
# The first interpreter on the PATH that is new enough; `make PYTHON=/path/to/python` chooses another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done)
# One worker more than there are processors: some tests wait for a server.
WORKERS ?= $(shell "$(PYTHON)" -c 'import os; print((os.cpu_count() or 1) + 1)')
PYTEST_ARGS ?= -n $(WORKERS) --dist loadgroup
# --check: fail if a generated page of the documentation is out of date
PAGES_ARGS ?=
# --agent NAME, --to API, --scenario task|faults, --keep FOLDER
AGENTS_ARGS ?=
# --quick, --alone (no peers), --streams (their tables alone), --markdown (writes docs/performance.md)
BENCH_ARGS ?=

SAMPLE := examples/agent_turns.anthropic.json

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test slow check lint types deep nightly partners bench bench-gateway bench-operation agents node docs format clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed-cli ## Show an agent transcript, then convert it to another API
	$(VENV)/bin/contentmodel show $(SAMPLE)
	$(VENV)/bin/contentmodel convert $(SAMPLE) --to openai-responses

test: $(VENV)/.installed-dev ## Run the tests that are not marked slow: 8 minutes on two cores
	$(VENV)/bin/python -m pytest -m "not slow" $(PYTEST_ARGS)

# Tests start Python hundreds of times. Without compiled files, every start compiles the library again.
test slow nightly: export PYTHONDONTWRITEBYTECODE :=

slow: $(VENV)/.installed-dev $(VENV)/.installed-engines ## Run the slow tests: recordings, PostgreSQL, browsers, kills, mutants, costly checks: 17 minutes on two cores
	$(VENV)/bin/python -m pytest -m "slow and not nightly" --durations 20 $(PYTEST_ARGS)

check: lint types test slow ## Check format, lint and types, then run both sets of tests

lint: $(VENV)/.installed-dev ## Check format, lint and the English of texts
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/python -m pytest tests/test_prose.py

types: $(VENV)/.installed-dev ## Check types
	$(VENV)/bin/mypy

deep: export CONTENTMODEL_PROFILE := deep
deep: test slow ## Run both sets, with twenty times the examples: for what you changed

# All formats with all partners, adapter by adapter. What passed is kept in .nightly, so that the next run continues.
nightly: export CONTENTMODEL_PROFILE := deep
nightly: export CONTENTMODEL_WHOLE := all
nightly: export CONTENTMODEL_PROGRESS := .nightly
nightly: $(VENV)/.installed-dev $(VENV)/.installed-engines ## Run everything on one commit, with twenty times the examples: several nights, can be interrupted
	$(VENV)/bin/python -m pytest --verbosity 0 $(PYTEST_ARGS)

partners: $(PARTNERS_VENV)/.installed-partners ## Compare requests with those of LangChain's packages of providers
	$(PARTNERS_VENV)/bin/python -m pytest tests/test_langchain_partners.py

bench: $(BENCH_VENV)/.installed-bench ## Measure against the peers, in an environment of its own
	$(BENCH_VENV)/bin/python benchmarks/run.py $(BENCH_ARGS)

node: tests/node/node_modules/.installed ## Install the npm packages of front ends, which some tests compare with

tests/node/node_modules/.installed: tests/node/package.json
	cd tests/node && npm install --no-audit --no-fund --no-package-lock --loglevel error
	touch $@

agents: $(VENV)/.installed-dev ## Run coding agents (from npm) through the gateway, and record their sessions, offline
	$(VENV)/bin/python agents/run.py $(AGENTS_ARGS)
	$(VENV)/bin/python agents/sessions.py $(SESSIONS_ARGS)

bench-gateway: $(VENV)/.installed-dev ## Load the gateway with 200 streams, beside a plain pass-through
	$(VENV)/bin/python benchmarks/gateway.py $(BENCH_ARGS)

bench-operation: $(VENV)/.installed-dev ## Load several processes of the gateway, and stop them under load
	$(VENV)/bin/python benchmarks/gateway_operation.py $(BENCH_ARGS)

docs: $(VENV)/.installed-dev ## Build the documentation into site/
	$(VENV)/bin/python -m contentmodel_conformance.pages docs $(PAGES_ARGS)
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet

format: $(VENV)/.installed-dev ## Format the code, and fix what lint can fix
	$(VENV)/bin/ruff check --fix-only --quiet .
	$(VENV)/bin/ruff format .

clean: ## Remove the environments, and everything else that was built
	rm -rf $(VENV) $(BENCH_VENV) $(PARTNERS_VENV) build dist site .agents .nightly tests/node/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each extra that an environment has; a change of pyproject.toml installs again.
define install
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[$(subst .installed-,,$(@F))]'
	@touch $@
endef

$(VENV)/.installed-cli $(VENV)/.installed-dev $(VENV)/.installed-engines: pyproject.toml | $(VENV)/bin/python
	$(install)

$(BENCH_VENV)/.installed-bench: pyproject.toml | $(BENCH_VENV)/bin/python
	$(install)

$(PARTNERS_VENV)/.installed-partners: pyproject.toml | $(PARTNERS_VENV)/bin/python
	$(install)

$(VENV)/bin/python $(BENCH_VENV)/bin/python $(PARTNERS_VENV)/bin/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "contentmodel needs Python 3.11 or newer, and none is on the PATH." >&2; exit 1; fi
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments: its venv package is missing." >&2; \
		echo "Install it first, on Debian and Ubuntu with: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(patsubst %/bin/python,%,$@)
